"""Going over values: the items of an iterable, each when it is asked for, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mtp_trace.trace.errors import EXCEPTIONS, throw, throw_host
from mtp_trace.trace.operands import VIEWS, dunder, payload, short, type_name, unknown_key
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    BudgetExceeded,
    Class,
    Generator,
    Instance,
    Raised,
    TraceStop,
    Unknown,
    Value,
)


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
        return _over_iterator(engine, dunder(engine, value, "__iter__"))
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
            item = dunder(engine, value, "__getitem__", index)
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
        result = dunder(engine, value, "__iter__")
        if isinstance(result, (Generator, Instance)):
            return result
        value = result
    return Generator(iterating(engine, value), engine.is_shared())


def length(engine: Any, value: Value) -> Value:
    """``len(value)``."""
    if isinstance(value, Unknown):
        return value.derive(f"len({value.key})")
    if isinstance(value, Instance):
        found = dunder(engine, value, "__len__")
        if found is not MISSING:
            return found
        if "namedtuple" in value.cls.traits:
            return len(value.cls.traits["namedtuple"])
        value = payload(value)
    if isinstance(value, Class):
        found = dunder(engine, value, "__len__")
        return len(iterate(engine, value)) if found is MISSING else found
    if isinstance(value, (dict, set, frozenset)) and len(value) > 1:
        unknown = unknown_key(value)
        if unknown is not None:
            return unknown.derive(f"len({short(value)})")
    try:
        return len(value)
    except TypeError:
        throw("TypeError", f"object of type '{type_name(value)}' has no len()")
