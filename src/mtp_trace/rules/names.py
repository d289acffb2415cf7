"""Names that are close to one another without being the same: architectures that a person takes for each other."""

from __future__ import annotations

import re

_HEAD = re.compile(r"(.+?)(For[A-Z]\w*)?\Z", re.S)


def near_names(name: str, known: list[str]) -> list[str]:
    """The known names that differ from ``name`` only in case, in the part that says what for, or by one word."""
    if name in known:
        return []
    return [other for other in known if _close(name, other)]


def _close(a: str, b: str) -> bool:
    first, second = _words(a), _words(b)
    if not first or not second or first[0] != second[0]:
        return False
    return _same_but_one(first, second) or "".join(first) == "".join(second)


def _same_but_one(a: list[str], b: list[str]) -> bool:
    """Equal, or equal after one word of the longer list is left out."""
    if len(a) == len(b):
        return a == b
    if abs(len(a) - len(b)) != 1:
        return False
    short, long = sorted((a, b), key=len)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _words(name: str) -> list[str]:
    head = _HEAD.match(name)
    return [w.lower().strip("_") for w in _split(head.group(1) if head else name)]


def _split(text: str) -> list[str]:
    """``Step3p7Flash`` gives Step3p7, Flash; ``ExaoneMoE`` gives Exaone, MoE."""
    return re.findall(r"[A-Z][a-z0-9_]+[A-Z](?![a-z])|[A-Z][a-z0-9_]*|[a-z0-9_]+", text.replace("MoE", "Moe"))
