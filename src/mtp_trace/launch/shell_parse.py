"""Parses shell scripts (POSIX with the usual bash additions) into commands. Nothing is run.

The parser is kinder than a shell: a keyword out of place is passed over, and an ``if`` that is never closed ends with
the file. Only what leaves the meaning open (an unclosed quote, for one) is an error.
"""

from __future__ import annotations

import re

from mtp_trace.launch.shell_syntax import (
    AndOr,
    Assignment,
    Calculation,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Literal,
    Parameter,
    Pipeline,
    Redirect,
    ShellError,
    Simple,
    Test,
    While,
    Word,
)
from mtp_trace.launch.shell_words import WordReader
from mtp_trace.launch.text import Text, join

_KEYWORD = re.compile(r"(?:\[\[|[!{}]|[A-Za-z]+)(?=[\s;&|<>()]|$)")
_OPENING = {"if", "for", "while", "until", "case", "select", "function", "{", "[["}
_CLOSING = {"then", "elif", "else", "fi", "do", "done", "esac", "}"}
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]\n]*)\])?(\+?=)")
_FUNCTION = re.compile(r"([A-Za-z_][\w.:-]*)[ \t]*\([ \t]*\)")
_FUNCTION_NAME = re.compile(r"[^\s;&|<>()]+")
_ELEMENT = re.compile(r"\[([^\]\n]*)\]=")
_DECLARING = {"export", "declare", "local", "readonly", "typeset"}
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")


def parse_script(source: Text) -> tuple[list[Command], ShellError | None]:
    """The commands of a script, and the error at which reading stopped, if any.

    A shell runs a script up to the place where it cannot read on, so what stands before an error counts.
    """
    parser = _Parser(source)
    commands: list[Command] = []
    try:
        parser.commands((), commands)
    except ShellError as error:
        return commands, error
    return commands, None


