"""The tree's model registry: which module exports the class of an architecture.

Found from text, then from one module's form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mtp_trace.syntax.form import Node
from mtp_trace.trace.scope import collect
from mtp_trace.verdict.programs import TreePrograms


@dataclass(frozen=True)
class DraftClass:
    """A registered model class and where it is defined."""

    name: str
    file: str
    line: int
    end_line: int


class Registry:
    """Looks classes up by name among what the package's modules export."""

    def __init__(self, programs: TreePrograms, package: str, exports: str) -> None:
        self._programs, self._package, self._exports = programs, package, exports
        self._known: dict[str, DraftClass | None] = {}

    def find(self, name: str) -> DraftClass | None:
        """The registered class of that name, or None."""
        if name not in self._known:
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> DraftClass | None:
        pattern = re.compile(rb"^class\s+" + re.escape(name.encode()) + rb"\b", re.M)
        for path in self._modules(self._package):
            text = self._programs.read(path) or b""
            if self._exports.encode() not in text or not pattern.search(text):
                continue
            form = self._programs.module(path).form
            if name in set(self._exported(form)):
                node = next((s for s in form if s[0] == "class" and s[3] == name), None)
                if node is not None:
                    return DraftClass(name, path, node[1], node[2])
        return None

    def _modules(self, folder: str) -> Iterator[str]:
        for entry in self._programs.list(folder):
            path = f"{folder}/{entry}"
            if entry.endswith(".py"):
                yield path
            elif self._programs.is_dir(path) and not entry.startswith("_"):
                yield from self._modules(path)

    def _exported(self, form: list[Node]) -> Iterator[str]:
        """Names that a module exports; none where it asks for one before it binds it, since it cannot be imported."""
        bound: set[str] = set()
        starred = False
        for s in form:
            value = None
            if s[0] == "assign" and any(t[0] == "name" and t[3] == self._exports for t in s[3]):
                value = s[4]
            elif s[0] == "annassign" and s[3][0] == "name" and s[3][3] == self._exports:
                value = s[5]
            if value is not None:
                items = value[3] if value[0] in ("list", "tuple") else [value]
                names = [i[3] for i in items if i[0] == "name"]
                yield from names if starred or bound.issuperset(names) else ()
            starred = starred or (s[0] == "from" and any(name == "*" for name, _ in s[5]))
            collect([s], bound, set(), set())
