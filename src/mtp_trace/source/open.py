"""Picks the implementation for what the user named."""

from __future__ import annotations

import os
from pathlib import Path

from packaging.version import InvalidVersion, Version

from mtp_trace.errors import SourceError
from mtp_trace.source.directory import DirectoryTree
from mtp_trace.source.interface import SourceTree
from mtp_trace.source.wheel import WheelTree

_ACCEPTED = "give a folder, a wheel file, a release's version, or a clone with a git ref"


def open_tree(spec: str, ref: str | None = None) -> SourceTree:
    """The tree that ``spec`` names: a folder or wheel that is there, else a release's version (``0.5.9``).

    With ``ref``, ``spec`` is a git repository, read at that ref; a bare repository without one is read at HEAD.
    Raises SourceError where there is no such tree.
    """
    path = Path(spec).expanduser()
    if ref is not None:
        from mtp_trace.source.git_ref import GitTree

        if not os.path.isdir(path):
            raise SourceError("no such folder", spec, "a git ref needs a clone of SGLang")
        return GitTree(spec, ref)
    if os.path.isdir(path):
        return _open_folder(path, spec)
    if os.path.isfile(path):
        if path.suffix == ".whl":
            return WheelTree(spec)
        raise SourceError(
            "neither a folder nor a wheel", spec, f"unpack an archive and give its folder; or {_ACCEPTED}"
        )
    version = spec.removeprefix("sglang==")
    try:
        Version(version)
    except InvalidVersion:
        raise SourceError("no such folder or file, and no version", spec, _ACCEPTED) from None
    from mtp_trace.source.release import open_release

    return open_release(version)


def _open_folder(path: Path, spec: str) -> SourceTree:
    if (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir():
        from mtp_trace.source.git_ref import GitTree

        return GitTree(spec, "HEAD")
    return DirectoryTree(spec)
