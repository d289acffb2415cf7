"""What an argument parser refused, read from its message: a flag it does not know, or a value it does not take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

from mtp_trace.rules.flags import FlagTable

_FLAG = re.compile(r"unrecognized arguments: (--[\w-]+)(?:[ =](\S+))?")
_VALUE = re.compile(r"argument (--?[\w-]+)(?:/\S+)*: invalid choice: '?(.*?)'? \(choose from ([^)]*)\)", re.S)
_CHOICE = re.compile(r"'([^']*)'|([^\s,']+)")


def refused_facts(message: str, table: Callable[[], FlagTable]) -> dict[str, Any]:
    """The facts of a refusal, none where the message is another one. The tree's flags are only read where needed."""
    unknown, wrong = _FLAG.search(message), _VALUE.search(message)
    if unknown is not None:
        return _unknown(unknown.group(1), unknown.group(2) or "", table())
    return _wrong(wrong.group(1), wrong.group(2), wrong.group(3), table()) if wrong is not None else {}


def _unknown(flag: str, value: str, table: FlagTable) -> dict[str, Any]:
    facts: dict[str, Any] = {"unknown_flag": flag, "refused_value": value}
    near = table.nearest(flag, value)
    if near is not None:
        facts |= {"successor": near[0].name, "successor_why": near[1], "successor_at": f"{near[0].file}:{near[0].line}"}
    return facts


def _wrong(flag: str, value: str, listed: str, table: FlagTable) -> dict[str, Any]:
    choices = [quoted or plain for quoted, plain in _CHOICE.findall(listed)]
    facts: dict[str, Any] = {"wrong_flag": flag, "refused_value": value, "choices": choices}
    near = difflib.get_close_matches(value.lower(), [c.lower() for c in choices], 1, 0.6)
    if near:
        facts["near_choice"] = next(c for c in choices if c.lower() == near[0])
    known = table.by_name.get(flag)
    if known is not None:
        facts["wrong_flag_at"] = f"{known.file}:{known.line}"
    return facts
