"""What a source of SGLang text offers, whatever it is made of."""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from functools import cached_property

from mtp_trace.errors import SourceError
from mtp_trace.source import facts
from mtp_trace.source.requirements import Dependencies, dependencies

MAX_FILE_BYTES = 8 * 1024 * 1024
"""The largest file that is read. SGLang's largest source file has under 1 MiB."""

PACKAGE = "sglang"
MARKER = "sglang/srt"
"""The folder that makes a folder a python root: where the serving runtime lives in every release."""

_DRIVE = re.compile(r"^[A-Za-z]:")


class SourceTree(ABC):
    """One SGLang tree, read only, addressed by paths relative to its python root (``sglang/srt/server_args.py``).

    Names are exact, on a case-insensitive file system too. Reads and folder listings are kept for the life of the
    object, which may be shared by threads. ``root`` is the tree as shown to the user; ``ref`` is the git ref, as
    given, of a tree that was read at one.
    """

    root: str
    ref: str | None

    def __init__(self, root: str, ref: str | None = None) -> None:
        self.root, self.ref = root, ref
        self._lock = threading.RLock()
        self._files: dict[str, bytes | None] = {}
        self._folders: dict[str, dict[str, bool] | None] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None if there is no file of exactly that name.

        Raises SourceError for a path outside the tree, and for a file that cannot be read, is over
        ``MAX_FILE_BYTES``, is no regular file, or is a link that leaves the tree.
        """
        path = self._checked(path)
        with self._lock:
            if path not in self._files:
                self._files[path] = self._read(path) if self._kind(path) == "file" else None
            return self._files[path]

    def exists(self, path: str) -> bool:
        """Whether a file or folder of exactly that name is there."""
        return self._kind(self._checked(path)) is not None

    def is_dir(self, path: str) -> bool:
        """Whether a folder of exactly that name is there."""
        return self._kind(self._checked(path)) == "folder"

    def list(self, folder: str) -> tuple[str, ...]:
        """The names in a folder, sorted; () if there is no such folder. "" is the python root itself."""
        folder = self._checked(folder)
        return tuple(sorted(self._entries(folder) or ())) if self._kind(folder) == "folder" else ()

    @cached_property
    def version(self) -> str | None:
        """The tree's own version: from its version files, its METADATA, its pyproject.toml, or a tag of its commit.

        Read as text and never executed; None where none of them says.
        """
        return facts.version(self) or self._tagged_version()

    def requirements(self) -> tuple[str, ...]:
        """What the tree requires, as PEP 508 lines; those of an extra carry an ``extra == "..."`` marker."""
        return self._dependencies.requires

    def extras(self) -> tuple[str, ...]:
        """The names of the optional dependency groups."""
        return self._dependencies.extras

    def identity(self) -> str | None:
        """A key that changes when any file of the tree does, if there is a cheap one (a commit, a wheel's listing)."""
        return None

    def close(self) -> None:
        """Let go of open files and processes. The tree must not be read afterwards."""
        return None

    @cached_property
    def _dependencies(self) -> Dependencies:
        return dependencies(self)

    def _tagged_version(self) -> str | None:
        """The version that a tag gives the tree, where the tree is at one."""
        return None

    def _kind(self, path: str) -> str | None:
        """ "file", "folder" or None, by the listings of the folders on the way."""
        if not path:
            return "folder"
        parent, _, name = path.rpartition("/")
        if parent and self._kind(parent) != "folder":
            return None
        entries = self._entries(parent)
        if entries is None or name not in entries:
            return None
        return "folder" if entries[name] else "file"

    def _entries(self, folder: str) -> dict[str, bool] | None:
        with self._lock:
            if folder not in self._folders:
                self._folders[folder] = self._scan(folder)
            return self._folders[folder]

    def _checked(self, path: str) -> str:
        """The path without a trailing slash; SourceError if it could point outside the tree."""
        trimmed = path.rstrip("/") if path != "/" else path
        parts = trimmed.split("/")
        if trimmed and (".." in parts or "" in parts or "\\" in path or "\0" in path or _DRIVE.match(path)):
            raise SourceError(
                f"the path {path!r} does not stay inside the SGLang tree",
                self.root,
                "paths are relative to the python root, with forward slashes",
            )
        return "/".join(part for part in parts if part != ".")

    @abstractmethod
    def _scan(self, folder: str) -> dict[str, bool] | None:
        """The names in a folder that is known to exist, each with whether it is a folder; None if unreadable as one."""

    @abstractmethod
    def _read(self, path: str) -> bytes:
        """The bytes of a file that is known to exist, or SourceError."""

    def _too_large(self, path: str, size: int) -> SourceError:
        return SourceError(
            f"the file has {size:,} bytes, over the limit of {MAX_FILE_BYTES:,}",
            f"{self.root}/{path}",
            "no SGLang source file is that large: is this the right tree?",
        )
