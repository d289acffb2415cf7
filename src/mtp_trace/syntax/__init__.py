"""From source text to the program form: parse, positions, lowering, and the on-disk cache of it."""
