"""Attributes and methods of builtin types, answered by the real builtins on known arguments.

Only what is listed here can be called: every other attribute of a builtin value is absent.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from mtp_trace.trace import backtracking, limits, ops
from mtp_trace.trace.errors import throw, throw_host
from mtp_trace.trace.values import MISSING, Instance, Native, TraceStop, Unknown, Value, first_unknown

_PURE: dict[type, frozenset[str]] = {
    str: frozenset(n for n in dir(str) if not n.startswith("_")) - {"format", "format_map", "join"},
    bytes: frozenset(n for n in dir(bytes) if not n.startswith("_")),
    bytearray: frozenset(n for n in dir(bytes) if not n.startswith("_")),
    type({}.keys()): frozenset({"isdisjoint"}),
    type({}.items()): frozenset({"isdisjoint"}),
    int: frozenset(
        {"bit_length", "bit_count", "to_bytes", "from_bytes", "conjugate", "is_integer", "as_integer_ratio"}
    ),
    bool: frozenset({"bit_length", "to_bytes"}),
    float: frozenset({"is_integer", "hex", "as_integer_ratio", "fromhex"}),
    tuple: frozenset({"count", "index"}),
    list: frozenset({"count", "index", "copy"}),
    set: frozenset(
        {"copy", "issubset", "issuperset", "isdisjoint", "union", "intersection", "difference", "symmetric_difference"}
    ),
    frozenset: frozenset(
        {"copy", "issubset", "issuperset", "isdisjoint", "union", "intersection", "difference", "symmetric_difference"}
    ),
    range: frozenset({"count", "index", "start", "stop", "step"}),
    slice: frozenset({"start", "stop", "step", "indices"}),
    re.Pattern: frozenset(
        {"match", "search", "fullmatch", "findall", "finditer", "split", "sub", "subn", "pattern", "flags", "groups"}
    ),
    re.Match: frozenset({"group", "groups", "groupdict", "start", "end", "span", "string", "lastgroup", "lastindex"}),
    pathlib.PurePosixPath: frozenset(
        {"name", "stem", "suffix", "suffixes", "parent", "parents", "parts", "joinpath", "with_suffix", "with_name"}
        | {"as_posix", "is_absolute", "relative_to", "is_relative_to", "match", "as_uri"}
    ),
    datetime.datetime: frozenset({"strftime", "isoformat", "year", "month", "day", "timestamp"}),
    datetime.timedelta: frozenset({"total_seconds", "days", "seconds"}),
    decimal.Decimal: frozenset({"quantize", "to_integral_value"}),
    fractions.Fraction: frozenset({"numerator", "denominator"}),
    memoryview: frozenset(),
}
_MUTATORS: dict[type, frozenset[str]] = {
    list: frozenset({"append", "extend", "insert", "remove", "pop", "clear", "reverse", "sort"}),
    dict: frozenset({"update", "setdefault", "pop", "clear"}),
    set: frozenset(
        {"add", "discard", "remove", "pop", "clear", "update", "difference_update", "intersection_update"}
        | {"symmetric_difference_update"}
    ),
    bytearray: frozenset({"append", "extend", "clear", "pop", "insert", "remove", "reverse"}),
}


@lru_cache(4096)
def _way(kind: type, name: str) -> tuple[type, str]:
    """How a method of a builtin type is called, and the type that has it."""
    for host in kind.__mro__:
        if name in _MUTATORS.get(host, ()):
            return host, "mutator"
        if host in (str, dict) and name in _SPECIAL.get(host, ()):
            return host, "special"
        if name in _PURE.get(host, ()):
            return host, "pure"
    return kind, ""


def host_attribute(engine: Any, obj: Value, name: str) -> Value:
    """The attribute of a builtin value or type, or ``MISSING``."""
    if isinstance(obj, type):
        return _type_attribute(engine, obj, name)
    extra = engine.host_methods.get((type(obj), name))
    if extra is not None:
        return extra(engine, obj)
    if name == "__class__":
        return type(obj)
    if name == "__doc__":
        return None
    host, way = _way(type(obj), name)  # type: ignore[arg-type]  # a type is hashable
    if way == "mutator":
        return Native(f"{host.__name__}.{name}", lambda e, a, k: _mutate(e, obj, name, a, k))
    if way == "special":
        return _special(host, obj, name)
    if way == "pure":
        return _pure(obj, name)
    if isinstance(obj, complex) and name in ("real", "imag"):
        return getattr(obj, name)
    if isinstance(obj, (int, float)) and name in ("real", "imag", "numerator", "denominator"):
        return getattr(obj, name)
    if name in _DUNDERS and hasattr(obj, name):
        return Native(name, _dunder_call(obj, name))
    return MISSING


_DUNDERS = {"__contains__": "in", "__getitem__": "[]", "__len__": "len", "__iter__": "iter", "__eq__": "==",
            "__hash__": "hash",
            "__str__": "str", "__repr__": "repr", "__setitem__": "[]=", "__ne__": "!=", "__lt__": "<",
            "__add__": "+"}  # fmt: skip


def _special(host: type, obj: Value, name: str) -> Native:
    method = _SPECIAL[host][name]
    return Native(f"{host.__name__}.{name}", lambda e, a, k: method(e, obj, a, k))


def _dunder_call(obj: Value, name: str) -> Any:
    def call(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        kind = _DUNDERS[name]
        if kind == "[]":
            return ops.get_item(engine, obj, args[0])
        if kind == "[]=":
            return ops.set_item(engine, obj, args[0], args[1])
        if kind == "len":
            return ops.length(engine, obj)
        if kind == "iter":
            return ops.iterator(engine, obj)
        if kind == "hash":
            return hash(obj)
        if kind in ("str", "repr"):
            return ops.to_text(engine, obj) if kind == "str" else ops.to_repr(engine, obj)
        if kind == "in":
            return ops.contains(engine, obj, args[0])
        if kind == "+":
            return ops.binary(engine, "+", obj, args[0])
        return ops.compare(engine, kind, obj, args[0])

    return call


def _pure(obj: Value, name: str) -> Value:
    real = getattr(obj, name)
    if not callable(real):
        return real

    def call(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        plain = [ops.payload(a) for a in args]
        if isinstance(obj, (list, tuple)) and name in ("count", "index"):
            return _search(engine, obj, name, plain)
        if isinstance(obj, (set, frozenset)):
            plain = [set(ops.iterate(engine, a)) for a in plain]
        unknown = first_unknown(plain)
        if unknown is None and kwargs:
            unknown = first_unknown(list(kwargs.values()))
        if unknown is not None:
            return unknown.derive(f"{ops.short(obj)}.{name}({', '.join(map(ops.short, plain))})")
        if isinstance(obj, re.Pattern) and name in ("sub", "subn") and not isinstance(plain[0], str):
            replacement = plain[0]
            backtracking.check(obj, _subject(obj, name, plain, kwargs))
            return real(lambda m: engine.call(replacement, [m], {}), *plain[1:], **kwargs)
        limits.method(obj, name, [*plain, *kwargs.values()])
        if isinstance(obj, re.Pattern):
            backtracking.check(obj, _subject(obj, name, plain, kwargs))
        try:
            result = real(*plain, **kwargs)
        except (TypeError, ValueError, LookupError, ArithmeticError) as e:
            throw_host(e)
        limits.charge(engine, result)
        return result

    return Native(f"{type(obj).__name__}.{name}", call)


def _subject(pattern: re.Pattern[Any], name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The text that a pattern is asked about."""
    at = 1 if name in ("sub", "subn") else 0
    return args[at] if at < len(args) else kwargs.get("string")


