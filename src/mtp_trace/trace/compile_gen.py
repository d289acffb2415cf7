"""Compiles the bodies of generator functions: statements that yield become host generators, the others stay closures.

Such a closure is ``(frame) -> Steps``: it gives each value that the statement yields, takes what is sent back, and
returns the statement's signal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import ops
from mtp_trace.trace.generators import Steps
from mtp_trace.trace.places import place
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import Frame, Generator, Raised, TraceStop, Value

Walk = Callable[[Frame], Steps]

_ALWAYS = {"and": 3, "or": 3, "ifexp": 3, "comp": 0}
"""Expressions of which only one part is always evaluated, and where it stands (0: none is looked at)."""
_COMPOUND = {"if": (3,), "while": (3,), "for": (4,), "with": (3,), "match": (3,), "try": ()}
"""Statements that hold others, and where their own expressions stand."""


def yields(node: Any) -> bool:
    """Whether a node holds a ``yield`` of its own function (nested functions, lambdas and classes aside)."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if not isinstance(item, list) or not item:
            continue
        if item[0] in ("yield", "yieldfrom"):
            return True
        if item[0] in ("def", "class", "lambda"):
            continue
        stack.extend(x for x in item if isinstance(x, list))
    return False


class GeneratorCompiler:
    """Generator bodies for ``Compiler``, which brings the rest."""

    expr: Any
    optional: Any
    statement: Any
    block: Any
    store: Any
    handlers: Any
    handle: Any
    closing: Any
    pattern: Any

    def walk_block(self, body: list[Node], scope: Scope) -> Walk:
        """A list of statements."""
        steps = [(yields(s), self.walk_statement(s, scope) if yields(s) else self.statement(s, scope)) for s in body]

        def run(f: Frame) -> Steps:
            for lazy, step in steps:
                signal = (yield from step(f)) if lazy else step(f)
                if signal is not None:
                    return signal
            return None

        return run

    def walk_statement(self, node: Node, scope: Scope) -> Walk:
        """One statement that yields."""
        op = node[0]
        if op not in _COMPOUND:
            return self._simple(node, scope)
        if any(yields(node[i]) for i in _COMPOUND[op]):
            raise TraceStop(f"a yield in the head of {op} is not followed")
        maker: Callable[[Node, Scope], Walk] = getattr(self, f"walk_{op}")
        return maker(node, scope)

    def _simple(self, node: Node, scope: Scope) -> Walk:
        """The yields of a simple statement first, then the statement over what was sent back."""
        lifted: list[tuple[Walk, str]] = []
        rest = self._lift(node, lifted, scope)
        last = self.statement(rest, scope)

        def run(f: Frame) -> Steps:
            for step, name in lifted:
                f.vars[name] = yield from step(f)
            try:
                return last(f)
            finally:
                for _, name in lifted:
                    f.vars.pop(name, None)

        return run

    def _lift(self, node: Any, lifted: list[tuple[Walk, str]], scope: Scope) -> Any:
        if not isinstance(node, list) or not node or not yields(node):
            return node
        op = node[0]
        always = _ALWAYS.get(op) if isinstance(op, str) else None
        if always is not None:
            return self._lift_first(node, always, lifted, scope)
        out = [self._lift(x, lifted, scope) for x in node]
        if op not in ("yield", "yieldfrom"):
            return out
        name = f"<yield {len(lifted)}>"
        scope.names.add(name)
        value = self.optional(out[3], scope)
        lifted.append((self._yield_from(value, node) if op == "yieldfrom" else self._yield(value), name))
        return ["name", node[1], node[2], name]

    def _lift_first(self, node: Node, always: int, lifted: list[tuple[Walk, str]], scope: Scope) -> Node:
        """Only the part that is always evaluated may yield."""
        out = list(node)
        if node[0] in ("and", "or"):
            first, *others = node[3]
            out[3] = [self._lift(first, lifted, scope), *others]
        else:
            others = [x for i, x in enumerate(node) if i != always]
            if always:
                out[always] = self._lift(node[always], lifted, scope)
        if any(yields(x) for x in others):
            raise TraceStop(f"a yield inside {node[0]} is not followed")
        return out

    def _yield(self, value: Any) -> Walk:
        def run(f: Frame) -> Steps:
            return (yield value(f))

        return run

    def _yield_from(self, value: Any, node: Node) -> Walk:
        def run(f: Frame) -> Steps:
            try:
                source = value(f)
                if isinstance(source, Generator):
                    yield from source.delegate(f.engine)
                    return source.result
                yield from ops.iterating(f.engine, source)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise
            return None

        return run

    def walk_if(self, node: Node, scope: Scope) -> Walk:
        """``if``."""
        test, condition = self.expr(node[3], scope), node[3]
        then, otherwise = self.walk_block(node[4], scope), self.walk_block(node[5], scope)

        def run(f: Frame) -> Steps:
            engine = f.engine
            taken = engine.truth_at(test(f), f, condition)
            depth = len(engine.guards) - f.guard_base
            engine.guards.append((f, condition, taken))
            signal = yield from (then if taken else otherwise)(f)
            del engine.guards[f.guard_base + depth :]
            return signal

        return run

    def walk_while(self, node: Node, scope: Scope) -> Walk:
        """``while``."""
        test = self.expr(node[3], scope)
        body, otherwise = self.walk_block(node[4], scope), self.walk_block(node[5], scope)

        def run(f: Frame) -> Steps:
            while f.engine.truth_at(test(f), f, node[3]):
                f.engine.turns(1, node, f)
                signal = yield from body(f)
                if signal == "break":
                    return None
                if signal == "return":
                    return signal
            return (yield from otherwise(f))

        return run

    def walk_for(self, node: Node, scope: Scope) -> Walk:
        """``for``."""
        store, source = self.store(node[3], scope), self.expr(node[4], scope)
        body, otherwise = self.walk_block(node[5], scope), self.walk_block(node[6], scope)

        def run(f: Frame) -> Steps:
            for item in turns(f, items_of(f, source, node), node):
                store(f, item)
                signal = yield from body(f)
                if signal == "break":
                    return None
                if signal == "return":
                    return signal
            return (yield from otherwise(f))

        return run

    def walk_try(self, node: Node, scope: Scope) -> Walk:
        """``try``."""
        body, otherwise, final = (self.walk_block(node[i], scope) for i in (3, 5, 6))
        handlers = self.handlers(node, scope, self.walk_block)
        has_final = bool(node[6])

        def guarded(f: Frame) -> Steps:
            depth = len(f.engine.guards) - f.guard_base
            try:
                signal = yield from body(f)
            except Raised as error:
                del f.engine.guards[f.guard_base + depth :]
                found = self.handle(f, error, handlers)
                if found is None:
                    raise
                handler, forget = found
                previous, f.exception = f.exception, error
                try:
                    return (yield from handler(f))
                finally:
                    f.exception = previous
                    if forget is not None:
                        forget(f)
            return signal if signal is not None else (yield from otherwise(f))

        def run(f: Frame) -> Steps:
            depth = len(f.engine.guards) - f.guard_base
            try:
                signal = yield from guarded(f)
            except Raised as error:
                del f.engine.guards[f.guard_base + depth :]
                previous, f.exception = f.exception, error
                try:
                    closing = yield from final(f)
                finally:
                    f.exception = previous
                if closing is not None:
                    return closing
                raise
            kept = f.returned
            closing = yield from final(f)
            if closing is not None:
                return closing
            f.returned = kept
            return signal

        return run if has_final else guarded

    def walk_with(self, node: Node, scope: Scope) -> Walk:
        """``with``."""
        items = [(self.expr(c, scope), None if t is None else self.store(t, scope), c) for c, t in node[3]]
        body = self.walk_block(node[4], scope)

        def enter(f: Frame, index: int) -> Steps:
            if index == len(items):
                return (yield from body(f))
            context, store, at = items[index]
            engine = f.engine
            try:
                value, leave = engine.enter_with(context(f))
            except (Raised, TraceStop) as error:
                place(error, f, at)
                raise
            depth = len(engine.guards) - f.guard_base
            try:
                if store is not None:
                    store(f, value)
                signal = yield from enter(f, index + 1)
            except Raised as error:
                del engine.guards[f.guard_base + depth :]
                if engine.leave_with(leave, error):
                    return None
                raise
            engine.leave_with(leave, None)
            return signal

        return lambda f: enter(f, 0)

    def walk_match(self, node: Node, scope: Scope) -> Walk:
        """``match``."""
        subject = self.expr(node[3], scope)
        cases = [
            (self.pattern(p, scope), None if g is None else self.expr(g, scope), self.walk_block(b, scope), g)
            for p, g, b in node[4]
        ]

        def run(f: Frame) -> Steps:
            v = subject(f)
            for test, guard, body, at in cases:
                if f.engine.truth_at(test(f, v), f, node[3]) and (guard is None or f.engine.truth_at(guard(f), f, at)):
                    return (yield from body(f))
            return None

        return run


def items_of(f: Frame, source: Callable[[Frame], Value], node: Node) -> Iterator[Value]:
    """What a ``for`` goes over; where that cannot be gone over is placed at the source."""
    try:
        return ops.iterating(f.engine, source(f))
    except (Raised, TraceStop) as e:
        place(e, f, node[4])
        raise


def turns(f: Frame, items: Iterator[Value], node: Node) -> Iterator[Value]:
    """The items, each counted as a turn of the loop; what the iteration itself raises is placed at the source."""
    engine = f.engine
    try:
        for item in items:
            engine.loop_turns += 1
            if engine.loop_turns > engine.budget.turns:
                engine.turns(0, node, f)
            yield item
    except (Raised, TraceStop) as e:
        place(e, f, node[4])
        raise
