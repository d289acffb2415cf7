"""Names that stand for constant texts: followed through assignments and imports of the tree, never run."""

from __future__ import annotations

from collections.abc import Callable

from mtp_trace.syntax.form import Node, child_blocks

_DEPTH = 6
_WRAPPERS = {"list", "tuple", "set", "frozenset", "sorted"}


class Constants:
    """Looks up the texts that an expression holds."""

    def __init__(self, form: Callable[[str], list[Node] | None]) -> None:
        self._form = form

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
        for s in self._form(file) or ():
            if s[0] == "assign" and any(t[0] == "name" and t[3] == name for t in s[3]):
                return s[4], file
            if s[0] == "annassign" and s[3][0] == "name" and s[3][3] == name and s[5] is not None:
                return s[5], file
            if s[0] in ("class", "def") and s[3] == name:
                return s, file
            if s[0] == "from":
                for original, alias in s[5]:
                    if (alias or original) == name:
                        for path in _paths(s[3], s[4], file):
                            found = self.lookup(original, path, depth - 1)
                            if found:
                                return found
        return None

    def imported(self, name: str, file: str, function: str) -> tuple[Node, str] | None:
        """What a name is bound to by an import inside a function (``Class.method`` or a plain name)."""
        owner, _, leaf = function.rpartition(".")
        body = self._form(file) or []
        if owner:
            body = next((s[6] for s in body if s[0] == "class" and s[3] == owner), [])
        stack = next((list(s[5]) for s in body if s[0] == "def" and s[3] == leaf), [])
        while stack:
            s = stack.pop(0)
            if s[0] == "from":
                for original, alias in s[5]:
                    if (alias or original) == name:
                        paths = _paths(s[3], s[4], file)
                        return next((f for p in paths if (f := self.lookup(original, p)) is not None), None)
            for block in child_blocks(s):
                stack += block
        return None

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


def _paths(module: str, level: int, file: str) -> list[str]:
    base = module.replace(".", "/")
    if level:
        folder = file.split("/")[:-level]
        base = "/".join([*folder, base] if base else folder)
    return [f"{base}.py", f"{base}/__init__.py"]
