"""``rules/planner.yaml`` as a dataclass, and what a change costs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtp_trace.errors import RuleError
from mtp_trace.report.model import Change
from mtp_trace.rules.yamlfile import shipped

NAMED = 0.0
"""A change that the tree's own message or a rule names."""
READ = 0.25
"""A change of what the failing condition reads."""
SWITCHED = 1.5
"""A feature switched on only because the failing condition reads it."""
TRIED = 0.5
"""A change that nothing points at: a flag of the user's left out."""

CHOSEN = 1.0
"""One of a flag's choices that neither message nor condition names."""

REPLACED = 0.5
DROPPED = 0.5


@dataclass(frozen=True)
class PlannerData:
    """What may be changed (all but ``fixed``), and what a launch would rather keep (``losses``).

    A field that ends in a word of ``valued`` is no switch; the trace has the last word on the others. ``together`` are
    groups of fields, each with the value that completes a group of which some are given.
    """

    fixed: frozenset[str]
    sizes: frozenset[str]
    asked: Mapping[str, tuple[str, ...]]
    valued: frozenset[str]
    together: tuple[Mapping[str, str], ...]
    losses: Mapping[str, float]

    def lost(self, resolved: Mapping[str, Any], asked_for: set[str]) -> float:
        """What a launch loses that the user did not give up."""
        return sum(cost for name, cost in self.losses.items() if resolved.get(name) is True and name not in asked_for)


@dataclass(frozen=True)
class Move:
    """Changes that are made together, and what they cost: 1 for each, more for what takes something from the user."""

    changes: tuple[Change, ...]
    cost: float


@functools.cache
def planner_data() -> PlannerData:
    """The shipped table.  Raises RuleError naming a missing key."""
    data = shipped("planner.yaml")
    try:
        return PlannerData(
            fixed=frozenset(data["fixed"]),
            sizes=frozenset(data["sizes"]),
            asked={name: tuple(values) for name, values in data["asked"].items()},
            valued=frozenset(data["valued"]),
            together=tuple({name: str(value) for name, value in group.items()} for group in data["together"]),
            losses={name: float(cost) for name, cost in data["losses"].items()},
        )
    except KeyError as error:
        raise RuleError(f"the key {error} is missing", "rules/planner.yaml") from None
