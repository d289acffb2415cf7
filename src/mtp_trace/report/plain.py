"""Any value of a report as plain JSON data, and that as bytes: same value, same bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

# The largest integers that every JSON reader of 64 bits can hold; beyond them a number is written as text.
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
# DEL and the C1 controls are legal inside a JSON string, but some terminals act on them.
_STEERING = re.compile(b"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def plain(value: Any) -> Any:
    """``value`` as dicts, lists, strings, numbers, booleans and None.

    Sets are sorted, tuples become lists, enums their values, infinities and huge integers text; an object of any other
    type becomes its ``str``. Undecodable bytes in a string (lone surrogates) are spelled out.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return value if _INT_MIN <= value <= _INT_MAX else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, Mapping):
        return {_text(key if isinstance(key, str) else str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=lambda item: (type(item).__name__, str(item)))
    return _text(str(value))


def plain_sorted(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping whose order says nothing, as plain data in the order of its keys."""
    return {_text(key): plain(mapping[key]) for key in sorted(mapping)}


def _text(value: str) -> str:
    # isascii is constant time and true of nearly every string of a report.
    return str(value) if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


def to_bytes(data: Any, *, indent: bool) -> bytes:
    """Plain ``data`` as UTF-8 JSON: indented by two with a closing line break, or compact on one line without one."""
    raw = msgspec.json.encode(data)
    if indent:
        raw = msgspec.json.format(raw, indent=2) + b"\n"
    return _STEERING.sub(lambda match: b"\\u%04x" % ord(match.group().decode("utf-8")), raw)
