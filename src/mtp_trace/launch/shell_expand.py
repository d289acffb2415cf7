"""Expands the words of a script with the variables of one state; what is not known becomes a hole."""

from __future__ import annotations

import re
from collections.abc import Callable

from mtp_trace.launch import shell_values as values
from mtp_trace.launch.holes import array, harden, has_hole, hole, is_array, is_hole, soften, variable, variable_of
from mtp_trace.launch.shell_state import REST, State, Variable
from mtp_trace.launch.shell_syntax import (
    Arithmetic,
    Assignment,
    Command,
    Literal,
    Parameter,
    Part,
    Redirect,
    ShellError,
    Simple,
    Substitution,
    Word,
)
from mtp_trace.launch.shell_words import WordReader
from mtp_trace.launch.text import Text, join

_NAME = re.compile(r"\$?\{?([A-Za-z_]\w*)\}?")
_BLANK = re.compile(r"[ \t\n]+")
_DEFAULTS = ("-", ":-", "+", ":+", "=", ":=", "?", ":?")
_MOST_FIELDS = 4096
_LONGEST_NUMBER = 6
_LONGEST = 256 * 1024


class Expander:
    """Words to texts, in one state (which ``${name:=value}`` may change)."""

    def __init__(self, state: State, on_substitution: Callable[[Substitution], None] | None = None) -> None:
        self.state = state
        self._on_substitution = on_substitution

    # Words -----------------------------------------------------------------------------------------------------------

    def fields(self, word: Word) -> list[Text]:
        """The words that one word becomes: split at blanks where it stands unquoted, braces written out."""
        bare = word.bare()
        if bare is not None and "{" in bare:
            spelled = values.braces(bare)
            if spelled is not None:
                return [Text.at(text, word.line) for text in spelled]
        done: list[Text] = []
        pieces: list[Text] | None = None
        length = 0
        for part in word.parts:
            for text, breaks_before, splits in self._values(part):
                length = self._grown(length, text, word.line)
                if breaks_before and pieces is not None:
                    done.append(join(pieces))
                    pieces = None
                if not splits:
                    pieces = [*(pieces or ()), text]
                    continue
                words = list(text.split())
                if pieces is not None and (not words or _BLANK.match(text.text)) and text.text:
                    done.append(join(pieces))
                    pieces = None
                for number, piece in enumerate(words):
                    if number and pieces is not None:
                        done.append(join(pieces))
                        pieces = None
                    pieces = [*(pieces or ()), piece]
                if words and _BLANK.search(text.text[-1:]) and pieces is not None:
                    done.append(join(pieces))
                    pieces = None
                self._check(done, word.line)
        if pieces is not None:
            done.append(join(pieces))
        return done

    def single(self, word: Word | None, line: int = 0) -> Text:
        """The one text that a word becomes where the shell does not split, as after ``=``."""
        if word is None:
            return Text.at("", line)
        pieces: list[Text] = []
        length = 0
        for part in word.parts:
            for number, (text, breaks_before, _) in enumerate(self._values(part)):
                length = self._grown(length, text, word.line)
                if breaks_before and number:
                    pieces.append(Text.at(" ", text.line))
                pieces.append(text)
        if not pieces:
            return Text.at("", word.line)
        return join(pieces)

    def heredoc(self, redirect: Redirect) -> Text:
        """The body of a here-document as its reader gets it."""
        if redirect.body is None:
            return Text("")
        if redirect.literal:
            return redirect.body
        reader = _BodyReader(redirect.body)
        return self.single(reader.quoted_text(), redirect.body.line)

    @staticmethod
    def _grown(length: int, text: Text, line: int) -> int:
        """The length with one more text.

        Raises:
            ShellError: it is more than any command line holds.
        """
        length += len(text.text)
        if length > _LONGEST:
            raise ShellError("a value grows beyond what is read", line)
        return length

    def _check(self, done: list[Text], line: int) -> None:
        if len(done) > _MOST_FIELDS:
            raise ShellError("a word grows beyond what is read", line)

    # Parts -----------------------------------------------------------------------------------------------------------

    def _values(self, part: Part) -> list[tuple[Text, bool, bool]]:
        """(text, begins a new word, is split at blanks) for each value of a part."""
        if isinstance(part, Literal):
            # A literal that stands unquoted inside braces may hold blanks, and then splits.
            splits = not part.quoted and _BLANK.search(part.text.text) is not None
            return [(part.text, False, splits)]
        if isinstance(part, Arithmetic):
            return [(Text.at(self.arithmetic(part.expression), part.line), False, False)]
        if isinstance(part, Substitution):
            text = self._substituted(part)
            return [(_quoted(text), False, False)] if part.quoted else [(text.same(soften(text.text)), False, True)]
        items, many, split = self._parameter(part)
        if not part.quoted:
            return [(item.same(soften(item.text)), number > 0, not split) for number, item in enumerate(items)]
        if many:
            kept = [item if is_array(item.text) else _quoted(item) for item in items]
            return [(item, number > 0, False) for number, item in enumerate(kept)]
        return [(_quoted(join(items, " ") if items else Text.at("", part.line)), False, False)]

    def _substituted(self, part: Substitution) -> Text:
        """The output of the few substitutions that say what it is, else a hole."""
        if self._on_substitution is not None:
            self._on_substitution(part)
        unknown = Text.at(hole(part.shown), part.line)
        command = part.body[0] if len(part.body) == 1 else None
        if not isinstance(command, Simple) or command.assignments:
            return unknown
        words = [self.single(word) for word in command.words if isinstance(word, Word)]
        names = [text.text for text in words]
        bodies = [redirect for redirect in command.redirects if redirect.body is not None]
        if names == ["cat"] and len(bodies) == 1 and len(command.redirects) == 1:
            text = self.heredoc(bodies[0])
            return text.cut(0, len(text.text.rstrip("\n")))
        if command.redirects or any(has_hole(name) for name in names):
            return unknown
        if len(names) == 2 and names[0] in ("basename", "dirname") and names[1]:
            folder, _, base = names[1].rstrip("/").rpartition("/")
            return Text.at(base if names[0] == "basename" else folder or ".", part.line)
        if names[:1] == ["seq"]:
            counted = values.sequence(names[1:])
            return unknown if counted is None else Text.at("\n".join(counted), part.line)
        if names[:1] == ["echo"] and not any(name.startswith("-") or "\\" in name for name in names[1:]):
            fields = [field for word in command.words[1:] if isinstance(word, Word) for field in self.fields(word)]
            return join(fields, " ") if fields else Text.at("", part.line)
        return unknown

    def arithmetic(self, expression: str) -> str:
        """The result of ``$((expression))``, or a hole."""

        def number(match: re.Match[str]) -> str:
            known = self.state.variables.get(match.group(1))
            return known.scalar().text.strip() or "0" if known is not None else match.group(0)

        result = values.calculated(_NAME.sub(number, expression))
        return hole(f"$(({expression}))") if result is None else str(result)

    # Parameters ------------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> tuple[tuple[Text, ...], bool, bool]:
        """(values, is it a list, is it known to be set) of a parameter; an unset one gives its hole."""
        line = 0
        if name in ("@", "*"):
            return self.state.positionals, name == "@", True
        if name.isdigit() and name.strip("0") and len(name) <= _LONGEST_NUMBER:
            position = int(name) - 1
            if any(text.text == REST for text in self.state.positionals[: position + 1]):
                return (Text.at(variable(name), line),), False, False
            if position < len(self.state.positionals):
                return (self.state.positionals[position],), False, True
            return (Text.at("", line),), False, False
        if name == "#" and not any(text.text == REST for text in self.state.positionals):
            return (Text.at(str(len(self.state.positionals)), line),), False, True
        known = self.state.variables.get(name)
        if known is None:
            return (Text.at(variable(name), line),), False, False
        return (known.scalar(),), False, True

    def _parameter(self, part: Parameter) -> tuple[tuple[Text, ...], bool, bool]:
        """(values, is it a list, are they words already) of a parameter."""
        if not part.name:
            return (Text.at(hole(part.shown), part.line),), False, False
        items, many, is_set = self._indexed(part)
        items = tuple(item if item.line else Text.at(item.text, part.line) for item in items)
        if not part.op:
            return items, many, False
        if part.op in _DEFAULTS:
            return self._defaulted(part, items, many, is_set)
        if part.op == "indirect" and part.index in ("@", "*"):
            return items, many, False
        if many and part.op in ("length", ":", "@"):
            return (*self._list_operator(part, items), False)
        return tuple(self._operator(part, item, is_set) for item in items), many, False

    def _defaulted(
        self, part: Parameter, items: tuple[Text, ...], many: bool, is_set: bool
    ) -> tuple[tuple[Text, ...], bool, bool]:
        op = part.op
        # A variable that holds nothing but another unset one is as good as unset: `X=$1; ${X:-y}`.
        empty = not is_set or (len(items) == 1 and variable_of(items[0].text) is not None)
        if op.startswith(":"):
            empty = empty or not any(item.text for item in items)
        if op in ("?", ":?") or (op in ("-", ":-", "=", ":=") and not empty):
            return items, many, False
        if op in ("+", ":+") and empty:
            return (), many, False
        if part.argument is None:
            return (), many, False
        if op in ("=", ":="):
            default = self.single(part.argument, part.line)
            self.state.set(part.name, Variable(default))
            return (default,), False, False
        if part.quoted:
            return (self.single(part.argument, part.line),), False, False
        return tuple(self.fields(part.argument)), True, True

    def _indexed(self, part: Parameter) -> tuple[tuple[Text, ...], bool, bool]:
        if part.index is None:
            return self.lookup(part.name)
        known = self.state.variables.get(part.name)
        if part.index in ("@", "*"):
            if known is not None and part.op == "indirect":
                keys = [key for key, _ in known.entries] if known.entries is not None else range(len(known.all()))
                return tuple(Text.at(str(key), part.line) for key in keys), part.index == "@", True
            if known is None:
                return (Text.at(array(part.name), part.line),), part.index == "@", False
            return known.all(), part.index == "@", True
        if known is None:
            return self.lookup(part.name)
        if known.entries is not None:
            found = dict(known.entries).get(self._key(part.index))
            return (found if found is not None else Text.at("", part.line),), False, found is not None
        index = _NAME.sub(lambda match: self.lookup(match.group(1))[0][0].text, part.index)
        place = values.calculated(index)
        elements = known.all()
        if place is None:
            return (Text.at(hole("${" + part.name + "[" + part.index + "]}"), part.line),), False, False
        if -len(elements) <= place < len(elements):
            return (elements[place],), False, True
        return (Text.at("", part.line),), False, False

    def _list_operator(self, part: Parameter, items: tuple[Text, ...]) -> tuple[tuple[Text, ...], bool]:
        if part.op == "@":
            return items, True
        if any(is_hole(item.text) for item in items):
            # Arguments that nobody told: their number is open, and so is a slice of them.
            return (Text.at(hole(part.shown), part.line),) if part.op == "length" else items, True
        if part.op == "length":
            return (Text.at(str(len(items)), part.line),), False
        bounds = [values.calculated(bound) for bound in self.single(part.argument).text.split(":")]
        if not bounds or any(bound is None for bound in bounds):
            return items, True
        numbers = [bound for bound in bounds if bound is not None]
        # The positional parameters count from 1.
        start = numbers[0] - 1 if part.name in ("@", "*") and numbers[0] > 0 else numbers[0]
        kept = items[start:]
        return kept[: numbers[1]] if len(numbers) > 1 else kept, True

    def _operator(self, part: Parameter, item: Text, is_set: bool) -> Text:
        op, name = part.op, part.name
        unset = not is_set or variable_of(item.text) is not None
        if op == "indirect":
            target = item.text
            known = self.state.variables.get(target) if not unset else None
            return known.scalar() if known is not None else Text.at(variable(name), part.line)
        if has_hole(item.text):
            return Text.at(hole(part.shown), part.line)
        if op == "length":
            return Text.at(str(len(item.text)), part.line)
        changed = self._changed(op, item.text, part)
        return Text.at(hole(part.shown), part.line) if changed is None else Text.at(changed, item.line)

    def _changed(self, op: str, text: str, part: Parameter) -> str | None:
        argument = self.single(part.argument).text
        if has_hole(argument):
            return None
        if op in ("#", "##"):
            return values.without_prefix(text, argument, op == "##")
        if op in ("%", "%%"):
            return values.without_suffix(text, argument, op == "%%")
        if op in ("/", "//", "/#", "/%"):
            pattern, by = self._halves(part.argument)
            return values.replaced(text, pattern, by, op)
        if op in ("^^", ",,"):
            return text.upper() if op == "^^" else text.lower()
        if op in ("^", ","):
            return (text[:1].upper() if op == "^" else text[:1].lower()) + text[1:]
        if op == ":":
            bounds = [values.calculated(bound) for bound in argument.split(":")]
            if None in bounds or len(bounds) > 2:
                return None
            numbers = [bound for bound in bounds if bound is not None]
            kept = text[numbers[0] :]
            return kept[: numbers[1]] if len(numbers) > 1 else kept
        return text if op == "@" else None

    def _halves(self, argument: Word | None) -> tuple[str, str]:
        """What stands before and after the first slash that is neither quoted nor escaped."""
        parts = argument.parts if argument is not None else ()
        for number, part in enumerate(parts):
            place = part.text.text.find("/") if isinstance(part, Literal) and not part.quoted else -1
            if isinstance(part, Literal) and place >= 0:
                before = Literal(part.text.cut(0, place), quoted=False)
                after = Literal(part.text.cut(place + 1, len(part.text.text)), quoted=False)
                return (
                    self.single(Word((*parts[:number], before), part.text.line)).text,
                    self.single(Word((after, *parts[number + 1 :]), part.text.line)).text,
                )
        return self.single(argument).text, ""

    # Assignments -----------------------------------------------------------------------------------------------------

    def assigned(self, assignment: Assignment) -> Variable:
        """The variable that an assignment makes, with the old value where it appends."""
        old = self.state.variables.get(assignment.name)
        if assignment.elements is not None:
            return self._array(assignment, old)
        value = self.single(assignment.value, assignment.line)
        if assignment.index is not None:
            return self._element(assignment, value, old)
        if not assignment.append:
            return Variable(value)
        if old is not None and old.elements is not None:
            first = join([old.scalar(), value])
            return Variable(elements=(first, *old.elements[1:]))
        before = old.scalar() if old is not None else Text.at(variable(assignment.name), assignment.line)
        return Variable(join([before, value]))

    def _array(self, assignment: Assignment, old: Variable | None) -> Variable:
        keyed = [(key, word) for key, word in assignment.elements or () if key is not None]
        if keyed and any(values.calculated(key) is None for key, _ in keyed):
            entries = dict(old.entries or ()) if old is not None and assignment.append else {}
            for key, word in keyed:
                entries[self._key(key)] = self.single(word)
            return Variable(entries=tuple(entries.items()))
        elements = list(old.all()) if old is not None and assignment.append else []
        for _, word in assignment.elements or ():
            elements.extend(self.fields(word))
        return Variable(elements=tuple(elements))

    def _element(self, assignment: Assignment, value: Text, old: Variable | None) -> Variable:
        index = self._key(assignment.index or "")
        place = values.calculated(index)
        if place is None or (old is not None and old.entries is not None):
            entries = dict(old.entries or ()) if old is not None else {}
            entries[index] = value
            return Variable(entries=tuple(entries.items()))
        elements = list(old.all()) if old is not None else []
        if 0 <= place < len(elements):
            elements[place] = value
        else:
            elements.append(value)
        return Variable(elements=tuple(elements))

    def _key(self, key: str) -> str:
        return _NAME.sub(
            lambda match: self.lookup(match.group(1))[0][0].text if match.group(0).startswith("$") else match.group(0),
            key.strip("'\""),
        )


class _BodyReader(WordReader):
    """Reads a here-document's body, whose substitutions are not looked into."""

    def commands_until(self, closing: str) -> list[Command]:
        level = 0
        while self.position < self.end:
            character = self.text[self.position]
            if character == closing and level == 0:
                return []
            level += {"(": 1, ")": -1}.get(character, 0)
            self.position += 1
        return []


def _quoted(text: Text) -> Text:
    return text.same(harden(text.text))
