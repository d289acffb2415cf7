"""The files that a launch may see: its model folders, under the names that the launch gives them."""

from __future__ import annotations

import os
from pathlib import Path

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.errors import CheckpointError
from mtp_trace.trace.world import ModelFiles


class LaunchFiles(ModelFiles):
    """Real model folders, each also answering to the path that the launch names it by.

    ``aliases`` maps such a path (``/models/X`` on the server) to the folder here. A path of the form ORG/NAME that is
    nowhere here is not known, rather than absent: a server would fetch it.
    """

    def __init__(self, roots: list[Path], aliases: dict[str, Path]) -> None:
        super().__init__([*roots, *aliases.values()])
        self._aliases = {k.rstrip("/"): v for k, v in aliases.items()}

    def _real(self, path: str) -> str:
        for alias, folder in self._aliases.items():
            if path == alias or path.startswith(f"{alias}/"):
                return str(folder) + path[len(alias) :]
        return path

    def model_folder(self, path: str) -> ModelFolder | None:
        """The model folder of that path, where the launch may see it and it holds a usable configuration."""
        place = self._inside(self._real(path))
        try:
            return ModelFolder.open(str(place)) if place is not None and os.path.exists(place) else None
        except (CheckpointError, OSError):
            return None

    def exists(self, path: str) -> bool | None:
        """See ``world.Files``."""
        return super().exists(self._real(path))

    def is_dir(self, path: str) -> bool | None:
        """See ``world.Files``."""
        return super().is_dir(self._real(path))

    def read(self, path: str) -> bytes | None:
        """See ``world.Files``."""
        return super().read(self._real(path))

    def listing(self, path: str) -> list[str] | None:
        """See ``world.Files``."""
        return super().listing(self._real(path))


def folders_named(argv: list[str]) -> list[Path]:
    """Folders on this machine that a launch's arguments name and that hold a config.json."""
    found = []
    for word in argv:
        text = word.split("=", 1)[1] if word.startswith("-") and "=" in word else word
        if not text or text.startswith("-") or len(text) > 4096 or "\0" in text:
            continue
        path = Path(text)
        try:
            if (path / "config.json").is_file():
                found.append(path)
        except OSError:
            continue
    return found
