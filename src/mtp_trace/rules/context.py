"""The facts of one launch that rules ask for: plain data, the trace's events, and the tree's sites when needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mtp_trace.rules.sites import Sites

if TYPE_CHECKING:
    from mtp_trace.trace.events import Event

ABSENT = object()
"""A fact that the launch does not have, apart from None."""


@dataclass(frozen=True)
class Context:
    """One launch.

    ``facts`` maps the first part of a path to its value, or to a function without arguments that gives it; ``argv`` are
    the launch's own arguments; ``plain`` turns an event's value into plain data.
    """

    sites: Sites
    facts: dict[str, Any] = field(default_factory=dict)
    events: tuple[tuple[str, Event], ...] = ()
    plain: Callable[[Any], Any] = lambda value: value

    def fact(self, path: str) -> Any:
        """The fact at a path; ``ABSENT`` where there is none."""
        root, _, rest = path.partition(".")
        value = self.facts.get(root, ABSENT)
        if callable(value):
            value = self.facts[root] = value()
        if value is ABSENT or not rest:
            return value
        if isinstance(value, dict):
            return value.get(rest, ABSENT)
        return ABSENT


def flags_of(argv: tuple[str, ...] | list[str]) -> dict[str, str]:
    """The flags that a launch gives, as words without dashes (``tp_size``), with their values (empty for a switch)."""
    out: dict[str, str] = {}
    for i, word in enumerate(argv):
        if not word.startswith("--") or word == "--":
            continue
        name, sign, value = word[2:].partition("=")
        if not sign:
            after = argv[i + 1] if i + 1 < len(argv) else ""
            value = "" if after.startswith("--") else after
        out[name.replace("-", "_")] = value
    return out
