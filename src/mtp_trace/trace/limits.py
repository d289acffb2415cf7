"""How large a result may become: asked before the host computes it, so that no program can take the machine with it."""

from __future__ import annotations

import re
from collections.abc import Sized
from typing import Any, NoReturn

from mtp_trace.trace.values import BudgetExceeded, Value

MAX_ITEMS = 1_000_000
"""Items of a sequence, characters of a text."""
MAX_BITS = 65_536
"""Bits of an integer."""
_NOTED = 4_096
_NUMBER = re.compile(r"\d{6,}")
_WIDTH = re.compile(r"%(?:\([^)]*\))?[-#0 +]*(\d*|\*)(?:\.(\d*|\*))?")


def refuse(size: int, what: str = "a value") -> NoReturn:
    """Raises for something that would be too large."""
    raise BudgetExceeded(f"{what} of size {size if size < 10**30 else 'beyond counting'} is more than the trace keeps")


def binary(op: str, left: Value, right: Value) -> None:
    """Refuses an operator's result that would be too large."""
    if isinstance(left, int) and isinstance(right, int):
        _integers(op, left, right)
    elif op == "*":
        sized, times = (right, left) if isinstance(left, int) else (left, right)
        if isinstance(times, int) and isinstance(sized, Sized) and len(sized) * times > MAX_ITEMS:
            refuse(len(sized) * times, "a sequence")
    elif op == "+" and isinstance(left, Sized) and isinstance(right, Sized) and len(left) + len(right) > MAX_ITEMS:
        refuse(len(left) + len(right), "a sequence")


def _integers(op: str, left: int, right: int) -> None:
    bits = left.bit_length()
    if op == "**" and right > 0 and bits > 1:
        bits *= right
    elif op == "<<" and right > 0 and left:
        bits += right
    elif op == "*":
        bits += right.bit_length()
    if bits > MAX_BITS:
        refuse(bits, "an integer")


def charge(engine: Any, result: Value) -> None:
    """Counts a large result as turns of a loop: many of them are as good as one without end."""
    if isinstance(result, (str, bytes, list, tuple, bytearray)) and len(result) > _NOTED:
        engine.turns(len(result) // 8)


def format_spec(spec: str) -> None:
    """Refuses a width or precision that is too large."""
    for number in _NUMBER.findall(spec):
        if len(number) > 8 or int(number) > MAX_ITEMS:
            refuse(10 ** min(len(number), 40), "a text")


def percent(template: str | bytes, values: Any) -> None:
    """Refuses widths that are too large in ``template % values``."""
    text = template if isinstance(template, str) else template.decode("latin-1")
    for width, precision in _WIDTH.findall(text):
        format_spec(width)
        format_spec(precision)
        if "*" in (width, precision) and any(isinstance(v, int) and abs(v) > MAX_ITEMS for v in values):
            refuse(MAX_ITEMS + 1, "a text")


def method(obj: Value, name: str, args: list[Value]) -> None:
    """Refuses the call of a builtin value's method whose result would be too large."""
    if isinstance(obj, (str, bytes, int)) and any(isinstance(a, int) and a > MAX_ITEMS for a in args) and name in _WIDE:
        refuse(max(a for a in args if isinstance(a, int)), "a text")
    if name == "join" and args and isinstance(args[0], (list, tuple)):
        parts = [len(x) for x in args[0] if isinstance(x, Sized)]
        size = sum(parts) + len(obj) * max(0, len(parts) - 1)
    elif name == "replace" and len(args) > 1 and isinstance(args[1], Sized) and isinstance(args[0], type(obj)):
        size = obj.count(args[0]) * len(args[1]) if len(args[1]) > 1 else 0
    elif name in ("sub", "subn") and isinstance(obj, re.Pattern) and len(args) > 1 and isinstance(args[0], str):
        size = (len(args[1]) + 1) * len(args[0]) if isinstance(args[1], str) else 0
        if size > MAX_ITEMS and isinstance(args[1], str):
            size = sum(1 for _ in obj.finditer(args[1])) * len(args[0])
    elif name == "expandtabs" and args and isinstance(args[0], int):
        size = len(obj) * args[0]
    elif name == "translate" and isinstance(obj, str) and args and isinstance(args[0], dict):
        size = len(obj) * max((len(v) for v in args[0].values() if isinstance(v, str)), default=0)
    else:
        return
    if size > MAX_ITEMS:
        refuse(size, "a text")


_WIDE = frozenset({"ljust", "rjust", "center", "zfill", "to_bytes", "expandtabs"})


def function(name: str, args: list[Value]) -> None:
    """Refuses the call of a builtin or library function whose result would be too large."""
    numbers = [a for a in args if isinstance(a, int)]
    if name in ("bytes", "bytearray") and len(args) == 1 and numbers and numbers[0] > MAX_ITEMS:
        refuse(numbers[0], "a sequence")
    if name == "math.factorial" and numbers and numbers[0] > 5_000:
        refuse(numbers[0] * 10, "an integer")
    if name in ("math.comb", "math.perm") and numbers:
        chosen = numbers[1] if len(numbers) > 1 else numbers[0]
        if name == "math.comb":
            chosen = min(chosen, numbers[0] - chosen)
        if chosen > 0 and chosen * numbers[0].bit_length() > MAX_BITS:
            refuse(chosen * numbers[0].bit_length(), "an integer")
    if name == "math.prod" and args and isinstance(args[0], (list, tuple)):
        bits = sum(x.bit_length() for x in args[0] if isinstance(x, int))
        if bits > MAX_BITS:
            refuse(bits, "an integer")
    texts = [len(a) for a in args if isinstance(a, (str, bytes))]
    if name in ("indent", "fill", "wrap") and len(texts) > 1 and texts[0] * texts[1] > 50 * MAX_ITEMS:
        refuse(texts[0] * texts[1], "a text")
