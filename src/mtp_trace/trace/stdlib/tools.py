"""Small helpers for writing native modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.trace import limits, ops
from mtp_trace.trace.errors import throw_host
from mtp_trace.trace.values import Instance, Native, Unknown, Value, first_unknown


def natives(**calls: Callable[[Any, list[Value], dict[str, Value]], Value]) -> dict[str, Value]:
    """A table of natives by name."""
    return {name: Native(name, call) for name, call in calls.items()}


def real(name: str, function: Callable[..., Any]) -> Native:
    """A real builtin function asked on known arguments; unknown where one of them is."""

    def call(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        plain = [ops.payload(a) for a in args]
        unknown = first_unknown(plain)
        if unknown is None and kwargs:
            unknown = first_unknown(list(kwargs.values()))
        if unknown is not None:
            return unknown.derive(f"{name}({', '.join(map(ops.short, plain))})")
        limits.function(name, plain)
        try:
            return function(*plain, **{k: ops.payload(v) for k, v in kwargs.items()})
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as e:
            throw_host(e)

    return Native(name, call)


def attribute_methods(shown: str) -> dict[str, Value]:
    """``__eq__`` by attributes and the ``__repr__`` that names them, as ``SimpleNamespace`` has them."""

    def same(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if not (isinstance(a[1], Instance) and a[1].cls is a[0].cls):
            return NotImplemented
        return ops.equal(e, a[0].attrs, a[1].attrs)

    def show(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        parts = (f"{n}={ops.to_repr(e, v)}" for n, v in a[0].attrs.items())
        return f"{shown}({', '.join(parts)})"

    return natives(__eq__=same, __repr__=show)


def constant(value: Value) -> Callable[[Any, list[Value], dict[str, Value]], Value]:
    """A native that always gives the same."""
    return lambda e, a, k: value


def unknown(key: str, why: str) -> Callable[[Any, list[Value], dict[str, Value]], Value]:
    """A native whose answer nobody knows."""
    return lambda e, a, k: Unknown(key, why)


def argument(args: list[Value], kwargs: dict[str, Value], index: int, name: str, default: Value = None) -> Value:
    """An argument given by position or by name."""
    if index < len(args):
        return args[index]
    return kwargs.get(name, default)
