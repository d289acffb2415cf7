"""Reports kept on disk: the same program, tree, launch and model files give the same report."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from mtp_trace.report.model import Report
from mtp_trace.rules.data import data_root
from mtp_trace.source import SourceTree
from mtp_trace.source.interface import PACKAGE
from mtp_trace.syntax.cache import DiskCache, cache_root

if TYPE_CHECKING:
    from mtp_trace.verdict.case import Case

OWN_FILE = "mtp-trace.toml"
PROJECT_FILE = "pyproject.toml"
LIMIT = 64 << 20
_MAX_FILES = 100_000


class Answer(NamedTuple):
    """A report, and the required rules that find no place in the tree."""

    report: Report
    drift: tuple[str, ...] = ()


class Remembered:
    """The reports of one tree. Nothing is kept for a tree or model of which it cannot be told whether it changed.

    ``variant`` is whatever else the reports rest on: what was asked besides the launch, the user's own rules.
    """

    def __init__(self, tree: SourceTree, variant: str = "", folder: Path | None = None) -> None:
        self._store = DiskCache(folder or answers_folder(), LIMIT)
        state = tree.identity() or _tree_state(Path(tree.root))
        self._tree = None if state is None else f"{tree.root}\0{tree.ref}\0{state}\0{variant}"

    def get(self, case: Case) -> Answer | None:
        """The answer to a case, if it was judged before and nothing that it rests on has changed."""
        key = self._key(case)
        found = self._store.get(key) if key is not None else None
        try:
            return Answer(msgspec.convert(found[0][0], Report), tuple(map(str, found[0][1]))) if found else None
        except (msgspec.ValidationError, IndexError, KeyError, TypeError):
            return None

    def put(self, case: Case, answer: Answer) -> None:
        """Keep an answer."""
        key = self._key(case)
        if key is not None:
            self._store.put(key, [[msgspec.to_builtins(answer.report), list(answer.drift)]])

    def _key(self, case: Case) -> str | None:
        model = _model(case)
        if self._tree is None or model is None:
            return None
        launch = json.dumps([case.id, case.argv, sorted(case.env.items()), case.gpu, case.gpu_count, case.model])
        parts = (_program(), self._tree, launch, model)
        return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def answers_folder() -> Path:
    """Where answers are kept."""
    return cache_root() / "reports"


def _model(case: Case) -> str | None:
    """The state of the folders that the launch names; None where it names none that is here."""
    named = [case.model, *case.argv] if case.model else list(case.argv)
    places = [Path(word.partition("=")[2] if word.startswith("--") else word) for word in named]
    found = []
    for place in places:
        folder = place.parent if place.suffix == ".json" else place
        if place.name and os.path.exists(place) and folder.is_dir():
            found.append(f"{os.path.abspath(place)}\0{folder_state(folder)}")
    return "\0".join(found) if found else None


def _tree_state(root: Path) -> str | None:
    """The state of a checkout or an unpacked wheel: the package and what states its requirements."""
    top = next((place for place in (root, root / "python") if (place / PACKAGE).is_dir()), None)
    if top is None:
        return None
    parts = [
        folder_state(top / PACKAGE),
        *(folder_state(place) for place in sorted(top.glob(f"{PACKAGE}-*.dist-info"))),
    ]
    project = top / "pyproject.toml"
    if project.is_file():
        parts.append(file_digest(project))
    return None if None in parts else "\0".join(part or "" for part in parts)


def rules_state(start: Path, folders: Sequence[Path]) -> str | None:
    """The state of the user's own rules and of the settings in force at ``start``; None where it cannot be told."""
    found: list[str] = []
    for place in (start.absolute(), *start.absolute().parents):
        for name in (OWN_FILE, PROJECT_FILE):
            if (place / name).is_file() and (name == OWN_FILE or b"mtp-trace" in (place / name).read_bytes()):
                from mtp_trace.rules.settings import read_settings

                settings = read_settings(place / name)
                found.append(f"{place / name}\0{file_digest(place / name)}")
                folders = [*folders, *settings.rules]
    for folder in folders:
        state = folder_state(folder) if os.path.isdir(folder) else None
        if state is None:
            return None
        found.append(f"{folder.absolute()}\0{state}")
    return "\0".join(found)


def file_digest(path: Path) -> str:
    """A digest of a file's content."""
    return hashlib.blake2b(path.read_bytes(), digest_size=20).hexdigest()


def folder_state(folder: Path) -> str | None:
    """A digest of names, sizes and times of the files under a folder; None where they are too many."""
    digest = hashlib.blake2b(digest_size=20)
    for count, (name, status) in enumerate(_files(folder)):
        if count > _MAX_FILES:
            return None
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(place, name)
            try:
                yield path, os.stat(path)
            except OSError:
                continue


@cache
def _program() -> str:
    """The state of this program's own text and of the shipped rules."""
    return "\0".join(folder_state(root) or "" for root in (Path(__file__).resolve().parents[1], data_root()))
