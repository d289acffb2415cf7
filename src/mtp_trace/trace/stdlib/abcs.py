"""What the abstract base classes of ``collections.abc`` give to the classes that derive from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, throw
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import MISSING, Class, Generator, Instance, Raised, Value


def _is(error: Raised, name: str) -> bool:
    return isinstance(error.value, Instance) and EXCEPTIONS[name] in error.value.cls.mro


def _find(e: Any, mapping: Value, key: Value) -> Value:
    """``mapping[key]`` or ``MISSING``."""
    found: Value = MISSING
    try:
        found = ops.get_item(e, mapping, key)
    except Raised as error:
        if not _is(error, "KeyError"):
            raise
    return found


def _get(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    found = _find(e, a[0], a[1])
    return (a[2] if len(a) > 2 else k.get("default")) if found is MISSING else found


def _same(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    other = ops.payload(a[1])
    if not isinstance(other, dict):
        return NotImplemented
    return ops.equal(e, {x: ops.get_item(e, a[0], x) for x in ops.iterating(e, a[0])}, other)


def _pop(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    found = _find(e, a[0], a[1])
    if found is MISSING:
        if len(a) > 2:
            return a[2]
        throw("KeyError", a[1])
    ops.delete_item(e, a[0], a[1])
    return found


def _update(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    source = ops.payload(a[1]) if len(a) > 1 else {}
    rows = source.items() if isinstance(source, dict) else [ops.iterate(e, row) for row in ops.iterating(e, source)]
    for key, value in [*rows, *k.items()]:
        ops.set_item(e, a[0], key, value)


def _set_default(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    found = _find(e, a[0], a[1])
    if found is MISSING:
        found = a[2] if len(a) > 2 else None
        ops.set_item(e, a[0], a[1], found)
    return found


def _clear(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    for key in ops.iterate(e, a[0]):
        ops.delete_item(e, a[0], key)


def _in_order(e: Any, value: Value) -> Iterator[Value]:
    index = 0
    while True:
        try:
            item = ops.get_item(e, value, index)
        except Raised as error:
            if not _is(error, "IndexError"):
                raise
            return
        e.turns(1)
        yield item
        index += 1


def _index(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    for i, x in enumerate(ops.iterating(e, a[0])):
        if e.truth(ops.equal(e, x, a[1])):
            return i
    throw("ValueError")


def _class(name: str, base: Class, **methods: Any) -> Class:
    c = Class(name, (base,))
    c.mro = [c, *base.mro]
    c.traits["abc"] = True
    c.attrs.update(natives(**methods))
    return c


_ITERABLE = _class("Iterable", OBJECT)
_ITERATOR = _class("Iterator", _ITERABLE, __iter__=lambda e, a, k: a[0])
_MAPPING = _class(
    "Mapping", _ITERABLE, get=_get, __eq__=_same, __contains__=lambda e, a, k: _find(e, a[0], a[1]) is not MISSING,
    keys=lambda e, a, k: ops.iterate(e, a[0]), values=lambda e, a,
    k: [ops.get_item(e, a[0], x) for x in ops.iterate(e, a[0])],
    items=lambda e, a, k: [(x, ops.get_item(e, a[0], x)) for x in ops.iterate(e, a[0])],
)  # fmt: skip
_SEQUENCE = _class(
    "Sequence", _ITERABLE, __iter__=lambda e, a, k: Generator(_in_order(e, a[0]), e.is_shared()), index=_index,
    __contains__=lambda e, a, k: any(e.truth(ops.equal(e, x, a[1])) for x in ops.iterating(e, a[0])),
    count=lambda e, a, k: sum(e.truth(ops.equal(e, x, a[1])) for x in ops.iterating(e, a[0])),
    __reversed__=lambda e, a, k: Generator(iter(ops.iterate(e, a[0])[::-1]), e.is_shared()),
)  # fmt: skip
MIXINS: dict[str, Class] = {
    "Iterable": _ITERABLE, "Iterator": _ITERATOR, "Mapping": _MAPPING, "Sequence": _SEQUENCE,
    "MutableMapping": _class("MutableMapping", _MAPPING, pop=_pop, update=_update, setdefault=_set_default,
                             clear=_clear),
    "MutableSequence": _class("MutableSequence", _SEQUENCE),
}  # fmt: skip
