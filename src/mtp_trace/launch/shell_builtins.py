"""The shell's own commands that change what a script knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from mtp_trace.launch.holes import array, has_hole, variable
from mtp_trace.launch.shell_expand import Expander
from mtp_trace.launch.shell_state import REST, State, Variable
from mtp_trace.launch.shell_syntax import Assignment, Word
from mtp_trace.launch.text import Text

_NAME = re.compile(r"[A-Za-z_]\w*")

Run = Callable[[list[Text], State, "Text | None"], None]
Declare = Callable[["list[Word | Assignment]", State, Expander], None]


def _no_run(words: list[Text], state: State, heredoc: Text | None) -> None:
    """Changes nothing."""


def _no_declaration(words: list[Word | Assignment], state: State, expander: Expander) -> None:
    """Changes nothing."""


@dataclass(frozen=True)
class Builtin:
    """``run`` gets expanded words, ``declare`` (where ``takes_assignments``) the words as written."""

    run: Run = _no_run
    declare: Declare = _no_declaration
    takes_assignments: bool = False


def _declaration(exports: bool, local: bool = False) -> Declare:
    def declare(words: list[Word | Assignment], state: State, expander: Expander) -> None:
        exported = exports
        removes = False
        for word in words:
            if isinstance(word, Assignment):
                if local:
                    state.local |= {word.name}
                state.set(word.name, expander.assigned(word), exported=True if exported else None)
                continue
            for text in expander.fields(word):
                option = text.text
                if option[:1] in ("-", "+"):
                    exported = exported or (option.startswith("-") and "x" in option)
                    removes = removes or (exports and "n" in option[1:])
                    continue
                name, equals, _ = option.partition("=")
                if not _NAME.fullmatch(name):
                    continue
                if local:
                    state.local |= {name}
                if equals:
                    value = Variable(text.cut(len(name) + 1, len(option)))
                    state.set(name, value, exported=True if exported else None)
                elif exported:
                    known = state.variables.get(name)
                    if removes and known is not None:
                        state.variables[name] = replace(known, exported=False)
                    elif known is not None:
                        state.variables[name] = replace(known, exported=True)

    return declare


def _unset(words: list[Text], state: State, heredoc: Text | None) -> None:
    for word in words:
        if not word.text.startswith("-"):
            # Unset on purpose is known to be empty, unlike a variable that nobody mentions.
            state.variables.pop(word.text, None)
            state.set(word.text, Variable(Text.at("", word.line)), exported=False)


def _set(words: list[Text], state: State, heredoc: Text | None) -> None:
    place = 0
    while place < len(words):
        text = words[place].text
        if text == "--":
            state.positionals = tuple(words[place + 1 :])
            return
        if text in ("-a", "+a"):
            state.exports_all = text == "-a"
        if text in ("-o", "+o"):
            place += 1
            if place < len(words) and words[place].text == "allexport":
                state.exports_all = text == "-o"
        elif text[:1] in ("-", "+"):
            if "a" in text[1:]:
                state.exports_all = text[0] == "-"
        else:
            state.positionals = tuple(words[place:])
            return
        place += 1


def _shift(words: list[Text], state: State, heredoc: Text | None) -> None:
    count = int(words[0].text) if words and words[0].text.isdecimal() and len(words[0].text) < 6 else 1
    kept = list(state.positionals)
    for _ in range(min(count, len(kept))):
        if kept and kept[0].text != REST:
            kept.pop(0)
    state.positionals = tuple(kept)


def _exit(words: list[Text], state: State, heredoc: Text | None) -> None:
    state.ended = "exit"


def _return(words: list[Text], state: State, heredoc: Text | None) -> None:
    state.ended = "return"


def _break(words: list[Text], state: State, heredoc: Text | None) -> None:
    state.ended = "break"


def _continue(words: list[Text], state: State, heredoc: Text | None) -> None:
    state.ended = "continue"


def _read(words: list[Text], state: State, heredoc: Text | None) -> None:
    """``read -r -d '' NAME <<E`` takes a whole text, ``read -a NAME <<< text`` its words; no other is known."""
    names: list[str] = []
    whole = split = False
    place = 0
    while place < len(words):
        text = words[place].text
        if text.startswith("-") and len(text) > 1:
            split = split or text[-1] == "a"
            if text[-1] in "dnNtupi":
                whole = whole or (text[-1] == "d" and place + 1 < len(words) and not words[place + 1].text)
                place += 1
        elif _NAME.fullmatch(text):
            names.append(text)
        place += 1
    for name in names:
        if split and heredoc is not None and not has_hole(heredoc.text):
            separators = state.variables.get("IFS")
            words_read = _fields(heredoc, separators.scalar().text if separators is not None else " \t\n")
            state.set(name, Variable(elements=tuple(words_read)))
        elif split:
            state.set(name, Variable(elements=(Text.at(array(name), words[0].line),)))
        elif heredoc is not None and whole and len(names) == 1:
            state.set(name, Variable(heredoc.cut(0, len(heredoc.text.rstrip("\n")))))
        else:
            state.set(name, Variable(Text.at(variable(name), words[0].line)))


def _fields(text: Text, separators: str) -> list[Text]:
    pattern = f"[^{re.escape(separators)}\n]+" if separators else ".+"
    return [text.cut(match.start(), match.end()) for match in re.finditer(pattern, text.text)]


def _printf(words: list[Text], state: State, heredoc: Text | None) -> None:
    if len(words) > 2 and words[0].text == "-v" and _NAME.fullmatch(words[1].text):
        plain = words[2].text == "%s" and len(words) == 4 and not has_hole(words[3].text)
        value = words[3] if plain else Text.at(variable(words[1].text), words[1].line)
        state.set(words[1].text, Variable(value))


BUILTINS: dict[str, Builtin] = {
    "export": Builtin(declare=_declaration(True), takes_assignments=True),
    "declare": Builtin(declare=_declaration(False, local=True), takes_assignments=True),
    "typeset": Builtin(declare=_declaration(False, local=True), takes_assignments=True),
    "local": Builtin(declare=_declaration(False, local=True), takes_assignments=True),
    "readonly": Builtin(declare=_declaration(False), takes_assignments=True),
    "unset": Builtin(_unset),
    "set": Builtin(_set),
    "shift": Builtin(_shift),
    "exit": Builtin(_exit),
    "return": Builtin(_return),
    "break": Builtin(_break),
    "continue": Builtin(_continue),
    "read": Builtin(_read),
    "printf": Builtin(_printf),
    ":": Builtin(),
    "true": Builtin(),
    "false": Builtin(),
    "trap": Builtin(),
    "cd": Builtin(),
    "ulimit": Builtin(),
}
"""What each does to a state; a name that is not here is a function or a program."""
