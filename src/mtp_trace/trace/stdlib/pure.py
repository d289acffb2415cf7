"""Pure modules: the real functions on known arguments."""

from __future__ import annotations

import itertools
import math
import operator
import string
import textwrap
import urllib.parse
from typing import Any

from mtp_trace.trace import attrs, ops
from mtp_trace.trace.stdlib.tools import natives, real
from mtp_trace.trace.values import BoundMethod, Instance, Native, Unknown, Value, generator_of


def _math(engine: Any) -> dict[str, Value]:
    names = ("ceil", "floor", "sqrt", "log", "log2", "log10", "exp", "pow", "gcd", "lcm", "isnan", "isinf", "isfinite", "prod",
             "trunc", "fabs", "comb", "copysign", "cos", "sin", "tan", "atan", "hypot", "isclose", "fsum", "factorial")  # fmt: skip
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
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("or_", "|"), ("and_", "&"), ("xor", "^"), ("mod", "%")):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.binary(e, sign, a[0], a[1]))  # type: ignore[misc]
    for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("is_", "is")):
        table[name] = Native(name, lambda e, a, k, sign=sign: ops.compare(e, sign, a[0], a[1]))  # type: ignore[misc]
    table["index"] = real("operator.index", operator.index)
    table["contains"] = Native("contains", lambda e, a, k: ops.contains(e, a[0], a[1]))
    return table


def _itertools(engine: Any) -> dict[str, Value]:
    def lists(e: Any, a: list[Value]) -> list[list[Value]]:
        return [ops.iterate(e, x) for x in a]

    def count(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        start = a[0] if a else 0
        return generator_of([start + i * (a[1] if len(a) > 1 else 1) for i in range(10_000)])

    def accumulate(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        out: list[Value] = []
        for x in ops.iterate(e, a[0]):
            combined = x if not out else e.call(a[1], [out[-1], x], {}) if len(a) > 1 else ops.binary(e, "+", out[-1], x)
            out.append(combined)
        return generator_of(out)

    def groupby(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        key = a[1] if len(a) > 1 else k.get("key")
        groups: list[tuple[Value, Any]] = []
        for x in ops.iterate(e, a[0]):
            at = x if key is None else e.call(key, [x], {})
            if groups and e.truth(ops.equal(e, groups[-1][0], at)):
                groups[-1][1].append(x)
            else:
                groups.append((at, [x]))
        return generator_of([(at, generator_of(items)) for at, items in groups])

    def repeat(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        return generator_of([a[0]] * (a[1] if len(a) > 1 else 10_000))

    def takewhile(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        return generator_of(list(itertools.takewhile(lambda x: e.truth(e.call(a[0], [x], {})), ops.iterate(e, a[1]))))

    chain = Native("chain", lambda e, a, k: generator_of([x for items in lists(e, a) for x in items]))
    chain.attrs["from_iterable"] = Native(
        "from_iterable", lambda e, a, k: generator_of([x for items in lists(e, ops.iterate(e, a[0])) for x in items])
    )
    return {
        "chain": chain,
        **natives(
            product=lambda e, a, k: generator_of(list(itertools.product(*lists(e, a), repeat=k.get("repeat", 1)))),
            combinations=lambda e, a, k: generator_of(list(itertools.combinations(ops.iterate(e, a[0]), a[1]))),
            permutations=lambda e, a, k: generator_of(list(itertools.permutations(ops.iterate(e, a[0]), *a[1:]))),
            islice=lambda e, a, k: generator_of(list(itertools.islice(ops.iterate(e, a[0]), *a[1:]))),
            zip_longest=lambda e, a, k: generator_of(list(itertools.zip_longest(*lists(e, a), **k))),
            pairwise=lambda e, a, k: generator_of([*zip(x := ops.iterate(e, a[0]), x[1:])]),
            count=count, accumulate=accumulate, groupby=groupby, repeat=repeat, takewhile=takewhile,
        ),
    }  # fmt: skip


def _copy(engine: Any) -> dict[str, Value]:
    def shallow(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        value = a[0]
        if isinstance(value, (list, dict, set)):
            return value.copy()
        if isinstance(value, Instance):
            if (method := value.cls.lookup("__copy__")) and isinstance(method, (Native,)) is False and hasattr(method, "code"):
                return e.call(BoundMethod(method, value), [], {})
            made = Instance(value.cls, value.payload.copy() if isinstance(value.payload, (list, dict, set)) else value.payload)
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
        if hasattr(method, "code"):
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
    return {n: getattr(string, n) for n in ("ascii_letters", "digits", "ascii_lowercase", "ascii_uppercase", "punctuation",
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
