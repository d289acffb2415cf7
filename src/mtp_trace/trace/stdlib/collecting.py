"""collections."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import OBJECT
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import Class, Instance, Native, TypingForm, Value

DEFAULTDICT = Class("defaultdict", (OBJECT,))
DEFAULTDICT.mro = [DEFAULTDICT, OBJECT]
DEFAULTDICT.host = dict


def _defaultdict_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    e.set_entry(a[0].attrs, "default_factory", a[1] if len(a) > 1 else None)
    a[0].payload = e.construct_host(dict, a[2:], k)


DEFAULTDICT.attrs["__init__"] = Native("__init__", _defaultdict_init)

COUNTER = Class("Counter", (OBJECT,))
COUNTER.mro = [COUNTER, OBJECT]
COUNTER.host = dict


def _counter_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    counts: dict[Any, Value] = {}
    source = ops.payload(a[1]) if len(a) > 1 else {}
    if isinstance(source, dict):
        counts.update(source)
    else:
        for x in ops.iterate(e, source):
            counts[x] = counts.get(x, 0) + 1
    a[0].payload = counts


COUNTER.attrs.update(natives(
    __init__=_counter_init, __missing__=lambda e, a, k: 0,
    most_common=lambda e, a, k: sorted(a[0].payload.items(), key=lambda p: -p[1])[: a[1] if len(a) > 1 else None],
))  # fmt: skip

DEQUE = Class("deque", (OBJECT,))
DEQUE.mro = [DEQUE, OBJECT]
DEQUE.host = list


def _deque_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    a[0].payload = ops.iterate(e, a[1]) if len(a) > 1 else []


def _shift(index: int) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.touch(a[0].payload)
        if len(a) > 1:
            a[0].payload.insert(0, a[1])
            return None
        return a[0].payload.pop(index)

    return run


DEQUE.attrs.update(natives(__init__=_deque_init, appendleft=_shift(0), popleft=_shift(0)))


def _collections(engine: Any) -> dict[str, Value]:
    def namedtuple(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        names = a[1].replace(",", " ").split() if isinstance(a[1], str) else ops.iterate(e, a[1])
        cls = Class(a[0], (OBJECT,), e.frames[-1].module if e.frames else None)
        cls.mro = [cls, OBJECT]
        given = ops.iterate(e, k.get("defaults") or ())
        e.classes.named_tuple(cls, list(names), dict(zip(names[len(names) - len(given) :], given)))
        return cls

    return {
        "OrderedDict": dict, "defaultdict": DEFAULTDICT, "Counter": COUNTER, "deque": DEQUE, "UserDict": dict,
        **natives(namedtuple=namedtuple, ChainMap=lambda e, a, k: {x: y for d in reversed(a) for x, y in d.items()}),
    }  # fmt: skip


def _abc(engine: Any) -> dict[str, Value]:
    names = ("Iterable", "Iterator", "Sized", "Container", "Collection", "Sequence", "MutableSequence", "Mapping",
             "MutableMapping", "Set", "MutableSet", "Hashable", "Callable", "Generator", "Awaitable", "AsyncIterator",
             "AsyncIterable", "AsyncGenerator", "Coroutine", "KeysView", "ValuesView", "ItemsView", "Buffer")  # fmt: skip
    return {n: TypingForm(n) for n in names}


MODULES = {"collections": _collections, "collections.abc": _abc}
__all__ = ["DEFAULTDICT", "MODULES", "Instance"]
