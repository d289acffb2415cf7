"""What every operation asks of a value first: its payload, its methods, its type's name, its spelling in a key."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    Class,
    External,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
    shortened,
)

VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
"""``dict.keys()`` and its like: the host's own views, which follow the dict."""
_MAX_LOOKED_AT = 2_000
"""Larger tables are filled by loops over known data; looking for an unknown key at every step would take for ever."""


def short(value: Value) -> str:
    """A value as it stands in an unknown's key."""
    if isinstance(value, Unknown):
        return value.key
    if isinstance(value, Class):
        return value.name
    return shortened(repr(value), 80)


def payload(value: Value) -> Value:
    """The builtin value inside an instance of ``class X(str, Enum)`` and the like; other values as they are."""
    if isinstance(value, Instance) and value.cls.host is not None:
        return value.payload
    return value


def dunder(engine: Any, receiver: Value, name: str, *args: Value) -> Value:
    """What a method that the language looks up on the type gives; ``MISSING`` where there is none or it declines."""
    if isinstance(receiver, Instance):
        method = receiver.cls.lookup(name)
    elif isinstance(receiver, Class) and receiver.metaclass is not None:
        method = receiver.metaclass.lookup(name)
    else:
        return MISSING
    if method is MISSING or method is None:
        return MISSING
    result = engine.call(BoundMethod(method, receiver), list(args), {})
    return MISSING if result is NotImplemented else result


def is_ours(value: Value) -> bool:
    """Whether the host's own message would show one of the tracer's classes."""
    return type(value).__module__.startswith("mtp_trace.")


def unknown_key(container: Collection[Value]) -> Unknown | None:
    """A key of a dict, or an item of a set, that may turn out to be any other."""
    if not container or len(container) > _MAX_LOOKED_AT:
        return None
    kinds = set(map(type, container))
    if Unknown not in kinds and External not in kinds:
        return None
    return next((k for k in container if isinstance(k, Unknown)), None)


def type_name(value: Value) -> str:
    """The name of a value's type, as SGLang's messages would show it."""
    if isinstance(value, Instance):
        return value.cls.name
    if isinstance(value, Class):
        return value.metaclass.name if value.metaclass else "type"
    if isinstance(value, (Function, Native)):
        return "function"
    if isinstance(value, BoundMethod):
        return "method"
    return type(value).__name__
