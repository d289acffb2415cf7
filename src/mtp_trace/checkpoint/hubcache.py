"""A model named ORG/NAME, found in the local Hugging Face cache; fetched only where that was asked for.

The cache's layout is huggingface_hub's: ``models--ORG--NAME/refs/REVISION`` holds a commit, and
``models--ORG--NAME/snapshots/COMMIT/`` holds symlinks into ``../../blobs``.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import CheckpointError
from .bounded import read_file, shown

_REPO_ID = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)?", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9_][\w.+-]*(/[A-Za-z0-9_][\w.+-]*)*", re.ASCII)
_COMMIT = re.compile(r"[\w.-]{1,100}", re.ASCII)

# What is fetched where fetching was asked for. Never weights.
FETCHED = ("config.json", "*.index.json")


@dataclass(frozen=True)
class CachedModel:
    """A snapshot in the cache: its folder, its repository, its commit, and what had to be assumed to find it."""

    path: Path
    repo_id: str
    commit: str
    notes: tuple[str, ...] = ()


def is_repo_id(given: str) -> bool:
    """Whether the text has the form of a Hugging Face repository name (``NAME`` or ``ORG/NAME``)."""
    return len(given) <= 200 and _REPO_ID.fullmatch(given) is not None and ".." not in given and "--" not in given


def cache_root(env: Mapping[str, str]) -> Path:
    """The folder that holds ``models--*``, by the variables that huggingface_hub reads (``constants.py`` there)."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if env.get(name):
            return _expanded(env[name], env)
    if env.get("HF_HOME"):
        return _expanded(env["HF_HOME"], env) / "hub"
    if env.get("XDG_CACHE_HOME"):
        return _expanded(env["XDG_CACHE_HOME"], env) / "huggingface" / "hub"
    return _expanded("~", env) / ".cache" / "huggingface" / "hub"


def _expanded(text: str, env: Mapping[str, str]) -> Path:
    home = env.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        return Path(home + text[1:])
    return Path(os.path.expanduser(text))


def find_cached(repo_id: str, revision: str, env: Mapping[str, str]) -> CachedModel:
    """The snapshot of a repository in the local cache, without any network.

    Raises:
        CheckpointError: the repository or the revision is not in the cache, or ``refs`` holds no commit.
    """
    root = cache_root(env)
    repo = root / ("models--" + repo_id.replace("/", "--"))
    hint = (
        f"Give the path of the model's folder or of its config.json, or download the model first (looked in {root}), "
        "or allow fetching config.json from the Hub."
    )
    if _REVISION.fullmatch(revision) is None or ".." in revision or len(revision) > 200:
        raise CheckpointError(f"{shown(revision)} is not a revision", repo_id)
    try:
        return _find_in(repo, repo_id, revision, hint)
    except OSError as error:
        raise CheckpointError(f"the cache cannot be read: {error.strerror or error}", str(repo)) from error


def _find_in(repo: Path, repo_id: str, revision: str, hint: str) -> CachedModel:
    if not repo.is_dir():
        raise CheckpointError("no such file, folder, or model in the local Hugging Face cache", repo_id, hint)
    snapshots = repo / "snapshots"
    ref = repo / "refs" / revision
    if ref.is_file():
        commit = read_file(ref, 4096).decode("ascii", "replace").strip()
        if _COMMIT.fullmatch(commit) is None or commit in (".", ".."):
            raise CheckpointError(f"the cache's ref holds {shown(commit)}, not a commit", str(ref))
        if not (snapshots / commit).is_dir():
            raise CheckpointError(f"the cache names commit {commit} but holds no snapshot of it", str(ref), hint)
        return CachedModel(snapshots / commit, repo_id, commit)
    if _COMMIT.fullmatch(revision) and (snapshots / revision).is_dir():
        return CachedModel(snapshots / revision, repo_id, revision)
    found = sorted(entry.name for entry in snapshots.iterdir() if entry.is_dir()) if snapshots.is_dir() else []
    if revision == "main" and len(found) == 1:
        note = f"the cache has no ref named main for {repo_id}; its only snapshot {found[0]} was read"
        return CachedModel(snapshots / found[0], repo_id, found[0], (note,))
    held = f"it holds {', '.join(found[:5])}" if found else "it holds no snapshot"
    raise CheckpointError(f"the local cache of {repo_id} has no revision {shown(revision)}; {held}", str(repo), hint)


def fetch(repo_id: str, revision: str, env: Mapping[str, str]) -> CachedModel:
    """Fetch config.json and the weight indexes (no weights) from the Hub into the cache.

    Raises:
        CheckpointError: the optional package is not installed, or the Hub did not answer with the model.
    """
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise CheckpointError(
            "fetching from the Hub needs the package huggingface_hub", repo_id, "Install it: pip install mtp-trace[hub]"
        ) from error
    try:
        folder = Path(
            hub.snapshot_download(
                repo_id=repo_id, revision=revision, cache_dir=str(cache_root(env)), allow_patterns=list(FETCHED)
            )
        )
    except Exception as error:  # the package raises its own, requests', httpx's and OSError, by version
        raise CheckpointError(
            f"the Hub did not deliver the model: {shown(str(error), 200)}",
            repo_id,
            "Check the name, the network, and (for a gated model) that you are logged in.",
        ) from error
    return CachedModel(folder, repo_id, folder.name, (f"{repo_id}: config.json and indexes fetched from the Hub",))
