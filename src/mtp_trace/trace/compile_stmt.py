"""Compiles statements of the program form to closures ``(frame) -> signal``.

A signal is None (go on), ``BREAK``, ``CONTINUE`` or ``RETURN`` (the value is in ``frame.returned``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import attrs, ops
from mtp_trace.trace.code import Code
from mtp_trace.trace.compile_expr import Eval, ExprCompiler
from mtp_trace.trace.compile_gen import GeneratorCompiler
from mtp_trace.trace.compile_loop import LoopCompiler
from mtp_trace.trace.compile_try import ExceptionCompiler, table_of
from mtp_trace.trace.errors import throw
from mtp_trace.trace.patterns import PatternCompiler
from mtp_trace.trace.places import place
from mtp_trace.trace.scope import Scope, class_scope
from mtp_trace.trace.signals import BREAK, CONTINUE, RETURN
from mtp_trace.trace.values import (
    Frame,
    Function,
    Raised,
    TraceStop,
    Value,
)

Exec = Callable[[Frame], Any]


class Compiler(ExceptionCompiler, GeneratorCompiler, LoopCompiler, PatternCompiler, ExprCompiler):
    """Statements and expressions of one module."""

    def __init__(self, builtins: dict[str, Value], postponed: bool = False) -> None:
        ExprCompiler.__init__(self, builtins)
        self.postponed = postponed
        self._trying = 0
        self._statements: dict[str, Callable[[Node, Scope], Exec]] = {
            "expr": self.expression,
            "assign": self.assign,
            "annassign": self.annassign,
            "augassign": self.augassign,
            "return": self.return_,
            "raise": self.raise_,
            "assert": self.assert_,
            "del": self.del_,
            "pass": lambda n, s: lambda f: None,
            "break": lambda n, s: lambda f: BREAK,
            "continue": lambda n, s: lambda f: CONTINUE,
            "global": lambda n, s: lambda f: None,
            "nonlocal": lambda n, s: lambda f: None,
            "import": self.import_,
            "from": self.from_,
            "if": self.if_,
            "while": self.while_,
            "for": self.for_,
            "try": self.try_,
            "with": self.with_,
            "match": self.match,
            "def": self.def_,
            "class": self.class_,
            "typealias": self.typealias,
        }

    def block(self, body: list[Node], scope: Scope) -> Exec:
        """A list of statements."""
        steps = [self.statement(s, scope) for s in body]
        if not steps:
            return lambda f: None
        if len(steps) == 1:
            return steps[0]

        def run(f: Frame) -> Any:
            for step in steps:
                signal = step(f)
                if signal is not None:
                    return signal
            return None

        return run

    def statement(self, node: Node, scope: Scope) -> Exec:
        """One statement."""
        try:
            compiler = self._statements[node[0]]
        except (KeyError, IndexError, TypeError):
            raise TraceStop(f"the program form holds an unknown statement {str(node)[:60]}") from None
        return compiler(node, scope)

    def expression(self, node: Node, scope: Scope) -> Exec:
        """An expression for its effect."""
        value = self.expr(node[3], scope)

        def run(f: Frame) -> None:
            value(f)

        return run

    def assign(self, node: Node, scope: Scope) -> Exec:
        """``a = b = x``."""
        value = self.expr(node[4], scope)
        stores = [self.store(t, scope) for t in node[3]]
        if len(stores) == 1:
            store = stores[0]

            def single(f: Frame) -> None:
                v = value(f)
                f.node = node
                store(f, v)

            return single

        def run(f: Frame) -> None:
            v = value(f)
            f.node = node
            for store in stores:
                store(f, v)

        return run

    def annassign(self, node: Node, scope: Scope) -> Exec:
        """``name: annotation = x``: in a class or module body the annotation is kept, unevaluated."""
        target, annotation = node[3], node[4]
        keep = target[0] == "name" and scope.kind in ("class", "module")
        name = target[3] if target[0] == "name" else ""
        value = None if node[5] is None else self.expr(node[5], scope)
        store = None if value is None else self.store(target, scope)
        postponed = self.postponed

        def run(f: Frame) -> None:
            if value is not None and store is not None:
                v = value(f)
                f.node = node
                store(f, v)
            if keep:
                table = f.vars.setdefault("__annotations__", {})
                table[name] = f.engine.annotation(lambda g: self.expr(annotation, scope)(g), f, annotation, postponed)

        return run

    def augassign(self, node: Node, scope: Scope) -> Exec:
        """``target op= x``."""
        target, op, value = node[3], node[4], self.expr(node[5], scope)
        locate = self._locate(target, scope)

        def run(f: Frame) -> None:
            try:
                read, store = locate(f)
                result = ops.inplace(f.engine, op, read(), value(f))
                f.node = node
                store(result)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def _locate(
        self, target: Node, scope: Scope
    ) -> Callable[[Frame], tuple[Callable[[], Value], Callable[[Value], None]]]:
        """How to read and write a target whose object and key are evaluated once."""
        if target[0] == "attr":
            inner, name = self.expr(target[3], scope), scope.private(target[4])

            def attribute(f: Frame) -> Any:
                obj = inner(f)
                return lambda: attrs.get(f.engine, obj, name), lambda v: attrs.set_(f.engine, obj, name, v)

            return attribute
        if target[0] == "index":
            inner, key = self.expr(target[3], scope), self.expr(target[4], scope)
            field = target[3][4] if target[3][0] == "attr" else ""

            def item(f: Frame) -> Any:
                obj, k = inner(f), key(f)
                return lambda: ops.get_item(f.engine, obj, k), lambda v: self.put_item(f, obj, k, v, field, target)

            return item
        read, store = self.expr(target, scope), self.store(target, scope)
        return lambda f: (lambda: read(f), lambda v: store(f, v))

    def return_(self, node: Node, scope: Scope) -> Exec:
        """``return x``. Outside a function no program does it, though some parsers let it through."""
        if scope.kind != "function":
            return _no_return
        value = self.optional(node[3], scope)

        def run(f: Frame) -> str:
            f.returned = value(f)
            return RETURN

        return run

    def del_(self, node: Node, scope: Scope) -> Exec:
        """``del a, b.c, d[e]``."""
        steps: list[Exec] = []
        for t in node[3]:
            if t[0] == "name":
                steps.append(_delete_name(t[3], scope.resolve(t[3])))
            elif t[0] == "attr":
                steps.append(_delete_attr(self.expr(t[3], scope), scope.private(t[4])))
            elif t[0] == "index":
                steps.append(_delete_index(self.expr(t[3], scope), self.expr(t[4], scope)))

        def run(f: Frame) -> None:
            try:
                for step in steps:
                    step(f)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def import_(self, node: Node, scope: Scope) -> Exec:
        """``import a.b, c as d``."""
        bindings = [
            (dotted, alias, self._store_name(alias or dotted.split(".")[0], scope)) for dotted, alias in node[3]
        ]

        def run(f: Frame) -> None:
            f.node = node
            for dotted, alias, store in bindings:
                try:
                    store(f, f.engine.imports.import_statement(dotted, alias, f))
                except (Raised, TraceStop) as e:
                    place(e, f, node)
                    raise

        return run

    def from_(self, node: Node, scope: Scope) -> Exec:
        """``from m import a as b``; at a module's top level the names stay lazy."""
        module, level, names = node[3], node[4], node[5]
        stores = [(name, self._store_name(alias or name, scope)) for name, alias in names]
        # In a ``try`` the import is the question: whether it fails must be seen where it stands.
        top_level = scope.kind == "module" and not self._trying

        def run(f: Frame) -> None:
            f.node = node
            imports = f.engine.imports
            try:
                target = imports.absolute(module, level, f.module)
                if names and names[0][0] == "*":
                    for key, value in imports.star(target).items():
                        f.engine.set_entry(f.vars, key, value)
                    return
                lazy = top_level and imports.may_wait(target, [n for n, _ in stores])
                for name, store in stores:
                    store(f, imports.lazy(target, name) if lazy else imports.name_from(target, name, f))
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def if_(self, node: Node, scope: Scope) -> Exec:
        """``if``: the taken arm runs with the condition on the guard stack."""
        test, then, otherwise = self.expr(node[3], scope), self.block(node[4], scope), self.block(node[5], scope)
        condition, has_else = node[3], bool(node[5])

        def run(f: Frame) -> Any:
            v = test(f)
            engine = f.engine
            if v is not True and v is not False:
                v = engine.truth_at(v, f, condition)
            guards = engine.guards
            depth = len(guards)
            if v:
                guards.append((f, condition, True))
                signal = then(f)
                del guards[depth:]
                return signal
            if has_else:
                guards.append((f, condition, False))
                signal = otherwise(f)
                del guards[depth:]
                return signal
            return None

        return run

    def def_(self, node: Node, scope: Scope) -> Exec:
        """A function definition."""
        make = self.function(node, node[3], node[4], node[5], scope, bool(node[8]))
        decorators = [self.expr(d, scope) for d in node[6]]
        store = self._store_name(node[3], scope)

        def run(f: Frame) -> None:
            f.node = node
            marks = [d(f) for d in decorators]
            store(f, self.decorated(f, make(f), marks, node[6]))

        return run

    def decorated(self, f: Frame, value: Value, marks: list[Value], nodes: list[Node]) -> Value:
        """A function or class after its decorators, the nearest first."""
        for mark, d in zip(reversed(marks), reversed(nodes)):
            f.node = d
            try:
                value = f.engine.decorate(mark, value)
            except (Raised, TraceStop) as e:
                place(e, f, d)
                raise
        return value

    def function(self, node: Node, name: str, params: Node, body: list[Node], scope: Scope, is_async: bool) -> Eval:
        """Makes a function value; its body is compiled at the first call."""
        compiled = Code(name, node, params, scope, body, is_async, self)
        plain_defaults = [self.expr(p[2], scope) for p in params[1] if p[2] is not None]
        kw_defaults = [(p[0], self.expr(p[2], scope)) for p in params[3] if p[2] is not None]
        function_like = scope.kind in ("function", "comp")
        in_class = scope.kind == "class"

        def make(f: Frame) -> Value:
            closure = f if function_like else f.parent if in_class else None
            prefix = f"{f.function}." if in_class else f"{f.function}.<locals>." if function_like else ""
            fn = Function(compiled, f.module, closure, prefix + name)
            fn.defaults = [d(f) for d in plain_defaults]
            fn.kwdefaults = {k: d(f) for k, d in kw_defaults}
            if f.made is not None:
                f.made.append(fn)
            return fn

        return make

    def class_(self, node: Node, scope: Scope) -> Exec:
        """A class definition."""
        bases = [self.expr(b[3] if b[0] == "star" else b, scope) for b in node[4]]
        keywords = [(k, self.expr(v, scope)) for k, v in node[5]]
        inner = class_scope(scope, node[3], node[6])
        body = self.block(node[6], inner)
        decorators = [self.expr(d, scope) for d in node[7]]
        store = self._store_name(node[3], scope)
        in_class, function_like = scope.kind == "class", scope.kind in ("function", "comp")

        def run(f: Frame) -> None:
            f.node = node
            try:
                parents = [b(f) for b in bases]
                named = {k: v(f) for k, v in keywords if k is not None}
                marks = [d(f) for d in decorators]
                prefix = f"{f.function}." if in_class else f"{f.function}.<locals>." if function_like else ""
                qualname = prefix + node[3]
                frame = Frame(f.engine, f.module, qualname, f if function_like else f.parent if in_class else None,
                              f.engine.classes.body(parents))  # fmt: skip
                frame.node = node
                value = f.engine.classes.build(node[3], qualname, parents, named, frame, body, node)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise
            store(f, self.decorated(f, value, marks, node[7]))

        return run

    def typealias(self, node: Node, scope: Scope) -> Exec:
        """``type X = ...``."""
        value, store = self.expr(node[4], scope), self._store_name(node[3], scope)
        return lambda f: store(f, value(f))


def _no_return(f: Frame) -> None:
    raise TraceStop("the program returns outside a function: no Python takes that", f.engine.here())


def _delete_name(name: str, hops: int | None) -> Exec:
    def run(f: Frame) -> None:
        table = table_of(f, hops)
        if name not in table:
            if hops is None:
                throw("NameError", f"name '{name}' is not defined")
            throw("UnboundLocalError", f"cannot access local variable '{name}' where it is not associated with a value")
        if hops != 0:
            f.engine.touch(table)
        del table[name]

    return run


def _delete_attr(inner: Eval, name: str) -> Exec:
    return lambda f: attrs.delete(f.engine, inner(f), name)


def _delete_index(inner: Eval, key: Eval) -> Exec:
    return lambda f: ops.delete_item(f.engine, inner(f), key(f))
