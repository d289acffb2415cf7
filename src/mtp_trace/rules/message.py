"""Texts with ``{placeholders}``: which ones a text has, and filling them. No code runs: only names are looked up."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[a-z_][\w-]*(\.[\w.-]+)?\Z", re.I)
_MAX_VALUE = 400


def placeholders(text: str) -> list[str]:
    """Names of the placeholders.  Raises ValueError for an unbalanced brace or something that is no name."""
    found: list[str] = []
    for part in _PART.finditer(text):
        if part.group() in ("{{", "}}"):
            continue
        name = part.group(1)
        if name is None:
            raise ValueError(f"a single {part.group()!r} at character {part.start() + 1}")
        if not _NAME.match(name):
            raise ValueError(f"{{{name}}} is no placeholder")
        found.append(name)
    return found


def fill(text: str, look_up: Callable[[str], Any]) -> str:
    """The text with every placeholder replaced by what ``look_up`` gives for its name."""

    def put(part: re.Match[str]) -> str:
        if part.group() in ("{{", "}}"):
            return part.group()[0]
        return shown(look_up(part.group(1) or ""))

    return _PART.sub(put, text)


def shown(value: Any) -> str:
    """A value in a sentence."""
    if isinstance(value, dict) and set(value) == {"unknown"}:
        return "(not known)"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (list, tuple)):
        text = ", ".join(shown(v) for v in value)
    elif isinstance(value, dict):
        text = ", ".join(f"{k}={shown(v)}" for k, v in value.items())
    else:
        text = str(value)
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 3] + "..."
