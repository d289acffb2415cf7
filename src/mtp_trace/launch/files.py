"""Bounded, read-only access to the files under audit and to those that they name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from mtp_trace.launch.holes import clean, has_hole, show

_NOT_FILES = ("/proc/", "/sys/", "/dev/")
LARGEST = 2 * 1024 * 1024
"""The largest file that is read, in bytes."""


SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".ash", ".dash", ".sbatch", ".slurm", ".command", ".run")
_SHEBANG = re.compile(r"#!\s*\S*?(?:env\s+(?:-S\s+)?)?(?:/\S*/)?(?:ba|z|k|da|a)?sh\b")


def is_script(name: str, text: str) -> bool:
    """Whether a file is a shell script, by its name or its first line."""
    return name.lower().endswith(SHELL_ENDINGS) or has_shebang(text)


def has_shebang(text: str) -> bool:
    """Whether a text says that a shell runs it."""
    return _SHEBANG.match(text) is not None


class Files:
    """Reads text files of bounded size; remembers the folders that were asked for."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.folders = [root if root.is_dir() else root.parent for root in roots]
        self.used: set[Path] = set()
        """Files that another one named and that were found and read."""

    def text(self, path: Path) -> str | None:
        """The text of a regular file that is not too large and not binary, else None. Never waits on a pipe."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode) or os.path.realpath(path).startswith(_NOT_FILES):
                return None
            with open(path, "rb") as stream:
                data = stream.read(LARGEST + 1)
        except (OSError, ValueError):
            return None
        if len(data) > LARGEST or b"\0" in data:
            return None
        text = data.decode("utf-8", errors="replace")
        return clean(text.removeprefix("\ufeff").replace("\r\n", "\n"))

    def named(self, name: str, near: Path | None) -> tuple[Path, str] | None:
        """The file that a launch names, with its text.

        Looked for as given, beside the file that names it (``near``), and below the audited folders. Where the name
        begins with something that is not known (``$(dirname "$0")/env.sh``), what follows is looked for.
        """
        for candidate in self._candidates(name, near):
            text = self.text(candidate)
            if text is not None:
                self.used.add(candidate.resolve())
                return Path(os.path.normpath(candidate)), text
        return None

    def _candidates(self, name: str, near: Path | None) -> list[Path]:
        beside = [near.parent] if near is not None else []
        if has_hole(name):
            head, slash, rest = name.rpartition("/")
            while head and not has_hole(head.rpartition("/")[2]):
                head, slash, before = head.rpartition("/")
                rest = f"{before}/{rest}"
            if not slash or has_hole(rest) or not rest:
                return []
            return [folder / rest for folder in (*beside, *self.folders)]
        name = show(name)
        if not name or "\0" in name or len(name) > 4096:
            return []
        if name.startswith("/"):
            inside = name.lstrip("/")
            return [Path(name), *(folder / inside for folder in (*beside, *self.folders))]
        return [folder / name for folder in (*beside, *self.folders)] or [Path(name)]
