"""Lowers LibCST's statements and match patterns to the program form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import libcst

from mtp_trace.syntax.cst_expressions import BINARY, ExpressionLowering, dotted, identifier
from mtp_trace.syntax.form import Node


class StatementLowering(ExpressionLowering):
    """Lowers the statements of one parsed module."""

    def block(self, statements: Iterable[Any]) -> list[Node]:
        """Program form of a list of statements, several of them on one line or not."""
        out = []
        for s in statements:
            if isinstance(s, libcst.SimpleStatementLine):
                out += self.block(s.body)
            elif (lowered := self._statement(s)) is not None:
                out.append(lowered)
        return out

    def _suite(self, owner: Any) -> list[Node]:
        """The body of a compound statement, an ``else``, a ``finally``; nothing for None."""
        return [] if owner is None else self.block(owner.body.body)

    def _statement(self, s: Any) -> Node | None:
        handler = _STATEMENTS.get(type(s).__name__)
        line, end, _ = self.spans[id(s)]
        if handler is None:
            raise SyntaxError(f"statement {type(s).__name__} is not supported", ("", line, 0, ""))
        return handler(self, s, line, end)

    # Simple statements

    def _expression(self, s: Any, line: int, end: int) -> Node | None:
        value = self.expr(s.value)
        return None if value[0] == "const" and isinstance(value[3], str) else ["expr", line, end, value]

    def _assign(self, s: Any, line: int, end: int) -> Node:
        return ["assign", line, end, [self.expr(t.target) for t in s.targets], self.expr(s.value)]

    def _annassign(self, s: Any, line: int, end: int) -> Node:
        return ["annassign", line, end, self.expr(s.target), self.expr(s.annotation.annotation), self.optional(s.value)]

    def _augassign(self, s: Any, line: int, end: int) -> Node:
        operator = BINARY[type(s.operator).__name__.removesuffix("Assign")]
        return ["augassign", line, end, self.expr(s.target), operator, self.expr(s.value)]

    def _return(self, s: Any, line: int, end: int) -> Node:
        return ["return", line, end, self.optional(s.value)]

    def _raise(self, s: Any, line: int, end: int) -> Node:
        return ["raise", line, end, self.optional(s.exc), self.optional(s.cause.item if s.cause else None)]

    def _assert(self, s: Any, line: int, end: int) -> Node:
        return ["assert", line, end, self.expr(s.test), self.optional(s.msg)]

    def _del(self, s: Any, line: int, end: int) -> Node:
        several = isinstance(s.target, libcst.Tuple) and not s.target.lpar
        return ["del", line, end, self.elements(s.target.elements) if several else [self.expr(s.target)]]

    def _keyword(self, s: Any, line: int, end: int) -> Node:
        return [type(s).__name__.lower(), line, end]

    def _scope(self, s: Any, line: int, end: int) -> Node:
        return [type(s).__name__.lower(), line, end, [identifier(n.name) for n in s.names]]

    def _import(self, s: Any, line: int, end: int) -> Node:
        return ["import", line, end, [_alias(a) for a in s.names]]

    def _from(self, s: Any, line: int, end: int) -> Node:
        names = [["*", None]] if isinstance(s.names, libcst.ImportStar) else [_alias(a) for a in s.names]
        return ["from", line, end, dotted(s.module) if s.module is not None else "", len(s.relative), names]

    def _typealias(self, s: Any, line: int, end: int) -> Node:
        return ["typealias", line, end, identifier(s.name), self.expr(s.value)]

    # Compound statements

    def _if(self, s: Any, line: int, end: int) -> Node:
        # A chain of elif may be longer than the stack is deep, so it is walked and not recursed into.
        top = node = ["if", line, end, self.expr(s.test), self._suite(s), []]
        while isinstance(s.orelse, libcst.If):
            s = s.orelse
            line, end, _ = self.spans[id(s)]
            branch: Node = ["if", line, end, self.expr(s.test), self._suite(s), []]
            node[5] = [branch]
            node = branch
        node[5] = self._suite(s.orelse)
        return top

    def _while(self, s: Any, line: int, end: int) -> Node:
        return ["while", line, end, self.expr(s.test), self._suite(s), self._suite(s.orelse)]

    def _for(self, s: Any, line: int, end: int) -> Node:
        return ["for", line, end, self.expr(s.target), self.expr(s.iter), self._suite(s), self._suite(s.orelse),
                s.asynchronous is not None]  # fmt: skip

    def _try(self, s: Any, line: int, end: int) -> Node:
        handlers = []
        for h in s.handlers:
            first, last, _ = self.spans[id(h)]
            name = identifier(h.name.name) if h.name is not None else None
            handlers.append([first, last, self.optional(h.type), name, self._suite(h)])
        return ["try", line, end, self._suite(s), handlers, self._suite(s.orelse), self._suite(s.finalbody),
                isinstance(s, libcst.TryStar)]  # fmt: skip

    def _with(self, s: Any, line: int, end: int) -> Node:
        items = [[self.expr(i.item), self.expr(i.asname.name) if i.asname is not None else None] for i in s.items]
        return ["with", line, end, items, self._suite(s), s.asynchronous is not None]

    def _def(self, s: Any, line: int, end: int) -> Node:
        returns = self.expr(s.returns.annotation) if s.returns is not None else None
        return ["def", line, end, identifier(s.name), self.parameters(s.params), self._suite(s),
                [self.expr(d.decorator) for d in s.decorators], returns, s.asynchronous is not None]  # fmt: skip

    def _class(self, s: Any, line: int, end: int) -> Node:
        args, keywords = self.arguments([*s.bases, *s.keywords])
        return ["class", line, end, identifier(s.name), args, keywords, self._suite(s),
                [self.expr(d.decorator) for d in s.decorators]]  # fmt: skip

    def _match(self, s: Any, line: int, end: int) -> Node:
        cases = [[self._pattern(c.pattern), self.optional(c.guard), self._suite(c)] for c in s.cases]
        return ["match", line, end, self.expr(s.subject), cases]

    # Patterns

    def _pattern(self, p: Any) -> Node:
        kind = type(p).__name__
        if kind == "MatchValue":
            return ["value", self.expr(p.value)]
        if kind == "MatchSingleton":
            return ["singleton", self.expr(p.value)[3]]
        if kind in ("MatchList", "MatchTuple"):
            return ["sequence", [self._element(e) for e in p.patterns]]
        if kind == "MatchMapping":
            pairs = [[self.expr(e.key), self._pattern(e.pattern)] for e in p.elements]
            return ["mapping", pairs, identifier(p.rest) if p.rest is not None else None]
        if kind == "MatchClass":
            keywords = [[identifier(e.key), self._pattern(e.pattern)] for e in p.kwds]
            return ["class", self.expr(p.cls), [self._pattern(e.value) for e in p.patterns], keywords]
        if kind == "MatchAs":
            inner = self._pattern(p.pattern) if p.pattern is not None else None
            return ["as", inner, identifier(p.name) if p.name is not None else None]
        return ["alternatives", [self._pattern(e.pattern) for e in p.patterns]]

    def _element(self, e: Any) -> Node:
        if isinstance(e, libcst.MatchStar):
            return ["starred", identifier(e.name) if e.name is not None else None]
        return self._pattern(e.value)


def _alias(a: Any) -> Node:
    return [dotted(a.name), identifier(a.asname.name) if a.asname is not None else None]


_STATEMENTS: dict[str, Callable[[Any, Any, int, int], Node | None]] = {
    "Expr": StatementLowering._expression,
    "Assign": StatementLowering._assign,
    "AnnAssign": StatementLowering._annassign,
    "AugAssign": StatementLowering._augassign,
    "Return": StatementLowering._return,
    "Raise": StatementLowering._raise,
    "Assert": StatementLowering._assert,
    "Del": StatementLowering._del,
    "Pass": StatementLowering._keyword,
    "Break": StatementLowering._keyword,
    "Continue": StatementLowering._keyword,
    "Global": StatementLowering._scope,
    "Nonlocal": StatementLowering._scope,
    "Import": StatementLowering._import,
    "LazyImport": StatementLowering._import,
    "ImportFrom": StatementLowering._from,
    "LazyImportFrom": StatementLowering._from,
    "TypeAlias": StatementLowering._typealias,
    "If": StatementLowering._if,
    "While": StatementLowering._while,
    "For": StatementLowering._for,
    "Try": StatementLowering._try,
    "TryStar": StatementLowering._try,
    "With": StatementLowering._with,
    "FunctionDef": StatementLowering._def,
    "ClassDef": StatementLowering._class,
    "Match": StatementLowering._match,
}
