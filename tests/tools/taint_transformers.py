"""Which attributes a configuration class's code sets by which argument. Used by dump_transformers.py.

A reading of the class's ``__init__`` and ``__post_init__`` that errs on the side of too much: an assignment depends on
every name in its value and in the conditions and loops around it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap

from probe_transformers import METHODS
from transformers.configuration_utils import PretrainedConfig


def touched(cls: type, roots: set[str]) -> dict[str, set[str]]:
    """Argument or key -> the attributes that its value may reach."""
    found: dict[str, set[str]] = {}
    for owner in cls.__mro__:
        if owner is PretrainedConfig or not issubclass(owner, PretrainedConfig):
            break
        for method in METHODS:
            tree = _tree(vars(owner).get(method))
            for attribute, causes in _Reader(roots).read(tree).items() if tree is not None else ():
                for cause in causes:
                    found.setdefault(cause, set()).add(attribute)
    return found


def _tree(function: object) -> ast.FunctionDef | None:
    if function is None:
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None


class _Reader:
    """Follows names through one function until nothing new is found."""

    def __init__(self, roots: set[str]) -> None:
        self.roots = roots
        self.locals: dict[str, set[str]] = {}
        self.attributes: dict[str, set[str]] = {}

    def read(self, tree: ast.FunctionDef) -> dict[str, set[str]]:
        """Attribute -> the arguments and keys that it may follow from."""
        size = -1
        while size != (size := sum(map(len, [*self.locals.values(), *self.attributes.values()]))):
            self._block(tree.body, set())
            if size == sum(map(len, [*self.locals.values(), *self.attributes.values()])):
                break
        return self.attributes

    def _block(self, body: list[ast.stmt], around: set[str]) -> None:
        for statement in body:
            inside = set(around)
            for header in ("test", "iter"):
                if hasattr(statement, header):
                    inside |= self._causes(getattr(statement, header))
            if isinstance(statement, ast.For):
                self._set(statement.target, inside)
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
                causes = self._causes(statement.value) | inside
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for target in targets:
                    self._set(target, causes)
            if isinstance(statement, ast.Expr):
                self._call(statement.value, inside)
            for part in ("body", "orelse", "finalbody"):
                self._block(getattr(statement, part, []), inside)
            for handler in getattr(statement, "handlers", []):
                self._block(handler.body, inside)

    def _set(self, target: ast.expr, causes: set[str]) -> None:
        for node in [target, *getattr(target, "elts", [])]:
            if isinstance(node, ast.Subscript) and _is_kwargs(node.value) and isinstance(node.slice, ast.Constant):
                self.attributes.setdefault(str(node.slice.value), set()).update(causes)
            while isinstance(node, ast.Subscript):
                node = node.value
            if isinstance(node, ast.Name):
                self.locals.setdefault(node.id, set()).update(causes)
            elif isinstance(node, ast.Attribute) and _is_self(node.value):
                self.attributes.setdefault(node.attr, set()).update(causes)

    def _call(self, node: ast.expr, around: set[str]) -> None:
        """``kwargs.setdefault("x", ...)``, ``setattr(self, "x", ...)`` and ``self.x.append(...)`` set x too."""
        if not isinstance(node, ast.Call):
            return
        causes = self._causes(node) | around
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Attribute) and _is_self(owner.value):
            self.attributes.setdefault(owner.attr, set()).update(causes)
        literals = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in ("setdefault", "setattr", "__setattr__") and literals and isinstance(literals[0], str):
            self.attributes.setdefault(literals[0], set()).update(causes)

    def _causes(self, node: ast.expr) -> set[str]:
        """The arguments and keys that a value depends on."""
        found: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found |= self.locals.get(part.id, set())
                found |= {part.id} & self.roots
            elif isinstance(part, ast.Attribute) and _is_self(part.value):
                found |= self.attributes.get(part.attr, set()) | ({part.attr} & self.roots)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                found |= {part.value} & self.roots  # kwargs.pop("x"), getattr(self, "x"), "x" in kwargs
        return found


def compared_texts(cls: type) -> list[str]:
    """The texts that the class's code compares something with: model types of old checkpoints among them."""
    found: set[str] = set()
    for owner in cls.__mro__:
        if owner is PretrainedConfig or not issubclass(owner, PretrainedConfig):
            break
        trees = [tree for method in METHODS if (tree := _tree(vars(owner).get(method))) is not None]
        for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare)):
            parts = [part for side in node.comparators for part in ast.walk(side)]
            found |= {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return sorted(found)


def _is_kwargs(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "kwargs"


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
