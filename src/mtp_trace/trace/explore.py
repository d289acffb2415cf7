"""Runs a launch once for every way the open questions can be answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mtp_trace.trace.engine import Decision, Engine

T = TypeVar("T")


@dataclass(frozen=True)
class Path(Generic[T]):
    """One way through: the answers taken and what came of them."""

    decisions: tuple[Decision, ...]
    outcome: T


@dataclass(frozen=True)
class Exploration(Generic[T]):
    """All ways through, or the first ``limit`` of them (``complete`` False)."""

    paths: tuple[Path[T], ...]
    complete: bool


def explore(engine: Engine, run: Callable[[], T], limit: int = 64) -> Exploration[T]:
    """Runs ``run`` on the engine, flipping one open decision after another, depth first.

    A run is deterministic given the answers, so replaying a prefix of them leads to the same next question; where
    ``run`` leaves savepoints behind (``engine.mark``), the part before the last fitting one is not replayed
    (``engine.resumed`` tells ``run`` where it stands).
    """
    paths: list[Path[T]] = []
    plans: list[dict[str, bool]] = [{}]
    engine.begin()
    try:
        while plans and len(paths) < limit:
            plan = plans.pop()
            if paths:
                engine.begin_again(plan)
            outcome = run()
            decisions = tuple(engine.decisions)
            paths.append(Path(decisions, outcome))
            prefix: dict[str, bool] = {}
            for d in decisions:
                if d.key not in plan:
                    plans.append({**prefix, d.key: not d.answer})
                prefix[d.key] = d.answer
    finally:
        engine.rollback()
    return Exploration(tuple(paths), not plans)
