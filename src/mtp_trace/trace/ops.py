"""Operators on abstract values: truth is asked of the engine, everything else is answered here.

An operator with an unknown operand gives an unknown result whose key spells the operation, so that the same question
asked twice gets the same answer. User-defined ``__eq__``, ``__contains__``, ``__getitem__`` and so on are followed.
"""

from __future__ import annotations

import operator
import pathlib
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from mtp_trace.trace import limits
from mtp_trace.trace.errors import EXCEPTIONS, message_of, throw, throw_host
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    BudgetExceeded,
    Class,
    External,
    Function,
    Generator,
    Instance,
    Module,
    Native,
    Raised,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
    first_unknown,
    shortened,
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
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
"""``dict.keys()`` and its like: the host's own views, which follow the dict."""
_MAX_LOOKED_AT = 2_000
"""Larger tables are filled by loops over known data; looking for an unknown key at every step would take for ever."""
_GROWING = frozenset({"*", "+", "**", "<<"})


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


def binary(engine: Any, op: str, left: Value, right: Value) -> Value:
    """``left op right``."""
    host, method, reflected = _BINARY[op]
    if op == "%" and isinstance(left, (str, bytes)):
        return percent_format(engine, left, right)
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        return _host_binary(engine, op, host, left, right)
    if isinstance(left, (Instance, Class)) or isinstance(right, (Instance, Class)):
        found = _dunder(engine, left, method, right)
        if found is MISSING:
            found = _dunder(engine, right, reflected, left)
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
        if _is_ours(left) or _is_ours(right):
            shown = "** or pow()" if op == "**" else op
            throw("TypeError", f"unsupported operand type(s) for {shown}: '{type_name(left)}' and '{type_name(right)}'")
        throw_host(e)
    except (ValueError, ArithmeticError) as e:
        throw_host(e)
    limits.charge(engine, result)
    return result


def _is_ours(value: Value) -> bool:
    """Whether the host's own message would show one of the tracer's classes."""
    return type(value).__module__.startswith("mtp_trace.")


def _union_parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TypingForm) and value.name == "Union":
        return value.args
    return (type(None) if value is None else value,)


def _is_type(value: Value) -> bool:
    return isinstance(value, (type, Class, TypingForm, External))


def _dunder(engine: Any, receiver: Value, name: str, *args: Value) -> Value:
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
        found = _dunder(engine, left, "__i" + _BINARY[op][1][2:], right)
        if found is not MISSING:
            return found
    return binary(engine, op, left, right)


def unary(engine: Any, op: str, value: Value) -> Value:
    """``-x``, ``+x``, ``~x``."""
    if isinstance(value, Unknown):
        return value.derive(f"{op}{value.key}")
    found = _dunder(engine, value, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op])
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
            found = _dunder(engine, receiver, "__eq__", other)
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
        return unknown.derive(f"{short(left)} is {short(right)}")
    if isinstance(left, TypingForm) and isinstance(right, TypingForm):
        return left == right
    if isinstance(left, _SCALARS) and isinstance(right, _SCALARS):
        return type(left) is type(right) and left == right
    if isinstance(left, type) and isinstance(right, type):
        return left is right
    return False


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
            return _dunder(engine, left, "__ne__", right)
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
        found = _dunder(engine, receiver, name, other)
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
        if _is_ours(left) or _is_ours(right):
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
    if isinstance(container, Unknown):
        return container.derive(f"{short(item)} in {container.key}")
    if isinstance(container, Instance):
        found = _dunder(engine, container, "__contains__", item)
        if found is not MISSING:
            return found if isinstance(found, Unknown) else engine.truth(found)
        inner = payload(container)
        if isinstance(inner, Instance):
            return contains(engine, iterate(engine, container), item)
        container = inner
    if isinstance(container, Class):
        found = _dunder(engine, container, "__contains__", item)
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


def unknown_key(container: Collection[Value]) -> Unknown | None:
    """A key of a dict, or an item of a set, that may turn out to be any other."""
    if len(container) > _MAX_LOOKED_AT:
        return None
    kinds = set(map(type, container))
    if Unknown not in kinds and External not in kinds:
        return None
    return next((k for k in container if isinstance(k, Unknown)), None)


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
        found = _dunder(engine, container, "__getitem__", key)
        if found is not MISSING:
            return found
        inner = payload(container)
        if isinstance(inner, dict) and not isinstance(key, Unknown) and key not in inner:
            missing = _dunder(engine, container, "__missing__", key)
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
        index = _dunder(engine, key, "__index__")
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
        if _dunder(engine, container, "__delitem__", key) is not MISSING:
            return
        container = payload(container)
    engine.touch(container)
    try:
        del container[key]
    except (TypeError, IndexError, KeyError) as e:
        throw_host(e)


def iterate(engine: Any, value: Value) -> list[Value]:
    """The items of an iterable, as a list (the trace iterates over what is finite and known only)."""
    if isinstance(value, (list, tuple, dict, str, bytes)):
        return list(value)
    out: list[Value] = []
    limit = engine.budget.size
    for item in iterating(engine, value):
        out.append(item)
        if len(out) > limit:
            raise BudgetExceeded(f"a collection grew past {limit} items")
    return out


