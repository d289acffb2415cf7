"""Lines of LibCST nodes, exact and cheap.

LibCST's own position provider copies the whole tree and builds an object for every node. A code generation state that
only counts line feeds gives the same lines for a fifth of the parse.
"""

from __future__ import annotations

from types import TracebackType

import libcst
from libcst._nodes.internal import CodegenState

Span = tuple[int, int, int]
"""First line, line of the last token, and the line reached with all whitespace that the node owns."""

_NOT_TOKENS = frozenset(" \t\f\v\\#\n;")


def record_lines(module: libcst.Module, text: str) -> dict[int, Span]:
    """Spans of a parsed module's expressions and statements by ``id(node)``; ``text`` is what it was parsed from.

    The text must have ``\\n`` as its only line end. Raises SyntaxError where LibCST lost a line of it, as it does with
    some line continuations, since all lines after that would be wrong.
    """
    state = _LineState(default_indent=module.default_indent, default_newline="\n")
    module._codegen(state)
    # One more than the text has: the tree ends every statement with a line feed, and adds one where no text was kept.
    if text.strip() and state.line - 1 != text.count("\n") + 1:
        raise SyntaxError("LibCST loses a line of this file")
    return state.spans


def line_feeds(whitespace: object) -> int:
    """How many lines a whitespace node goes down."""
    counter = _LineState(default_indent="", default_newline="\n")
    whitespace._codegen(counter)  # type: ignore[attr-defined]
    return counter.line - 1


class _LineState(CodegenState):
    """Counts lines instead of collecting text."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self.line = 1
        self.last = 1
        self.spans: dict[int, Span] = {}

    def add_token(self, value: str) -> None:
        if "\n" in value:
            self.line += value.count("\n")
        # Whitespace, comments and semicolons may follow a node's last token inside the node; they do not end it.
        if value and value[0] not in _NOT_TOKENS:
            self.last = self.line

    def add_indent_tokens(self) -> None:
        """Indentation never holds a line feed."""

    def pop_trailing_newline(self) -> None:
        """Nothing was collected."""

    def record_syntactic_position(  # type: ignore[override]
        self, node: libcst.CSTNode, *, start_node: object = None, end_node: object = None
    ) -> _Recorder:
        return _Recorder(self, node)


class _Recorder:
    """Notes a node's lines on the way out; a plain object, since a generator here would double the time."""

    __slots__ = ("first", "node", "state")

    def __init__(self, state: _LineState, node: libcst.CSTNode) -> None:
        self.state = state
        self.node = node

    def __enter__(self) -> None:
        self.first = self.state.line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state = self.state
        state.spans[id(self.node)] = (self.first, state.last, state.line)


def source_of_fields(module: libcst.Module) -> dict[int, str]:
    """Source of the ``name=`` part of every f-string field that has one, by ``id(field)``.

    Another walk over the whole module, since only that knows the indentation; such fields are rare.
    """
    state = _FieldState(default_indent=module.default_indent, default_newline="\n")
    module._codegen(state)
    return state.sources


class _FieldState(CodegenState):
    """Prints the module and cuts the fields' sources from the text."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self.open: list[tuple[libcst.FormattedStringExpression, int]] = []
        self.sources: dict[int, str] = {}

    def before_codegen(self, node: libcst.CSTNode) -> None:
        if isinstance(node, libcst.FormattedStringExpression) and node.equal is not None:
            self.open.append((node, len(self.tokens)))

    def after_codegen(self, node: libcst.CSTNode) -> None:
        if not self.open:
            return
        field, start = self.open[-1]
        if node is field.whitespace_after_expression:
            self.sources[id(field)] = "".join(self.tokens[start + 1 :])
        elif node is field:
            self.open.pop()
