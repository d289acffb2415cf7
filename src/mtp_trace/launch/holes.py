"""Holes: the places in a text whose content the files do not tell.

A hole travels inside ordinary strings, through splitting, joining and a second reading as shell, as one run of
private-use characters that no tokenizer takes apart. A *soft* hole stood unquoted in a shell command and may turn into
no word at all, or into several.
"""

from __future__ import annotations

import re

_HARD, _SOFT, _END = "\ue000", "\ue001", "\ue002"
_SHIFT = 0xF0000
_LAST = 0xFFFD
_HOLE = re.compile(f"[{_HARD}{_SOFT}]([\U000f0000-\U000ffffd]*){_END}")
_PRIVATE = re.compile("[\ue000-\ue002\U000f0000-\U000fffff]")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][\w.\-]*|[0-9@*#?!$-]|[0-9]+)(?:\[[@*]\])?\}")
_CHANGED = re.compile(r"\$\{[#!]?([A-Za-z_]\w*)(?:[^\w\s{}][^{}]*)?\}")


def clean(text: str) -> str:
    """``text`` without characters that could be taken for a hole; same length."""
    return _PRIVATE.sub("\ufffd", text)


def hole(shown: str, soft: bool = False) -> str:
    """A hole that is shown as ``shown``; for a variable that is ``${NAME}``."""
    inside = "".join(chr(_SHIFT + min(ord(character), _LAST)) for character in show(shown))
    return (_SOFT if soft else _HARD) + inside + _END


def variable(name: str, soft: bool = False) -> str:
    """The hole of the variable ``name``."""
    return hole("${" + name + "}", soft)


def array(name: str) -> str:
    """The hole of all elements of the array ``name``, which may be none."""
    return hole("${" + name + "[@]}", soft=True)


def is_array(text: str) -> bool:
    """Whether ``text`` is the hole of a list of words: an array's, or all positional parameters."""
    return is_hole(text) and show(text).endswith(("${@}", "${*}", "[@]}"))


def soften(text: str) -> str:
    """``text`` with every hole soft; same length."""
    return text.replace(_HARD, _SOFT)


def harden(text: str) -> str:
    """``text`` with every hole hard; same length."""
    return text.replace(_SOFT, _HARD)


def is_hole(text: str) -> bool:
    """Whether ``text`` is one hole and nothing else."""
    return _HOLE.fullmatch(text) is not None


def is_soft_hole(text: str) -> bool:
    """Whether ``text`` is one soft hole and nothing else."""
    return text[:1] == _SOFT and is_hole(text)


def has_hole(text: str) -> bool:
    """Whether something in ``text`` is not known."""
    return _HOLE.search(text) is not None


def show(text: str) -> str:
    """``text`` as a person reads it: holes spelled out."""
    return _HOLE.sub(lambda match: "".join(chr(ord(c) - _SHIFT) for c in match.group(1)), text)


def variable_of(text: str) -> str | None:
    """The name of the variable that ``text`` is the hole of, or None."""
    if not is_hole(text):
        return None
    match = _VARIABLE.fullmatch(show(text))
    return match.group(1) if match else None


def names(text: str) -> list[str]:
    """What is not known in ``text``, in order and once each: variables by name, all else as it is shown."""
    found: dict[str, None] = {}
    for match in _HOLE.finditer(text):
        shown = show(match.group(0))
        plain = _VARIABLE.fullmatch(shown) or _CHANGED.fullmatch(shown)
        found[plain.group(1) if plain else shown] = None
    return list(found)
