"""A tree by name: what a worker needs to open it for itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from mtp_trace.source import SourceTree, open_tree


@dataclass(frozen=True)
class TreeSpec:
    """A tree as the user names it; ``label`` is how tables call it."""

    spec: str
    ref: str | None = None
    label: str = ""

    def open(self) -> SourceTree:
        """The tree.  Raises SourceError where there is none."""
        return open_tree(self.spec, self.ref)

    @property
    def name(self) -> str:
        """The label, or what stands nearest to one."""
        return self.label or self.ref or Path(self.spec).name or self.spec


def in_order(trees: list[TreeSpec]) -> list[TreeSpec]:
    """Without repetition, and by version where every name is one; else as given."""
    once = list(dict.fromkeys(trees))
    try:
        return sorted(once, key=lambda tree: Version(tree.name.removeprefix("v")))
    except InvalidVersion:
        return once
