"""Lowers the standard library's syntax tree to the program form.

Fast, but it speaks only the running Python's grammar; ``lower_cst`` reads what it refuses, and a test holds the two
to the same result.
"""

from __future__ import annotations

import ast
from typing import Any

from mtp_trace.syntax.form import Node

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_COMPREHENSION = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "gen"}


def lower_module(text: str) -> list[Node]:
    """Program form of a module's text.  Raises SyntaxError (also ValueError, RecursionError) where ``ast`` does."""
    return _body(ast.parse(text).body)


def _body(statements: list[ast.stmt]) -> list[Node]:
    return [lowered for s in statements if (lowered := _statement(s)) is not None]


def _is_docstring(s: ast.Expr) -> bool:
    return isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)


def _statement(s: ast.stmt) -> Node | None:
    handler = _STATEMENTS.get(type(s))
    if handler is None:
        raise SyntaxError(f"statement {type(s).__name__} is not supported", ("", s.lineno, 0, ""))
    return handler(s, s.lineno, s.end_lineno)  # type: ignore[no-any-return]


def _expr_statement(s: Any, line: int, end: int) -> Node | None:
    return None if _is_docstring(s) else ["expr", line, end, _expr(s.value)]


def _function(s: Any, line: int, end: int) -> Node:
    return ["def", line, end, s.name, _params(s.args), _body(s.body), [_expr(d) for d in s.decorator_list],
            _optional(s.returns), isinstance(s, ast.AsyncFunctionDef)]  # fmt: skip


def _class(s: Any, line: int, end: int) -> Node:
    return ["class", line, end, s.name, [_expr(b) for b in s.bases], [[k.arg, _expr(k.value)] for k in s.keywords],
            _body(s.body), [_expr(d) for d in s.decorator_list]]  # fmt: skip


def _try(s: Any, line: int, end: int) -> Node:
    handlers = [[h.lineno, h.end_lineno, _optional(h.type), h.name, _body(h.body)] for h in s.handlers]
    return ["try", line, end, _body(s.body), handlers, _body(s.orelse), _body(s.finalbody),
            type(s).__name__ == "TryStar"]  # fmt: skip


def _for(s: Any, line: int, end: int) -> Node:
    return ["for", line, end, _expr(s.target), _expr(s.iter), _body(s.body), _body(s.orelse),
            isinstance(s, ast.AsyncFor)]  # fmt: skip


def _with(s: Any, line: int, end: int) -> Node:
    items = [[_expr(i.context_expr), _optional(i.optional_vars)] for i in s.items]
    return ["with", line, end, items, _body(s.body), isinstance(s, ast.AsyncWith)]


def _match(s: Any, line: int, end: int) -> Node:
    cases = [[_pattern(c.pattern), _optional(c.guard), _body(c.body)] for c in s.cases]
    return ["match", line, end, _expr(s.subject), cases]


