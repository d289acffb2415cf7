"""Values as text: ``str``, ``repr``, format specifications and ``%``."""

from __future__ import annotations

import operator
import pathlib
from collections.abc import Callable
from typing import Any

from mtp_trace.trace import limits
from mtp_trace.trace.errors import EXCEPTIONS, message_of, throw_host
from mtp_trace.trace.iteration import iterating, ordered
from mtp_trace.trace.operands import VIEWS, dunder, is_ours, payload, short
from mtp_trace.trace.values import MISSING, Instance, Unknown, Value, first_unknown

_SCALARS = (int, float, str, bytes, type(None))


def to_text(engine: Any, value: Value) -> Value:
    """``str(value)``: a str, or Unknown."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unknown):
        return value.derive(f"str({value.key})")
    if isinstance(value, Instance):
        for name in ("__str__", "__repr__"):
            found = dunder(engine, value, name)
            if found is not MISSING:
                return found
        if EXCEPTIONS["BaseException"] in value.cls.mro:
            return message_of(value)
        if value.cls.has_trait("enum"):
            return engine.enum_text(value)
        inner = payload(value)
        return to_text(engine, inner) if not isinstance(inner, Instance) else to_repr(engine, value)
    if is_ours(value) or isinstance(value, (type, list, tuple, set, frozenset, dict, *VIEWS)):
        return to_repr(engine, value)
    return str(value)


def to_repr(engine: Any, value: Value) -> Value:
    """``repr(value)``: a str, or Unknown."""
    if isinstance(value, Unknown):
        return value.derive(f"repr({value.key})")
    if isinstance(value, Instance):
        found = dunder(engine, value, "__repr__")
        if found is not MISSING:
            return found
        if value.cls.has_trait("enum"):
            return f"<{value.cls.name}.{value.attrs.get('_name_')}: {to_repr(engine, value.attrs.get('_value_'))}>"
        if EXCEPTIONS["BaseException"] in value.cls.mro:
            return f"{value.cls.name}({', '.join(str(to_repr(engine, a)) for a in value.attrs.get('args', ()))})"
        inner = payload(value)
        return repr(inner) if not isinstance(inner, Instance) else f"<{value.cls.qualname} object>"
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return container_repr(engine, value)
    if isinstance(value, VIEWS):
        return f"{type(value).__name__}({container_repr(engine, [*iterating(engine, value)])})"
    if isinstance(value, pathlib.PurePath):
        return f"PosixPath({str(value)!r})"
    return repr(value)


_SHOWING: set[int] = set()
"""Containers whose repr is being made: one inside itself shows as dots."""


def container_repr(engine: Any, value: Value) -> str:
    """``repr`` of a container; unknown parts are marked."""
    if id(value) in _SHOWING:
        return "{...}" if isinstance(value, (dict, set)) else "(...)" if isinstance(value, tuple) else "[...]"
    _SHOWING.add(id(value))
    try:
        return _items_repr(engine, value)
    finally:
        _SHOWING.discard(id(value))


def _items_repr(engine: Any, value: Value) -> str:
    def show(x: Value) -> str:
        text = to_repr(engine, x)
        return text if isinstance(text, str) else repr(x)

    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ("," if len(value) == 1 else "") + ")"
    items = ", ".join(map(show, ordered(value)))
    if isinstance(value, frozenset):
        return f"frozenset({{{items}}})" if value else "frozenset()"
    return f"{{{items}}}" if value else "set()"


def format_value(engine: Any, value: Value, conversion: str | None, spec: str) -> Value:
    """One replacement field of an f-string or ``str.format``."""
    if conversion == "r":
        value = to_repr(engine, value)
    elif conversion == "s":
        value = to_text(engine, value)
    elif conversion == "a":
        shown = to_repr(engine, value)
        value = shown if isinstance(shown, Unknown) else ascii_of(shown)
    if isinstance(value, Unknown):
        return value
    if not spec:
        return to_text(engine, value)
    if isinstance(value, Instance):
        found = dunder(engine, value, "__format__", spec)
        if found is not MISSING:
            return found
        inner = payload(value)
        value = inner if not isinstance(inner, Instance) else to_text(engine, value)
    limits.format_spec(spec)
    try:
        return format(value, spec)
    except (TypeError, ValueError) as e:
        throw_host(e)


class _Operand:
    """A value as ``%`` asks for it: as text, as its repr or as a number."""

    def __init__(self, engine: Any, value: Value) -> None:
        self._engine, self._value = engine, value

    def __str__(self) -> str:
        return self._shown(to_text)

    def __repr__(self) -> str:
        return self._shown(to_repr)

    def _shown(self, make: Callable[[Any, Value], Value]) -> str:
        if isinstance(self._value, Unknown):
            return f"<{self._value.key}>"
        text = make(self._engine, self._value)
        return text if isinstance(text, str) else f"<{text.key}>"

    def __float__(self) -> float:
        return float(payload(self._value))

    def __index__(self) -> int:
        return operator.index(payload(self._value))

    __int__ = __index__


def ascii_of(shown: str) -> str:
    """A repr with everything beyond ASCII escaped."""
    return shown.encode("ascii", "backslashreplace").decode("ascii")


def percent_format(engine: Any, template: str | bytes, args: Value) -> Value:
    """``template % args``."""
    unknown = first_unknown(args)
    if unknown is not None:
        return unknown.derive(f"{short(template)} % {short(args)}")
    return percent_text(engine, template, args)


def percent_text(engine: Any, template: str | bytes, args: Value) -> Value:
    """``template % args`` with unknown parts marked."""
    values = args if isinstance(args, (tuple, dict)) else (args,)
    plain: Any
    if isinstance(values, dict):
        plain = {k: v if isinstance(v, _SCALARS) else _Operand(engine, v) for k, v in values.items()}
    else:
        plain = tuple(v if isinstance(v, _SCALARS) else _Operand(engine, v) for v in values)
    limits.percent(template, plain.values() if isinstance(plain, dict) else plain)
    try:
        return template % plain
    except (TypeError, ValueError, KeyError) as e:
        throw_host(e)
