"""Program stores over a source tree and over the shipped models of the outside."""

from __future__ import annotations

from pathlib import Path

from mtp_trace.errors import SourceError
from mtp_trace.source import SourceTree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.syntax.program import Program, ProgramStore


class TreePrograms:
    """Modules of an SGLang tree, lowered when first asked for."""

    def __init__(self, tree: SourceTree, cache: DiskCache | None = None) -> None:
        self._tree = tree
        self._store = ProgramStore(tree, cache)

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
        program = self._store.module(path)
        if program is None:
            raise SourceError("the file is not in the tree", path)
        return program


class ModelPrograms:
    """The models of the outside under ``rules/models``, interpreted like any module."""

    def __init__(self, root: Path, cache: DiskCache | None = None) -> None:
        self.root = str(root)
        self._root = root
        self._store = ProgramStore(self, cache)
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
        program = self._store.module(path)
        if program is None:
            raise SourceError("there is no such model of the outside", path)
        return program


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
