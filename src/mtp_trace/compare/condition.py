"""Conditions and messages as what they say: free of local names, of where they stand, and of the order of lists."""

from __future__ import annotations

import ast
import re

_HOLE = re.compile(r"\{[^{}]*\}")
_SPACES = re.compile(r"\s+")
_KEPT = frozenset(("True", "False", "None"))


def normal_condition(text: str) -> str:
    """The condition with its local names numbered by first use and its literal collections sorted.

    ``self.field`` and ``server_args.field`` are the same field; functions, classes and constants keep their names.
    Text that is not a Python expression is only stripped of needless spaces.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _SPACES.sub(" ", text).strip()
    return ast.unparse(_Normal().visit(tree))


def normal_message(text: str) -> str:
    """A message without what is filled in, in which local names may stand."""
    return _SPACES.sub(" ", _HOLE.sub("{}", text)).strip()


def function_name(text: str) -> str:
    """The last part of a dotted name: a function moved out of its class is the same function."""
    return text.rpartition(".")[2]


class _Normal(ast.NodeTransformer):
    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A called name is a function, not a variable."""
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(word) for word in node.keywords]
        if not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``x.field``: which variable holds the object does not matter, which module does."""
        if isinstance(node.value, ast.Name):
            if not node.value.id[:1].isupper():
                node.value = ast.Name("_", ast.Load())
            return node
        node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Local names are lower case; constants and classes are not."""
        if node.id in _KEPT or not node.id.islower():
            return node
        return ast.Name(self._names.setdefault(node.id, f"_{len(self._names) + 1}"), node.ctx)

    def visit_List(self, node: ast.List) -> ast.AST:
        """A literal list of constants, in an order of its own."""
        return self._sorted(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """As a list: membership asks for neither kind nor order."""
        return self._sorted(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """As a list."""
        return self._sorted(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """``x == "a" or x == "b"`` and its reverse are the same."""
        self.generic_visit(node)
        node.values.sort(key=ast.unparse)
        return node

    def _sorted(self, node: ast.List | ast.Tuple | ast.Set) -> ast.AST:
        items = [self.visit(item) for item in node.elts]
        if all(isinstance(item, ast.Constant) for item in items):
            items.sort(key=lambda item: repr(item.value))
        return ast.List(items, ast.Load())
