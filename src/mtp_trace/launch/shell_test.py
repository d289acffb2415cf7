"""Decides the conditions of a script where the file tells enough: ``[ ... ]``, ``[[ ... ]]``, ``true``, ``false``."""

from __future__ import annotations

from dataclasses import dataclass

from mtp_trace.launch import shell_values as values
from mtp_trace.launch.holes import has_hole, variable_of
from mtp_trace.launch.shell_expand import Expander
from mtp_trace.launch.shell_state import State, Variable
from mtp_trace.launch.shell_syntax import AndOr, Calculation, Command, Parameter, Pipeline, Simple, Test, Word
from mtp_trace.launch.text import Text

_COMPARISONS = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_EQUAL = ("=", "==", "!=")
_OPERATORS = frozenset(("&&", "||", "(", ")", "!", "<", ">", "|"))


@dataclass(frozen=True)
class Outcome:
    """``holds`` None is "the file does not tell"; then ``if_true`` and ``if_false`` are what each answer would mean."""

    holds: bool | None
    if_true: tuple[tuple[str, str], ...] = ()
    if_false: tuple[tuple[str, str], ...] = ()

    def negated(self) -> Outcome:
        """The outcome of ``! condition``."""
        return Outcome(None if self.holds is None else not self.holds, self.if_false, self.if_true)


_OPEN = Outcome(None)
_Token = str | Text


def is_test(command: Command) -> bool:
    """Whether a command does nothing but answer a question, so that what hangs on it by ``&&`` may not run."""
    if isinstance(command, (Test, Calculation)):
        return True
    if isinstance(command, Pipeline):
        return True
    if isinstance(command, AndOr):
        return is_test(command.first)
    if not isinstance(command, Simple) or not command.words:
        return False
    first = command.words[0]
    if len(command.words) == 1 and isinstance(first, Word) and _is_parameter(first):
        # `$ENABLED && ...`, with true or false in the variable.
        return True
    name = first.bare() if isinstance(first, Word) else None
    return name in ("[", "test", "true", "false", "grep", "command", "type", "which", "hash", "pgrep", "lspci", "curl")


def _is_parameter(word: Word) -> bool:
    return len(word.parts) == 1 and isinstance(word.parts[0], Parameter)


def decide(commands: list[Command], state: State) -> Outcome:
    """What a condition comes to in a state: the outcome of its last command."""
    return _decide(commands[-1], state) if commands else _OPEN


def decide_command(command: Command, state: State) -> Outcome:
    """What one command comes to in a state."""
    return _decide(command, state)


def assume(state: State, facts: tuple[tuple[str, str], ...]) -> None:
    """Writes down in a state what an answer taken for granted says of variables that were not known."""
    for name, value in facts:
        if not name.isdigit():
            state.set(name, Variable(Text.at(value, 0)))


def _decide(command: Command, state: State) -> Outcome:
    if isinstance(command, AndOr):
        outcome = _decide(command.first, state)
        for operator, following in command.rest:
            outcome = _combined(operator, outcome, _decide(following, state))
        return outcome
    if isinstance(command, Pipeline):
        if len(command.commands) != 1:
            return _OPEN
        outcome = _decide(command.commands[0], state)
        return outcome.negated() if command.negated else outcome
    if isinstance(command, Calculation):
        return _calculation(command.expression, state)
    expander = Expander(state.copy())
    if isinstance(command, Test):
        tokens: list[_Token] = [
            token if isinstance(token, str) else _operator_or_text(token, expander) for token in command.tokens
        ]
        return _Condition(tokens, patterns=True).whole()
    if isinstance(command, Simple) and command.words and isinstance(command.words[0], Word):
        name = command.words[0].bare()
        if len(command.words) == 1 and _is_parameter(command.words[0]):
            name = expander.single(command.words[0]).text
        if name in ("true", ":"):
            return Outcome(True)
        if name == "false":
            return Outcome(False)
        if name in ("[", "test"):
            words = [word for word in command.words[1:] if isinstance(word, Word)]
            plain: list[_Token] = []
            for word in words:
                plain.extend(expander.fields(word))
            if name == "[" and plain and _text(plain[-1]) == "]":
                plain.pop()
            return _Condition(plain, patterns=False).whole()
    return _OPEN


