"""A launch with flags and variables changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mtp_trace.report.model import Change

_NUMBER = re.compile(r"-\d+(\.\d+)?\Z")
Launch = tuple[tuple[str, ...], dict[str, str]]


def edited(argv: Sequence[str], env: dict[str, str], changes: Iterable[Change]) -> Launch:
    """The launch after the changes: a flag is replaced where it stands, a new one goes to the end."""
    words, variables = list(argv), dict(env)
    for change in changes:
        if change.kind == "env":
            variables.pop(change.name, None)
            if change.new is not None:
                variables[change.name] = change.new
        else:
            words = _with_flag(words, change.name, change.new)
    return tuple(words), variables


def given(argv: Sequence[str], name: str) -> str | None:
    """The value that the arguments give a flag ("" for a switch), None where they do not name it; the last counts."""
    found = None
    for index, word in enumerate(argv):
        if word == name:
            values = argv[index + 1 : _end(argv, index)]
            found = " ".join(values)
        elif word.startswith(f"{name}="):
            found = word[len(name) + 1 :]
    return found


def flags_in(argv: Sequence[str]) -> list[str]:
    """The long flags that the arguments name, in order, each once."""
    return list(dict.fromkeys(word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"))


def _with_flag(words: list[str], name: str, value: str | None) -> list[str]:
    wanted = [] if value is None else [name] if value == "" else [name, value]
    out: list[str] = []
    index, placed = 0, False
    while index < len(words):
        word = words[index]
        if word != name and not word.startswith(f"{name}="):
            out.append(word)
            index += 1
            continue
        index = _end(words, index) if word == name else index + 1
        if not placed:
            out += wanted
            placed = True
    return out if placed else [*out, *wanted]


def _end(words: Sequence[str], index: int) -> int:
    """Behind the values of the flag at ``index``."""
    index += 1
    while index < len(words) and (not words[index].startswith("-") or _NUMBER.match(words[index])):
        index += 1
    return index
