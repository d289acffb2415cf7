"""The release tag that a checkout's HEAD is at, read from the files under ``.git`` (gitrepository-layout)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mtp_trace.source.facts import version_of_tag

_COMMIT = re.compile(r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")
_MAX_BYTES = 4 * 1024 * 1024


def tagged_version(python_root: Path) -> str | None:
    """The version whose tag points at the checkout's commit; None where there is no checkout, or no such tag.

    Tags are found in ``packed-refs`` (with the commit that an annotated one peels to) and as loose refs.
    """
    for folder in (python_root, python_root.parent):
        git = folder / ".git"
        if git.is_dir():
            commit = _head(git)
            return next(_versions_at(git, commit), None) if commit else None
    return None


def _head(git: Path) -> str | None:
    head = _text(git / "HEAD").strip()
    if not head.startswith("ref:"):
        return head if _COMMIT.match(head) else None
    name = head[4:].strip()
    if ".." in name or not name.startswith("refs/"):
        return None
    loose = _text(git / name).strip()
    if _COMMIT.match(loose):
        return loose
    return next((commit for ref, commit in _packed(git) if ref == name), None)


def _versions_at(git: Path, commit: str) -> Iterator[str]:
    names = [ref for ref, at in _packed(git) if at == commit]
    tags = git / "refs" / "tags"
    if tags.is_dir():
        names.extend(f"refs/tags/{path.name}" for path in sorted(tags.iterdir()) if _text(path).strip() == commit)
    for name in names:
        version = version_of_tag(name.removeprefix("refs/tags/")) if name.startswith("refs/tags/") else None
        if version:
            yield version


def _packed(git: Path) -> Iterator[tuple[str, str]]:
    """(ref, commit) of ``packed-refs``; the peeled line of an annotated tag is given under the tag's name too."""
    name = ""
    for line in _text(git / "packed-refs").splitlines():
        if line.startswith("^"):
            yield name, line[1:].strip()
        elif not line.startswith("#"):
            commit, _, name = line.strip().partition(" ")
            yield name, commit


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
