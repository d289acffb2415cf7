"""Operators on abstract values: truth is asked of the engine, everything else is answered here.

An operator with an unknown operand gives an unknown result whose key spells the operation, so that the same question
asked twice gets the same answer. User-defined ``__eq__``, ``__contains__``, ``__getitem__`` and so on are followed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from mtp_trace.trace import limits
from mtp_trace.trace.errors import OBJECT, throw, throw_host
from mtp_trace.trace.iteration import iterate, iterating, iterator, length, ordered
from mtp_trace.trace.operands import VIEWS, dunder, is_ours, payload, short, type_name, unknown_key
from mtp_trace.trace.shown import ascii_of, container_repr, format_value, percent_format, percent_text, to_repr, to_text
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    Class,
    External,
    Function,
    Instance,
    Module,
    Native,
    TypingForm,
    Unknown,
    Value,
    first_unknown,
)

_SCALARS = (int, float, str, bytes, type(None))
_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "+": (operator.add, "__add__", "__radd__"),
    "-": (operator.sub, "__sub__", "__rsub__"),
    "*": (operator.mul, "__mul__", "__rmul__"),
    "/": (operator.truediv, "__truediv__", "__rtruediv__"),
    "//": (operator.floordiv, "__floordiv__", "__rfloordiv__"),
    "%": (operator.mod, "__mod__", "__rmod__"),
    "**": (operator.pow, "__pow__", "__rpow__"),
    "<<": (operator.lshift, "__lshift__", "__rlshift__"),
    ">>": (operator.rshift, "__rshift__", "__rrshift__"),
    "&": (operator.and_, "__and__", "__rand__"),
    "|": (operator.or_, "__or__", "__ror__"),
    "^": (operator.xor, "__xor__", "__rxor__"),
    "@": (operator.matmul, "__matmul__", "__rmatmul__"),
}
_ORDER: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
_GROWING = frozenset({"*", "+", "**", "<<"})


def binary(engine: Any, op: str, left: Value, right: Value) -> Value:
    """``left op right``."""
    host, method, reflected = _BINARY[op]
    if op == "%" and isinstance(left, (str, bytes)):
        return percent_format(engine, left, right)
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        return _host_binary(engine, op, host, left, right)
    if isinstance(left, (Instance, Class)) or isinstance(right, (Instance, Class)):
        found = dunder(engine, left, method, right)
        if found is MISSING:
            found = dunder(engine, right, reflected, left)
        if found is not MISSING:
            return found
        left, right = payload(left), payload(right)
    if op == "|" and (_is_type(left) or _is_type(right)):
        return TypingForm("Union", (*_union_parts(left), *_union_parts(right)))
    unknown = left if isinstance(left, Unknown) else right if isinstance(right, Unknown) else None
    if unknown is not None:
        return unknown.derive(f"{short(left)} {op} {short(right)}")
    return _host_binary(engine, op, host, left, right)


def _host_binary(engine: Any, op: str, host: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    if op in _GROWING:
        limits.binary(op, left, right)
    try:
        result = host(left, right)
    except TypeError as e:
        if is_ours(left) or is_ours(right):
            shown = "** or pow()" if op == "**" else op
            throw("TypeError", f"unsupported operand type(s) for {shown}: '{type_name(left)}' and '{type_name(right)}'")
        throw_host(e)
    except (ValueError, ArithmeticError) as e:
        throw_host(e)
    limits.charge(engine, result)
    return result


def _union_parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TypingForm) and value.name == "Union":
        return value.args
    return (type(None) if value is None else value,)


def _is_type(value: Value) -> bool:
    return isinstance(value, (type, Class, TypingForm, External))


def inplace(engine: Any, op: str, left: Value, right: Value) -> Value:
    """``left op= right``: lists, sets and dicts change in place."""
    if isinstance(left, list) and op == "+":
        items = iterate(engine, right)
        limits.binary("+", left, items)
        engine.touch(left)
        left.extend(items)
        return left
    if isinstance(left, list) and op == "*" and isinstance(payload(right), int):
        repeated = _host_binary(engine, "*", operator.mul, left, payload(right))
        engine.touch(left)
        left[:] = repeated
        return left
    if isinstance(left, (set, dict)) and isinstance(right, (set, frozenset, dict)) and op in ("|", "-", "&", "^"):
        engine.touch(left)
        return getattr(operator, {"|": "ior", "-": "isub", "&": "iand", "^": "ixor"}[op])(left, right)
    if isinstance(left, Instance):
        found = dunder(engine, left, "__i" + _BINARY[op][1][2:], right)
        if found is not MISSING:
            return found
    return binary(engine, op, left, right)


def unary(engine: Any, op: str, value: Value) -> Value:
    """``-x``, ``+x``, ``~x``."""
    if isinstance(value, Unknown):
        return value.derive(f"{op}{value.key}")
    found = dunder(engine, value, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op])
    if found is not MISSING:
        return found
    inner = payload(value)
    try:
        return -inner if op == "-" else +inner if op == "+" else ~inner
    except TypeError:
        throw("TypeError", f"bad operand type for unary {op}: '{type_name(value)}'")


def equal(engine: Any, left: Value, right: Value) -> Value:
    """``left == right``: True, False or Unknown."""
    if left is right and not isinstance(left, Unknown):
        return True
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        return left == right
    if isinstance(left, External) and isinstance(right, External):
        return True if left.path == right.path else left.derive(f"{left.key} == {right.key}")
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        if isinstance(left, Unknown) and isinstance(right, Unknown) and left.key == right.key:
            return True
        unknown = left if isinstance(left, Unknown) else right
        return unknown.derive(f"{short(left)} == {short(right)}")
    if isinstance(left, Instance) or isinstance(right, Instance):
        for receiver, other in ((left, right), (right, left)):
            found = dunder(engine, receiver, "__eq__", other)
            if found is not MISSING:
                return found
        left, right = payload(left), payload(right)
        if isinstance(left, Instance) or isinstance(right, Instance):
            return left is right
        return equal(engine, left, right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        if isinstance(left, list) != isinstance(right, list) or len(left) != len(right):
            return False
        return _all_equal(engine, list(zip(left, right)))
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return False
        return _all_equal(engine, [(left[k], right[k]) for k in left])
    return bool(left == right)


def _all_equal(engine: Any, pairs: list[tuple[Value, Value]]) -> Value:
    unknown: Unknown | None = None
    for a, b in pairs:
        same = equal(engine, a, b)
        if isinstance(same, Unknown):
            unknown = unknown if unknown is not None else same
        elif not same:
            return False
    return True if unknown is None else unknown


def identical(engine: Any, left: Value, right: Value) -> Value:
    """``left is right``."""
    if left is right:
        return True
    if isinstance(left, External) or isinstance(right, External):
        return _external_identity(left, right)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        unknown = left if isinstance(left, Unknown) else right
        other = right if isinstance(left, Unknown) else left
        if unknown.truthy and other in (None, False, 0, ""):
            return False
        if _is_sentinel(other) and short(other) not in unknown.key:
            # An object() of the program's own comes back from the outside only where it was handed out.
            return False
        return unknown.derive(f"{short(left)} is {short(right)}")
    if isinstance(left, TypingForm) and isinstance(right, TypingForm):
        return left == right
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        same = type(left) is type(right) and left == right
        return Unknown(f"{short(left)} is {short(right)}", _EQUAL_TWINS) if same and _may_be_twins(left) else same
    if isinstance(left, type) and isinstance(right, type):
        return left is right
    return False


_EQUAL_TWINS = "whether two equal values are one object is up to the interpreter"


def _may_be_twins(value: Value) -> bool:
    """Whether CPython may hold two objects of this value (it holds one of a short string or a small number)."""
    if isinstance(value, (str, bytes)):
        return len(value) > 1
    return isinstance(value, float) or (isinstance(value, int) and not -5 <= value <= 256)


def _is_sentinel(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls is OBJECT


def _external_identity(left: Value, right: Value) -> Value:
    if isinstance(left, External) and isinstance(right, External):
        return left.path == right.path if left.path == right.path else left.derive(f"{left.key} is {right.key}")
    external, other = (left, right) if isinstance(left, External) else (right, left)
    if isinstance(other, (type, Class, Function, Native, Module, Instance, TypingForm)):
        return False
    return external.derive(f"{external.key} is {short(other)}")


def compare(engine: Any, op: str, left: Value, right: Value) -> Value:
    """One comparison, as written: True, False or Unknown."""
    if op == "==":
        return equal(engine, left, right)
    if op == "!=":
        if isinstance(left, Instance) and left.cls.lookup("__ne__") is not MISSING:
            return dunder(engine, left, "__ne__", right)
        return negate(equal(engine, left, right))
    if op == "is":
        return identical(engine, left, right)
    if op == "is not":
        return negate(identical(engine, left, right))
    if op == "in":
        return contains(engine, right, left)
    if op == "not in":
        return negate(contains(engine, right, left))
    host, method, reflected = _ORDER[op]
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        try:
            return host(left, right)
        except TypeError as e:
            throw_host(e)
    for receiver, other, name in ((left, right, method), (right, left, reflected)):
        found = dunder(engine, receiver, name, other)
        if found is not MISSING:
            return found
    left, right = payload(left), payload(right)
    unknown = first_unknown(left)
    if unknown is None:
        unknown = first_unknown(right)
    if unknown is not None:
        return unknown.derive(f"{short(left)} {op} {short(right)}")
    try:
        return host(left, right)
    except TypeError as e:
        if is_ours(left) or is_ours(right):
            kinds = f"'{type_name(left)}' and '{type_name(right)}'"
            throw("TypeError", f"'{op}' not supported between instances of {kinds}")
        throw_host(e)


def negate(value: Value) -> Value:
    """``not`` of a comparison's result."""
    if isinstance(value, Unknown):
        if value.truthy is not None:
            return not value.truthy
        # Never shortened: a question and its negation must stay recognisable as one.
        return Unknown(value.key[5:-1] if value.key.startswith("not (") else f"not ({value.key})", value.why)
    return not value


