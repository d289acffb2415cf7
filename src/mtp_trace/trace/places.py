"""Where things stand in the source."""

from __future__ import annotations

from mtp_trace.syntax.form import Node
from mtp_trace.trace.values import Frame, Raised, Site, TraceStop


def site_of(frame: Frame, node: Node) -> Site:
    """Where a node stands."""
    return Site(frame.module.path, node[1], node[2], frame.function, frame.module.model)


def place(error: Raised | TraceStop, frame: Frame, node: Node) -> None:
    """Fills in where an error arose: the innermost place in the tree, never one in a model of the outside."""
    if error.site is None or error.site.model:
        error.site = site_of(frame, node)
