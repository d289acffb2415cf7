"""A tree inside a wheel file, read in place."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from pathlib import Path

from mtp_trace.errors import SourceError
from mtp_trace.source.interface import MARKER, MAX_FILE_BYTES, SourceTree

MAX_ENTRIES = 200_000
"""The most files that a wheel may hold; SGLang's hold about 6,000."""

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class WheelTree(SourceTree):
    """Reads the members of a wheel; ``root`` may show something better than the file's path."""

    def __init__(self, file: str | os.PathLike[str], root: str | None = None) -> None:
        super().__init__(root or os.fspath(file))
        path = Path(file).expanduser()
        try:
            self._zip = zipfile.ZipFile(path)
        except (*_BROKEN, ValueError) as error:
            raise SourceError(f"no readable wheel: {error}", str(path), "download or build the wheel again") from None
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._tree: dict[str, dict[str, bool]] = {"": {}}
        self._index()
        if MARKER not in self._tree:
            self._zip.close()
            raise SourceError(f"no SGLang in this wheel: looked for {MARKER}", str(path), "give SGLang's own wheel")

    def identity(self) -> str:
        """A hash of every member's name, size and CRC: milliseconds, where hashing the file takes up to 130."""
        digest = hashlib.sha256()
        for name in sorted(self._members):
            member = self._members[name]
            digest.update(f"{name}\0{member.file_size}\0{member.CRC}\n".encode())
        return f"wheel:{digest.hexdigest()}"

    def close(self) -> None:
        """Close the wheel file."""
        self._zip.close()

    def _index(self) -> None:
        members = self._zip.infolist()
        if len(members) > MAX_ENTRIES:
            raise SourceError(f"the wheel holds {len(members):,} files, over the limit of {MAX_ENTRIES:,}", self.root)
        for member in members:
            if not member.is_dir():
                self._members[member.filename] = member
            parts = member.filename.rstrip("/").split("/")
            for depth, name in enumerate(parts):
                is_folder = member.is_dir() or depth < len(parts) - 1
                siblings = self._tree.setdefault("/".join(parts[:depth]), {})
                siblings[name] = siblings.get(name, False) or is_folder

    def _scan(self, folder: str) -> dict[str, bool] | None:
        return self._tree.get(folder)

    def _read(self, path: str) -> bytes:
        member = self._members[path]
        if member.file_size > MAX_FILE_BYTES:
            raise self._too_large(path, member.file_size)
        try:
            with self._zip.open(member) as file:
                data = file.read(MAX_FILE_BYTES + 1)  # the size in the listing is only a claim
        except _BROKEN as error:
            raise SourceError(
                f"cannot read the file: {error}", f"{self.root}/{path}", "the wheel is damaged: download it again"
            ) from None
        if len(data) > MAX_FILE_BYTES:
            raise self._too_large(path, len(data))
        return data
