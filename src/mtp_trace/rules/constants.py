"""Names that stand for constant texts: followed through assignments and imports of the tree, never run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mtp_trace.syntax.form import Node, child_blocks

_DEPTH = 6
_WRAPPERS = {"list", "tuple", "set", "frozenset", "sorted"}


class Import(NamedTuple):
    """``from module import name``, with the dots in front of the module counted."""

    module: str
    level: int
    name: str


Binding = tuple[Node, Import | None]
"""What a name stands for: a node of the module, or what the import in that node brings."""


class Constants:
    """Looks up the texts that an expression holds."""

    def __init__(self, form: Callable[[str], list[Node] | None]) -> None:
        self._form = form
        self._bindings: dict[str, dict[str, list[Binding]]] = {}
        self._imports: dict[tuple[str, str], dict[str, Import]] = {}

    def texts(self, node: Node, file: str, depth: int = _DEPTH) -> list[str] | None:
        """The texts of a constant, a collection of constants or a name for one; None where that is not known."""
        op = node[0]
        if depth <= 0:
            return None
        if op == "const":
            return [node[3]] if isinstance(node[3], str) else None
        if op in ("list", "tuple", "set"):
            return self._all(node[3], file, depth)
        if op == "dict":
            return self._all([k for k, _ in node[3] if k is not None], file, depth)
        if op == "star":
            return self.texts(node[3], file, depth)
        if op == "bin" and node[3] in ("+", "|"):
            return self._all([node[4], node[5]], file, depth)
        if op == "call" and node[3][0] == "name" and node[3][3] in _WRAPPERS and len(node[4]) == 1:
            return self.texts(node[4][0], file, depth)
        if op == "name":
            found = self.lookup(node[3], file, depth)
            return self.texts(found[0], found[1], depth - 1) if found else None
        if op == "attr" and node[3][0] == "name":
            return self._member(node[3][3], node[4], file, depth)
        return None

    def lookup(self, name: str, file: str, depth: int = _DEPTH) -> tuple[Node, str] | None:
        """What a module-level name is bound to, and the file where."""
        if depth <= 0:
            return None
        for node, source in self._bound(file).get(name, ()):
            if source is None:
                return node, file
            for path in _paths(source, file):
                found = self.lookup(source.name, path, depth - 1)
                if found:
                    return found
        return None

    def imported(self, name: str, file: str, function: str) -> tuple[Node, str] | None:
        """What a name is bound to by an import inside a function (``Class.method`` or a plain name)."""
        key = (file, function)
        if key not in self._imports:
            self._imports[key] = _imports_in(self._body(file, function))
        source = self._imports[key].get(name)
        if source is None:
            return None
        return next((f for p in _paths(source, file) if (f := self.lookup(source.name, p)) is not None), None)

    def _bound(self, file: str) -> dict[str, list[Binding]]:
        known = self._bindings.get(file)
        if known is None:
            known = self._bindings[file] = {}
            for name, binding in _bindings(self._form(file) or []):
                known.setdefault(name, []).append(binding)
        return known

    def _body(self, file: str, function: str) -> list[Node]:
        owner, _, leaf = function.rpartition(".")
        body = self._form(file) or []
        if owner:
            body = next((s[6] for s in body if s[0] == "class" and s[3] == owner), [])
        return next((s[5] for s in body if s[0] == "def" and s[3] == leaf), [])

    def _member(self, owner: str, name: str, file: str, depth: int) -> list[str] | None:
        found = self.lookup(owner, file, depth)
        if found is None or found[0][0] != "class":
            return None
        for s in found[0][6]:
            if s[0] == "assign" and any(t[0] == "name" and t[3] == name for t in s[3]):
                return self.texts(s[4], found[1], depth - 1)
        return None

    def _all(self, nodes: list[Node], file: str, depth: int) -> list[str] | None:
        out: list[str] = []
        for node in nodes:
            found = self.texts(node, file, depth)
            if found is None:
                return None
            out += found
        return out


def _bindings(form: list[Node]) -> Iterator[tuple[str, Binding]]:
    """What a module's statements bind, in their order."""
    for s in form:
        if s[0] == "assign":
            yield from ((t[3], (s[4], None)) for t in s[3] if t[0] == "name")
        elif s[0] == "annassign" and s[3][0] == "name" and s[5] is not None:
            yield s[3][3], (s[5], None)
        elif s[0] in ("class", "def"):
            yield s[3], (s, None)
        elif s[0] == "from":
            yield from ((alias or name, (s, Import(s[3], s[4], name))) for name, alias in s[5])


def _imports_in(body: list[Node]) -> dict[str, Import]:
    """The names that a function's imports bind; the least nested one counts."""
    found: dict[str, Import] = {}
    todo = deque(body)
    while todo:
        s = todo.popleft()
        if s[0] == "from":
            for name, alias in s[5]:
                found.setdefault(alias or name, Import(s[3], s[4], name))
        for block in child_blocks(s):
            todo += block
    return found


def _paths(source: Import, file: str) -> list[str]:
    base = source.module.replace(".", "/")
    if source.level:
        folder = file.split("/")[: -source.level]
        base = "/".join([*folder, base] if base else folder)
    return [f"{base}.py", f"{base}/__init__.py"]
