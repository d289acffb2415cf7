"""The flags that a launch's words name, read without any tree's table."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"-\d+(\.\d+)?\Z")


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


def _end(words: Sequence[str], index: int) -> int:
    """Behind the values of the flag at ``index``."""
    index += 1
    while index < len(words) and (not words[index].startswith("-") or _NUMBER.match(words[index])):
        index += 1
    return index
