"""functools, contextlib, abc, threading, warnings."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import generators, ops
from mtp_trace.trace.errors import OBJECT, TYPE, throw
from mtp_trace.trace.stdlib.tools import constant, natives
from mtp_trace.trace.values import (
    MISSING,
    CachedProperty,
    Class,
    Function,
    Generator,
    Instance,
    Native,
    Raised,
    TraceStop,
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

    def clear(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        e.touch(table)
        table.clear()

    wrapper = Native(getattr(function, "name", "cached"), call)
    copy_names(wrapper, function)
    wrapper.attrs.update({
        "__wrapped__": function,
        "cache_clear": Native("cache_clear", clear),
        "cache_info": Native("cache_info", lambda e, a, k: Unknown("cache_info()", "cache statistics are not kept")),
    })  # fmt: skip
    return wrapper


def copy_names(wrapper: Native | Function | Instance, wrapped: Value) -> None:
    """What ``functools.update_wrapper`` copies that the trace looks at."""
    own = {"__qualname__": wrapped.qualname, "__module__": wrapped.module.name, "__name__": wrapped.name} if isinstance(
        wrapped, Function) else {}  # fmt: skip
    for key in ("__qualname__", "__module__", "__name__"):
        value = wrapped.attrs.get(key, own.get(key)) if isinstance(wrapped, (Function, Native)) else None
        if value is not None:
            wrapper.attrs[key] = value


def _functools(engine: Any) -> dict[str, Value]:
    def lru_cache(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if a and not isinstance(a[0], (int, type(None))):
            return _cached(e, a[0])
        return Native("lru_cache", lambda e, b, kk: _cached(e, b[0]))

    def update_wrapper(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        wrapper, wrapped = a[0], a[1]
        if isinstance(wrapper, (Function, Native, Instance)):
            table = wrapper.attrs
            if isinstance(wrapped, (Function, Native)):
                for key, value in wrapped.attrs.items():
                    e.set_entry(table, key, value)
            copy_names(wrapper, wrapped)
            e.set_entry(table, "__wrapped__", wrapped)
        return wrapper

    def wraps(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        return Native("wraps", lambda e, b, kk: update_wrapper(e, [b[0], a[0]], {}))

    def partial(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        made = Native("partial", lambda e, b, kk: e.call(a[0], [*a[1:], *b], {**k, **kk}))
        made.attrs.update({"func": a[0], "args": tuple(a[1:]), "keywords": dict(k)})
        return made

    def reduce(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        total = a[2] if len(a) > 2 else MISSING
        for item in ops.iterating(e, a[1]):
            total = item if total is MISSING else e.call(a[0], [total, item], {})
        if total is MISSING:
            throw("TypeError", "reduce() of empty iterable with no initial value")
        return total

    def partialmethod(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        return Native("partialmethod", lambda e, b, kk: e.call(a[0], [b[0], *a[1:], *b[1:]], {**k, **kk}))

    def cmp_to_key(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls = Class("K", (OBJECT,))
        cls.mro = [cls, OBJECT]

        def key(e: Any, b: list[Value], kk: dict[str, Value]) -> Value:
            made = Instance(cls)
            made.attrs["obj"] = b[0]
            return made

        for name, sign in (("__lt__", "<"), ("__gt__", ">"), ("__eq__", "=="), ("__le__", "<="), ("__ge__", ">=")):
            cls.attrs[name] = Native(name, lambda e, b, kk, sign=sign: ops.compare(  # type: ignore[misc]
                e, sign, e.call(a[0], [b[0].attrs["obj"], b[1].attrs["obj"]], {}), 0))
        return Native("cmp_to_key", key)

    def total_ordering(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls, less = a[0], a[0].lookup("__lt__")
        if less is not MISSING:
            cls.attrs.setdefault("__gt__", Native("__gt__", lambda e, x, k: e.call(less, [x[1], x[0]], {})))
            cls.attrs.setdefault(
                "__le__", Native("__le__", lambda e, x, k: not e.truth(e.call(less, [x[1], x[0]], {})))
            )
            cls.attrs.setdefault(
                "__ge__", Native("__ge__", lambda e, x, k: not e.truth(e.call(less, [x[0], x[1]], {})))
            )
        return cls

    return natives(lru_cache=lru_cache, cache=lambda e, a, k: _cached(e, a[0]), wraps=wraps, partial=partial,
                   reduce=reduce,
                   cached_property=lambda e, a, k: CachedProperty(a[0]), total_ordering=total_ordering,
                   update_wrapper=update_wrapper, partialmethod=partialmethod, cmp_to_key=cmp_to_key,
                   singledispatch=_singledispatch)  # fmt: skip


def _singledispatch(engine: Any, a: list[Value], k: dict[str, Value]) -> Value:
    """``functools.singledispatch``: the function registered for the nearest class of the first argument."""
    table: dict[Any, Value] = {}

    def dispatch(e: Any, kind: Value) -> Value:
        for c in kind.mro if isinstance(kind, Class) else kind.__mro__ if isinstance(kind, type) else ():
            if c in table:
                return table[c]
        return a[0]

    def call(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if not args:
            throw("TypeError", f"{getattr(a[0], 'name', 'function')} requires at least 1 positional argument")
        if isinstance(args[0], Unknown):
            raise TraceStop(f"dispatches on the type of {args[0].key}, which is not known: {args[0].why}")
        return e.call(dispatch(e, e.type_of(args[0])), args, kwargs)

    def register(e: Any, b: list[Value], kk: dict[str, Value]) -> Value:
        if len(b) > 1:
            e.set_entry(table, b[0], b[1])
            return b[1]
        if isinstance(b[0], (Class, type)):
            return Native("register", lambda e, c, kk: register(e, [b[0], c[0]], {}))
        annotations = e.function_annotations(b[0])
        e.set_entry(table, next(iter(annotations.values())), b[0])
        return b[0]

    wrapper = Native(getattr(a[0], "name", "dispatcher"), call)
    copy_names(wrapper, a[0])
    wrapper.attrs.update({"__wrapped__": a[0], "register": Native("register", register),
                          "dispatch": Native("dispatch", lambda e, b, kk: dispatch(e, b[0]))})  # fmt: skip
    return wrapper


_MANAGER = Class("AbstractContextManager", (OBJECT,))
_MANAGER.mro = [_MANAGER, OBJECT]
_GENERATOR_MANAGER = Class("_GeneratorContextManager", (OBJECT,))
_GENERATOR_MANAGER.mro = [_GENERATOR_MANAGER, OBJECT]
_GENERATOR_MANAGER.attrs.update(natives(
    __enter__=lambda e, a, k: generators.enter_manager(e, a[0].attrs["gen"]),
    __exit__=lambda e, a, k: generators.exit_manager(e, a[0].attrs["gen"], a[2]),
    __call__=lambda e, a, k: _around(e, a[0], a[1]),
))  # fmt: skip


def _around(e: Any, manager: Instance, function: Value) -> Value:
    """A context manager used as a decorator: made anew for every call."""

    def call(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        made = e.call(manager.attrs["make"], [], {})
        leave = e.enter_with(made)[1]
        try:
            result = e.call(function, args, kwargs)
        except Raised as error:
            if e.leave_with(leave, error):
                return None
            raise
        e.leave_with(leave, None)
        return result

    wrapper = Native(getattr(function, "name", "decorated"), call)
    copy_names(wrapper, function)
    wrapper.attrs["__wrapped__"] = function
    return wrapper


def _contextlib(engine: Any) -> dict[str, Value]:
    def contextmanager(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        def make(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            generator = e.call(a[0], args, kwargs)
            if not isinstance(generator, Generator):
                return generator
            manager = Instance(_GENERATOR_MANAGER)
            manager.attrs["gen"] = generator
            manager.attrs["make"] = Native("make", lambda e, b, kk: make(e, args, kwargs))
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

    def closing(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        manager = plain_manager(a[0])
        close = e.getattr(a[0], "close")
        manager.attrs["__exit__"] = Native("__exit__", lambda e, b, kk: e.call(close, [], {}) and False)
        return manager

    base = Class("ContextDecorator", (OBJECT,))
    base.mro = [base, OBJECT]
    return {
        **natives(contextmanager=contextmanager, nullcontext=lambda e, a, k: plain_manager(a[0] if a else None),
                  suppress=suppress, redirect_stdout=lambda e, a, k: plain_manager(a[0]),
                  redirect_stderr=lambda e, a, k: plain_manager(a[0]), closing=closing),
        "ExitStack": _exit_stack(), "AbstractContextManager": OBJECT, "ContextDecorator": base,
    }  # fmt: skip


def _exit_stack() -> Class:
    """``contextlib.ExitStack``: what was entered is left in reverse order."""
    cls = Class("ExitStack", (OBJECT,))
    cls.mro = [cls, OBJECT]

    def kept(e: Any, stack: Instance) -> list[Value]:
        if "_exits" not in stack.attrs:
            e.set_entry(stack.attrs, "_exits", [])
        exits: list[Value] = stack.attrs["_exits"]
        e.touch(exits)
        return exits

    def enter_context(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        value, leave = e.enter_with(a[1])
        kept(e, a[0]).append(leave)
        return value

    def push(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        leave = e.special(a[1], "__exit__")
        kept(e, a[0]).append(a[1] if leave is MISSING else leave)
        return a[1]

    def callback(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        kept(e, a[0]).append(Native("callback", lambda e, b, kk: e.call(a[1], a[2:], k) and False))
        return a[1]

    def leave_all(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        error = e.raised_as(a[2]) if len(a) > 2 and a[2] is not None else None
        given = error
        exits = kept(e, a[0])
        while exits:
            try:
                if e.leave_with(exits.pop(), error):
                    error = None
            except Raised as raised:
                error = raised
        if error is not None and error is not given:
            raise error
        return given is not None and error is None

    cls.attrs.update(natives(__enter__=lambda e, a, k: a[0], __exit__=leave_all, close=leave_all,
                             enter_context=enter_context,
                             push=push, callback=callback))  # fmt: skip
    return cls


ABC = Class("ABC", (OBJECT,))
ABC.mro = [ABC, OBJECT]
ABC.traits["abc"] = True
ABC_META = Class("ABCMeta", (TYPE,))
ABC_META.mro = [ABC_META, TYPE, OBJECT]
ABC_META.traits["abc"] = True


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
