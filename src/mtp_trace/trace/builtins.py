"""Python's builtins on abstract values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mtp_trace.trace import attrs, classes, ops
from mtp_trace.trace.constructors import MAKERS, numeric
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, TYPE, throw, throw_host
from mtp_trace.trace.generators import advance
from mtp_trace.trace.instances import callable_, isinstance_, issubclass_
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    Class,
    ClassMethod,
    External,
    Generator,
    Instance,
    Module,
    Native,
    Property,
    Raised,
    StaticMethod,
    Super,
    TraceStop,
    Unknown,
    Value,
    first_unknown,
)

_TABLE: dict[str, Callable[[Any, list[Value], dict[str, Value]], Value]] = {}


def _builtin(name: str) -> Callable[[Any], Any]:
    def register(call: Any) -> Any:
        _TABLE[name] = call
        return call

    return register


def install(engine: Any) -> None:
    """Fills ``engine.builtins`` and the constructors of builtin types."""
    table: dict[str, Value] = {name: Native(name, call) for name, call in _TABLE.items()}
    table.update(EXCEPTIONS)
    table.update({host.__name__: host for host in MAKERS if host is not memoryview})
    table.update({
        "object": OBJECT, "type": TYPE, "None": None, "True": True, "False": False, "Ellipsis": ...,
        "NotImplemented": NotImplemented, "__debug__": True, "__name__": "builtins", "memoryview": memoryview,
    })  # fmt: skip
    engine.builtins.update(table)
    for host, maker in MAKERS.items():
        engine.host_methods[(host, "__new__")] = lambda e, call, maker=maker: maker(e, *call)
    if not attrs.OBJECT_METHODS:
        for name, call in _OBJECT_METHODS.items():
            native = Native(name, call)
            native.attrs["object"] = True
            attrs.OBJECT_METHODS[name] = native
        base = EXCEPTIONS["BaseException"]
        native = Native("__init__", _exception_init)
        native.attrs["object"] = True
        base.attrs["__init__"] = native
        attrs.TYPE_METHODS.update({
            "__call__": Native("__call__", lambda e, a, k: classes.instantiate(e, a[0], a[1:], k)),
            "__new__": Native("__new__", _type_new),
            "__init__": Native("__init__", lambda e, a, k: None),
            "__setattr__": Native("__setattr__", lambda e, a, k: e.set_entry(a[0].attrs, a[1], a[2])),
            "__instancecheck__": Native(
                "__instancecheck__", lambda e, a, k: isinstance(a[1], Instance) and a[0] in a[1].cls.mro),
        })  # fmt: skip
        TYPE.attrs.update(attrs.TYPE_METHODS)


def _exception_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    e.set_entry(a[0].attrs, "args", tuple(a[1:]))
    known = {"name", "path", "obj"}
    if k and not (
        k.keys() <= known and any(EXCEPTIONS[n] in a[0].cls.mro for n in ("ImportError", "AttributeError", "NameError"))
    ):
        throw("TypeError", f"{a[0].cls.name}() takes no keyword arguments")
    for name, value in k.items():
        e.set_entry(a[0].attrs, name, value)


def _type_new(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if len(a) < 4:
        return e.type_call(a[1:], {})
    return e.classes.type_new(a[0], a[1], ops.iterate(e, a[2]), a[3], k)


def _object_getattribute(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    found = attrs.instance_attribute(engine, args[0], args[1], fallback=False)
    if found is MISSING:
        throw("AttributeError", f"'{ops.type_name(args[0])}' object has no attribute '{args[1]}'")
    return found


def _object_setattr(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    obj, name, value = args
    if isinstance(obj, Instance):
        attrs.set_plain(engine, obj, name, value)
    else:
        attrs.set_(engine, obj, name, value)


_OBJECT_METHODS: dict[str, Callable[[Any, list[Value], dict[str, Value]], Value]] = {
    "__init__": lambda e, a, k: None,
    "__new__": lambda e, a, k: classes.bare(e, a[0], a[1:], k),
    "__setattr__": _object_setattr,
    "__getattribute__": _object_getattribute,
    "__delattr__": lambda e, a, k: attrs.delete_plain(e, a[0], a[1]),
    "__init_subclass__": lambda e, a, k: None,
    "__repr__": lambda e, a, k: f"<{ops.type_name(a[0])} object>",
    "__str__": lambda e, a, k: f"<{ops.type_name(a[0])} object>",
    "__eq__": lambda e, a, k: True if a[0] is a[1] else NotImplemented,
    "__ne__": lambda e, a, k: ops.negate(ops.equal(e, a[0], a[1])),
    "__hash__": lambda e, a, k: hash(a[0]),
    "__dir__": lambda e, a, k: e.builtin("dir")(e, a, {}),
    "__format__": lambda e, a, k: ops.to_text(e, a[0]),
}


def _refuse(name: str, args: list[Value], kwargs: dict[str, Value], fewest: int, most: int = 0) -> None:
    """Raises the TypeError that a builtin called with too few, too many or named arguments raises in CPython."""
    if kwargs:
        throw("TypeError", f"{name}() takes no keyword arguments")
    if fewest == 1 and not most:
        throw("TypeError", f"{name}() takes exactly one argument ({len(args)} given)")
    if not most:
        throw("TypeError", f"{name} expected {fewest} arguments, got {len(args)}")
    bound = f"at least {fewest}" if len(args) < fewest else f"at most {most}"
    count = fewest if len(args) < fewest else most
    throw("TypeError", f"{name} expected {bound} argument{'' if count == 1 else 's'}, got {len(args)}")


@_builtin("len")
def _len(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("len", a, k, 1)
    return ops.length(e, a[0])


@_builtin("isinstance")
def _isinstance(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 2:
        _refuse("isinstance", a, k, 2)
    return isinstance_(e, a[0], a[1])


@_builtin("issubclass")
def _issubclass(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 2:
        _refuse("issubclass", a, k, 2)
    return issubclass_(e, a[0], a[1])


@_builtin("callable")
def _callable(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("callable", a, k, 1)
    return callable_(e, a[0])


@_builtin("getattr")
def _getattr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or not 2 <= len(a) <= 3:
        _refuse("getattr", a, k, 2, 3)
    name = ops.payload(a[1])
    if isinstance(name, Unknown):
        return name.derive(f"getattr({ops.short(a[0])}, {name.key})")
    if len(a) == 2:
        return attrs.get(e, a[0], name)
    sentinel = isinstance(a[2], Instance) and a[2].cls is OBJECT
    if sentinel and isinstance(a[0], Unknown) and not isinstance(a[0], External):
        return a[0].derive(f"getattr({a[0].key}, {name!r}, {ops.short(a[2])})")
    found = attrs.maybe(e, a[0], name)
    return a[2] if found is MISSING else found


@_builtin("setattr")
def _setattr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 3:
        _refuse("setattr", a, k, 3)
    name = ops.payload(a[1])
    if isinstance(name, Unknown):
        raise TraceStop(f"sets an attribute whose name, {name.key}, is not known")
    attrs.set_(e, a[0], name, a[2])


@_builtin("delattr")
def _delattr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 2:
        _refuse("delattr", a, k, 2)
    attrs.delete(e, a[0], a[1])


@_builtin("hasattr")
def _hasattr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 2:
        _refuse("hasattr", a, k, 2)
    return attrs.has(e, a[0], ops.payload(a[1]))


@_builtin("print")
def _print(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return None


@_builtin("id")
def _id(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("id", a, k, 1)
    return id(a[0])


@_builtin("hash")
def _hash(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("hash", a, k, 1)
    if isinstance(a[0], Unknown):
        return a[0].derive(f"hash({a[0].key})")
    if isinstance(a[0], Instance) and (method := a[0].cls.lookup("__hash__")) is not MISSING and not _is_object(method):
        return e.call(BoundMethod(method, a[0]), [], {})
    try:
        return hash(a[0])
    except TypeError as error:
        throw_host(error)


def _is_object(method: Value) -> bool:
    return isinstance(method, Native) and bool(method.attrs.get("object"))


@_builtin("repr")
def _repr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("repr", a, k, 1)
    return ops.to_repr(e, a[0])


@_builtin("ascii")
def _ascii(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("ascii", a, k, 1)
    return ops.format_value(e, a[0], "a", "")


@_builtin("format")
def _format(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or not 1 <= len(a) <= 2:
        _refuse("format", a, k, 1, 2)
    return ops.format_value(e, a[0], None, a[1] if len(a) > 1 else "")


@_builtin("iter")
def _iter(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or not 1 <= len(a) <= 2:
        _refuse("iter", a, k, 1, 2)
    if len(a) > 1:
        return Generator(_until_sentinel(e, a[0], a[1]), e.is_shared())
    return ops.iterator(e, a[0])


def _until_sentinel(e: Any, function: Value, sentinel: Value) -> Iterator[Value]:
    while True:
        e.turns(1)
        item = e.call(function, [], {})
        if e.truth(ops.equal(e, item, sentinel)):
            return
        yield item


@_builtin("next")
def _next(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or not 1 <= len(a) <= 2:
        _refuse("next", a, k, 1, 2)
    source = a[0]
    if isinstance(source, Generator):
        if len(a) == 1:
            return advance(e, source)
        item = source.take(e)
        return a[1] if item is MISSING else item
    if isinstance(source, Unknown):
        return source.derive(f"next({source.key})")
    step = source.cls.lookup("__next__") if isinstance(source, Instance) else MISSING
    if step is MISSING:
        throw("TypeError", f"'{ops.type_name(source)}' object is not an iterator")
    try:
        return e.call(BoundMethod(step, source), [], {})
    except Raised as error:
        stop = isinstance(error.value, Instance) and EXCEPTIONS["StopIteration"] in error.value.cls.mro
        if stop and len(a) > 1:
            return a[1]
        raise


@_builtin("any")
def _any(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("any", a, k, 1)
    return _until(e, a[0], True)


@_builtin("all")
def _all(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    if k or len(a) != 1:
        _refuse("all", a, k, 1)
    return _until(e, a[0], False)


def _until(e: Any, source: Value, stop: bool) -> Value:
    if isinstance(source, Unknown):
        return source.derive(f"{'any' if stop else 'all'}({source.key})")
    unknown: list[Unknown] = []
    for item in ops.iterating(e, source):
        e.turns(1)
        if isinstance(item, Unknown):
            unknown.append(item)
        elif e.truth(item) is stop:
            return stop
    return unknown[0].derive(f"{'any' if stop else 'all'}({unknown[0].key}, ...)") if unknown else not stop


@_builtin("sum")
def _sum(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    total: Value = a[1] if len(a) > 1 else k.get("start", 0)
    for item in ops.iterating(e, a[0]):
        e.turns(1)
        total = ops.binary(e, "+", total, item)
    return total


def _extreme(e: Any, a: list[Value], k: dict[str, Value], sign: str) -> Value:
    items = ops.iterate(e, a[0]) if len(a) == 1 else a
    if not items:
        if "default" in k:
            return k["default"]
        throw("ValueError", f"{'min' if sign == '<' else 'max'}() arg is an empty sequence")
    key = k.get("key")
    unknown = first_unknown(items)
    if unknown is not None and key is None:
        return unknown.derive(f"{'min' if sign == '<' else 'max'}({', '.join(map(ops.short, items))})")
    best = items[0]
    best_key = best if key is None else e.call(key, [best], {})
    for item in items[1:]:
        item_key = item if key is None else e.call(key, [item], {})
        if e.truth(ops.compare(e, sign, item_key, best_key)):
            best, best_key = item, item_key
    return best


@_builtin("min")
def _min(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return _extreme(e, a, k, "<")


@_builtin("max")
def _max(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return _extreme(e, a, k, ">")


@_builtin("sorted")
def _sorted(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return e.sort(ops.iterate(e, a[0]), k.get("key"), k.get("reverse", False))


@_builtin("reversed")
def _reversed(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    source = a[0]
    if isinstance(source, Instance) and (method := source.cls.lookup("__reversed__")) is not MISSING:
        return e.call(BoundMethod(method, source), [], {})
    if isinstance(source, Instance) and source.cls.lookup("__len__") is not MISSING and source.cls.host is None:
        count = ops.length(e, source)
        return Generator((ops.get_item(e, source, i) for i in range(count - 1, -1, -1)), e.is_shared())
    return Generator(iter(list(reversed(ops.iterate(e, source)))), e.is_shared())


@_builtin("enumerate")
def _enumerate(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    start = a[1] if len(a) > 1 else k.get("start", 0)
    return Generator(iter(enumerate(ops.iterating(e, a[0]), start)), e.is_shared())


@_builtin("zip")
def _zip(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return Generator(_zipped([ops.iterating(e, x) for x in a], bool(k.get("strict"))), e.is_shared())


def _zipped(sources: list[Iterator[Value]], strict: bool) -> Iterator[Value]:
    while sources:
        row: list[Value] = []
        for i, source in enumerate(sources):
            item = next(source, MISSING)
            if item is MISSING:
                if not strict:
                    return
                if i > 0:
                    throw("ValueError", f"zip() argument {i + 1} is shorter than {_arguments(i)}")
                for j, other in enumerate(sources[1:], 1):
                    if next(other, MISSING) is not MISSING:
                        throw("ValueError", f"zip() argument {j + 1} is longer than {_arguments(j)}")
                return
            row.append(item)
        yield tuple(row)


def _arguments(count: int) -> str:
    return "argument 1" if count == 1 else f"arguments 1-{count}"


@_builtin("map")
def _map(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    sources = [ops.iterating(e, x) for x in a[1:]]
    return Generator((e.call(a[0], list(row), {}) for row in _zipped(sources, False)), e.is_shared())


@_builtin("filter")
def _filter(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    source = ops.iterating(e, a[1])
    keep = (x for x in source if e.truth(x if a[0] is None else e.call(a[0], [x], {})))
    return Generator(keep, e.is_shared())


@_builtin("vars")
def _vars(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return attrs.get(e, a[0], "__dict__")


@_builtin("dir")
def _dir(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    obj = a[0]
    if isinstance(obj, Unknown):
        return obj.derive(f"dir({obj.key})")
    names: set[str] = set()
    if isinstance(obj, Instance):
        names |= set(obj.attrs)
    for c in (obj.cls.mro if isinstance(obj, Instance) else obj.mro if isinstance(obj, Class) else ()):
        names |= set(c.attrs) | set(c.traits.get("members", {}))
    if isinstance(obj, Module):
        names |= set(obj.attrs)
    return sorted(names)


@_builtin("abs")
def _abs(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return numeric(e, abs, "abs", a)


@_builtin("round")
def _round(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return numeric(e, round, "round", a + list(k.values()))


@_builtin("divmod")
def _divmod(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return numeric(e, divmod, "divmod", a)


@_builtin("pow")
def _pow(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return ops.binary(e, "**", a[0], a[1]) if len(a) == 2 else numeric(e, pow, "pow", a)


for _fn in (ord, chr, bin, hex, oct):
    _TABLE[_fn.__name__] = lambda e, a, k, f=_fn: numeric(e, f, f.__name__, a)  # type: ignore[misc]


@_builtin("property")
def _property(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    parts = [a[i] if i < len(a) else k.get(name) for i, name in enumerate(("fget", "fset", "fdel"))]
    return Property(*parts)


@_builtin("staticmethod")
def _staticmethod(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return StaticMethod(a[0])


@_builtin("classmethod")
def _classmethod(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return ClassMethod(a[0])


@_builtin("super")
def _super(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return Super(a[0], a[1])


@_builtin("open")
def _open(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return e.open_file(a, k)


@_builtin("__import__")
def _import(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    listed = a[3] if len(a) > 3 else k.get("fromlist")
    return e.imports.load(a[0]) if listed else e.imports.import_statement(a[0], None, None)


@_builtin("input")
def _input(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return Unknown("input()", "nobody is there to answer")


@_builtin("exit")
def _exit(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    throw("SystemExit", *(a or [None]))


_TABLE["quit"] = _exit


@_builtin("eval")
def _eval(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return Unknown(f"eval({ops.short(a[0])})", "the tree evaluates text as code, which is never followed")


_TABLE["exec"] = lambda e, a, k: None
_TABLE["compile"] = _eval
