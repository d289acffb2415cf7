"""Pure modules: the real functions on known arguments."""

from __future__ import annotations

import itertools
import math
import operator
import string
import textwrap
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

from mtp_trace.trace import attrs, ops
from mtp_trace.trace.stdlib.tools import argument, natives, real
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    Function,
    Generator,
    Instance,
    Native,
    Unknown,
    Value,
    generator_of,
)


def _math(engine: Any) -> dict[str, Value]:
    names = ("ceil", "floor", "sqrt", "log", "log2", "log10", "exp", "pow", "gcd", "lcm", "isnan", "isinf", "isfinite",
             "prod",
             "trunc", "fabs", "comb", "copysign", "cos", "sin", "tan", "atan", "hypot", "isclose", "fsum",
             "factorial")  # fmt: skip
    table: dict[str, Value] = {n: real(f"math.{n}", getattr(math, n)) for n in names if hasattr(math, n)}
    return {**table, "inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}


def _operator(engine: Any) -> dict[str, Value]:
    def getter(kind: str) -> Any:
        def make(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
            def one(engine: Any, obj: Value, key: Value) -> Value:
                if kind == "item":
                    return ops.get_item(engine, obj, key)
                for part in key.split("."):
                    obj = attrs.get(engine, obj, part)
                return obj

            def run(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
                found = [one(engine, args[0], key) for key in a]
                return found[0] if len(found) == 1 else tuple(found)

            return Native(f"{kind}getter", run)

        return make

    table = natives(itemgetter=getter("item"), attrgetter=getter("attr"))
    for name, sign in (
        ("add", "+"),
        ("sub", "-"),
        ("mul", "*"),
        ("or_", "|"),
        ("and_", "&"),
        ("xor", "^"),
        ("mod", "%"),
    ):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.binary(e, sign, a[0], a[1]))  # type: ignore[misc]
    for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("is_", "is")):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.compare(e, sign, a[0], a[1]))  # type: ignore[misc]
    for name, sign in (
        ("floordiv", "//"),
        ("truediv", "/"),
        ("pow", "**"),
        ("lshift", "<<"),
        ("rshift", ">>"),
        ("matmul", "@"),
    ):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.binary(e, sign, a[0], a[1]))  # type: ignore[misc]
    for name, sign in (("neg", "-"), ("pos", "+"), ("invert", "~"), ("inv", "~")):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.unary(e, sign, a[0]))  # type: ignore[misc]
    table.update(natives(
        truth=lambda e, a, k: e.builtin("bool")(e, a, k) if isinstance(a[0], Unknown) else e.truth(a[0]),
        not_=lambda e, a, k: ops.negate(a[0]) if isinstance(a[0], Unknown) else not e.truth(a[0]),
        getitem=lambda e, a, k: ops.get_item(e, a[0], a[1]), setitem=lambda e, a, k: ops.set_item(e, a[0], a[1], a[2]),
        delitem=lambda e, a, k: ops.delete_item(e, a[0], a[1]), is_not=lambda e, a, k: ops.compare(e, "is not", a[0],
                                                                                                   a[1]),
        concat=lambda e, a, k: ops.binary(e, "+", a[0], a[1]),
        methodcaller=lambda e, a, k: Native("methodcaller", lambda e, b, kk: e.call(e.getattr(b[0], a[0]), a[1:], k)),
    ))  # fmt: skip
    table["index"] = real("operator.index", operator.index)
    table["contains"] = Native("contains", lambda e, a, k: ops.contains(e, a[0], a[1]))
    return table


