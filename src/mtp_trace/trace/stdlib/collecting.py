"""collections."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import OBJECT, throw
from mtp_trace.trace.stdlib.tools import argument, natives
from mtp_trace.trace.values import Class, Instance, Native, TypingForm, Value, generator_of

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
    a[0].payload = {}
    _count(e, a, k, 1)


def _count(e: Any, a: list[Value], k: dict[str, Value], sign: int) -> None:
    counts: dict[Any, Value] = a[0].payload
    source = ops.payload(a[1]) if len(a) > 1 and a[1] is not None else {}
    pairs = list(source.items()) if isinstance(source, dict) else [(x, 1) for x in ops.iterate(e, source)]
    e.touch(counts)
    for x, n in [*pairs, *k.items()]:
        counts[x] = ops.binary(e, "+", counts.get(x, 0), ops.binary(e, "*", n, sign))


def _combined(combine: Any) -> Any:
    """``Counter`` arithmetic: only what stays above zero is kept."""

    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        left, right = a[0].payload, ops.payload(a[1])
        rows = {x: combine(left.get(x, 0), right.get(x, 0)) for x in [*left, *right]}
        return Instance(COUNTER, {x: n for x, n in rows.items() if n > 0})

    return run


def _most_common(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    rows = sorted(a[0].payload.items(), key=lambda p: -p[1])
    count = a[1] if len(a) > 1 else k.get("n")
    return rows[:count]


COUNTER.attrs.update(natives(
    __init__=_counter_init, __missing__=lambda e, a, k: 0, most_common=_most_common,
    update=lambda e, a, k: _count(e, a, k, 1), subtract=lambda e, a, k: _count(e, a, k, -1),
    elements=lambda e, a, k: generator_of(x for x, n in a[0].payload.items() for _ in range(n)),
    total=lambda e, a, k: sum(a[0].payload.values()),
    __add__=_combined(lambda x, y: x + y), __sub__=_combined(lambda x, y: x - y), __or__=_combined(max),
    __and__=_combined(min),
))  # fmt: skip

DEQUE = Class("deque", (OBJECT,))
DEQUE.mro = [DEQUE, OBJECT]
DEQUE.host = list


def _deque_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    limit = argument(a, k, 2, "maxlen")
    items = ops.iterate(e, a[1]) if len(a) > 1 else []
    a[0].payload = items if limit is None else items[max(0, len(items) - limit) :]
    e.set_entry(a[0].attrs, "maxlen", limit)


def _put(left: bool, many: bool) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        items, limit = a[0].payload, a[0].attrs.get("maxlen")
        e.touch(items)
        for x in ops.iterate(e, a[1]) if many else [a[1]]:
            items.insert(0 if left else len(items), x)
            if limit is not None and len(items) > limit:
                del items[-1 if left else 0]

    return run


def _take(index: int) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if not a[0].payload:
            throw("IndexError", "pop from an empty deque")
        e.touch(a[0].payload)
        return a[0].payload.pop(index)

    return run


def _rotate(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    items = a[0].payload
    e.touch(items)
    steps = (a[1] if len(a) > 1 else 1) % len(items) if items else 0
    items[:] = items[-steps:] + items[:-steps] if steps else items


DEQUE.attrs.update(natives(
    __init__=_deque_init, append=_put(False, False), appendleft=_put(True, False), extend=_put(False, True),
    extendleft=_put(True, True), pop=_take(-1), popleft=_take(0), rotate=_rotate,
))  # fmt: skip


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
             "AsyncIterable", "AsyncGenerator", "Coroutine", "KeysView", "ValuesView", "ItemsView",
             "Buffer")  # fmt: skip
    return {n: TypingForm(n) for n in names}


MODULES = {"collections": _collections, "collections.abc": _abc}