def contains(engine: Any, container: Value, item: Value) -> Value:
    """``item in container``."""
    kind = type(container)
    if (kind is dict or kind is set or kind is frozenset) and type(item) is str:
        if item in container:
            return True
        unknown = unknown_key(container)
        return False if unknown is None else unknown.derive(f"{short(item)} in {short(container)}")
    if isinstance(container, Unknown):
        return container.derive(f"{short(item)} in {container.key}")
    if isinstance(container, Instance):
        found = dunder(engine, container, "__contains__", item)
        if found is not MISSING:
            return found if isinstance(found, Unknown) else engine.truth(found)
        inner = payload(container)
        if isinstance(inner, Instance):
            return contains(engine, iterate(engine, container), item)
        container = inner
    if isinstance(container, Class):
        found = dunder(engine, container, "__contains__", item)
        if found is not MISSING:
            return found if isinstance(found, Unknown) else engine.truth(found)
        return _in_sequence(engine, iterating(engine, container), item)
    if isinstance(container, str):
        item = payload(item)
        if isinstance(item, Unknown):
            return item.derive(f"{item.key} in {short(container)}")
        if not isinstance(item, str):
            throw("TypeError", f"'in <string>' requires string as left operand, not {type_name(item)}")
        return item in container
    if isinstance(container, (bytes, bytearray)) and isinstance(item, (bytes, int)):
        return item in container
    if isinstance(container, (dict, set, frozenset)):
        if isinstance(item, Unknown):
            if item in container:
                return True
            return item.derive(f"{item.key} in {short(container)}") if container else False
        if isinstance(item, (list, dict, set)):
            throw("TypeError", f"unhashable type: '{type_name(item)}'")
        if item in container:
            return True
        unknown = unknown_key(container)
        return False if unknown is None else unknown.derive(f"{short(item)} in {short(container)}")
    if isinstance(container, range):
        return item in container if isinstance(item, int) else _in_sequence(engine, iterate(engine, container), item)
    return _in_sequence(engine, iterating(engine, container), item)


