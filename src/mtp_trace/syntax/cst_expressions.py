"""Lowers LibCST's expressions to the program form."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst

from mtp_trace.syntax.cst_literals import fstring_text, number_value, string_value
from mtp_trace.syntax.cst_positions import Span, line_feeds, source_of_fields
from mtp_trace.syntax.form import Node
from mtp_trace.syntax.lower_ast import constant

BINARY = {  # also, with Assign added, of augmented assignments
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "MatrixMultiply": "@",
}  # fmt: skip
_UNARY = {"Minus": "-", "Plus": "+", "BitInvert": "~"}
_COMPARE = {
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
_NAMED_CONSTANTS = {"None": None, "True": True, "False": False}


def identifier(name: Any) -> str:
    """Text of a Name node, in the normal form in which Python compares identifiers."""
    text: str = name.value
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def dotted(node: Any) -> str:
    """Text of a Name or of a chain of Attributes."""
    parts = []
    while isinstance(node, libcst.Attribute):
        parts.append(identifier(node.attr))
        node = node.value
    parts.append(identifier(node))
    return ".".join(reversed(parts))


class ExpressionLowering:
    """Lowers expressions of one parsed module."""

    def __init__(self, module: libcst.Module, spans: dict[int, Span]) -> None:
        self.module = module
        self.spans = spans
        self._field_sources: dict[int, str] | None = None

    def expr(self, x: Any) -> Node:
        """Program form of an expression."""
        handler = _EXPRESSIONS.get(type(x).__name__)
        line, end, _ = self.spans[id(x)]
        if handler is None:
            raise SyntaxError(f"expression {type(x).__name__} is not supported", ("", line, 0, ""))
        return handler(self, x, line, end)

    def optional(self, x: Any) -> Node | None:
        """Program form of an expression that may be missing."""
        return None if x is None else self.expr(x)

    # Names, constants, strings

    def _name(self, x: Any, line: int, end: int) -> Node:
        text = identifier(x)
        if text in _NAMED_CONSTANTS:
            return ["const", line, end, _NAMED_CONSTANTS[text]]
        return ["name", line, end, text]

    def _number(self, x: Any, line: int, end: int) -> Node:
        return _evaluated(lambda: constant(number_value(x.value), line, end), line)  # type: ignore[no-any-return]

    def _string(self, x: Any, line: int, end: int) -> Node:
        return ["const", line, end, _evaluated(string_value, line, x.value)]

    def _concatenated(self, x: Any, line: int, end: int) -> Node:
        pieces: list[Any] = []
        while isinstance(x, libcst.ConcatenatedString):
            pieces.append(x.left)
            x = x.right
        pieces.append(x)
        if all(isinstance(p, libcst.SimpleString) for p in pieces):
            values = [_evaluated(string_value, line, p.value) for p in pieces]
            return ["const", line, end, type(values[0])().join(values)]
        parts: list[Any] = []
        for piece in pieces:
            if isinstance(piece, libcst.SimpleString):
                _add_text(parts, _evaluated(string_value, line, piece.value))
            else:
                self._fstring_parts(parts, piece, line, end)
        return ["fstring", line, end, parts]

    def _fstring(self, x: Any, line: int, end: int) -> Node:
        parts: list[Any] = []
        self._fstring_parts(parts, x, line, end)
        return ["fstring", line, end, parts]

    def _fstring_parts(self, parts: list[Any], x: Any, line: int, end: int) -> None:
        if not isinstance(x, libcst.FormattedString):
            raise SyntaxError(f"expression {type(x).__name__} is not supported", ("", line, 0, ""))
        self._fields(parts, x.parts, x.start, False, line, end)

    def _fields(self, parts: list[Any], pieces: Iterable[Any], start: str, in_spec: bool, line: int, end: int) -> None:
        for piece in pieces:
            if isinstance(piece, libcst.FormattedStringText):
                _add_text(parts, _evaluated(fstring_text, line, piece.value, start, in_spec))
                continue
            conversion = piece.conversion
            if piece.equal is not None:
                _add_text(parts, self._field_source(piece))
                if conversion is None and piece.format_spec is None:
                    conversion = "r"
            spec: Node | None = None
            if piece.format_spec is not None:
                spec = ["fstring", line, end, []]
                self._fields(spec[3], piece.format_spec, start, True, line, end)
            parts.append(["format", line, end, self.expr(piece.expression), conversion, spec])

    def _field_source(self, piece: Any) -> str:
        if self._field_sources is None:
            self._field_sources = source_of_fields(self.module)
        return self._field_sources[id(piece)]

    # Operators

    def _binary(self, x: Any, line: int, end: int) -> Node:
        return ["bin", line, end, BINARY[type(x.operator).__name__], self.expr(x.left), self.expr(x.right)]

    def _unary(self, x: Any, line: int, end: int) -> Node:
        sign = _UNARY.get(type(x.operator).__name__)
        operand = self.expr(x.expression)
        return ["not", line, end, operand] if sign is None else ["unary", line, end, sign, operand]

    def _boolean(self, x: Any, line: int, end: int) -> Node:
        kind = type(x.operator)
        values = [x.right]
        left = x.left
        while isinstance(left, libcst.BooleanOperation) and type(left.operator) is kind and not left.lpar:
            values.append(left.right)
            left = left.left
        values.append(left)
        return ["and" if kind is libcst.And else "or", line, end, [self.expr(v) for v in reversed(values)]]

    def _compare(self, x: Any, line: int, end: int) -> Node:
        left = self.expr(x.left)
        signs = [_COMPARE[type(c.operator).__name__] for c in x.comparisons]
        return ["compare", line, end, left, signs, [self.expr(c.comparator) for c in x.comparisons]]

    def _ifexp(self, x: Any, line: int, end: int) -> Node:
        return ["ifexp", line, end, self.expr(x.test), self.expr(x.body), self.expr(x.orelse)]

    def _walrus(self, x: Any, line: int, end: int) -> Node:
        return ["walrus", line, end, identifier(x.target), self.expr(x.value)]

    def _await(self, x: Any, line: int, end: int) -> Node:
        return ["await", line, end, self.expr(x.expression)]

    def _yield(self, x: Any, line: int, end: int) -> Node:
        if isinstance(x.value, libcst.From):
            return ["yieldfrom", line, end, self.expr(x.value.item)]
        return ["yield", line, end, self.optional(x.value)]

    # Access and calls

    def _attribute(self, x: Any, line: int, end: int) -> Node:
        return ["attr", line, end, self.expr(x.value), identifier(x.attr)]

    def _subscript(self, x: Any, line: int, end: int) -> Node:
        value = self.expr(x.value)
        elements = x.slice
        first, last = elements[0], elements[-1]
        trailing = isinstance(last.comma, libcst.Comma)
        if len(elements) == 1 and not trailing and getattr(first.slice, "star", None) is None:
            return ["index", line, end, value, self._slice(first)]
        key_end = self.spans[id(last)][1] + (line_feeds(last.comma.whitespace_before) if trailing else 0)
        key = ["tuple", self.spans[id(first)][0], key_end, [self._slice(e) for e in elements]]
        return ["index", line, end, value, key]

    def _slice(self, element: Any) -> Node:
        line, end, _ = self.spans[id(element)]
        x = element.slice
        if isinstance(x, libcst.Slice):
            return ["slice", line, end, self.optional(x.lower), self.optional(x.upper), self.optional(x.step)]
        value = self.expr(x.value)
        return value if x.star is None else ["star", line, end, value]

    def _call(self, x: Any, line: int, end: int) -> Node:
        function = self.expr(x.func)
        args, keywords = self.arguments(x.args)
        if len(x.args) == 1 and isinstance(x.args[0].value, libcst.GeneratorExp) and not x.args[0].value.lpar:
            # The call's own parentheses are the generator's, and ast counts them to both.
            args[0][1] = self.spans[id(x.args[0].value)][0] - line_feeds(x.whitespace_before_args)
            args[0][2] = end
        return ["call", line, end, function, args, keywords]

    def arguments(self, given: Sequence[Any]) -> tuple[list[Node], list[Node]]:
        """Positional arguments, and keyword arguments with ``**`` among them, of a call or a class."""
        args: list[Node] = []
        keywords: list[Node] = []
        for arg in given:
            value = self.expr(arg.value)
            if arg.keyword is not None:
                keywords.append([identifier(arg.keyword), value])
            elif arg.star == "**":
                keywords.append([None, value])
            elif arg.star == "*":
                line, end, _ = self.spans[id(arg)]
                args.append(["star", line, end, value])
            else:
                args.append(value)
        return args, keywords

    def _lambda(self, x: Any, line: int, end: int) -> Node:
        return ["lambda", line, end, self.parameters(x.params), self.expr(x.body)]

    def parameters(self, p: Any) -> Node:
        """Parameters of a function or a lambda."""
        plain = [*p.posonly_params, *p.params]
        return [
            len(p.posonly_params),
            [self._parameter(q) for q in plain],
            self._parameter(p.star_arg)[:2] if isinstance(p.star_arg, libcst.Param) else None,
            [self._parameter(q) for q in p.kwonly_params],
            self._parameter(p.star_kwarg)[:2] if p.star_kwarg is not None else None,
        ]

    def _parameter(self, p: Any) -> Node:
        annotation = self.expr(p.annotation.annotation) if p.annotation is not None else None
        return [identifier(p.name), annotation, self.optional(p.default)]

    # Displays and comprehensions

    def _with_parentheses(self, x: Any) -> tuple[int, int]:
        """Lines of an expression that ast counts the innermost parentheses to."""
        line, end, reached = self.spans[id(x)]
        if x.lpar:
            return line - line_feeds(x.lpar[-1].whitespace_after), reached + line_feeds(x.rpar[0].whitespace_before)
        return line, end

    def _tuple(self, x: Any, line: int, end: int) -> Node:
        return ["tuple", *self._with_parentheses(x), self.elements(x.elements)]

    def _list(self, x: Any, line: int, end: int) -> Node:
        return ["list", line, end, self.elements(x.elements)]

    def _set(self, x: Any, line: int, end: int) -> Node:
        return ["set", line, end, self.elements(x.elements)]

    def elements(self, given: Iterable[Any]) -> list[Node]:
        """Elements of a tuple, list or set."""
        return [self.expr(e if isinstance(e, libcst.StarredElement) else e.value) for e in given]

    def _starred(self, x: Any, line: int, end: int) -> Node:
        return ["star", line, end, self.expr(x.value)]

    def _dict(self, x: Any, line: int, end: int) -> Node:
        pairs = [[self.optional(getattr(e, "key", None)), self.expr(e.value)] for e in x.elements]
        return ["dict", line, end, pairs]

    def _comprehension(self, x: Any, line: int, end: int) -> Node:
        kind = _COMPREHENSIONS[type(x).__name__]
        if kind == "gen":
            line, end = self._with_parentheses(x)
        element = [self.expr(x.key), self.expr(x.value)] if kind == "dict" else [self.expr(x.elt)]
        clauses: list[Node] = []
        clause = x.for_in
        while clause is not None:
            tests = [self.expr(i.test) for i in clause.ifs]
            is_async = clause.asynchronous is not None
            clauses.append([self.expr(clause.target), self.expr(clause.iter), tests, is_async])
            clause = clause.inner_for_in
        return ["comp", line, end, kind, element, clauses]


def _evaluated(evaluate: Callable[..., Any], line: int, *given: Any) -> Any:
    """The value of a literal; a literal that Python refuses is an error on the line where it starts."""
    try:
        return evaluate(*given)
    except (SyntaxError, ValueError) as error:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise SyntaxError(message, ("", line, 0, "")) from error


def _add_text(parts: list[Any], text: Any) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    elif text:
        parts.append(text)


_COMPREHENSIONS = {"ListComp": "list", "SetComp": "set", "DictComp": "dict", "GeneratorExp": "gen"}
_EXPRESSIONS: dict[str, Callable[[Any, Any, int, int], Node]] = {
    "Name": ExpressionLowering._name,
    "Integer": ExpressionLowering._number,
    "Float": ExpressionLowering._number,
    "Imaginary": ExpressionLowering._number,
    "Ellipsis": lambda _, x, line, end: ["special", line, end, "..."],
    "SimpleString": ExpressionLowering._string,
    "ConcatenatedString": ExpressionLowering._concatenated,
    "FormattedString": ExpressionLowering._fstring,
    "BinaryOperation": ExpressionLowering._binary,
    "UnaryOperation": ExpressionLowering._unary,
    "BooleanOperation": ExpressionLowering._boolean,
    "Comparison": ExpressionLowering._compare,
    "IfExp": ExpressionLowering._ifexp,
    "NamedExpr": ExpressionLowering._walrus,
    "Await": ExpressionLowering._await,
    "Yield": ExpressionLowering._yield,
    "Attribute": ExpressionLowering._attribute,
    "Subscript": ExpressionLowering._subscript,
    "Call": ExpressionLowering._call,
    "Lambda": ExpressionLowering._lambda,
    "Tuple": ExpressionLowering._tuple,
    "List": ExpressionLowering._list,
    "Set": ExpressionLowering._set,
    "StarredElement": ExpressionLowering._starred,
    "Dict": ExpressionLowering._dict,
    "ListComp": ExpressionLowering._comprehension,
    "SetComp": ExpressionLowering._comprehension,
    "DictComp": ExpressionLowering._comprehension,
    "GeneratorExp": ExpressionLowering._comprehension,
}
