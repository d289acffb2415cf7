"""Compiles what is assigned to: names, attributes, items, unpacking; and comprehensions, which bind as they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Generator as HostGenerator
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import attrs, ops
from mtp_trace.trace.errors import exception, throw
from mtp_trace.trace.generators import drive
from mtp_trace.trace.places import place, site_of
from mtp_trace.trace.scope import Scope, target_names
from mtp_trace.trace.values import Frame, Generator, Raised, TraceStop, Unknown, Value

Eval = Callable[[Frame], Value]


class TargetCompiler:
    """Targets and comprehensions for ``ExprCompiler``."""

    expr: Any

    def comp(self, node: Node, scope: Scope) -> Eval:
        """A comprehension or generator expression: its own scope, the first iterable evaluated outside it."""
        kind, element, clauses = node[3], node[4], node[5]
        inner_scope = Scope("comp", scope, {n for c in clauses for n in target_names(c[0])})
        first = self.expr(clauses[0][1], scope)
        compiled = []
        for i, (target, iterable, conditions, _) in enumerate(clauses):
            source = None if i == 0 else self.expr(iterable, inner_scope)
            tests = [(self.expr(c, inner_scope), c) for c in conditions]
            compiled.append((self.store(target, inner_scope), source, tests))
        elements = [self.expr(e, inner_scope) for e in element]
        in_class = scope.kind == "class"

        def walk(f: Frame, depth: int, source: Value) -> Iterator[None]:
            store, _, tests = compiled[depth]
            following = compiled[depth + 1][1] if depth + 1 < len(compiled) else None
            engine = f.engine
            for item in ops.iterating(engine, source):
                engine.turns(1)
                store(f, item)
                if all(engine.truth_at(t(f), f, n) for t, n in tests):
                    if following is None:
                        yield
                    else:
                        yield from walk(f, depth + 1, following(f))

        def single(f: Frame, source: Value) -> Value:
            store, _, tests = compiled[0]
            element, engine = elements[0], f.engine
            out: list[Value] = []
            for item in ops.iterating(engine, source):
                engine.turns(1)
                store(f, item)
                for test, at in tests:
                    if not engine.truth_at(test(f), f, at):
                        break
                else:
                    out.append(element(f))
            return out

        def lazily(f: Frame, source: Value) -> HostGenerator[Value, Value, None]:
            element = elements[0]
            for _ in walk(f, 0, source):
                yield element(f)

        def run(f: Frame) -> Value:
            engine = f.engine
            try:
                source = first(f)
                if isinstance(source, Unknown):
                    return source.derive(f"[... for ... in {source.key}]")
                inner = Frame(engine, f.module, f.function, f.parent if in_class else f, {})
                inner.node = node
                if kind == "gen":
                    source = source if isinstance(source, (list, dict)) else ops.iterator(engine, source)
                    return Generator(drive(engine, inner, lazily(inner, source)), engine.is_shared())
                if len(compiled) == 1 and kind == "list":
                    return single(inner, source)
                if kind == "dict":
                    table: dict[Any, Value] = {}
                    key, value = elements
                    for _ in walk(inner, 0, source):
                        k = key(inner)
                        v = value(inner)
                        try:
                            table[k] = v
                        except TypeError:
                            raise unhashable(k) from None
                    return table
                one = elements[0]
                out = [one(inner) for _ in walk(inner, 0, source)]
                return set_of(out) if kind == "set" else out
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def store(self, target: Node, scope: Scope) -> Callable[[Frame, Value], None]:
        """A closure that assigns to a target."""
        op = target[0]
        if op == "name":
            return self._store_name(target[3], scope)
        if op == "attr":
            inner, name = self.expr(target[3], scope), scope.private(target[4])

            def set_attr(f: Frame, v: Value) -> None:
                try:
                    attrs.set_(f.engine, inner(f), name, v)
                except (Raised, TraceStop) as e:
                    place(e, f, target)
                    raise

            return set_attr
        if op == "index":
            inner, key = self.expr(target[3], scope), self.expr(target[4], scope)
            field = target[3][4] if target[3][0] == "attr" else ""

            def set_index(f: Frame, v: Value) -> None:
                try:
                    self.put_item(f, inner(f), key(f), v, field, target)
                except (Raised, TraceStop) as e:
                    place(e, f, target)
                    raise

            return set_index
        if op in ("tuple", "list"):
            return self._unpack(target, scope)
        raise TraceStop(f"assignment to {op} is not supported")

    def put_item(self, f: Frame, obj: Value, key: Value, v: Value, field: str, target: Node) -> None:
        """``obj[key] = v``; noted where ``obj`` is a watched field."""
        ops.set_item(f.engine, obj, key, v)
        if field in f.engine.recorder.items:
            f.engine.on_item_set(field, v, site_of(f, target))

    def _store_name(self, name: str, scope: Scope) -> Callable[[Frame, Value], None]:
        hops = None if scope.kind == "module" else 0
        if name in scope.explicit_globals or (scope.kind != "module" and scope.resolve(name) is None):
            hops = None
        elif name in scope.nonlocals:
            hops = scope.resolve(name)
        if hops is None:
            return lambda f, v: f.engine.set_entry(f.globals, name, v)
        if hops == 0:
            name = scope.private(name) if scope.kind == "class" else name

            def local(f: Frame, v: Value) -> None:
                f.vars[name] = v

            return local

        def outer(f: Frame, v: Value) -> None:
            g: Any = f
            for _ in range(hops):
                g = g.parent
            f.engine.set_entry(g.vars, name, v)

        return outer

    def _unpack(self, target: Node, scope: Scope) -> Callable[[Frame, Value], None]:
        stars = [i for i, t in enumerate(target[3]) if t[0] == "star"]
        stores = [self.store(t[3] if t[0] == "star" else t, scope) for t in target[3]]
        count = len(stores)
        exact = not stars
        names = [scope.own_variable(t) for t in target[3]]
        own = names if exact and None not in names else None

        def unpack(f: Frame, v: Value) -> None:
            if own is not None and type(v) is tuple and len(v) == count:
                f.vars.update(zip(own, v))  # type: ignore[arg-type]
                return
            if exact and type(v) is tuple and len(v) == count:
                for s, item in zip(stores, v):
                    s(f, item)
                return
            if isinstance(v, Unknown):
                for i, s in enumerate(stores):
                    s(f, v.derive(f"{v.key}[{i}]"))
                return
            try:
                items = ops.iterate(f.engine, _unpackable(v))
                if stars:
                    at = stars[0]
                    tail = count - at - 1
                    if len(items) < count - 1:
                        throw(
                            "ValueError",
                            f"not enough values to unpack (expected at least {count - 1}, got {len(items)})",
                        )
                    items = [*items[:at], items[at : len(items) - tail], *items[len(items) - tail :]]
                elif len(items) < count:
                    throw("ValueError", f"not enough values to unpack (expected {count}, got {len(items)})")
                elif len(items) > count:
                    throw("ValueError", f"too many values to unpack (expected {count})")
            except (Raised, TraceStop) as e:
                place(e, f, target)
                raise
            for s, item in zip(stores, items):
                s(f, item)

        return unpack


def _unpackable(value: Value) -> Value:
    if value is None or isinstance(value, (bool, int, float)):
        throw("TypeError", f"cannot unpack non-iterable {type(value).__name__} object")
    return value


def set_of(items: list[Value]) -> set[Value]:
    """A set of values, or the traced TypeError for one that has no hash."""
    out: set[Value] = set()
    for x in items:
        try:
            out.add(x)
        except TypeError:
            raise unhashable(x) from None
    return out


def unhashable(value: Value) -> Raised:
    """The TypeError for a value that has no hash."""
    return Raised(exception("TypeError", f"unhashable type: '{ops.type_name(value)}'"))