def _in_sequence(engine: Any, values: Iterable[Value], item: Value) -> Value:
    unknown: Unknown | None = None
    for x in values:
        same = equal(engine, x, item)
        if isinstance(same, Unknown):
            unknown = unknown if unknown is not None else same
        elif same:
            return True
    return False if unknown is None else unknown


def get_item(engine: Any, container: Value, key: Value) -> Value:
    """``container[key]``."""
    if isinstance(container, dict):
        if isinstance(key, Unknown):
            return container[key] if key in container else key.derive(f"{short(container)}[{key.key}]")
        if isinstance(key, (list, dict, set)):
            throw("TypeError", f"unhashable type: '{type_name(key)}'")
        if key in container:
            return container[key]
        unknown = unknown_key(container)
        if unknown is not None:
            return unknown.derive(f"{short(container)}[{short(key)}]")
        throw("KeyError", key)
    if isinstance(container, Unknown):
        return container.derive(f"{container.key}[{short(key)}]")
    if isinstance(container, Instance):
        found = dunder(engine, container, "__getitem__", key)
        if found is not MISSING:
            return found
        inner = payload(container)
        if isinstance(inner, dict) and not isinstance(key, Unknown) and key not in inner:
            missing = dunder(engine, container, "__missing__", key)
            if missing is not MISSING:
                return missing
            factory = container.attrs.get("default_factory")
            if factory is not None:
                engine.touch(inner)
                inner[key] = engine.call(factory, [], {})
                return inner[key]
        if isinstance(inner, Instance):
            throw("TypeError", f"'{container.cls.name}' object is not subscriptable")
        return get_item(engine, inner, key)
    if isinstance(container, (Class, type, TypingForm)):
        return engine.subscript_type(container, key)
    key = payload(key)
    if isinstance(key, Unknown):
        return key.derive(f"{short(container)}[{key.key}]")
    if isinstance(key, slice):
        unknown = next((x for x in (key.start, key.stop, key.step) if isinstance(x, Unknown)), None)
        if unknown is not None:
            return unknown.derive(f"{short(container)}[...]")
    if isinstance(key, Instance):
        index = dunder(engine, key, "__index__")
        key = key if index is MISSING else index
    try:
        return container[key]
    except (TypeError, IndexError, KeyError, ValueError) as e:
        throw_host(e)


