"""Reads the words of a shell script: quotes, escapes, parameters and substitutions."""

from __future__ import annotations

import re

from mtp_trace.launch.shell_syntax import (
    Arithmetic,
    Command,
    Literal,
    Parameter,
    Part,
    ShellError,
    Substitution,
    Word,
)
from mtp_trace.launch.text import Text, join

_PLAIN = re.compile(r"[^\s\\'\"`$;&|<>()]+")
_IN_DOUBLE = re.compile(r"[^\\\"`$]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = re.compile(r"[0-9@*#?!$-]")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?!$-]")
_OPERATOR = re.compile(r":-|:=|:\?|:\+|##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|@|:|-|=|\?|\+")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_ENDS_WORD = " \t\r\n;&|<>()"
_DEEPEST = 40
_LONGEST_SHOWN = 80


class WordReader:
    """A position in a script, and what reads words from there on."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.text = source.text
        self.end = len(self.text)
        self.position = 0
        self.depth = 0

    def commands_until(self, closing: str) -> list[Command]:
        """The commands up to ``closing``, which is left unread."""
        raise NotImplementedError

    def line(self, position: int | None = None) -> int:
        """The line of a position, or of the present one."""
        return self.source.line_at(self.position if position is None else position)

    def fail(self, what: str, position: int) -> ShellError:
        """The error that ``what`` is wrong at ``position``."""
        return ShellError(what, self.line(position))

    def enter(self) -> None:
        """One level deeper.

        Raises:
            ShellError: the script nests deeper than any that a person writes.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail(f"nested deeper than {_DEEPEST} levels", self.position)

    def leave(self) -> None:
        """One level up."""
        self.depth -= 1

    def word(self, stop: str = "") -> Word | None:
        """The word at the position, or None where none begins; it also ends before a character of ``stop``."""
        start = self.position
        parts: list[Part] = []
        while self.position < self.end:
            character = self.text[self.position]
            if character in _ENDS_WORD:
                if character in "<>" and self.text[self.position + 1 : self.position + 2] == "(" and not parts:
                    parts.append(self._commands(2, quoted=True))
                    continue
                break
            if character in stop:
                break
            self._part(parts, stop)
        if not parts and self.position == start:
            return None
        return Word(tuple(parts), self.line(start))

    def _part(self, parts: list[Part], stop: str = "", plain: re.Pattern[str] = _PLAIN) -> None:
        """Reads one part outside of quotes; characters of ``stop`` end a plain run."""
        start, character = self.position, self.text[self.position]
        if character == "\\":
            self.position += 2
            if self.text[start + 1 : start + 2] == "\r" and self.text[start + 2 : start + 3] == "\n":
                self.position += 1
            elif start + 1 < self.end and self.text[start + 1] != "\n":
                parts.append(Literal(self.source.cut(start + 1, start + 2), quoted=True))
        elif character == "'":
            parts.append(self._single())
        elif character == '"':
            parts.extend(self._double())
        elif character == "`":
            parts.append(self._backquoted(quoted=False))
        elif character == "$":
            parts.extend(self._dollar(quoted=False))
        else:
            match = plain.match(self.text, self.position)
            end = match.end() if match else self.position + 1
            for place in range(self.position + 1, end):
                if self.text[place] in stop:
                    end = place
                    break
            self.position = end
            parts.append(Literal(self.source.cut(start, end), quoted=False))

    def _single(self) -> Literal:
        start = self.position
        end = self.text.find("'", start + 1)
        if end < 0:
            raise self.fail("a single quote is not closed", start)
        self.position = end + 1
        return Literal(self.source.cut(start + 1, end), quoted=True)

    def _double(self) -> list[Part]:
        start = self.position
        self.position += 1
        parts: list[Part] = []
        while self.position < self.end:
            if self.text[self.position] == '"':
                self.position += 1
                # The empty literal keeps `""` a word of its own.
                return parts or [Literal(self.source.cut(start, start), quoted=True)]
            self._quoted_part(parts)
        raise self.fail("a double quote is not closed", start)

    def _quoted_part(self, parts: list[Part]) -> None:
        start, character = self.position, self.text[self.position]
        if character == "\\":
            following = self.text[start + 1 : start + 2]
            self.position += 2
            if following == "\n":
                return
            keep = start if following not in ("$", "`", '"', "\\") else start + 1
            parts.append(Literal(self.source.cut(keep, min(start + 2, self.end)), quoted=True))
        elif character == "`":
            parts.append(self._backquoted(quoted=True))
        elif character == "$":
            parts.extend(self._dollar(quoted=True))
        else:
            match = _IN_DOUBLE.match(self.text, start)
            self.position = match.end() if match else start + 1
            parts.append(Literal(self.source.cut(start, self.position), quoted=True))

    def quoted_text(self) -> Word:
        """All that is left, read as if between double quotes (the body of a here-document)."""
        parts: list[Part] = []
        while self.position < self.end:
            if self.text[self.position] == '"':
                parts.append(Literal(self.source.cut(self.position, self.position + 1), quoted=True))
                self.position += 1
            elif self.text.startswith('\\"', self.position):
                parts.append(Literal(self.source.cut(self.position, self.position + 2), quoted=True))
                self.position += 2
            else:
                self._quoted_part(parts)
        return Word(tuple(parts), self.line(0))

    def _ansi(self) -> Literal:
        """``$'...'`` with the opening quote at the position."""
        start = self.position
        self.position += 1
        pieces: list[Text] = [self.source.cut(start, start)]
        while self.position < self.end:
            place, character = self.position, self.text[self.position]
            if character == "'":
                self.position += 1
                return Literal(join(pieces), quoted=True)
            if character == "\\" and place + 1 < self.end:
                following = self.text[place + 1]
                pieces.append(Text.at(_ESCAPES.get(following, following), self.line(place)))
                self.position += 2
            else:
                pieces.append(self.source.cut(place, place + 1))
                self.position += 1
        raise self.fail("a single quote is not closed", start)

    def _dollar(self, quoted: bool) -> list[Part]:
        start = self.position
        following = self.text[start + 1 : start + 2]
        if following == "(":
            if self.text.startswith("$((", start):
                calculation = self._arithmetic(quoted)
                if calculation is not None:
                    return [calculation]
            return [self._commands(2, quoted)]
        if following == "{":
            return [self._braced(quoted)]
        if following == "'" and not quoted:
            self.position += 1
            return [self._ansi()]
        if following == '"' and not quoted:
            self.position += 1
            return list(self._double())
        match = _NAME.match(self.text, start + 1) or _SPECIAL.match(self.text, start + 1)
        if match is None:
            self.position += 1
            return [Literal(self.source.cut(start, start + 1), quoted=True)]
        self.position = match.end()
        return [Parameter(match.group(), self.line(start), quoted, "${" + match.group() + "}")]

    def _arithmetic(self, quoted: bool) -> Arithmetic | None:
        """``$((...))``, or None where the two brackets turn out to open a substitution with a subshell in it."""
        start = self.position
        inside = self.calculation(start + 3)
        if inside is None:
            return None
        return Arithmetic(inside, self.line(start), quoted)

    def calculation(self, start: int) -> str | None:
        """The text from ``start`` to its ``))``, which is read too; None, and nothing read, where there is none."""
        level, place = 0, start
        while place < self.end:
            character = self.text[place]
            if character == "(":
                level += 1
            elif character == ")":
                if level == 0:
                    if self.text[place + 1 : place + 2] != ")":
                        return None
                    self.position = place + 2
                    return self.text[start:place]
                level -= 1
            place += 1
        return None

    def _commands(self, opening: int, quoted: bool) -> Substitution:
        start = self.position
        self.enter()
        self.position += opening
        body = self.commands_until(")")
        if self.text[self.position : self.position + 1] != ")":
            raise self.fail("a command substitution is not closed", start)
        self.position += 1
        self.leave()
        shown = " ".join(self.text[start : self.position].split())
        if len(shown) > _LONGEST_SHOWN:
            shown = shown[: _LONGEST_SHOWN - 4] + "...)"
        return Substitution(shown, self.line(start), quoted, tuple(body))

    def _backquoted(self, quoted: bool) -> Substitution:
        start = self.position
        place = start + 1
        pieces: list[Text] = []
        while place < self.end and self.text[place] != "`":
            if self.text[place] == "\\" and self.text[place + 1 : place + 2] in ("`", "\\", "$"):
                place += 1
            pieces.append(self.source.cut(place, place + 1))
            place += 1
        if place >= self.end:
            raise self.fail("a backquote is not closed", start)
        self.enter()
        inner = type(self)(join(pieces))
        inner.depth = self.depth
        body = inner.commands_until("")
        self.leave()
        self.position = place + 1
        shown = "$(" + " ".join(inner.text.split())[:_LONGEST_SHOWN] + ")"
        return Substitution(shown, self.line(start), quoted, tuple(body))

    def _braced(self, quoted: bool) -> Part:
        start = self.position
        self.enter()
        self.position += 2
        prefix = ""
        if self.text[self.position : self.position + 1] in ("#", "!"):
            following = self.text[self.position + 1 : self.position + 2]
            if following and (following.isalnum() or following in "_@*"):
                prefix = self.text[self.position]
                self.position += 1
        match = _PARAMETER.match(self.text, self.position)
        name = match.group() if match else ""
        if match:
            self.position = match.end()
        index = self._index()
        operator = _OPERATOR.match(self.text, self.position) if name else None
        op = operator.group() if operator else ""
        if operator:
            self.position = operator.end()
        argument = self._until_brace(start, quoted)
        self.leave()
        shown = self.text[start : self.position]
        if not name or (not op and argument.parts):
            # Not the shell's own (a template's `${{ x }}`): nothing is known of it.
            return Parameter("", self.line(start), quoted, shown)
        if prefix:
            op = "length" if prefix == "#" else "indirect"
        return Parameter(name, self.line(start), quoted, shown, op, argument, index)

    def _index(self) -> str | None:
        if self.text[self.position : self.position + 1] != "[":
            return None
        end = self.text.find("]", self.position)
        if end < 0:
            return None
        index = self.text[self.position + 1 : end]
        self.position = end + 1
        return index

    def _until_brace(self, start: int, quoted: bool) -> Word:
        """What stands up to the closing brace, which is read too."""
        first = self.position
        parts: list[Part] = []
        while self.position < self.end:
            character = self.text[self.position]
            if character == "}":
                self.position += 1
                return Word(tuple(parts), self.line(first))
            if quoted and character == '"':
                parts.extend(self._double())
            elif quoted:
                self._brace_text(parts)
            elif character in _ENDS_WORD:
                parts.append(Literal(self.source.cut(self.position, self.position + 1), quoted=False))
                self.position += 1
            else:
                self._part(parts, "}")
        raise self.fail("a brace of a parameter is not closed", start)

    def _brace_text(self, parts: list[Part]) -> None:
        start = self.position
        if self.text[start] in "\\`$":
            self._quoted_part(parts)
            return
        while self.position < self.end and self.text[self.position] not in '}"\\`$':
            self.position += 1
        parts.append(Literal(self.source.cut(start, self.position), quoted=True))
