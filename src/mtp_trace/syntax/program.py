"""Programs of a tree's modules: read, lowered once, kept."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from mtp_trace.errors import SourceError
from mtp_trace.source.decode import decode_source
from mtp_trace.source.interface import MAX_FILE_BYTES
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.syntax.form import Node
from mtp_trace.syntax.lower_ast import lower_module
from mtp_trace.syntax.quiet import collector_paused

PARSER_VARIABLE = "MTP_TRACE_PARSER"
_WRONG_TREE = "no SGLang source file is like this: is this the right tree?"


class Readable(Protocol):
    """The part of a source tree that is needed here."""

    root: str

    def read(self, path: str) -> bytes | None:
        """Bytes of a file, None if there is none."""


@dataclass(frozen=True)
class Program:
    """One module: its path in the tree, its form, and its text for showing."""

    path: str
    form: list[Node] = field(repr=False)
    _data: bytes = field(repr=False, compare=False)

    def lines(self, first: int, last: int) -> list[str]:
        """The source's lines from ``first`` to ``last``, both included and counted from 1, without line ends."""
        return self._lines[max(first, 1) - 1 : max(last, 0)]

    @property
    def has_walrus(self) -> bool:
        """Whether ``:=`` may stand in it; False is certain. Told from the bytes, unless an encoding may hide it."""
        return b":=" in self._data or b"coding" in self._data[:256]

    @cached_property
    def _lines(self) -> list[str]:
        # Not splitlines(), which also breaks at form feeds and separators that are no line ends in Python.
        return decode_source(self._data, self.path).split("\n")


class ProgramStore:
    """Programs by path, each made when it is first asked for.

    Threads may share a store; at worst two of them lower the same file.
    """

    def __init__(self, tree: Readable, cache: DiskCache | None = None) -> None:
        self._tree = tree
        self._cache = cache
        self._only_libcst = _only_libcst()
        self._programs: dict[str, Program | SourceError | None] = {}

    def module(self, path: str) -> Program | None:
        """The program of a file; None if there is no such file.

        Raises SourceError with the file and, where known, the line, if the file cannot be read as Python.
        """
        if path not in self._programs:
            try:
                self._programs[path] = self._load(path)
            except SourceError as error:
                self._programs[path] = error
        program = self._programs[path]
        if isinstance(program, SourceError):
            raise program.with_traceback(None)
        return program

    def _load(self, path: str) -> Program | None:
        data = self._tree.read(path)
        if data is None:
            return None
        where = f"{self._tree.root}/{path}"
        if len(data) > MAX_FILE_BYTES:
            what = f"the file has {len(data):,} bytes, over the limit of {MAX_FILE_BYTES:,}"
            raise SourceError(what, where, _WRONG_TREE)
        if self._cache is None:
            return Program(path, self._lower(data, where), data)
        key = self._cache.key(data, "libcst" if self._only_libcst else "any")
        form = self._cache.get(key)
        if form is None:
            form = self._lower(data, where)
            self._cache.put(key, form)
        return Program(path, form, data)

    def _lower(self, data: bytes, where: str) -> list[Node]:
        text = decode_source(data, where)
        try:
            # Warnings about the analysed code, such as of an invalid escape, are not for this program's user.
            with warnings.catch_warnings(), collector_paused():
                warnings.simplefilter("ignore")
                return _lower_by_libcst(text) if self._only_libcst else _lower_by_any(text)
        except (SyntaxError, ValueError) as error:
            raise _unreadable(error, where) from error
        except (RecursionError, MemoryError) as error:
            raise SourceError("the code nests too deeply", where, _WRONG_TREE) from error


def _only_libcst() -> bool:
    wanted = os.environ.get(PARSER_VARIABLE, "")
    if wanted not in ("", "auto", "libcst"):
        raise SourceError(f"there is no parser {wanted!r}", PARSER_VARIABLE, "set it to libcst, or unset it")
    return wanted == "libcst"


def _lower_by_any(text: str) -> list[Node]:
    """By ``ast``, which is several times faster; by LibCST where the text's grammar is not the running Python's."""
    try:
        return lower_module(text)
    except (SyntaxError, ValueError) as refusal:
        try:
            return _lower_by_libcst(text)
        except (SyntaxError, ValueError):
            raise refusal from None  # it says more than LibCST does


def _lower_by_libcst(text: str) -> list[Node]:
    from mtp_trace.syntax.lower_cst import lower_module_cst

    return lower_module_cst(text)


def _unreadable(error: SyntaxError | ValueError, where: str) -> SourceError:
    line = error.lineno if isinstance(error, SyntaxError) else None
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    hint = "is the checkout complete, and free of conflict markers?"
    return SourceError(f"not valid Python: {message}", f"{where}:{line}" if line else where, hint)
