"""Whether a value stands a rule's test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.rules.context import ABSENT
from mtp_trace.rules.message import shown
from mtp_trace.rules.model import Condition
from mtp_trace.rules.names import near_names


def holds(test: Condition, value: Any, look_up: Callable[[str], Any]) -> bool:
    """Whether every part of the test holds. An unknown value fails every test but ``given``."""
    absent = value is ABSENT
    if test.given is not None and test.given is (absent or value is None):
        return False
    rest = (
        test.equals,
        test.none_of,
        test.matches,
        test.lacks,
        test.above,
        test.below,
        test.contains,
        test.near,
        test.same,
        test.differs,
        test.divides,
        test.indivisible,
    )
    if all(part is None for part in rest):
        return True
    if isinstance(value, dict) and "unknown" in value:
        return False
    if absent:
        value = None
    if test.equals is not None and not _among(value, test.equals):
        return False
    if test.none_of is not None and _among(value, test.none_of):
        return False
    text = shown(value) if value is not None else ""
    if test.matches is not None and (value is None or test.matches.search(text) is None):
        return False
    if test.lacks is not None and test.lacks.search(text) is not None:
        return False
    return _numbers_hold(test, value) and _relations_hold(test, value, look_up)


def _among(value: Any, allowed: tuple[Any, ...]) -> bool:
    if isinstance(value, bool):
        return any(a is value for a in allowed)
    return any(value == a and not isinstance(a, bool) for a in allowed)


def _numbers_hold(test: Condition, value: Any) -> bool:
    if test.above is None and test.below is None:
        return True
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return (test.above is None or value > test.above) and (test.below is None or value < test.below)


def _relations_hold(test: Condition, value: Any, look_up: Callable[[str], Any]) -> bool:
    if test.contains is not None and _other(test.contains, look_up) not in _list(value):
        return False
    if test.near is not None:
        other = _other(test.near, look_up)
        if not isinstance(other, str) or not near_names(other, [v for v in _list(value) if isinstance(v, str)]):
            return False
    if test.same is not None and not _same(value, _other(test.same, look_up)):
        return False
    if test.differs is not None:
        other = _other(test.differs, look_up)
        if other is None or value is None or _same(value, other):
            return False
    for reference, wanted in ((test.divides, True), (test.indivisible, False)):
        if reference is not None:
            other = _other(reference, look_up)
            if not (type(value) is int and type(other) is int and value > 0 and (other % value == 0) is wanted):
                return False
    return True


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return bool(value == other or str(value) == str(other))


def _other(text: str, look_up: Callable[[str], Any]) -> Any:
    """``$path`` is a fact or capture, anything else the text itself."""
    if not text.startswith("$"):
        return text
    found = look_up(text[1:])
    return None if found is ABSENT or (isinstance(found, dict) and "unknown" in found) else found