def iterating(engine: Any, value: Value) -> Iterator[Value]:
    """The items of an iterable, each when it is asked for."""
    if isinstance(value, (dict, *VIEWS)):
        return _over_dict(value)
    if isinstance(value, (list, tuple, str, range, bytes)):
        return iter(value)
    if isinstance(value, (set, frozenset)):
        return iter(ordered(value))
    if isinstance(value, Generator):
        return value.rest(engine)
    if isinstance(value, Unknown):
        raise TraceStop(f"iterates over {value.key}, which is not known: {value.why}")
    if isinstance(value, Instance):
        return _over_instance(engine, value)
    if isinstance(value, Class):
        if value.metaclass is not None and (method := value.metaclass.lookup("__iter__")) is not MISSING:
            return iterating(engine, engine.call(BoundMethod(method, value), [], {}))
        if value.has_trait("enum"):
            return iter(list(value.traits.get("members", {}).values()))
    if hasattr(value, "__iter__") and not isinstance(value, (type, Class)):
        return iter(value)
    throw("TypeError", f"'{type_name(value)}' object is not iterable")


def _over_dict(value: Any) -> Iterator[Value]:
    iterator = iter(value)
    while True:
        try:
            key = next(iterator)
        except StopIteration:
            return
        except RuntimeError as e:
            throw_host(e)
        yield key


def _over_instance(engine: Any, value: Instance) -> Iterator[Value]:
    if value.cls.lookup("__iter__") is not MISSING:
        return _over_iterator(engine, _dunder(engine, value, "__iter__"))
    inner = payload(value)
    if not isinstance(inner, Instance):
        return iterating(engine, inner)
    if "namedtuple" in value.cls.traits:
        return iter([value.attrs[n] for n in value.cls.traits["namedtuple"]])
    if value.cls.lookup("__getitem__") is not MISSING:
        return _over_items(engine, value)
    if value.cls.opaque_bases:
        raise TraceStop(
            f"iterates over an object of {value.cls.name}, whose base {value.cls.opaque_bases[0].key} has no model"
        )
    throw("TypeError", f"'{value.cls.name}' object is not iterable")


def _over_iterator(engine: Any, result: Value) -> Iterator[Value]:
    """What ``__iter__`` gave: an object with ``__next__``, or an iterator of ours."""
    if not isinstance(result, Instance):
        return iterating(engine, result)
    if result.cls.lookup("__next__") is MISSING:
        if result.cls.host is None:
            throw("TypeError", f"iter() returned non-iterator of type '{result.cls.name}'")
        return iterating(engine, result)
    return _over_next(engine, result)


def _over_next(engine: Any, value: Instance) -> Iterator[Value]:
    step = value.cls.lookup("__next__")
    while True:
        engine.turns(1)
        try:
            item = engine.call(BoundMethod(step, value), [], {})
        except Raised as e:
            if isinstance(e.value, Instance) and EXCEPTIONS["StopIteration"] in e.value.cls.mro:
                return
            raise
        yield item


def _over_items(engine: Any, value: Instance) -> Iterator[Value]:
    """The old protocol: ``value[0]``, ``value[1]``, ... until IndexError."""
    index = 0
    while True:
        engine.turns(1)
        try:
            item = _dunder(engine, value, "__getitem__", index)
        except Raised as e:
            if isinstance(e.value, Instance) and EXCEPTIONS["IndexError"] in e.value.cls.mro:
                return
            raise
        yield item
        index += 1


def ordered(values: Iterable[Value]) -> list[Value]:
    """A set's items in an order that does not hang on hash seeds."""
    return sorted(values, key=lambda v: (type(v).__name__, v if isinstance(v, (int, float)) else 0, short(v)))


def iterator(engine: Any, value: Value) -> Value:
    """``iter(value)``."""
    if isinstance(value, Generator) or (isinstance(value, Instance) and value.cls.lookup("__next__") is not MISSING):
        return value
    if isinstance(value, Unknown):
        return value.derive(f"iter({value.key})")
    if isinstance(value, Instance) and value.cls.lookup("__iter__") is not MISSING:
        result = _dunder(engine, value, "__iter__")
        if isinstance(result, (Generator, Instance)):
            return result
        value = result
    return Generator(iterating(engine, value), engine.is_shared())


def length(engine: Any, value: Value) -> Value:
    """``len(value)``."""
    if isinstance(value, Unknown):
        return value.derive(f"len({value.key})")
    if isinstance(value, Instance):
        found = _dunder(engine, value, "__len__")
        if found is not MISSING:
            return found
        if "namedtuple" in value.cls.traits:
            return len(value.cls.traits["namedtuple"])
        value = payload(value)
    if isinstance(value, Class):
        found = _dunder(engine, value, "__len__")
        return len(iterate(engine, value)) if found is MISSING else found
    if isinstance(value, (dict, set, frozenset)) and len(value) > 1:
        unknown = unknown_key(value)
        if unknown is not None:
            return unknown.derive(f"len({short(value)})")
    try:
        return len(value)
    except TypeError:
        throw("TypeError", f"object of type '{type_name(value)}' has no len()")


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


def to_text(engine: Any, value: Value) -> Value:
    """``str(value)``: a str, or Unknown."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unknown):
        return value.derive(f"str({value.key})")
    if isinstance(value, Instance):
        for name in ("__str__", "__repr__"):
            found = _dunder(engine, value, name)
            if found is not MISSING:
                return found
        if EXCEPTIONS["BaseException"] in value.cls.mro:
            return message_of(value)
        if value.cls.has_trait("enum"):
            return engine.enum_text(value)
        inner = payload(value)
        return to_text(engine, inner) if not isinstance(inner, Instance) else to_repr(engine, value)
    if _is_ours(value) or isinstance(value, (type, list, tuple, set, frozenset, dict, *VIEWS)):
        return to_repr(engine, value)
    return str(value)


def to_repr(engine: Any, value: Value) -> Value:
    """``repr(value)``: a str, or Unknown."""
    if isinstance(value, Unknown):
        return value.derive(f"repr({value.key})")
    if isinstance(value, Instance):
        found = _dunder(engine, value, "__repr__")
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
        found = _dunder(engine, value, "__format__", spec)
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
