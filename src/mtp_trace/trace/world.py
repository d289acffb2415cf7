"""The world around the traced program: GPU, environment, installed packages and the files it may see."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mtp_trace.gpu import Gpu


class Files(Protocol):
    """Files that the traced program may ask about. Paths are text; None: nobody knows."""

    def exists(self, path: str) -> bool | None:
        """Whether a file or folder is there."""

    def is_dir(self, path: str) -> bool | None:
        """Whether it is a folder."""

    def read(self, path: str) -> bytes | None:
        """Its content, None where it is not there or may not be read."""

    def listing(self, path: str) -> list[str] | None:
        """Names in a folder, sorted."""


class ModelFiles:
    """Real files under the model folders only (plain reads, bounded); everything else is answered as absent."""

    LIMIT = 64 * 1024 * 1024

    def __init__(self, roots: list[Path]) -> None:
        self.roots = [r.resolve() for r in roots]

    def _inside(self, path: str) -> Path | None:
        try:
            # A checkpoint's files may be links into a blob store: what counts is where they are asked for.
            plain = Path(path).absolute()
            parent = plain.parent.resolve() / plain.name
            if any(parent == r or r in parent.parents for r in self.roots) and ".." not in plain.parts:
                return parent
        except (OSError, ValueError, RuntimeError):
            return None
        return None

    def exists(self, path: str) -> bool | None:
        """See ``Files``."""
        inside = self._inside(path)
        return False if inside is None else os.path.exists(inside)

    def is_dir(self, path: str) -> bool | None:
        """See ``Files``."""
        inside = self._inside(path)
        return False if inside is None else os.path.isdir(inside)

    def read(self, path: str) -> bytes | None:
        """See ``Files``."""
        inside = self._inside(path)
        if inside is None or not os.path.isfile(inside) or inside.stat().st_size > self.LIMIT:
            return None
        return inside.read_bytes()

    def listing(self, path: str) -> list[str] | None:
        """See ``Files``."""
        inside = self._inside(path)
        return sorted(p.name for p in inside.iterdir()) if inside is not None and os.path.isdir(inside) else []


@dataclass
class World:
    """What the models of the outside answer from."""

    gpu: Gpu | None = None
    env: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    python: tuple[int, int, int] = (3, 11, 7)
    files: Files = field(default_factory=lambda: ModelFiles([]))
    tables: Callable[[str], Any] = lambda name: {}


__all__ = ["Files", "Gpu", "ModelFiles", "World"]
