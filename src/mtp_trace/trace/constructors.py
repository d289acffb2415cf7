"""``int(...)``, ``list(...)`` and the other builtin types, made of abstract values."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import limits, ops
from mtp_trace.trace.errors import throw_host
from mtp_trace.trace.values import MISSING, BoundMethod, Instance, Unknown, Value, first_unknown


def numeric(e: Any, fn: Any, name: str, a: list[Value]) -> Value:
    """A real builtin on known arguments."""
    args = [ops.payload(x) for x in a]
    unknown = first_unknown(args)
    if unknown is not None:
        return unknown.derive(f"{name}({', '.join(map(ops.short, args))})")
    limits.function(name, args)
    try:
        return fn(*args)
    except (TypeError, ValueError, ArithmeticError) as error:
        throw_host(error)


def _make_int(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if not a:
        return 0
    value = ops.payload(a[0])
    if isinstance(value, Unknown):
        return value.derive(f"int({value.key})")
    if isinstance(value, Instance):
        for name in ("__int__", "__index__"):
            if (method := value.cls.lookup(name)) is not MISSING:
                return e.call(BoundMethod(method, value), [], {})
    try:
        return int(value, *a[1:], **k)
    except (TypeError, ValueError, OverflowError) as error:
        throw_host(error)


def _make_float(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if a and isinstance(a[0], Instance) and (method := a[0].cls.lookup("__float__")) is not MISSING:
        return e.call(BoundMethod(method, a[0]), [], {})
    return numeric(e, float, "float", a)


def _make_bool(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if not a:
        return False
    if isinstance(a[0], Unknown):
        return a[0] if a[0].truthy is None else a[0].truthy
    return e.truth(a[0])


def _make_str(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if not a:
        return ""
    if isinstance(a[0], bytes) and len(a) + len(k) > 1:
        return a[0].decode(*a[1:], **k)
    return ops.to_text(e, a[0])


def _make_bytes(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return numeric(e, bytes, "bytes", a)


def _collection(kind: Any) -> Any:
    def make(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if not a:
            return kind()
        if isinstance(a[0], Unknown):
            return a[0].derive(f"{kind.__name__}({a[0].key})")
        items = ops.iterate(e, a[0])
        try:
            return kind(items)
        except TypeError as error:
            throw_host(error)

    return make


def _make_dict(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    out: dict[Any, Value] = {}
    if a:
        if isinstance(a[0], Unknown):
            return a[0].derive(f"dict({a[0].key})")
        from mtp_trace.trace.methods import _update

        _update(e, out, a, {})
    out.update(k)
    return out


def _make_range(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    args = [ops.payload(x) for x in a]
    unknown = first_unknown(args)
    if unknown is not None:
        return unknown.derive(f"range({', '.join(map(ops.short, args))})")
    for i, x in enumerate(args):
        if isinstance(x, Instance) and (method := x.cls.lookup("__index__")) is not MISSING:
            args[i] = e.call(BoundMethod(method, x), [], {})
    try:
        return range(*args)
    except (TypeError, ValueError) as error:
        throw_host(error)


MAKERS: dict[type, Any] = {
    int: _make_int,
    float: _make_float,
    bool: _make_bool,
    str: _make_str,
    bytes: _make_bytes,
    list: _collection(list),
    tuple: _collection(tuple),
    set: _collection(set),
    frozenset: _collection(frozenset),
    dict: _make_dict,
    range: _make_range,
    slice: lambda e, a, k: slice(*a),
    complex: lambda e, a, k: numeric(e, complex, "complex", a),
    bytearray: lambda e, a, k: numeric(e, bytearray, "bytearray", a),
    memoryview: lambda e, a, k: Unknown("memoryview()", "memoryview is not modelled"),
}