def _itertools(engine: Any) -> dict[str, Value]:
    def lazy(make: Callable[[Any, list[Value], dict[str, Value]], Iterator[Value]]) -> Any:
        return lambda e, a, k: Generator(make(e, a, k), e.is_shared())

    def over(e: Any, sources: list[Value]) -> list[Iterator[Value]]:
        return [ops.iterating(e, x) for x in sources]

    def accumulate(e: Any, a: list[Value], k: dict[str, Value]) -> Iterator[Value]:
        function = argument(a, k, 1, "func")
        total = k.get("initial")
        if total is not None:
            yield total
        for x in ops.iterating(e, a[0]):
            if total is None:
                total = x
            else:
                total = ops.binary(e, "+", total, x) if function is None else e.call(function, [total, x], {})
            yield total

    def groupby(e: Any, a: list[Value], k: dict[str, Value]) -> Iterator[Value]:
        key = argument(a, k, 1, "key")
        groups: list[tuple[Value, list[Value]]] = []
        for x in ops.iterating(e, a[0]):
            at = x if key is None else e.call(key, [x], {})
            if groups and e.truth(ops.equal(e, groups[-1][0], at)):
                groups[-1][1].append(x)
            else:
                groups.append((at, [x]))
        return iter([(at, generator_of(items)) for at, items in groups])

    def test(e: Any, function: Value) -> Callable[[Value], bool]:
        return lambda x: bool(e.truth(x if function is None else e.call(function, [x], {})))

    def pairwise(e: Any, a: list[Value], k: dict[str, Value]) -> Iterator[Value]:
        previous = MISSING
        for x in ops.iterating(e, a[0]):
            if previous is not MISSING:
                yield (previous, x)
            previous = x

    def joined(e: Any, sources: Iterator[Value]) -> Iterator[Value]:
        for source in sources:
            yield from ops.iterating(e, source)

    def tee(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        items = ops.iterate(e, a[0])
        return tuple(generator_of(items) for _ in range(a[1] if len(a) > 1 else 2))

    # Their sizes grow out of all proportion to what goes in; the budget is asked before each item.
    def counted(e: Any, items: Iterator[Value]) -> Iterator[Value]:
        for item in items:
            e.turns(1)
            yield item

    chain = Native("chain", lazy(lambda e, a, k: joined(e, iter(a))))
    chain.attrs["from_iterable"] = Native("from_iterable", lazy(lambda e, a, k: joined(e, ops.iterating(e, a[0]))))
    table: dict[str, Callable[[Any, list[Value], dict[str, Value]], Iterator[Value]]] = {
        "product": lambda e, a, k: itertools.product(*[ops.iterate(e, x) for x in a],
                                                     repeat=min(k.get("repeat", 1), 1000)),
        "combinations": lambda e, a, k: itertools.combinations(ops.iterate(e, a[0]), argument(a, k, 1, "r")),
        "combinations_with_replacement": lambda e, a, k: itertools.combinations_with_replacement(
            ops.iterate(e, a[0]), argument(a, k, 1, "r")),
        "permutations": lambda e, a, k: itertools.permutations(ops.iterate(e, a[0]), argument(a, k, 1, "r")),
        "islice": lambda e, a, k: itertools.islice(ops.iterating(e, a[0]), *a[1:]),
        "zip_longest": lambda e, a, k: itertools.zip_longest(*over(e, a), **k),
        "count": lambda e, a, k: itertools.count(argument(a, k, 0, "start", 0), argument(a, k, 1, "step", 1)),
        "cycle": lambda e, a, k: itertools.cycle(ops.iterating(e, a[0])),
        "repeat": lambda e, a, k: itertools.repeat(a[0]) if len(a) + len(k) == 1 else itertools.repeat(
            a[0], argument(a, k, 1, "times")),
        "takewhile": lambda e, a, k: itertools.takewhile(test(e, a[0]), ops.iterating(e, a[1])),
        "dropwhile": lambda e, a, k: itertools.dropwhile(test(e, a[0]), ops.iterating(e, a[1])),
        "filterfalse": lambda e, a, k: itertools.filterfalse(test(e, a[0]), ops.iterating(e, a[1])),
        "starmap": lambda e, a, k: (e.call(a[0], ops.iterate(e, row), {}) for row in ops.iterating(e, a[1])),
        "compress": lambda e, a, k: (x for x, s in zip(*over(e, a[:2])) if e.truth(s)),
        "accumulate": accumulate, "groupby": groupby, "pairwise": pairwise,
    }  # fmt: skip
    return {
        "chain": chain, **natives(tee=tee),
        **{n: Native(n, lazy(lambda e, a, k, make=make: counted(e, make(e, a, k)))) for n, make in table.items()},  # type: ignore[misc]
    }  # fmt: skip


def _copy(engine: Any) -> dict[str, Value]:
    def shallow(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        value = a[0]
        if isinstance(value, (list, dict, set)):
            return value.copy()
        if isinstance(value, Instance):
            if value.cls.has_trait("enum"):
                return value
            if isinstance(method := value.cls.lookup("__copy__"), Function):
                return e.call(BoundMethod(method, value), [], {})
            made = Instance(
                value.cls, value.payload.copy() if isinstance(value.payload, (list, dict, set)) else value.payload
            )
            made.attrs = dict(value.attrs)
            return made
        return value

    return natives(copy=shallow, deepcopy=lambda e, a, k: deep_copy(e, a[0], {}))


def deep_copy(engine: Any, value: Value, seen: dict[int, Value]) -> Value:
    """``copy.deepcopy``: containers and instances anew, classes and functions shared, enum members themselves."""
    if id(value) in seen:
        return seen[id(value)]
    if isinstance(value, list):
        out: Any = []
        seen[id(value)] = out
        out.extend(deep_copy(engine, x, seen) for x in value)
        return out
    if isinstance(value, dict):
        out = {}
        seen[id(value)] = out
        out.update((deep_copy(engine, k, seen), deep_copy(engine, v, seen)) for k, v in value.items())
        return out
    if isinstance(value, tuple):
        return tuple(deep_copy(engine, x, seen) for x in value)
    if isinstance(value, (set, frozenset)):
        return type(value)(value)
    if isinstance(value, Instance) and not value.cls.has_trait("enum"):
        method = value.cls.lookup("__deepcopy__")
        if isinstance(method, Function):
            return engine.call(BoundMethod(method, value), [{}], {})
        made = Instance(value.cls)
        seen[id(value)] = made
        made.payload = deep_copy(engine, value.payload, seen)
        made.attrs = {k: deep_copy(engine, v, seen) for k, v in value.attrs.items()}
        return made
    return value


def _urllib(engine: Any) -> dict[str, Value]:
    def urlparse(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if isinstance(a[0], Unknown):
            return a[0].derive(f"urlparse({a[0].key})")
        parts = urllib.parse.urlparse(a[0])
        from mtp_trace.trace.errors import OBJECT
        from mtp_trace.trace.values import Class

        made = Instance(Class("ParseResult", (OBJECT,)))
        try:
            port = parts.port
        except ValueError:
            port = None
        made.attrs.update({"scheme": parts.scheme, "netloc": parts.netloc, "path": parts.path, "params": parts.params,
                           "query": parts.query, "fragment": parts.fragment, "hostname": parts.hostname, "port": port,
                           "username": parts.username, "password": parts.password})  # fmt: skip
        return made

    table = natives(urlparse=urlparse, urlsplit=urlparse)
    for name in ("quote", "unquote", "urlencode", "urljoin", "quote_plus", "unquote_plus", "parse_qs"):
        table[name] = real(name, getattr(urllib.parse, name))
    return table


def _string(engine: Any) -> dict[str, Value]:
    return {n: getattr(string, n) for n in ("ascii_letters", "digits", "ascii_lowercase", "ascii_uppercase",
                                            "punctuation",
                                            "hexdigits", "whitespace", "printable")}  # fmt: skip


def _textwrap(engine: Any) -> dict[str, Value]:
    return {n: real(n, getattr(textwrap, n)) for n in ("dedent", "indent", "fill", "shorten", "wrap")}


MODULES = {
    "math": _math,
    "operator": _operator,
    "itertools": _itertools,
    "copy": _copy,
    "urllib.parse": _urllib,
    "string": _string,
    "textwrap": _textwrap,
}
