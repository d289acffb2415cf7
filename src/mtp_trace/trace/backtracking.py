"""Regular expressions of the tree whose match would take for ever: found by trying them on the text's beginning."""

from __future__ import annotations

import functools
import re
import time
from typing import Any

from mtp_trace.trace.values import BudgetExceeded

try:
    import re._constants as _codes  # type: ignore[import-not-found, unused-ignore]
    import re._parser as _parser  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # Python 3.10
    import sre_constants as _codes  # type: ignore[no-redef, unused-ignore]
    import sre_parse as _parser  # type: ignore[no-redef, unused-ignore]

_SHORT = 14
_STEP = 3
_SLOW = 0.02
_MAX_TEXT = 1_000_000


def check(pattern: re.Pattern[Any], text: Any) -> None:
    """Raises BudgetExceeded where a match of the whole text is not to be expected.

    A pattern that repeats a repetition may try every way to divide the text. It is tried on longer and longer
    beginnings of it, made to fail at their end; it is refused when that takes long, before it takes too long.
    """
    if not isinstance(text, (str, bytes)):
        return
    if len(text) > _MAX_TEXT:
        raise BudgetExceeded("a text of that length is not searched")
    if len(text) <= _SHORT or not _repeats_repetition(pattern):
        return
    end = "\0" if isinstance(text, str) else b"\0"
    for size in range(_SHORT, min(len(text), 400) + 1, _STEP):
        started = time.perf_counter()
        pattern.search(text[:size] + end)  # type: ignore[operator]
        if time.perf_counter() - started > _SLOW:
            raise BudgetExceeded(f"the regular expression {pattern.pattern!r:.80} takes too long on this text")


@functools.lru_cache(maxsize=512)
def _repeats_repetition(pattern: re.Pattern[Any]) -> bool:
    try:
        return _nested(
            _parser.parse(pattern.pattern, pattern.flags & ~re.LOCALE if isinstance(pattern.pattern, str) else 0), False
        )
    except (re.error, RecursionError, ValueError, OverflowError):
        return True


def _nested(items: Any, inside: bool) -> bool:
    """Whether a repetition without bound stands inside another one, or several side by side."""
    loops = 0
    for op, value in items:
        if op in (_codes.MAX_REPEAT, _codes.MIN_REPEAT):
            _, most, body = value
            endless = most is _codes.MAXREPEAT or most > 100
            loops += endless
            if (endless and inside) or _nested(body, inside or endless):
                return True
        elif any(_nested(part, inside) for part in _parts(value)):
            return True
    return loops > 3


def _parts(value: Any) -> list[Any]:
    """The sub-patterns anywhere inside an operation's value."""
    if isinstance(value, _parser.SubPattern):
        return [value]
    if isinstance(value, (list, tuple)):
        return [part for x in value for part in _parts(x)]
    return []
