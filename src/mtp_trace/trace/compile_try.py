"""Compiles what raises and what handles it: ``raise``, ``assert``, ``try`` and ``with``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace.errors import EXCEPTIONS, exception, throw
from mtp_trace.trace.places import place, site_of
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import Class, Frame, Instance, Raised, Site, TraceStop, Unknown, Value

Exec = Callable[[Frame], Any]


class ExceptionCompiler:
    """These statements for ``Compiler``, which brings the rest."""

    expr: Any
    block: Any
    store: Any
    _store_name: Any
    _trying: int

    def raise_(self, node: Node, scope: Scope) -> Exec:
        """``raise x from y``."""
        value = None if node[3] is None else self.expr(node[3], scope)
        cause = None if node[4] is None else self.expr(node[4], scope)

        def run(f: Frame) -> None:
            if value is None:
                current = f.engine.handled(f)
                if current is None:
                    raise Raised(exception("RuntimeError", "No active exception to reraise"), site_of(f, node))
                raise Raised(current.value, current.site)
            site = site_of(f, node)
            v = _exception_of(f, value(f), site)
            if isinstance(v, Instance):
                if cause is not None:
                    v.attrs["__cause__"], v.attrs["__suppress_context__"] = cause(f), True
                current = f.engine.handled(f)
                if current is not None and current.value is not v:
                    v.attrs["__context__"] = current.value
                known = v.attrs.get("__traceback__")
                if isinstance(known, Site):
                    raise Raised(v, known)
            f.engine.on_raise(v, site, node)
            error = Raised(v, None if site.model else site)
            error.explicit = True
            if site.model:
                error.package = f.module.name.partition(".")[0]
            raise error

        return run

    def assert_(self, node: Node, scope: Scope) -> Exec:
        """``assert test, message``."""
        test, message = self.expr(node[3], scope), None if node[4] is None else self.expr(node[4], scope)

        def run(f: Frame) -> None:
            if not f.engine.truth_at(test(f), f, node[3]):
                args = () if message is None else (message(f),)
                try:
                    throw("AssertionError", *args)
                except Raised as e:
                    place(e, f, node)
                    f.engine.on_raise(e.value, e.site, node)
                    raise

        return run

    def try_(self, node: Node, scope: Scope) -> Exec:
        """``try``/``except``/``else``/``finally``."""
        self._trying += 1
        try:
            body = self.block(node[3], scope)
        finally:
            self._trying -= 1
        handlers = self.handlers(node, scope, self.block)
        otherwise, final = self.block(node[5], scope), self.block(node[6], scope)
        has_final = bool(node[6])

        def guarded(f: Frame) -> Any:
            engine = f.engine
            depth = len(engine.guards)
            try:
                signal = body(f)
            except Raised as error:
                del engine.guards[depth:]
                found = self.handle(f, error, handlers)
                if found is None:
                    raise
                handler, forget = found
                previous, f.exception = f.exception, error
                try:
                    return handler(f)
                finally:
                    f.exception = previous
                    if forget is not None:
                        forget(f)
            if signal is not None:
                return signal
            return otherwise(f)

        if not has_final:
            return guarded

        def run(f: Frame) -> Any:
            try:
                signal = guarded(f)
            except Raised as error:
                # While it is on its way, a bare ``raise`` in the clause means it, and what is raised has it as context.
                previous, f.exception = f.exception, error
                depth = len(f.engine.guards)
                try:
                    closing = final(f)
                finally:
                    f.exception = previous
                    del f.engine.guards[depth:]
                if closing is not None:
                    return closing
                raise
            kept = f.returned
            closing = final(f)
            if closing is not None:
                return closing
            f.returned = kept
            return signal

        return run

    def handlers(self, node: Node, scope: Scope, block: Any) -> list[Any]:
        """The ``except`` clauses of a ``try``, their bodies compiled by ``block``."""
        out = []
        for h in node[4]:
            store = self._store_name(h[3], scope) if h[3] else None
            forget = _forget_name(h[3], scope.resolve(h[3])) if h[3] else None
            kind = None if h[2] is None else self.expr(h[2], scope)
            out.append((kind, store, block(h[4], scope), h, forget))
        return out

    def handle(self, f: Frame, error: Raised, handlers: list[Any]) -> tuple[Any, Any] | None:
        """The clause that catches an exception, its name bound: its body and what forgets the name."""
        for kind, store, body, h, forget in handlers:
            if kind is None or f.engine.matches(error.value, kind(f), f, h):
                f.engine.on_caught(error)
                if store is not None:
                    store(f, error.value)
                return body, forget
        return None

    def with_(self, node: Node, scope: Scope) -> Exec:
        """``with``: context managers that are objects, or generators run around the body."""
        items = [(self.expr(c, scope), None if t is None else self.store(t, scope), c) for c, t in node[3]]
        body = self.block(node[4], scope)

        def enter(f: Frame, index: int) -> Any:
            if index == len(items):
                return body(f)
            context, store, at = items[index]
            engine = f.engine
            try:
                value, leave = engine.enter_with(context(f))
            except (Raised, TraceStop) as e:
                place(e, f, at)
                raise
            depth = len(engine.guards)
            try:
                if store is not None:
                    store(f, value)
                signal = enter(f, index + 1)
            except Raised as error:
                del engine.guards[depth:]
                if engine.leave_with(leave, error):
                    return None
                raise
            engine.leave_with(leave, None)
            return signal

        return lambda f: enter(f, 0)


def _exception_of(f: Frame, value: Value, site: Site) -> Value:
    """What ``raise value`` raises: an instance is made of a class; what is no exception is a TypeError."""
    if isinstance(value, Class):
        value = f.engine.call(value, [], {})
    if isinstance(value, Unknown) or (isinstance(value, Instance) and EXCEPTIONS["BaseException"] in value.cls.mro):
        return value
    if isinstance(value, Instance) and value.cls.opaque_bases:
        return value
    raise Raised(exception("TypeError", "exceptions must derive from BaseException"), site)


def _forget_name(name: str, hops: int | None) -> Callable[[Frame], None]:
    """At the end of ``except ... as name`` the name is gone."""

    def run(f: Frame) -> None:
        table = table_of(f, hops)
        if name in table:
            if hops != 0:
                f.engine.touch(table)
            del table[name]

    return run


def table_of(f: Frame, hops: int | None) -> dict[str, Value]:
    """The variables that a name lives in: so many function frames up, or the globals."""
    if hops is None:
        return f.globals
    g: Any = f
    for _ in range(hops):
        g = g.parent
    return g.vars  # type: ignore[no-any-return]


def matches(engine: Any, value: Value, kind: Value) -> Value:
    """Whether an exception value is caught by ``except kind``: True, False or Unknown."""
    if isinstance(kind, (tuple, list)):
        unknown: Value = False
        for k in kind:
            caught = matches(engine, value, k)
            if caught is True:
                return True
            if isinstance(caught, Unknown):
                unknown = caught
        return unknown
    if isinstance(kind, Class):
        if isinstance(value, Instance):
            return kind in value.cls.mro
        if isinstance(value, Unknown):
            return kind in (EXCEPTIONS["Exception"], EXCEPTIONS["BaseException"]) or value.derive(
                f"isinstance({value.key}, {kind.name})"
            )
    # A class of another package: the tree's own and the builtin exceptions do not derive from it.
    return False
