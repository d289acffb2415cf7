"""The program form: what both front ends lower to, what the tracer compiles and rules match.

A program is nested lists, so that it can be kept on disk as plain data. Every node is ``[op, line, end_line, ...]``
with 1-based lines of the source file. ``line`` of an expression is where it starts; of a statement, where its own
keyword stands (decorators excluded).

Expressions
    ["const", l, e, value]                 None, bool, int (64 bit), float, str, bytes
    ["big", l, e, "123..."]                an int that does not fit 64 bits
    ["special", l, e, name]                "..." or a complex literal
    ["name", l, e, id]
    ["attr", l, e, object, name]
    ["index", l, e, object, key]
    ["slice", l, e, lower|None, upper|None, step|None]
    ["call", l, e, function, [arg...], [[keyword|None, value]...]]      an arg may be ["star", l, e, x]
    ["bin", l, e, op, left, right]         op "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"
    ["unary", l, e, op, x]                 op "-", "+", "~"
    ["not", l, e, x]
    ["and"|"or", l, e, [x...]]
    ["compare", l, e, left, [op...], [right...]]       op as written: "==", "not in", "is not", ...
    ["ifexp", l, e, test, then, otherwise]
    ["lambda", l, e, params, body]
    ["tuple"|"list"|"set", l, e, [x...]]
    ["dict", l, e, [[key|None, value]...]]             key None: ``**value``
    ["comp", l, e, kind, [element] or [key, value], [[target, iterable, [condition...], is_async]...]]
                                            kind "list", "set", "dict", "gen"
    ["fstring", l, e, [part...]]           a part is a str or ["format", l, e, x, conversion|None, spec|None]
    ["walrus", l, e, name, x]
    ["await"|"yield"|"yieldfrom", l, e, x|None]
    ["star", l, e, x]

Params
    [posonly_count, [[name, annotation|None, default|None]...], vararg|None, [[name, ann, default]...], kwarg|None]
    vararg and kwarg are [name, annotation|None]

Statements
    ["expr", l, e, x]                      docstrings are dropped
    ["assign", l, e, [target...], x]
    ["annassign", l, e, target, annotation, x|None]
    ["augassign", l, e, target, op, x]
    ["return", l, e, x|None]    ["raise", l, e, x|None, cause|None]    ["assert", l, e, test, message|None]
    ["del", l, e, [target...]]  ["pass"|"break"|"continue", l, e]
    ["global"|"nonlocal", l, e, [name...]]
    ["import", l, e, [[dotted, asname|None]...]]
    ["from", l, e, module|"", level, [[name, asname|None]...]]
    ["if", l, e, test, body, otherwise]    ["while", l, e, test, body, otherwise]
    ["for", l, e, target, iterable, body, otherwise, is_async]
    ["try", l, e, body, [[l, e, type|None, name|None, body]...], otherwise, final, is_star]
    ["with", l, e, [[context, target|None]...], body, is_async]
    ["match", l, e, subject, [[pattern, guard|None, body]...]]
    ["def", l, e, name, params, body, [decorator...], returns|None, is_async]
    ["class", l, e, name, [arg...], [[keyword|None, value]...], body, [decorator...]]
    ["typealias", l, e, name, x]

Patterns
    ["value", x] ["singleton", value] ["sequence", [p...]] ["mapping", [[x, p]...], rest|None]
    ["class", x, [p...], [[name, p]...]] ["starred", name|None] ["as", p|None, name|None] ["alternatives", [p...]]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Node = list[Any]
"""One node of the program form."""

FORM_VERSION = 1
"""Raised whenever the shape of the form changes, so that no older cache is read."""

_PRECEDENCE = {"or": 1, "and": 2, "not": 3, "compare": 4}


def unparse(node: Node | None) -> str:
    """Text of an expression in one normal spelling, whatever its layout in the source.

    The same expression gives the same text in any tree, so that conditions can be shown and compared.
    """
    if node is None:
        return ""
    op = node[0]
    if op == "const":
        return repr(node[3])
    if op in ("big", "special", "name"):
        return str(node[3])
    if op == "attr":
        return f"{_atom(node[3])}.{node[4]}"
    if op == "index":
        key = node[4]
        shown = ", ".join(map(unparse, key[3])) if key[0] == "tuple" and len(key[3]) > 1 else unparse(key)
        return f"{_atom(node[3])}[{shown}]"
    if op == "slice":
        text = f"{unparse(node[3])}:{unparse(node[4])}"
        return text + (f":{unparse(node[5])}" if node[5] else "")
    if op == "call":
        args = [unparse(x) for x in node[4]]
        args += [f"{k}={unparse(v)}" if k else f"**{unparse(v)}" for k, v in node[5]]
        return f"{_atom(node[3])}({', '.join(args)})"
    if op == "bin":
        return f"{_atom(node[4])} {node[3]} {_atom(node[5])}"
    if op == "unary":
        return f"{node[3]}{_atom(node[4])}"
    if op == "not":
        return f"not {_inner(node[3], 3)}"
    if op in ("and", "or"):
        return f" {op} ".join(_inner(x, _PRECEDENCE[op]) for x in node[3])
    if op == "compare":
        text = _inner(node[3], 5)
        for sign, right in zip(node[4], node[5]):
            text += f" {sign} {_inner(right, 5)}"
        return text
    if op == "ifexp":
        return f"{_inner(node[4], 1)} if {_inner(node[3], 1)} else {unparse(node[5])}"
    if op == "lambda":
        return f"lambda {_params(node[3])}: {unparse(node[4])}"
    if op == "tuple":
        items = [unparse(x) for x in node[3]]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if op == "list":
        return f"[{', '.join(unparse(x) for x in node[3])}]"
    if op == "set":
        return "{" + ", ".join(unparse(x) for x in node[3]) + "}"
    if op == "dict":
        return "{" + ", ".join(f"{unparse(k)}: {unparse(v)}" if k else f"**{unparse(v)}" for k, v in node[3]) + "}"
    if op == "comp":
        element = ": ".join(unparse(x) for x in node[4])
        for target, iterable, conditions, _ in node[5]:
            element += f" for {unparse(target)} in {_inner(iterable, 1)}"
            element += "".join(f" if {_inner(c, 1)}" for c in conditions)
        brackets = {"list": "[]", "set": "{}", "dict": "{}", "gen": "()"}[node[3]]
        return brackets[0] + element + brackets[1]
    if op == "fstring":
        return "f" + repr("".join(p if isinstance(p, str) else "{" + unparse(p[3]) + "}" for p in node[3]))
    if op == "walrus":
        return f"({node[3]} := {unparse(node[4])})"
    if op == "star":
        return f"*{unparse(node[3])}"
    if op in ("await", "yield", "yieldfrom"):
        return f"({op.replace('yieldfrom', 'yield from')} {unparse(node[3])})"
    return f"<{op}>"


def _atom(node: Node) -> str:
    text = unparse(node)
    return f"({text})" if node[0] in ("bin", "unary", "not", "and", "or", "compare", "ifexp", "lambda") else text


def _inner(node: Node, level: int) -> str:
    text = unparse(node)
    own = _PRECEDENCE.get(node[0], 0 if node[0] in ("ifexp", "lambda") else 9)
    return f"({text})" if own < level or (own == level == 4) else text


def _params(params: Node) -> str:
    _, plain, vararg, kwonly, kwarg = params
    out = [name + (f"={unparse(default)}" if default else "") for name, _, default in plain]
    if vararg:
        out.append("*" + vararg[0])
    elif kwonly:
        out.append("*")
    out += [name + (f"={unparse(default)}" if default else "") for name, _, default in kwonly]
    if kwarg:
        out.append("**" + kwarg[0])
    return ", ".join(out)


def child_blocks(statement: Node) -> Iterator[list[Node]]:
    """The statement lists directly inside a statement, in source order (function and class bodies included)."""
    op = statement[0]
    if op in ("if", "while"):
        yield statement[4]
        yield statement[5]
    elif op == "for":
        yield statement[5]
        yield statement[6]
    elif op == "try":
        yield statement[3]
        for handler in statement[4]:
            yield handler[4]
        yield statement[5]
        yield statement[6]
    elif op == "with":
        yield statement[4]
    elif op == "match":
        for case in statement[4]:
            yield case[2]
    elif op == "def":
        yield statement[5]
    elif op == "class":
        yield statement[6]