def _operator_or_text(word: Word, expander: Expander) -> _Token:
    bare = word.bare()
    return bare if bare in _OPERATORS else expander.single(word)


def _combined(operator: str, left: Outcome, right: Outcome) -> Outcome:
    if operator == "&&":
        if left.holds is False or right.holds is False:
            return Outcome(False)
        if left.holds and right.holds:
            return Outcome(True)
        return Outcome(None, (*left.if_true, *right.if_true))
    if left.holds or right.holds:
        return Outcome(True)
    if left.holds is False and right.holds is False:
        return Outcome(False)
    return Outcome(None, (), (*left.if_false, *right.if_false))


def _calculation(expression: str, state: State) -> Outcome:
    for symbol, name in ((">=", "-ge"), ("<=", "-le"), ("==", "-eq"), ("!=", "-ne"), (">", "-gt"), ("<", "-lt")):
        left, found, right = expression.partition(symbol)
        if found:
            expander = Expander(state)
            numbers = [values.calculated(expander.arithmetic(side)) for side in (left, right)]
            if numbers[0] is None or numbers[1] is None:
                return _OPEN
            return Outcome(_COMPARISONS[name](numbers[0], numbers[1]))
    return _OPEN


def _text(token: _Token) -> str:
    return token if isinstance(token, str) else token.text


class _Condition:
    """The words of one test, read from the left: ``or`` of ``and`` of single questions."""

    def __init__(self, tokens: list[_Token], patterns: bool) -> None:
        self.tokens = tokens
        self.patterns = patterns
        self.place = 0
        self.depth = 0

    def whole(self) -> Outcome:
        outcome = self._or()
        return outcome if self.place >= len(self.tokens) else _OPEN

    def _peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return _text(self.tokens[place]) if place < len(self.tokens) else ""

    def _or(self) -> Outcome:
        outcome = self._and()
        while self._peek() in ("||", "-o"):
            self.place += 1
            outcome = _combined("||", outcome, self._and())
        return outcome

    def _and(self) -> Outcome:
        outcome = self._one()
        while self._peek() in ("&&", "-a"):
            self.place += 1
            outcome = _combined("&&", outcome, self._one())
        return outcome

    def _one(self) -> Outcome:
        if self.place >= len(self.tokens):
            return _OPEN
        if self._peek() == "!":
            self.place += 1
            self.depth += 1
            return _OPEN if self.depth > 20 else self._one().negated()
        if self._peek() == "(" and self.patterns:
            self.place += 1
            self.depth += 1
            outcome = _OPEN if self.depth > 20 else self._or()
            self.place += 1
            return outcome
        operator = self._peek(1)
        if operator in _EQUAL or operator in _COMPARISONS or operator in ("=~", "<", ">", "-nt", "-ot", "-ef"):
            left, right = self._peek(), self._peek(2)
            self.place += 3
            return self._compared(left, operator, right)
        if self._peek().startswith("-") and self.place + 1 < len(self.tokens):
            question, subject = self._peek(), self._peek(1)
            self.place += 2
            return self._asked(question, subject)
        subject = self._peek()
        self.place += 1
        return self._asked("-n", subject)

    def _compared(self, left: str, operator: str, right: str) -> Outcome:
        if operator in _COMPARISONS:
            numbers = values.calculated(left), values.calculated(right)
            if numbers[0] is None or numbers[1] is None:
                return _OPEN
            return Outcome(_COMPARISONS[operator](numbers[0], numbers[1]))
        if operator not in _EQUAL:
            return _OPEN
        if has_hole(left) or has_hole(right):
            name, known = variable_of(left), right
            if name is None:
                name, known = variable_of(right), left
            special = any(character in known for character in "*?[")
            if name is None or has_hole(known) or special:
                return _OPEN
            outcome = Outcome(None, ((name, known),))
            return outcome.negated() if operator == "!=" else outcome
        equal = values.matches(left, right) if self.patterns else left == right
        if equal is None:
            return _OPEN
        return Outcome(equal != (operator == "!="))

    def _asked(self, question: str, subject: str) -> Outcome:
        if question not in ("-n", "-z"):
            return _OPEN
        name = variable_of(subject)
        if name is not None:
            outcome = Outcome(None, (), ((name, ""),))
        elif has_hole(subject):
            return _OPEN
        else:
            outcome = Outcome(bool(subject))
        return outcome if question == "-n" else outcome.negated()