class _Parser(WordReader):
    def __init__(self, source: Text) -> None:
        super().__init__(source)
        self._pending: list[tuple[Redirect, str, bool]] = []

    # Lists -----------------------------------------------------------------------------------------------------------

    def commands_until(self, closing: str) -> list[Command]:
        return self.commands((), [], closing)

    def commands(self, stop: tuple[str, ...], found: list[Command], closing: str = "") -> list[Command]:
        """Appends commands up to a keyword of ``stop``, the character ``closing``, or the end."""
        while True:
            self._separators(";;" in stop)
            if self.position >= self.end:
                return found
            if closing and self.text[self.position] == closing:
                return found
            if ";;" in stop and self._case_break():
                return found
            keyword = self._keyword()
            if keyword in stop:
                return found
            before = self.position
            if keyword in _CLOSING:
                self.position += len(keyword)
                continue
            command = self._and_or()
            if command is not None:
                found.append(command)
            if self.position == before:
                self.position += 1

    def _separators(self, in_case: bool) -> None:
        while self.position < self.end:
            character = self.text[self.position]
            if character == "\n":
                self._line_end()
            elif character == "#":
                self._comment()
            elif character in " \t\r\\":
                match = _BLANK.match(self.text, self.position)
                if match is None:
                    return
                self.position = match.end()
            elif character in ";&" and not (in_case and self._case_break()):
                if self._redirect_here():
                    return
                self.position += 1
            else:
                return

    def _case_break(self) -> bool:
        return self.text.startswith((";;", ";&"), self.position)

    def _blanks(self) -> None:
        match = _BLANK.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def _blank_lines(self) -> None:
        while self.position < self.end:
            self._blanks()
            character = self.text[self.position : self.position + 1]
            if character == "\n":
                self._line_end()
            elif character == "#":
                self._comment()
            else:
                return

    def _comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = self.end if end < 0 else end

    def _keyword(self) -> str:
        match = _KEYWORD.match(self.text, self.position)
        return match.group() if match else ""

    # Joined commands -------------------------------------------------------------------------------------------------

    def _and_or(self) -> Command | None:
        first = self._pipeline()
        if first is None:
            return None
        rest: list[tuple[str, Command]] = []
        while True:
            self._blanks()
            operator = self.text[self.position : self.position + 2]
            if operator not in ("&&", "||"):
                break
            self.position += 2
            self._blank_lines()
            following = self._pipeline()
            if following is None:
                break
            rest.append((operator, following))
        return AndOr(first, rest) if rest else first

    def _pipeline(self) -> Command | None:
        negated = False
        while self._keyword() in ("!", "time", "coproc"):
            negated = negated != (self._keyword() == "!")
            self.position += len(self._keyword())
            self._blanks()
        first = self._command()
        if first is None:
            return None
        commands = [first]
        while True:
            self._blanks()
            if not self.text.startswith("|", self.position) or self.text.startswith("||", self.position):
                break
            self.position += 2 if self.text.startswith("|&", self.position) else 1
            self._blank_lines()
            following = self._command()
            if following is None:
                break
            commands.append(following)
        return Pipeline(commands, negated) if negated or len(commands) > 1 else first

    def _command(self) -> Command | None:
        self._blanks()
        if self.position >= self.end:
            return None
        keyword = self._keyword()
        if keyword in _OPENING:
            self.enter()
            try:
                return self._compound(keyword)
            finally:
                self.leave()
        if self.text.startswith("((", self.position):
            start = self.position
            inside = self.calculation(start + 2)
            if inside is not None:
                return Calculation(self.line(start), inside)
        if self.text[self.position] == "(":
            self.enter()
            try:
                return self._subshell()
            finally:
                self.leave()
        function = _FUNCTION.match(self.text, self.position)
        if function is not None:
            return self._function(function.group(1), function.end())
        return self._simple()

    # Compound commands -----------------------------------------------------------------------------------------------

    def _compound(self, keyword: str) -> Command | None:
        start = self.position
        self.position += len(keyword)
        if keyword == "if":
            return self._if(start)
        if keyword in ("while", "until"):
            condition = self.commands(("do",), [])
            return While(self.line(start), condition, self._loop_body(), keyword == "until")
        if keyword in ("for", "select"):
            return self._for(start)
        if keyword == "case":
            return self._case(start)
        if keyword == "function":
            self._blanks()
            name = _FUNCTION_NAME.match(self.text, self.position)
            if name is None:
                return None
            after = re.compile(r"[ \t]*\([ \t]*\)").match(self.text, name.end())
            return self._function(name.group(), after.end() if after else name.end())
        if keyword == "[[":
            return self._test(start)
        body = self.commands(("}",), [])
        self._expect("}")
        return Group(self.line(start), body, False, self._redirects())

    def _expect(self, keyword: str) -> None:
        if self._keyword() == keyword:
            self.position += len(keyword)

    def _subshell(self) -> Command:
        start = self.position
        self.position += 1
        body = self.commands((), [], ")")
        if self.position < self.end:
            self.position += 1
        return Group(self.line(start), body, True, self._redirects())

    def _redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while True:
            self._blanks()
            if not self._redirect_here():
                return found
            self._redirect(found)

    def _if(self, start: int) -> If:
        arms: list[tuple[list[Command], list[Command]]] = []
        otherwise: list[Command] | None = None
        while True:
            condition = self.commands(("then", "fi"), [])
            self._expect("then")
            arms.append((condition, self.commands(("elif", "else", "fi"), [])))
            if self._keyword() == "elif":
                self.position += len("elif")
                continue
            if self._keyword() == "else":
                self.position += len("else")
                otherwise = self.commands(("fi",), [])
            self._expect("fi")
            self._redirects()
            return If(self.line(start), arms, otherwise)

    def _loop_body(self) -> list[Command]:
        if self._keyword() == "{":
            self.position += 1
            body = self.commands(("}",), [])
            self._expect("}")
        else:
            self._expect("do")
            body = self.commands(("done",), [])
            self._expect("done")
        self._redirects()
        return body

    def _for(self, start: int) -> Command:
        self._blanks()
        if self.text.startswith("((", self.position):
            inside = self.calculation(self.position + 2) or ""
            name = re.match(r"\s*([A-Za-z_]\w*)", inside)
            self._separators(False)
            return For(self.line(start), name.group(1) if name else "", None, self._loop_body(), counted=True)
        found = _FUNCTION_NAME.match(self.text, self.position)
        name_text = found.group() if found else ""
        if found:
            self.position = found.end()
        self._blank_lines()
        words: list[Word] | None = None
        if self._keyword() == "in":
            self.position += len("in")
            words = []
            while True:
                self._blanks()
                word = self.word()
                if word is None:
                    break
                words.append(word)
        self._separators(False)
        return For(self.line(start), name_text, words, self._loop_body())

    def _case(self, start: int) -> Command | None:
        self._blanks()
        subject = self.word()
        if subject is None:
            return None
        self._blank_lines()
        self._expect("in")
        arms: list[tuple[list[Word], list[Command]]] = []
        while True:
            self._blank_lines()
            if self.position >= self.end or self._keyword() == "esac":
                self._expect("esac")
                self._redirects()
                return Case(self.line(start), subject, arms)
            before = self.position
            patterns = self._patterns()
            body = self.commands(("esac", ";;"), [])
            arms.append((patterns, body))
            if self._case_break():
                self.position += 3 if self.text.startswith(";;&", self.position) else 2
            if self.position == before:
                self.position += 1

    def _patterns(self) -> list[Word]:
        patterns: list[Word] = []
        if self.text[self.position] == "(":
            self.position += 1
        while self.position < self.end:
            self._blanks()
            word = self.word()
            if word is not None:
                patterns.append(word)
            self._blanks()
            character = self.text[self.position : self.position + 1]
            if character == "|":
                self.position += 1
                continue
            if character == ")":
                self.position += 1
            return patterns
        return patterns

    def _function(self, name: str, after: int) -> Command | None:
        start = self.position
        self.position = after
        self._blank_lines()
        self.enter()
        body = self._command()
        self.leave()
        return Function(self.line(start), name, [body] if body is not None else [])

    def _test(self, start: int) -> Command:
        tokens: list[Word | str] = []
        while self.position < self.end:
            self._blank_lines()
            if self.text.startswith(("&&", "||"), self.position):
                tokens.append(self.text[self.position : self.position + 2])
                self.position += 2
                continue
            word = self.word()
            if word is None:
                if self.position >= self.end:
                    break
                tokens.append(self.text[self.position])
                self.position += 1
            elif word.bare() == "]]":
                self._redirects()
                return Test(self.line(start), tokens)
            else:
                tokens.append(word)
        raise self.fail("`[[` is not closed", start)

    # Simple commands -------------------------------------------------------------------------------------------------

    def _simple(self) -> Command | None:
        start = self.position
        command = Simple(self.line(start), self.line(start))
        while True:
            self._blanks()
            if self.position >= self.end or self.text[self.position] in "\n;|)":
                break
            if self._redirect_here():
                self._redirect(command.redirects)
                continue
            if self.text[self.position] in "&#":
                if self.text[self.position] == "#":
                    self._comment()
                break
            if self.text[self.position] == "(":
                # No command has a bare bracket here: pass over it, as over any stray character.
                self.position += 1
                continue
            declaring = (
                bool(command.words) and isinstance(command.words[0], Word) and (command.words[0].bare() in _DECLARING)
            )
            assignment = self._assignment() if not command.words or declaring else None
            if assignment is not None:
                (command.words if command.words else command.assignments).append(assignment)
            else:
                word = self.word()
                if word is None:
                    break
                command.words.append(word)
            command.last_line = self.line(max(self.position - 1, start))
        if not (command.words or command.assignments or command.redirects):
            return None
        return command

    def _assignment(self) -> Assignment | None:
        match = _ASSIGNMENT.match(self.text, self.position)
        if match is None:
            return None
        line = self.line()
        name, index, operator = match.groups()
        self.position = match.end()
        append = operator == "+="
        if self.text[self.position : self.position + 1] == "(":
            return Assignment(name, line, append, elements=self._elements(), index=index)
        value = self.word() or Word((Literal(Text.at("", line), quoted=False),), line)
        return Assignment(name, line, append, value, index=index)

    def _elements(self) -> tuple[tuple[str | None, Word], ...]:
        start = self.position
        self.position += 1
        elements: list[tuple[str | None, Word]] = []
        while self.position < self.end:
            self._blank_lines()
            if self.text[self.position : self.position + 1] == ")":
                self.position += 1
                return tuple(elements)
            key = None
            match = _ELEMENT.match(self.text, self.position)
            if match is not None:
                key = match.group(1)
                self.position = match.end()
            word = self.word()
            if word is not None:
                elements.append((key, word))
            elif key is not None:
                elements.append((key, Word((), self.line())))
            elif self.position < self.end:
                self.position += 1
        raise self.fail("an array is not closed", start)

    # Redirections and here-documents ---------------------------------------------------------------------------------

    def _redirect_here(self) -> bool:
        return _REDIRECT.match(self.text, self.position) is not None

    def _redirect(self, found: list[Redirect]) -> None:
        match = _REDIRECT.match(self.text, self.position)
        if match is None:
            return
        self.position = match.end()
        self._blanks()
        fd, op = match.group(1) or "", match.group(2)
        start = self.position
        target = self.word()
        redirect = Redirect(op, target, fd)
        found.append(redirect)
        if op in ("<<", "<<-") and target is not None:
            raw = self.text[start : self.position]
            delimiter = re.sub(r"[\\'\"]", "", raw)
            redirect.literal = raw != delimiter or any(isinstance(part, Parameter) for part in target.parts)
            self._pending.append((redirect, delimiter, op == "<<-"))

    def _line_end(self) -> None:
        """Passes a line end, and the here-documents that begin after it."""
        self.position += 1
        pending, self._pending = self._pending, []
        for redirect, delimiter, strips in pending:
            redirect.body = self._body(delimiter, strips)

    def _body(self, delimiter: str, strips: bool) -> Text:
        lines: list[Text] = []
        start = self.position
        while self.position < self.end:
            first = self.position
            end = self.text.find("\n", first)
            after = self.end if end < 0 else end + 1
            if strips:
                while first < after and self.text[first] == "\t":
                    first += 1
            self.position = after
            if self.text[first:after].rstrip("\r\n") == delimiter:
                return join(lines) if lines else self.source.cut(start, start)
            lines.append(self.source.cut(first, after))
        return join(lines) if lines else self.source.cut(start, start)
