"""Compiles calls: arguments by position, by name and spread; the few that need the frame they stand in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import ops
from mtp_trace.trace.errors import throw
from mtp_trace.trace.places import place
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import Frame, Raised, TraceStop, Unknown, Value

Eval = Callable[[Frame], Value]


class CallCompiler:
    """Calls for ``ExprCompiler``."""

    expr: Any

    def call(self, node: Node, scope: Scope) -> Eval:
        """A call; ``super()`` and ``locals()`` need the frame and are answered here."""
        function = self.expr(node[3], scope)
        if node[3][0] == "name" and node[3][3] in ("super", "locals", "vars", "globals", "dir") and not node[5]:
            special = self._frame_call(node, scope, function)
            if special is not None:
                return special
        plain = all(a[0] != "star" for a in node[4])
        args = [self.expr(a[3] if a[0] == "star" else a, scope) for a in node[4]]
        starred = [a[0] == "star" for a in node[4]]
        kwargs = [(k, self.expr(v, scope)) for k, v in node[5]]

        if plain and not kwargs and len(args) == 1:
            only = args[0]

            def single(f: Frame) -> Value:
                fn = function(f)
                values = [only(f)]
                f.node = node
                try:
                    return f.engine.call(fn, values, {})
                except (Raised, TraceStop) as e:
                    place(e, f, node)
                    raise

            return single

        if plain and not kwargs:

            def simple(f: Frame) -> Value:
                fn = function(f)
                values = [a(f) for a in args]
                f.node = node
                try:
                    return f.engine.call(fn, values, {})
                except (Raised, TraceStop) as e:
                    place(e, f, node)
                    raise

            return simple

        def full(f: Frame) -> Value:
            fn = function(f)
            engine = f.engine
            try:
                values: list[Value] = []
                for a, star in zip(args, starred):
                    if star:
                        values.extend(ops.iterate(engine, a(f)))
                    else:
                        values.append(a(f))
                named: dict[str, Value] = {}
                for k, v in kwargs:
                    if k is None:
                        _spread_arguments(engine, fn, named, v(f))
                    elif k in named:
                        _spread_arguments(engine, fn, named, {k: v(f)})
                    else:
                        named[k] = v(f)
                f.node = node
                return engine.call(fn, values, named)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return full

    def _frame_call(self, node: Node, scope: Scope, function: Eval) -> Eval | None:
        name, count = node[3][3], len(node[4])
        if name == "super" and count == 0:
            return lambda f: f.engine.zero_argument_super(f)
        if name == "globals":
            return lambda f: f.engine.all_globals(f)
        if name in ("locals", "vars", "dir") and count == 0:
            if name == "dir":
                return lambda f: sorted(f.vars)
            return lambda f: f.vars
        return None


def _spread_arguments(engine: Any, function: Value, into: dict[str, Value], value: Value) -> None:
    """``**value`` of a call: a keyword may not come twice."""
    given: dict[str, Value] = {}
    spread(engine, given, value)
    for k, v in given.items():
        if not isinstance(k, str):
            throw("TypeError", "keywords must be strings")
        if k in into:
            module, name = (
                getattr(function, "module", None),
                getattr(function, "qualname", getattr(function, "name", "function")),
            )
            shown = f"{module.name}.{name}" if module is not None else name
            throw("TypeError", f"{shown}() got multiple values for keyword argument '{k}'")
        into[k] = v


def spread(engine: Any, into: dict[Any, Value], value: Value) -> None:
    """Puts ``**value`` into a dict."""
    source = ops.payload(value)
    if isinstance(source, dict):
        into.update(source)
    elif isinstance(source, Unknown):
        raise TraceStop(f"**{source.key} is not known: {source.why}")
    else:
        keys = engine.call(engine.getattr(source, "keys"), [], {})
        for k in ops.iterate(engine, keys):
            into[k] = ops.get_item(engine, source, k)
