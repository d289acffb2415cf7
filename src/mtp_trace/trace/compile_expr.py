"""Compiles expressions of the program form to closures ``(frame) -> value``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import attrs, limits, ops
from mtp_trace.trace.compile_call import CallCompiler, spread
from mtp_trace.trace.compile_target import TargetCompiler, set_of, unhashable
from mtp_trace.trace.errors import exception, throw
from mtp_trace.trace.places import place
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import MISSING, Frame, Lazy, Raised, TraceStop, Unknown, Value

Eval = Callable[[Frame], Value]


class ExprCompiler(CallCompiler, TargetCompiler):
    """Expressions of one module."""

    def __init__(self, builtins: dict[str, Value]) -> None:
        self.builtins = builtins
        self._table: dict[str, Callable[[Node, Scope], Eval]] = {
            "const": lambda n, s: _constant(n[3]),
            "big": lambda n, s: _constant(int(n[3])),
            "special": lambda n, s: _constant(... if n[3] == "..." else complex(n[3])),
            "name": self.name,
            "attr": self.attr,
            "index": self.index,
            "slice": self.slice,
            "call": self.call,
            "bin": self.bin,
            "unary": self.unary,
            "not": self.not_,
            "and": self.bool_op,
            "or": self.bool_op,
            "compare": self.compare,
            "ifexp": self.ifexp,
            "lambda": self.lambda_,
            "tuple": lambda n, s: self.sequence(n, s, tuple),
            "list": lambda n, s: self.sequence(n, s, list),
            "set": lambda n, s: self.sequence(n, s, set),
            "dict": self.dict_,
            "comp": self.comp,
            "fstring": self.fstring,
            "walrus": self.walrus,
            "await": self.await_,
            "yield": self.yield_,
            "yieldfrom": self.yield_,
        }

    def expr(self, node: Node, scope: Scope) -> Eval:
        """The closure of one expression."""
        try:
            compiler = self._table[node[0]]
        except (KeyError, IndexError, TypeError):
            raise TraceStop(f"the program form holds an unknown node {str(node)[:60]}") from None
        return compiler(node, scope)

    def optional(self, node: Node | None, scope: Scope) -> Eval:
        """The closure of an expression that may be absent (then: None)."""
        return _constant(None) if node is None else self.expr(node, scope)

    def name(self, node: Node, scope: Scope) -> Eval:
        """A variable read."""
        name = node[3]
        hops = scope.resolve(name)
        if scope.kind == "class" and hops is not None:
            return self._class_name(node, scope, name, hops)
        if hops is None:
            return self._global(node, name)
        if hops == 0:

            def local(f: Frame) -> Value:
                try:
                    v = f.vars[name]
                except KeyError:
                    e = _unbound(name)
                    place(e, f, node)
                    raise e from None
                if type(v) is Lazy:
                    v = _followed(f, v, f.vars, name, node)
                return v

            return local

        def outer(f: Frame) -> Value:
            g: Any = f
            for _ in range(hops):
                g = g.parent
            try:
                v = g.vars[name]
            except (KeyError, AttributeError):
                e = _unbound(name, free=True)
                place(e, f, node)
                raise e from None
            if type(v) is Lazy:
                v = _followed(f, v, g.vars, name, node)
            return v

        return outer

    def _global(self, node: Node, name: str) -> Eval:
        builtins = self.builtins

        def read(f: Frame) -> Value:
            v = f.globals.get(name, MISSING)
            if v is MISSING:
                if f.cls is not None and name == "__class__":
                    return f.cls
                v = builtins.get(name, MISSING)
                if v is MISSING:
                    try:
                        throw("NameError", f"name '{name}' is not defined")
                    except Raised as e:
                        place(e, f, node)
                        raise
            elif type(v) is Lazy:
                v = _followed(f, v, f.globals, name, node)
            return v

        return read

    def _class_name(self, node: Node, scope: Scope, name: str, hops: int) -> Eval:
        fallback = self._global(node, name)
        stored = scope.private(name)
        outer_hops = Scope("function", scope.parent, set()).resolve(name) if hops == 0 else hops

        def read(f: Frame) -> Value:
            if stored in f.vars:
                v = f.vars[stored]
                return _followed(f, v, f.vars, stored, node) if type(v) is Lazy else v
            if outer_hops is None:
                return fallback(f)
            g: Any = f
            for _ in range(outer_hops):
                g = g.parent
            return g.vars[name] if g is not None and name in g.vars else fallback(f)

        return read

    def attr(self, node: Node, scope: Scope) -> Eval:
        """``object.name``."""
        inner, name = self.expr(node[3], scope), scope.private(node[4])
        get = attrs.get

        def read(f: Frame) -> Value:
            obj = inner(f)
            f.node = node
            try:
                return get(f.engine, obj, name)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return read

    def index(self, node: Node, scope: Scope) -> Eval:
        """``object[key]``."""
        inner, key = self.expr(node[3], scope), self.expr(node[4], scope)
        get_item = ops.get_item

        def read(f: Frame) -> Value:
            obj, k = inner(f), key(f)
            f.node = node
            try:
                v = get_item(f.engine, obj, k)
                return f.engine.resolve(v, obj, k) if type(v) is Lazy else v
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return read

    def slice(self, node: Node, scope: Scope) -> Eval:
        """``lower:upper:step`` inside an index."""
        lower, upper, step = (self.optional(n, scope) for n in node[3:6])
        return lambda f: slice(lower(f), upper(f), step(f))

    def bin(self, node: Node, scope: Scope) -> Eval:
        """A binary operator."""
        op, left, right = node[3], self.expr(node[4], scope), self.expr(node[5], scope)
        binary = ops.binary

        def run(f: Frame) -> Value:
            a, b = left(f), right(f)
            try:
                return binary(f.engine, op, a, b)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def unary(self, node: Node, scope: Scope) -> Eval:
        """A unary operator."""
        op, inner = node[3], self.expr(node[4], scope)

        def run(f: Frame) -> Value:
            a = inner(f)
            try:
                return ops.unary(f.engine, op, a)
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise

        return run

    def not_(self, node: Node, scope: Scope) -> Eval:
        """``not x``: of an unknown, an unknown (the fork happens where the truth is needed)."""
        inner = self.expr(node[3], scope)

        def run(f: Frame) -> Value:
            v = inner(f)
            if v is True or v is False or v is None:
                return not v
            if isinstance(v, Unknown):
                return ops.negate(v)
            return not f.engine.truth_at(v, f, node)

        return run

    def bool_op(self, node: Node, scope: Scope) -> Eval:
        """``and`` / ``or``: operand values, short-circuit."""
        parts = [self.expr(n, scope) for n in node[3]]
        last, first = parts[-1], parts[:-1]
        nodes = node[3]
        stop_on = node[0] == "or"

        def run(f: Frame) -> Value:
            for i, p in enumerate(first):
                v = p(f)
                t = v if (v is True or v is False) else f.engine.truth_at(v, f, nodes[i])
                if t is stop_on:
                    return v
            return last(f)

        return run

    def compare(self, node: Node, scope: Scope) -> Eval:
        """One or several chained comparisons."""
        left = self.expr(node[3], scope)
        signs = node[4]
        rights = [self.expr(n, scope) for n in node[5]]
        comparing = ops.compare
        if len(signs) == 1:
            sign, right = signs[0], rights[0]
            if sign in ("is", "is not") and node[5][0][0] == "const" and node[5][0][3] is None:
                return _none_test(left, sign == "is", node)

            if sign in ("in", "not in"):
                return _membership(left, right, sign == "in", node)

            def single(f: Frame) -> Value:
                a, b = left(f), right(f)
                f.node = node
                try:
                    return comparing(f.engine, sign, a, b)
                except (Raised, TraceStop) as e:
                    place(e, f, node)
                    raise

            return single

        def chain(f: Frame) -> Value:
            a = left(f)
            result: Value = True
            try:
                for sign, right in zip(signs, rights):
                    b = right(f)
                    result = comparing(f.engine, sign, a, b)
                    if not f.engine.truth_at(result, f, node):
                        return False if not isinstance(result, Unknown) else result
                    a = b
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise
            return result

        return chain

    def ifexp(self, node: Node, scope: Scope) -> Eval:
        """``a if test else b``."""
        test, then, otherwise = (self.expr(n, scope) for n in node[3:6])
        at = node[3]
        return lambda f: then(f) if f.engine.truth_at(test(f), f, at) else otherwise(f)

    def lambda_(self, node: Node, scope: Scope) -> Eval:
        """A lambda."""
        return self.function(node, "<lambda>", node[3], [["return", node[4][1], node[4][2], node[4]]], scope, False)

    def function(self, node: Node, name: str, params: Node, body: list[Node], scope: Scope, is_async: bool) -> Eval:
        """Overridden by the statement compiler, which knows bodies."""
        raise NotImplementedError

    def sequence(self, node: Node, scope: Scope, kind: Any) -> Eval:
        """A tuple, list or set display."""
        items = [self.expr(n[3] if n[0] == "star" else n, scope) for n in node[3]]
        if any(n[0] == "star" for n in node[3]):
            starred = [n[0] == "star" for n in node[3]]

            def spread(f: Frame) -> Value:
                out: list[Value] = []
                try:
                    for item, star in zip(items, starred):
                        if star:
                            out.extend(ops.iterate(f.engine, item(f)))
                        else:
                            out.append(item(f))
                    return set_of(out) if kind is set else kind(out)
                except (Raised, TraceStop) as e:
                    place(e, f, node)
                    raise

            return spread
        if kind is list:
            return lambda f: [i(f) for i in items]
        if kind is set:

            def distinct(f: Frame) -> Value:
                try:
                    return set_of([i(f) for i in items])
                except Raised as e:
                    place(e, f, node)
                    raise

            return distinct
        return lambda f: kind([i(f) for i in items])

    def dict_(self, node: Node, scope: Scope) -> Eval:
        """A dict display."""
        pairs = [(None if k is None else self.expr(k, scope), self.expr(v, scope)) for k, v in node[3]]

        def run(f: Frame) -> Value:
            out: dict[Any, Value] = {}
            for k, v in pairs:
                if k is None:
                    try:
                        spread(f.engine, out, v(f))
                    except (Raised, TraceStop) as e:
                        place(e, f, node)
                        raise
                else:
                    key = k(f)
                    item = v(f)
                    try:
                        out[key] = item
                    except TypeError:
                        error = unhashable(key)
                        place(error, f, node)
                        raise error from None
            return out

        return run

    def fstring(self, node: Node, scope: Scope) -> Eval:
        """An f-string."""
        parts: list[Any] = []
        for p in node[3]:
            if isinstance(p, str):
                parts.append(p)
            else:
                spec = _constant("") if p[5] is None else self.fstring(p[5], scope)
                parts.append((self.expr(p[3], scope), p[4], spec))

        def run(f: Frame) -> Value:
            out: list[str] = []
            unknown: Unknown | None = None
            try:
                for p in parts:
                    if isinstance(p, str):
                        out.append(p)
                        continue
                    text = ops.format_value(f.engine, p[0](f), p[1], p[2](f))
                    if isinstance(text, Unknown):
                        unknown = text
                        out.append(f"<{text.key}>")
                    else:
                        out.append(str(text))
            except (Raised, TraceStop) as e:
                place(e, f, node)
                raise
            joined = "".join(out)
            limits.charge(f.engine, joined)
            return joined if unknown is None else unknown.derive(joined)

        return run

    def walrus(self, node: Node, scope: Scope) -> Eval:
        """``name := x``."""
        value = self.expr(node[4], scope)
        owner = scope.owner_of_walrus()
        hops = 0
        s = scope
        while s is not owner and s.parent is not None:
            hops += 1
            s = s.parent
        store = self.store(["name", node[1], node[2], node[3]], owner)

        def run(f: Frame) -> Value:
            v = value(f)
            g: Any = f
            for _ in range(hops):
                g = g.parent
            store(g, v)
            return v

        return run

    def await_(self, node: Node, scope: Scope) -> Eval:
        """``await x``: coroutines are not followed."""
        inner = self.expr(node[3], scope)

        def run(f: Frame) -> Value:
            v = inner(f)
            return v.derive(f"await {v.key}") if isinstance(v, Unknown) else v

        return run

    def yield_(self, node: Node, scope: Scope) -> Eval:
        """A ``yield`` that is not one of a generator function's own statements."""
        raise TraceStop("a yield is not followed here")




