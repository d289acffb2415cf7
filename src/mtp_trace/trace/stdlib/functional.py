"""functools, contextlib, abc, threading, warnings."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, TYPE
from mtp_trace.trace.stdlib.tools import constant, natives
from mtp_trace.trace.values import (
    MISSING,
    CachedProperty,
    Class,
    Function,
    Generator,
    Instance,
    Native,
    Unknown,
    Value,
)


def _cached(engine: Any, function: Value) -> Value:
    """A memoising wrapper: one result for one set of arguments, as long as the trace lives."""
    table: dict[Any, Value] = {}

    def call(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        try:
            key = (*args, *sorted(kwargs.items())) if kwargs else tuple(args)
            found = table.get(key, MISSING)
        except TypeError:
            return e.call(function, args, kwargs)
        if found is MISSING:
            found = e.call(function, args, kwargs)
            e.set_entry(table, key, found)
        return found

    wrapper = Native(getattr(function, "name", "cached"), call)
    copy_names(wrapper, function)
    wrapper.attrs.update({
        "__wrapped__": function,
        "cache_clear": Native("cache_clear", lambda e, a, k: (e.touch(table), table.clear(), None)[2]),
        "cache_info": Native("cache_info", lambda e, a, k: Unknown("cache_info()", "cache statistics are not kept")),
    })  # fmt: skip
    return wrapper


def copy_names(wrapper: Native | Function, wrapped: Value) -> None:
    """What ``functools.update_wrapper`` copies that the trace looks at."""
    for key in ("__qualname__", "__module__", "__name__"):
        value = getattr(wrapped, "attrs", {}).get(key) if isinstance(wrapped, Native) else None
        if isinstance(wrapped, Function):
            value = {"__qualname__": wrapped.qualname, "__module__": wrapped.module.name, "__name__": wrapped.name}[key]
        if value is not None:
            wrapper.attrs[key] = value


def _functools(engine: Any) -> dict[str, Value]:
    def lru_cache(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if a and not isinstance(a[0], (int, type(None))):
            return _cached(e, a[0])
        return Native("lru_cache", lambda e, b, kk: _cached(e, b[0]))

    def wraps(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        def mark(e: Any, b: list[Value], kk: dict[str, Value]) -> Value:
            if isinstance(b[0], (Function, Native)):
                copy_names(b[0], a[0])
                b[0].attrs["__wrapped__"] = a[0]
                if isinstance(a[0], (Function, Native)):
                    for key, value in a[0].attrs.items():
                        b[0].attrs.setdefault(key, value)
            return b[0]

        return Native("wraps", mark)

    def partial(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        made = Native("partial", lambda e, b, kk: e.call(a[0], [*a[1:], *b], {**k, **kk}))
        made.attrs.update({"func": a[0], "args": tuple(a[1:]), "keywords": dict(k)})
        return made

    def reduce(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        items = ops.iterate(e, a[1])
        total = a[2] if len(a) > 2 else items.pop(0)
        for item in items:
            total = e.call(a[0], [total, item], {})
        return total

    def total_ordering(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls, less = a[0], a[0].lookup("__lt__")
        if less is not MISSING:
            cls.attrs.setdefault("__gt__", Native("__gt__", lambda e, x, k: e.call(less, [x[1], x[0]], {})))
            cls.attrs.setdefault("__le__", Native("__le__", lambda e, x, k: not e.truth(e.call(less, [x[1], x[0]], {}))))
            cls.attrs.setdefault("__ge__", Native("__ge__", lambda e, x, k: not e.truth(e.call(less, [x[0], x[1]], {}))))
        return cls

    return natives(lru_cache=lru_cache, cache=lambda e, a, k: _cached(e, a[0]), wraps=wraps, partial=partial, reduce=reduce,
                   cached_property=lambda e, a, k: CachedProperty(a[0]), total_ordering=total_ordering,
                   update_wrapper=lambda e, a, k: a[0], partialmethod=partial)  # fmt: skip


_MANAGER = Class("_GeneratorContextManager", (OBJECT,))
_MANAGER.mro = [_MANAGER, OBJECT]


def _contextlib(engine: Any) -> dict[str, Value]:
    def contextmanager(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        def make(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            generator = e.call(a[0], args, kwargs)
            if not isinstance(generator, Generator):
                return generator
            manager = Instance(_MANAGER)
            manager.attrs["__generator__"] = generator
            return manager

        wrapper = Native(getattr(a[0], "name", "contextmanager"), make)
        wrapper.attrs["__wrapped__"] = a[0]
        copy_names(wrapper, a[0])
        return wrapper

    def plain_manager(value: Value) -> Instance:
        manager = Instance(_MANAGER)
        manager.attrs.update(natives(__enter__=constant(value), __exit__=constant(False)))
        return manager

    def suppress(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        manager = Instance(_MANAGER)

        def leave(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            return args[0] is not None and any(isinstance(c, Class) and c in args[0].mro for c in a)

        manager.attrs.update(natives(__enter__=constant(None), __exit__=leave))
        return manager

    base = Class("ContextDecorator", (OBJECT,))
    base.mro = [base, OBJECT]
    return {
        **natives(contextmanager=contextmanager, nullcontext=lambda e, a, k: plain_manager(a[0] if a else None),
                  suppress=suppress, redirect_stdout=lambda e, a, k: plain_manager(a[0]),
                  redirect_stderr=lambda e, a, k: plain_manager(a[0]), closing=lambda e, a, k: plain_manager(a[0])),
        "AbstractContextManager": OBJECT, "ContextDecorator": base,
    }  # fmt: skip


ABC = Class("ABC", (OBJECT,))
ABC.mro = [ABC, OBJECT]
ABC.traits["abc"] = True
ABC_META = Class("ABCMeta", (TYPE,))
ABC_META.mro = [ABC_META, TYPE, OBJECT]


def _abc(engine: Any) -> dict[str, Value]:
    def abstract(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if isinstance(a[0], Function):
            a[0].attrs["__isabstractmethod__"] = True
        return a[0]

    return {"ABC": ABC, "ABCMeta": ABC_META, **natives(abstractmethod=abstract, abstractproperty=abstract)}


def _threading(engine: Any) -> dict[str, Value]:
    lock = Class("Lock", (OBJECT,))
    lock.mro = [lock, OBJECT]
    lock.attrs.update(natives(__enter__=constant(True), __exit__=constant(False), acquire=constant(True),
                              release=constant(None), locked=constant(False)))  # fmt: skip
    make = lambda e, a, k: Instance(lock)  # noqa: E731
    local = Class("local", (OBJECT,))
    local.mro = [local, OBJECT]
    return {**natives(Lock=make, RLock=make, Condition=make, Semaphore=make, Event=make), "local": local}


def _contextvars(engine: Any) -> dict[str, Value]:
    var = Class("ContextVar", (OBJECT,))
    var.mro = [var, OBJECT]

    def init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.set_entry(a[0].attrs, "_value", k.get("default", MISSING))

    def get(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        value = a[0].attrs.get("_value", MISSING)
        if value is MISSING:
            if len(a) > 1:
                return a[1]
            from mtp_trace.trace.errors import throw

            throw("LookupError", "context variable is not set")
        return value

    def set_(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        old = a[0].attrs.get("_value", MISSING)
        e.set_entry(a[0].attrs, "_value", a[1])
        return ("token", old)

    def reset(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.set_entry(a[0].attrs, "_value", a[1][1])

    var.attrs.update(natives(__init__=init, get=get, set=set_, reset=reset))
    return {"ContextVar": var}


def _warnings(engine: Any) -> dict[str, Value]:
    def warn(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.log("WARNING", a[0])

    nothing = constant(None)
    return natives(warn=warn, filterwarnings=nothing, simplefilter=nothing, warn_explicit=nothing)


MODULES = {
    "functools": _functools,
    "contextlib": _contextlib,
    "abc": _abc,
    "threading": _threading,
    "contextvars": _contextvars,
    "warnings": _warnings,
}
__all__ = ["ABC", "EXCEPTIONS", "MODULES"]