def _search(engine: Any, obj: Value, name: str, args: list[Value]) -> Value:
    hits = 0
    for i, x in enumerate(obj):
        same = ops.equal(engine, x, args[0])
        if isinstance(same, Unknown):
            return same.derive(f"{name}({ops.short(args[0])})")
        if same and name == "index":
            return i
        hits += bool(same)
    if name == "index":
        throw("ValueError", f"{args[0]!r} is not in list")
    return hits


def _mutate(engine: Any, obj: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    engine.touch(obj)
    engine.grow(obj)
    if isinstance(obj, list):
        if name == "sort":
            obj[:] = engine.sort(list(obj), kwargs.get("key"), kwargs.get("reverse", False))
            return None
        if name == "remove":
            for i, x in enumerate(obj):
                if engine.truth(ops.equal(engine, x, args[0])):
                    del obj[i]
                    return None
            throw("ValueError", "list.remove(x): x not in list")
        if name == "extend":
            obj.extend(ops.iterate(engine, args[0]))
            return None
    if isinstance(obj, dict):
        if name == "update":
            _update(engine, obj, args, kwargs)
            return None
        if name in ("setdefault", "pop") and args and _may_be_there(obj, args[0]):
            unknown = args[0] if isinstance(args[0], Unknown) else ops.unknown_key(obj)
            assert unknown is not None
            shown = _with_default(args[0], args[1] if len(args) > 1 else None)
            asked = unknown.derive(f"{ops.short(obj)}.{name}({shown})")
            if name == "setdefault":
                obj[args[0]] = args[1] if len(args) > 1 else None
            return asked
    if isinstance(obj, set):
        if name in ("discard", "remove") and args and _may_be_there(obj, args[0]):
            raise TraceStop(f"{name} of {ops.short(args[0])} from a set that may or may not hold it")
        if name.endswith("update") or name == "update":
            args = [set(ops.iterate(engine, a)) for a in args]
        if name == "pop" and obj:
            item = ops.ordered(obj)[0]
            obj.remove(item)
            return item
    if name in ("pop", "insert") and args and isinstance(ops.payload(args[0]), Unknown):
        raise TraceStop(f"{name} at {ops.short(args[0])}, which is not known")
    try:
        return getattr(obj, name)(*args, **kwargs)
    except (TypeError, ValueError, LookupError) as e:
        throw_host(e)


def _may_be_there(obj: Collection[Value], key: Value) -> bool:
    """Whether a key that is not found may be one of those there under another name, because one of them is unknown."""
    table: Any = obj
    try:
        if key in table or not table:
            return False
    except TypeError:
        return False
    return isinstance(key, Unknown) or ops.unknown_key(obj) is not None


def _update(engine: Any, obj: dict[Any, Value], args: list[Value], kwargs: dict[str, Value]) -> None:
    if args:
        source = ops.payload(args[0])
        if isinstance(source, Unknown):
            raise TraceStop(f"a dict is updated from {source.key}, which is not known: {source.why}")
        if isinstance(source, dict):
            obj.update(source)
        elif isinstance(source, Instance) and source.cls.lookup("keys") is not MISSING:
            keys = engine.call(engine.getattr(source, "keys"), [], {})
            for k in ops.iterate(engine, keys):
                obj[k] = ops.get_item(engine, source, k)
        else:
            for pair in ops.iterate(engine, source):
                k, v = ops.iterate(engine, pair)
                obj[k] = v
    obj.update(kwargs)


def _with_default(key: Value, default: Value) -> str:
    """A key and the default beside it, as they stand in an unknown's key: what comes out may be either."""
    return ops.short(key) if default is None else f"{ops.short(key)}, {ops.short(default)}"


def _dict_get(engine: Any, obj: dict[Any, Value], args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = args[0]
    default = args[1] if len(args) > 1 else kwargs.get("default")
    if isinstance(key, (list, dict, set)):
        throw("TypeError", f"unhashable type: '{ops.type_name(key)}'")
    if key in obj:
        return obj[key]
    if isinstance(key, Unknown):
        return key.derive(f"{ops.short(obj)}.get({_with_default(key, default)})") if obj else default
    unknown = ops.unknown_key(obj)
    return default if unknown is None else unknown.derive(f"{ops.short(obj)}.get({_with_default(key, default)})")


def _join(engine: Any, obj: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if isinstance(args[0], Unknown):
        return args[0].derive(f"{obj!r}.join({args[0].key})")
    parts = [ops.payload(x) for x in ops.iterate(engine, args[0])]
    unknown = first_unknown(parts)
    if unknown is not None:
        return unknown.derive(f"{obj!r}.join({ops.short(parts)})")
    limits.method(obj, "join", [parts])
    try:
        joined = obj.join(parts)
    except TypeError as e:
        throw_host(e)
    limits.charge(engine, joined)
    return joined


_FIELD = re.compile(r"\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}")
_STEP = re.compile(r"\.(\w+)|\[([^\]]*)\]")


def _format(engine: Any, obj: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    counter = iter(range(len(args) + 1))
    unknown: list[Unknown] = []

    def pick(name: str) -> Value:
        head = re.match(r"[^.\[]*", name)
        base = head.group() if head else ""
        if base == "":
            base = str(next(counter))
        if base.isdigit():
            if int(base) >= len(args):
                throw("IndexError", f"Replacement index {base} out of range for positional args tuple")
            value = args[int(base)]
        elif base in kwargs:
            value = kwargs[base]
        else:
            throw("KeyError", base)
        for attribute, index in _STEP.findall(name[len(head.group()) if head else 0 :]):
            value = engine.getattr(value, attribute) if attribute else ops.get_item(
                engine, value, int(index) if index.isdigit() else index)  # fmt: skip
        return value

    def field(match: re.Match[str]) -> str:
        if match.group() in ("{{", "}}"):
            return match.group()[0]
        value = pick(match.group(1))
        spec = _FIELD.sub(field, match.group(3) or "")
        text = ops.format_value(engine, value, match.group(2), spec)
        if isinstance(text, Unknown):
            unknown.append(text)
            return f"<{text.key}>"
        return str(text)

    text = _FIELD.sub(field, obj)
    limits.charge(engine, text)
    return unknown[0].derive(text) if unknown else text


def _move(engine: Any, obj: dict[Any, Value], key: Value, last: Value) -> None:
    engine.touch(obj)
    if key not in obj:
        throw("KeyError", key)
    value = obj.pop(key)
    rest = dict(obj)
    obj.clear()
    obj.update({**rest, key: value} if last else {key: value, **rest})


def _popitem(engine: Any, obj: dict[Any, Value], last: Value) -> Value:
    if not obj:
        throw("KeyError", "popitem(): dictionary is empty")
    engine.touch(obj)
    key = next(reversed(obj)) if last else next(iter(obj))
    return key, obj.pop(key)


_SPECIAL: dict[type, dict[str, Any]] = {
    str: {
        "join": _join,
        "format": _format,
        "format_map": lambda e, o, a, k: _format(e, o, [], dict(a[0])),
    },
    dict: {
        "get": _dict_get,
        "keys": lambda e, o, a, k: o.keys(),
        "values": lambda e, o, a, k: o.values(),
        "items": lambda e, o, a, k: o.items(),
        "copy": lambda e, o, a, k: dict(o),
        "move_to_end": lambda e, o, a, k: _move(e, o, a[0], (a[1] if len(a) > 1 else k.get("last", True))),
        "popitem": lambda e, o, a, k: _popitem(e, o, a[0] if a else k.get("last", True)),
        "__missing__": lambda e, o, a, k: throw("KeyError", a[0]),
    },
}


def _type_attribute(engine: Any, host: type, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return host.__name__
    if name == "__module__":
        return "builtins"
    if name == "__mro__":
        return tuple(engine.OBJECT if t is object else t for t in host.__mro__)
    if name == "__doc__":
        return None
    if name == "fromkeys" and host is dict:
        return Native(
            "dict.fromkeys", lambda e, a, k: dict.fromkeys(ops.iterate(e, a[0]), a[1] if len(a) > 1 else None)
        )
    if name in ("from_bytes", "fromhex", "maketrans") and hasattr(host, name):
        real = getattr(host, name)
        return Native(name, lambda e, a, k: real(*a, **k))
    if name == "__new__":
        return Native("__new__", lambda e, a, k: e.new_payload(a, k))
    if name == "__init__":
        return Native("__init__", lambda e, a, k: e.fill_payload(a[0], a[1:], k))
    if name == "__or__":
        return MISSING
    known = name in _MUTATORS.get(host, ()) or name in _PURE.get(host, ()) or name in _SPECIAL.get(host, {})
    if known or name in _DUNDERS:

        def call(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            return engine.call(host_attribute(engine, ops.payload(args[0]), name), args[1:], kwargs)

        return Native(f"{host.__name__}.{name}", call)
    return MISSING