def _followed(f: Frame, value: Value, table: dict[str, Value], name: str, node: Node) -> Value:
    """What a lazily imported name stands for; an import that fails is placed where the name is used."""
    try:
        return f.engine.resolve(value, table, name)
    except (Raised, TraceStop) as e:
        place(e, f, node)
        raise


def _constant(value: Value) -> Eval:
    return lambda f: value


def _membership(left: Eval, right: Eval, wanted: bool, node: Node) -> Eval:
    """``left in right``, or not."""
    contains, negate = ops.contains, ops.negate

    def test(f: Frame) -> Value:
        item, container = left(f), right(f)
        f.node = node
        try:
            found = contains(f.engine, container, item)
        except (Raised, TraceStop) as e:
            place(e, f, node)
            raise
        return found if wanted else negate(found)

    return test


def _none_test(left: Eval, positive: bool, node: Node) -> Eval:
    def run(f: Frame) -> Value:
        v = left(f)
        if isinstance(v, Unknown):
            result = ops.identical(f.engine, v, None)
            return result if positive else ops.negate(result)
        return (v is None) is positive

    return run


def _unbound(name: str, free: bool = False) -> Raised:
    where = "where it is not associated with a value"
    if free:
        return Raised(exception("NameError", f"cannot access free variable '{name}' {where} in enclosing scope"))
    return Raised(exception("UnboundLocalError", f"cannot access local variable '{name}' {where}"))
