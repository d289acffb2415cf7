"""A tree's version, read as plain text from wherever the release kept it."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Protocol

from packaging.version import InvalidVersion, Version

from mtp_trace.source.metadata import headers

# Only at the start of a line: an indented one is a fallback in an ``except`` arm, not the version.
_ASSIGNED = re.compile(
    r"""^(?:__version__\s*(?::[^=\n]+)?=\s*)(?:version\s*=\s*)?(['"])(?P<version>[^'"\n]+)\1\s*(?:\#.*)?$""", re.M
)
_DIST_INFO = re.compile(r"^sglang-(?P<version>[^-]+)\.dist-info$")


class Readable(Protocol):
    """The part of a tree that these facts are read from."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, None if absent."""

    def list(self, folder: str) -> tuple[str, ...]:
        """The names in a folder."""


def version(tree: Readable) -> str | None:
    """The first of ``sglang/version.py``, ``sglang/_version.py``, METADATA, pyproject.toml that says; or None."""
    for path in ("sglang/version.py", "sglang/_version.py"):
        match = _ASSIGNED.search(text(tree, path))
        if match:
            return match["version"]
    found = headers(metadata(tree)).get("version")
    if found:
        return found[0]
    stated = project_table(tree).get("version")
    return stated if isinstance(stated, str) else None


def metadata(tree: Readable) -> str:
    """The METADATA of the tree's dist-info folder (the newest, should an upgrade have left one behind); "" if none."""
    folders = [match for match in map(_DIST_INFO.match, tree.list("")) if match]
    if not folders:
        return ""
    newest = max(folders, key=lambda match: _order(match["version"]))
    return text(tree, f"{newest.string}/METADATA")


def project_table(tree: Readable) -> dict[str, object]:
    """The ``[project]`` table of the checkout's pyproject.toml, {} if there is none or it is no TOML."""
    source = text(tree, "pyproject.toml")
    if not source:
        return {}
    # The standard library has a TOML reader from Python 3.11 on.
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = tomllib.loads(source).get("project", {})
    except ValueError:
        return {}
    if not isinstance(table, dict) or table.get("name") != "sglang":
        return {}
    return table


def text(tree: Readable, path: str) -> str:
    """A small text file; "" if absent. Bytes that are no UTF-8 are replaced."""
    return (tree.read(path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def version_of_tag(tag: str) -> str | None:
    """``v0.5.18`` and ``0.5.18`` give "0.5.18"; a tag that is no version gives None."""
    try:
        Version(tag)
    except InvalidVersion:
        return None
    return tag[1:] if tag[:1] in "vV" else tag


def _order(version: str) -> tuple[bool, Version]:
    try:
        return True, Version(version)
    except InvalidVersion:
        return False, Version("0")
