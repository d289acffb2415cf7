"""How a statement ends other than by going on to the next one."""

BREAK, CONTINUE, RETURN = "break", "continue", "return"
