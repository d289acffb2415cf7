"""Files of NAME=VALUE lines, in the three ways that they are read."""

from __future__ import annotations

import re
from enum import Enum

from mtp_trace.launch.text import Text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_MOST_LINES = 20_000


class Style(Enum):
    """Who reads the file."""

    DOCKER = "docker"
    """``--env-file``: the value is all that follows ``=``, as it stands."""
    COMPOSE = "compose"
    """Quotes are taken off, a comment may follow, ``export`` may stand before the name."""
    SYSTEMD = "systemd"
    """Quotes are taken off, a backslash joins lines."""


def parse_env(text: str, style: Style) -> dict[str, Text]:
    """The variables of such a file, each at its line; lines of another form are passed over."""
    found: dict[str, Text] = {}
    lines = text.split("\n")[:_MOST_LINES]
    index = 0
    while index < len(lines):
        number, line = index + 1, lines[index]
        index += 1
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        if style is not Style.DOCKER:
            stripped = re.sub(r"^export\s+", "", stripped)
            while style is Style.SYSTEMD and stripped.endswith("\\") and index < len(lines):
                stripped = stripped[:-1] + lines[index].strip()
                index += 1
        name, equals, value = stripped.partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            continue
        if style is not Style.DOCKER:
            value = value.strip()
            while value[:1] in ("'", '"') and value.count(value[0]) == 1 and index < len(lines):
                value += "\n" + lines[index]
                index += 1
            value = _unquoted(value, style)
        found[name] = Text.at(value, number)
    return found


def _unquoted(value: str, style: Style) -> str:
    quote = value[:1]
    if quote in ("'", '"') and quote:
        end = 1
        while end < len(value) and value[end] != quote:
            end += 2 if value[end] == "\\" and quote == '"' else 1
        inside = value[1:end]
        if quote == '"':
            inside = re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match.group(1), match.group(1)), inside)
        return inside
    if style is Style.COMPOSE:
        value = re.split(r"\s#", value, maxsplit=1)[0].rstrip()
    return value
