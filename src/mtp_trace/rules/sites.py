"""The places of a whole tree that a rule names: files picked from their text first, then walked once and kept."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Protocol

from mtp_trace.errors import SourceError
from mtp_trace.rules.constants import Constants
from mtp_trace.rules.spots import Spot, Unit, units_of
from mtp_trace.syntax.form import Node


class Lowered(Protocol):
    """A module's program form."""

    @property
    def form(self) -> list[Node]:
        """Its statements."""


class Programs(Protocol):
    """The part of a program store that is needed here."""

    def list(self, path: str) -> tuple[str, ...]:
        """Names in a folder."""

    def is_dir(self, path: str) -> bool:
        """Whether a folder is there."""

    def exists(self, path: str) -> bool:
        """Whether a file is there."""

    def read(self, path: str) -> bytes | None:
        """A file's bytes."""

    def module(self, path: str) -> Lowered | None:
        """A module's program form."""


class Sites:
    """Spots of a tree by the words that a file must hold.

    ``roots`` are the folders and files that are looked at, ``extra`` the files beyond them, ``base`` the same without
    those; ``remembered`` is for what is computed of the places once (a tree does not change while it is looked at).
    """

    def __init__(self, programs: Programs, roots: Iterable[str]) -> None:
        self._programs, self._roots = programs, tuple(roots)
        self._units: dict[str, list[tuple[Unit, bytes]]] = {}
        self._spots: dict[tuple[str, int], list[Spot]] = {}
        self._texts: dict[str, bytes] = {}
        self._unreadable: dict[str, str] = {}
        self.extra: tuple[str, ...] = ()
        self.base = self
        self.remembered: dict[Any, Any] = {}
        self.constants = Constants(self.form)

    @cached_property
    def files(self) -> list[str]:
        """The Python files looked at, by path."""
        found: set[str] = set()
        for root in self._roots:
            if root.endswith(".py"):
                found.update([root] if self._programs.exists(root) else [])
            elif self._programs.is_dir(root):
                found.update(self._walk(root))
        return sorted(found)

    def plus(self, paths: Iterable[str]) -> Sites:
        """The same with more files; what was read is shared."""
        extra = [p for p in paths if p not in self.files]
        if not extra:
            return self
        other = copy.copy(self)
        other.files = sorted([*self.files, *extra])
        other.extra = tuple(sorted({*self.extra, *extra}))
        return other

    def only(self, path: str) -> Sites:
        """One file of the tree alone."""
        other = copy.copy(self)
        other.files = [path]
        return other

    @property
    def unreadable(self) -> dict[str, str]:
        """Files that hold a rule's words and cannot be read as Python, with the reason."""
        return self._unreadable

    def holding(self, words: Iterable[str]) -> Iterator[str]:
        """Files whose text holds all the words (``a|b`` is one of the two)."""
        wanted = _alternatives(words)
        for path in self.files:
            if _holds(self.text(path), wanted):
                yield path

    def spots(self, words: Iterable[str], file_words: Iterable[str] = ()) -> Iterator[Spot]:
        """Every spot of the functions, class heads and other statements that hold all the words.

        ``file_words`` need only stand anywhere in the file.
        """
        wanted = _alternatives(words)
        for path in self.holding([*words, *file_words]):
            for index, (unit, text) in enumerate(self._units_of(path)):
                if _holds(text, wanted):
                    found = self._spots.get((path, index))
                    if found is None:
                        found = self._spots[path, index] = unit.spots()
                    yield from found

    def _units_of(self, path: str) -> list[tuple[Unit, bytes]]:
        """A file's units with their text; none where it is not valid Python (``unreadable`` tells)."""
        known = self._units.get(path)
        if known is None:
            lines = self.text(path).split(b"\n")
            units = units_of(path, self.form(path) or [])
            known = self._units[path] = [(u, b"\n".join(lines[u.first - 1 : u.last])) for u in units]
        return known

    def form(self, path: str) -> list[Node] | None:
        """A file's program form, None where there is none."""
        if not self._programs.exists(path):
            return None
        try:
            program = self._programs.module(path)
        except (SourceError, SyntaxError, ValueError, RecursionError) as error:
            self._unreadable[path] = str(error)
            return None
        return program.form if program is not None else None

    def text(self, path: str) -> bytes:
        """A file's bytes."""
        known = self._texts.get(path)
        if known is None:
            try:
                known = self._programs.read(path) or b""
            except SourceError as error:
                self._unreadable[path] = str(error)
                known = b""
            self._texts[path] = known
        return known

    def snippet(self, path: str, first: int, last: int, limit: int = 12) -> str:
        """Source lines, dedented, at most ``limit`` of them."""
        import textwrap

        lines = self.text(path).decode("utf-8", "replace").split("\n")[first - 1 : min(last, first + limit - 1)]
        return textwrap.dedent("\n".join(lines)).rstrip()

    def _walk(self, folder: str, depth: int = 0) -> Iterator[str]:
        if depth > 24:
            return
        for name in self._programs.list(folder):
            path = f"{folder}/{name}"
            if name.endswith(".py"):
                if self._programs.exists(path):
                    yield path
            elif "." not in name and self._programs.is_dir(path):
                yield from self._walk(path, depth + 1)


def _alternatives(words: Iterable[str]) -> list[list[bytes]]:
    return [[part.encode() for part in word.split("|") if part] for word in words]


def _holds(text: bytes, wanted: list[list[bytes]]) -> bool:
    return all(any(part in text for part in parts) for parts in wanted)
