"""What the comparing commands share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtp_trace.compare.trees import TreeSpec
    from mtp_trace.report.formats import RenderOptions

COMPARE_CHOICES = ("terminal", "json", "markdown")


def render_options(quiet: bool = False) -> RenderOptions:
    """What the renderers are told about this terminal."""
    from mtp_trace import __version__
    from mtp_trace.report.formats import RenderOptions
    from mtp_trace.report.terminal_console import screen_for

    return RenderOptions(screen=screen_for(sys.stdout), quiet=quiet, tool_version=__version__)


def two_trees(old: str, new: str, repo: str | None) -> tuple[TreeSpec, TreeSpec]:
    """OLD and NEW: trees, or refs of ``repo``."""
    from mtp_trace.compare.trees import TreeSpec

    if repo is not None:
        return TreeSpec(repo, old, old), TreeSpec(repo, new, new)
    return TreeSpec(old), TreeSpec(new)