def set_item(engine: Any, container: Value, key: Value, value: Value) -> None:
    """``container[key] = value``."""
    if isinstance(container, Unknown):
        return
    if isinstance(container, Instance):
        method = container.cls.lookup("__setitem__")
        if method is not MISSING:
            engine.call(BoundMethod(method, container), [key, value], {})
            return
        container = payload(container)
    if isinstance(container, dict):
        try:
            engine.set_entry(container, key, value)
        except TypeError:
            throw("TypeError", f"unhashable type: '{type_name(key)}'")
        return
    if isinstance(container, (list, bytearray)):
        engine.touch(container)
        try:
            container[key] = value
        except (TypeError, IndexError, ValueError) as e:
            throw_host(e)
        return
    throw("TypeError", f"'{type_name(container)}' object does not support item assignment")


def delete_item(engine: Any, container: Value, key: Value) -> None:
    """``del container[key]``."""
    if isinstance(container, Unknown):
        return
    if isinstance(container, Instance):
        if dunder(engine, container, "__delitem__", key) is not MISSING:
            return
        container = payload(container)
    engine.touch(container)
    try:
        del container[key]
    except (TypeError, IndexError, KeyError) as e:
        throw_host(e)


__all__ = [
    "VIEWS",
    "ascii_of",
    "binary",
    "compare",
    "container_repr",
    "contains",
    "delete_item",
    "dunder",
    "equal",
    "format_value",
    "get_item",
    "identical",
    "inplace",
    "is_ours",
    "iterate",
    "iterating",
    "iterator",
    "length",
    "negate",
    "ordered",
    "payload",
    "percent_format",
    "percent_text",
    "set_item",
    "short",
    "to_repr",
    "to_text",
    "type_name",
    "unary",
    "unknown_key",
]
