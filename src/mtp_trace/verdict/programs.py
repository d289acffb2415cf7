"""Program stores over a source tree and over the shipped models of the outside."""

from __future__ import annotations

from pathlib import Path

from mtp_trace.source import SourceTree, decode_source
from mtp_trace.syntax.form import Node


class Program:
    """A lowered module."""

    __slots__ = ("form", "path")

    def __init__(self, path: str, form: list[Node]) -> None:
        self.path, self.form = path, form


class TreePrograms:
    """Modules of an SGLang tree, lowered when first asked for."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._programs: dict[str, Program] = {}

    def packages(self) -> list[str]:
        """Top-level package names of the tree."""
        return [n for n in self._tree.list("") if self.exists(f"{n}/__init__.py")]

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return self._tree.exists(path) and not self._tree.is_dir(path)

    def is_dir(self, path: str) -> bool:
        """Whether a folder is there."""
        return self._tree.is_dir(path)

    def list(self, path: str) -> tuple[str, ...]:
        """Names in a folder."""
        return self._tree.list(path)

    def read(self, path: str) -> bytes | None:
        """A file's bytes."""
        return self._tree.read(path)

    def module(self, path: str) -> Program:
        """A module's program form.  Raises SourceError naming file and line of a syntax error."""
        known = self._programs.get(path)
        if known is None:
            from mtp_trace.syntax.lower_ast import lower_module

            text = decode_source(self._tree.read(path) or b"", path)
            known = self._programs[path] = Program(path, lower_module(text))
        return known


class ModelPrograms:
    """The models of the outside under ``rules/models``, interpreted like any module."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._programs: dict[str, Program] = {}
        self._files = {p.relative_to(root).as_posix() for p in root.rglob("*.py")}
        self._folders = {parent for f in self._files for parent in _parents(f)}

    def packages(self) -> list[str]:
        """None: models are found by name."""
        return []

    def exists(self, path: str) -> bool:
        """Whether there is a model at a path."""
        return path in self._files

    def is_dir(self, path: str) -> bool:
        """Whether models lie under a path."""
        return path in self._folders

    def list(self, path: str) -> tuple[str, ...]:
        """Names in a folder."""
        return tuple(sorted(f.rpartition("/")[2] for f in self._files if f.rpartition("/")[0] == path))

    def read(self, path: str) -> bytes | None:
        """A model's bytes."""
        return (self._root / path).read_bytes() if path in self._files else None

    def module(self, path: str) -> Program:
        """A model's program form."""
        known = self._programs.get(path)
        if known is None:
            from mtp_trace.syntax.lower_ast import lower_module

            known = self._programs[path] = Program(path, lower_module((self._root / path).read_text("utf-8")))
        return known


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
