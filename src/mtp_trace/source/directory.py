"""A tree in a folder: a checkout, its ``python/`` folder, an unpacked wheel, a site-packages, a virtual environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mtp_trace.errors import SourceError
from mtp_trace.source import checkout
from mtp_trace.source.interface import MARKER, MAX_FILE_BYTES, PACKAGE, SourceTree


class DirectoryTree(SourceTree):
    """Reads files under a folder as they are now; links may point anywhere inside the folder that was given."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(os.fspath(folder))
        self._given = Path(folder).expanduser()
        self._python_root = _find_python_root(self._given)
        self._boundary = _boundary(self._given, self._python_root)

    def _tagged_version(self) -> str | None:
        return checkout.tagged_version(self._python_root)

    def _scan(self, folder: str) -> dict[str, bool] | None:
        here = self._python_root / folder
        try:
            with os.scandir(here) as entries:
                return {entry.name: self._is_folder(entry, folder) for entry in entries if _there(entry)}
        except OSError as error:
            raise SourceError(f"cannot list the folder: {error.strerror}", str(here)) from None

    def _is_folder(self, entry: os.DirEntry[str], folder: str) -> bool:
        if not entry.is_dir():
            return False
        # A folder that is a link out of the tree is kept as a name that cannot be read, never walked.
        return not entry.is_symlink() or self._inside(self._python_root / folder / entry.name)

    def _read(self, path: str) -> bytes:
        target = self._python_root / path
        if not self._inside(target):
            raise SourceError(
                "a link that leaves the tree",
                str(target),
                f"copy the tree with its links resolved, or give a folder that holds {os.path.realpath(target)} too",
            )
        # Non-blocking, so that a pipe without a writer cannot hold us.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            handle = os.open(target, flags)
            with open(handle, "rb") as file:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError("not a regular file", str(target))
                if status.st_size > MAX_FILE_BYTES:
                    raise self._too_large(path, status.st_size)
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise SourceError(f"cannot read the file: {error.strerror}", str(target)) from None
        if len(data) > MAX_FILE_BYTES:
            raise self._too_large(path, len(data))
        return data

    def _inside(self, target: Path) -> bool:
        real = os.path.realpath(target)
        return real == self._boundary or real.startswith(self._boundary.rstrip(os.sep) + os.sep)


def _there(entry: os.DirEntry[str]) -> bool:
    """A link to nothing is absent."""
    return not entry.is_symlink() or os.path.exists(entry.path)


def _find_python_root(folder: Path) -> Path:
    """The folder that holds ``sglang/srt``, or SourceError with the places that were looked at."""
    looked: list[Path] = []
    for candidate in _candidates(folder):
        looked.append(candidate)
        if _has_marker(candidate):
            return candidate
    places = ", ".join(str(place / MARKER) for place in looked)
    raise SourceError(
        f"no SGLang here: looked for {places}",
        str(folder),
        "give a checkout, its python folder, an unpacked wheel, a site-packages folder or a virtual environment",
    )


def _candidates(folder: Path) -> Iterator[Path]:
    yield folder
    yield folder / "python"
    if folder.name == PACKAGE:
        yield folder.absolute().parent
    if folder.name == "srt":
        yield folder.absolute().parent.parent
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"):
        yield from sorted(folder.glob(pattern), reverse=True)


def _has_marker(candidate: Path) -> bool:
    package, runtime = MARKER.split("/")
    try:
        return (
            package in os.listdir(candidate)
            and runtime in os.listdir(candidate / package)
            and (candidate / package / runtime).is_dir()
        )
    except OSError:
        return False


def _boundary(given: Path, python_root: Path) -> str:
    """The real path that links may not leave: the folder given, or the python root where that is the wider one."""
    outer = os.path.realpath(given)
    inner = os.path.realpath(python_root)
    return inner if outer.startswith(inner.rstrip(os.sep) + os.sep) else outer