_STATEMENTS: dict[type[ast.AST], Any] = {
    ast.Expr: _expr_statement,
    ast.Assign: lambda s, l, e: ["assign", l, e, [_expr(t) for t in s.targets], _expr(s.value)],
    ast.AnnAssign: lambda s, l, e: ["annassign", l, e, _expr(s.target), _expr(s.annotation), _optional(s.value)],
    ast.AugAssign: lambda s, l, e: ["augassign", l, e, _expr(s.target), _BINARY[type(s.op)], _expr(s.value)],
    ast.Return: lambda s, l, e: ["return", l, e, _optional(s.value)],
    ast.Raise: lambda s, l, e: ["raise", l, e, _optional(s.exc), _optional(s.cause)],
    ast.Assert: lambda s, l, e: ["assert", l, e, _expr(s.test), _optional(s.msg)],
    ast.Delete: lambda s, l, e: ["del", l, e, [_expr(t) for t in s.targets]],
    ast.Pass: lambda s, l, e: ["pass", l, e],
    ast.Break: lambda s, l, e: ["break", l, e],
    ast.Continue: lambda s, l, e: ["continue", l, e],
    ast.Global: lambda s, l, e: ["global", l, e, list(s.names)],
    ast.Nonlocal: lambda s, l, e: ["nonlocal", l, e, list(s.names)],
    ast.Import: lambda s, l, e: ["import", l, e, [[a.name, a.asname] for a in s.names]],
    ast.ImportFrom: lambda s, l, e: ["from", l, e, s.module or "", s.level, [[a.name, a.asname] for a in s.names]],
    ast.If: lambda s, l, e: ["if", l, e, _expr(s.test), _body(s.body), _body(s.orelse)],
    ast.While: lambda s, l, e: ["while", l, e, _expr(s.test), _body(s.body), _body(s.orelse)],
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.Try: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = lambda s, l, e: ["typealias", l, e, s.name.id, _expr(s.value)]


def _optional(x: ast.expr | None) -> Node | None:
    return None if x is None else _expr(x)


def _expr(x: ast.AST) -> Node:
    handler = _EXPRESSIONS.get(type(x))
    if handler is None:
        raise SyntaxError(f"expression {type(x).__name__} is not supported", ("", getattr(x, "lineno", 0), 0, ""))
    return handler(x, x.lineno, x.end_lineno)  # type: ignore[attr-defined,no-any-return]


def constant(value: Any, line: int, end: int) -> Node:
    """The node of a literal; ints beyond 64 bits and complex numbers keep their text."""
    if value is Ellipsis:
        return ["special", line, end, "..."]
    if isinstance(value, complex):
        return ["special", line, end, repr(value)]
    if type(value) is int and not -(1 << 63) <= value < (1 << 63):
        return ["big", line, end, str(value)]
    return ["const", line, end, value]


def _call(x: Any, line: int, end: int) -> Node:
    return ["call", line, end, _expr(x.func), [_expr(a) for a in x.args], [[k.arg, _expr(k.value)] for k in x.keywords]]


def _comprehension(x: Any, line: int, end: int) -> Node:
    element = [_expr(x.key), _expr(x.value)] if isinstance(x, ast.DictComp) else [_expr(x.elt)]
    clauses = [[_expr(g.target), _expr(g.iter), [_expr(c) for c in g.ifs], bool(g.is_async)] for g in x.generators]
    return ["comp", line, end, _COMPREHENSION[type(x)], element, clauses]


def _fstring(x: Any, line: int, end: int) -> Node:
    parts: list[Any] = []
    for value in x.values:
        if isinstance(value, ast.Constant):
            assert isinstance(value.value, str)
            if parts and isinstance(parts[-1], str):
                parts[-1] += value.value
            elif value.value:
                parts.append(value.value)
        else:
            conversion = chr(value.conversion) if value.conversion != -1 else None
            spec = _fstring(value.format_spec, line, end) if value.format_spec is not None else None
            parts.append(["format", line, end, _expr(value.value), conversion, spec])
    return ["fstring", line, end, parts]


def _unary(x: Any, line: int, end: int) -> Node:
    if isinstance(x.op, ast.Not):
        return ["not", line, end, _expr(x.operand)]
    return ["unary", line, end, _UNARY[type(x.op)], _expr(x.operand)]


def _compare(x: Any, line: int, end: int) -> Node:
    return ["compare", line, end, _expr(x.left), [_COMPARE[type(o)] for o in x.ops], [_expr(c) for c in x.comparators]]


_EXPRESSIONS: dict[type[ast.AST], Any] = {
    ast.Constant: lambda x, l, e: constant(x.value, l, e),
    ast.Name: lambda x, l, e: ["name", l, e, x.id],
    ast.Attribute: lambda x, l, e: ["attr", l, e, _expr(x.value), x.attr],
    ast.Subscript: lambda x, l, e: ["index", l, e, _expr(x.value), _expr(x.slice)],
    ast.Slice: lambda x, l, e: ["slice", l, e, _optional(x.lower), _optional(x.upper), _optional(x.step)],
    ast.Call: _call,
    ast.BinOp: lambda x, l, e: ["bin", l, e, _BINARY[type(x.op)], _expr(x.left), _expr(x.right)],
    ast.UnaryOp: _unary,
    ast.BoolOp: lambda x, l, e: ["and" if isinstance(x.op, ast.And) else "or", l, e, [_expr(v) for v in x.values]],
    ast.Compare: _compare,
    ast.IfExp: lambda x, l, e: ["ifexp", l, e, _expr(x.test), _expr(x.body), _expr(x.orelse)],
    ast.Lambda: lambda x, l, e: ["lambda", l, e, _params(x.args), _expr(x.body)],
    ast.Tuple: lambda x, l, e: ["tuple", l, e, [_expr(i) for i in x.elts]],
    ast.List: lambda x, l, e: ["list", l, e, [_expr(i) for i in x.elts]],
    ast.Set: lambda x, l, e: ["set", l, e, [_expr(i) for i in x.elts]],
    ast.Dict: lambda x, l, e: ["dict", l, e, [[_optional(k), _expr(v)] for k, v in zip(x.keys, x.values)]],
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.JoinedStr: _fstring,
    ast.NamedExpr: lambda x, l, e: ["walrus", l, e, x.target.id, _expr(x.value)],
    ast.Await: lambda x, l, e: ["await", l, e, _expr(x.value)],
    ast.Yield: lambda x, l, e: ["yield", l, e, _optional(x.value)],
    ast.YieldFrom: lambda x, l, e: ["yieldfrom", l, e, _expr(x.value)],
    ast.Starred: lambda x, l, e: ["star", l, e, _expr(x.value)],
}


def _params(a: ast.arguments) -> Node:
    plain = [*a.posonlyargs, *a.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
    return [
        len(a.posonlyargs),
        [[p.arg, _optional(p.annotation), _optional(d)] for p, d in zip(plain, defaults)],
        [a.vararg.arg, _optional(a.vararg.annotation)] if a.vararg else None,
        [[p.arg, _optional(p.annotation), _optional(d)] for p, d in zip(a.kwonlyargs, a.kw_defaults)],
        [a.kwarg.arg, _optional(a.kwarg.annotation)] if a.kwarg else None,
    ]


def _pattern(p: Any) -> Node:
    if isinstance(p, ast.MatchValue):
        return ["value", _expr(p.value)]
    if isinstance(p, ast.MatchSingleton):
        return ["singleton", p.value]
    if isinstance(p, ast.MatchSequence):
        return ["sequence", [_pattern(x) for x in p.patterns]]
    if isinstance(p, ast.MatchMapping):
        return ["mapping", [[_expr(k), _pattern(v)] for k, v in zip(p.keys, p.patterns)], p.rest]
    if isinstance(p, ast.MatchClass):
        keywords = [[n, _pattern(v)] for n, v in zip(p.kwd_attrs, p.kwd_patterns)]
        return ["class", _expr(p.cls), [_pattern(x) for x in p.patterns], keywords]
    if isinstance(p, ast.MatchStar):
        return ["starred", p.name]
    if isinstance(p, ast.MatchAs):
        return ["as", _pattern(p.pattern) if p.pattern is not None else None, p.name]
    return ["alternatives", [_pattern(x) for x in p.patterns]]
