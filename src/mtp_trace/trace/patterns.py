"""Compiles ``match`` statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import attrs, ops
from mtp_trace.trace.errors import throw
from mtp_trace.trace.places import place
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import MISSING, Frame, Raised, TraceStop, Unknown, Value

Test = Callable[[Frame, Value], Any]


class PatternCompiler:
    """``match`` for ``Compiler``, which brings ``expr``, ``block`` and ``_store_name``."""

    expr: Any
    block: Any
    _store_name: Any

    def match(self, node: Node, scope: Scope) -> Callable[[Frame], Any]:
        """A ``match`` statement."""
        subject = self.expr(node[3], scope)
        cases = [
            (self.pattern(p, scope), None if g is None else self.expr(g, scope), self.block(b, scope), g)
            for p, g, b in node[4]
        ]

        def run(f: Frame) -> Any:
            v = subject(f)
            for test, guard, body, at in cases:
                if f.engine.truth_at(test(f, v), f, node[3]) and (guard is None or f.engine.truth_at(guard(f), f, at)):
                    return body(f)
            return None

        return run

    def pattern(self, p: Node, scope: Scope) -> Test:
        """A test that also binds the pattern's names."""
        op = p[0]
        if op == "value":
            expected = self.expr(p[1], scope)
            return lambda f, v: ops.equal(f.engine, v, expected(f))
        if op == "singleton":
            return lambda f, v: ops.identical(f.engine, v, p[1])
        if op == "as":
            inner = None if p[1] is None else self.pattern(p[1], scope)
            store = None if p[2] is None else self._store_name(p[2], scope)

            def bind(f: Frame, v: Value) -> Any:
                if inner is not None and not f.engine.truth(inner(f, v)):
                    return False
                if store is not None:
                    store(f, v)
                return True

            return bind
        if op == "alternatives":
            tests = [self.pattern(x, scope) for x in p[1]]
            return lambda f, v: any(f.engine.truth(t(f, v)) for t in tests)
        if op == "class":
            return self._class_pattern(p, scope)
        if op == "sequence":
            return self._sequence_pattern(p, scope)
        if op == "mapping":
            return self._mapping_pattern(p, scope)
        raise TraceStop(f"match pattern {op} is not supported")

    def _class_pattern(self, p: Node, scope: Scope) -> Test:
        kind = self.expr(p[1], scope)
        positional = [self.pattern(x, scope) for x in p[2]]
        named = [(n, self.pattern(x, scope)) for n, x in p[3]]

        def test(f: Frame, v: Value) -> Any:
            try:
                return inside(f, v)
            except (Raised, TraceStop) as e:
                place(e, f, p[1])
                raise

        def inside(f: Frame, v: Value) -> Any:
            engine, cls = f.engine, kind(f)
            if not engine.truth(engine.isinstance(v, cls)):
                return False
            if positional and isinstance(cls, type):
                return engine.truth(positional[0](f, v))
            names = ops.iterate(engine, engine.getattr(cls, "__match_args__")) if positional else []
            if len(names) < len(positional):
                plural = "" if len(names) == 1 else "s"
                throw(
                    "TypeError",
                    f"{ops.short(cls)}() accepts {len(names)} positional sub-pattern{plural} ({len(positional)} given)",
                )
            for name, inner in [*zip(names, positional), *named]:
                part = attrs.find(engine, v, name)
                if part is MISSING or not engine.truth(inner(f, part)):
                    return False
            return True

        return test

    def _sequence_pattern(self, p: Node, scope: Scope) -> Test:
        parts = p[1]
        star = next((i for i, x in enumerate(parts) if x[0] == "starred"), None)
        store = self._store_name(parts[star][1], scope) if star is not None and parts[star][1] else None
        tests = [None if x[0] == "starred" else self.pattern(x, scope) for x in parts]

        def test(f: Frame, v: Value) -> Any:
            if isinstance(v, Unknown):
                return v.derive(f"match {v.key}")
            v = ops.payload(v)
            if not isinstance(v, (list, tuple, range)):
                return False
            if len(v) < len(parts) - (star is not None) or (star is None and len(v) != len(parts)):
                return False
            items: list[Value] = ops.iterate(f.engine, v)
            if star is not None:
                tail = len(parts) - star - 1
                middle = items[star : len(items) - tail]
                if store is not None:
                    store(f, middle)
                items = [*items[:star], middle, *items[len(items) - tail :]]
            return all(t is None or f.engine.truth(t(f, x)) for t, x in zip(tests, items))

        return test

    def _mapping_pattern(self, p: Node, scope: Scope) -> Test:
        pairs = [(self.expr(k, scope), self.pattern(x, scope)) for k, x in p[1]]
        store = self._store_name(p[2], scope) if p[2] else None

        def test(f: Frame, v: Value) -> Any:
            v = ops.payload(v)
            if isinstance(v, Unknown):
                return v.derive(f"match {v.key}")
            if not isinstance(v, dict):
                return False
            seen = []
            for key, inner in pairs:
                k = key(f)
                seen.append(k)
                if k not in v or not f.engine.truth(inner(f, v[k])):
                    return False
            if store is not None:
                store(f, {k: x for k, x in v.items() if k not in seen})
            return True

        return test
