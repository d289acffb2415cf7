"""How deeply a text nests, found without parsing it.

LibCST's parser recurses on the C stack and takes the process down where nesting is too deep, and it tries nested match
patterns over and over, so that its time quadruples with every level. So its input is measured first. The measure of
depth counts what a parser may recurse on: open brackets, and at every open level the tokens since the last separator.
It is an upper bound.
"""

from __future__ import annotations

import re

_MAX_DEPTH = 2_000
_MAX_BRACKETS = 200
"""What CPython allows."""
_MAX_PATTERN_BRACKETS = 6
"""Each such pattern takes ten milliseconds; ten brackets would take seconds."""

_QUOTES = ("'''", '"""', "'", '"')
_CODE = re.compile(
    r"(?P<skip>[ \t\f]+|\\\n|#[^\n]*)"
    rf"|(?P<prefix>[A-Za-z]{{0,2}})(?P<quote>{'|'.join(_QUOTES)})"
    r"|(?P<word>[^\W\d]\w*|\.?\d[\w.]*)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<separator>[,;])|(?P<newline>\n)|(?P<colon>:)"
    r"|(?P<operator>.)",
    re.DOTALL,
)
_PLAIN_END = {q: re.compile(rf"(?:\\.|[^\\])*?{q}", re.DOTALL) for q in _QUOTES}
_TEXT = {q: re.compile(rf"\{{\{{|\}}\}}|(?P<open>\{{)|(?P<quote>{q})|\\[^{{}}]", re.DOTALL) for q in _QUOTES}
_SPEC = re.compile(r"(?P<open>\{)|(?P<close>\})")

_OPENERS = frozenset(("lambda", "for"))
"""Words after which a comma separates nothing: what follows nests in them all the same."""


class _Level:
    """An open bracket; or, where ``quote`` is set, an f-string's text; or a replacement field or its specification."""

    __slots__ = ("field", "fixed", "quote", "run", "spec")

    def __init__(self, quote: str = "", field: bool = False, spec: bool = False) -> None:
        self.quote, self.field, self.spec = quote, field, spec
        self.run = self.fixed = 0


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.levels = [_Level()]
        self.total = self.deepest = self.branches = self.brackets = self.pattern = 0
        self.starting, self.in_case = True, False

    def scan(self) -> None:
        size = len(self.text)
        while self.position < size:
            level = self.levels[-1]
            if level.quote or level.spec:
                self._literal_text(level)
            else:
                self._code(level)

    def _count(self, level: _Level, fixed: bool = False) -> None:
        if fixed:
            level.fixed += 1
        else:
            level.run += 1
        self.total += 1
        self.deepest = max(self.deepest, self.total + len(self.levels))

    def _push(self, level: _Level) -> None:
        self.levels.append(level)
        self.brackets = max(self.brackets, len(self.levels) - 1)
        self.deepest = max(self.deepest, self.total + len(self.levels))

    def _pop(self) -> None:
        if len(self.levels) > 1:
            level = self.levels.pop()
            self.total -= level.run + level.fixed

    def _code(self, level: _Level) -> None:
        match = _CODE.match(self.text, self.position)
        assert match is not None
        kind, self.position = match.lastgroup, match.end()
        if kind == "skip":
            return
        if self.starting and kind != "newline":
            self.starting, self.in_case = False, match.group() == "case"
        if kind == "word" or kind == "operator" or (kind == "colon" and not level.field):
            self._count(level, fixed=match.group() in _OPENERS)
            if match.group() == "elif":
                self.branches += 1
        elif kind == "separator":
            self.total -= level.run
            level.run = 0
        elif kind == "newline":
            if len(self.levels) == 1:
                self.total = level.run = level.fixed = 0
                self.starting = True
        elif kind == "open":
            self._push(_Level())
            if self.in_case:
                self.pattern = max(self.pattern, len(self.levels) - 1)
        elif kind == "close":
            self._pop()
            self._count(self.levels[-1])
        elif kind == "colon":
            self._push(_Level(spec=True))
        else:
            self._string(level, match["prefix"].lower(), match["quote"])

    def _string(self, level: _Level, prefix: str, quote: str) -> None:
        self._count(level)
        if "f" in prefix or "t" in prefix:
            self._push(_Level(quote=quote))
            return
        end = _PLAIN_END[quote].match(self.text, self.position)
        self.position = end.end() if end else len(self.text)

    def _literal_text(self, level: _Level) -> None:
        match = (_SPEC if level.spec else _TEXT[level.quote]).search(self.text, self.position)
        if match is None:
            self.position = len(self.text)
            return
        self.position = match.end()
        if match.lastgroup == "open":
            self._push(_Level(field=True))
        elif match.lastgroup == "close":
            self._pop()
            self._pop()
        elif match.lastgroup == "quote":
            self._pop()


def nests_too_deeply(text: str) -> bool:
    """Whether a text could bring LibCST down or keep it busy without end, for a text that it can parse."""
    scanner = _Scanner(text)
    scanner.scan()
    return (
        max(scanner.deepest, scanner.branches) > _MAX_DEPTH
        or scanner.brackets > _MAX_BRACKETS
        or scanner.pattern > _MAX_PATTERN_BRACKETS
    )
