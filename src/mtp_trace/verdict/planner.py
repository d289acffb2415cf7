"""The fix planner: the smallest set of flags and variables that turns a launch's verdict to ``active``.

A bounded search, cheapest changes first. What may be changed comes from the tree: the failing line's message and
condition, the tree's own flags, the rules' fixes. Every launch that is suggested was traced as any other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mtp_trace.report.model import Change, Finding, Report, Severity, Suggestion, Verdict
from mtp_trace.report.outcome import at
from mtp_trace.rules.flags import FlagTable
from mtp_trace.verdict.planner_data import Move, planner_data
from mtp_trace.verdict.planner_edit import Arguments, applied, merged
from mtp_trace.verdict.planner_moves import Moves

if TYPE_CHECKING:
    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.trace.world import Gpu
    from mtp_trace.verdict.session import Session

MOST_TRACES = 60
_WITHOUT_GPU = 10
MOST_MOVES = 4
_AFTER_FOUND = 8
_SAME_PLACE = 1
_PROGRESS = 0.75
_FIXABLE = (Verdict.STARTUP_ERROR, Verdict.INACTIVE, Verdict.DEGRADED)


@dataclass(order=True)
class _Node:
    """A launch that is to be traced: when, what it costs, and the report that it was thought up for.

    A launch that goes on from one which got further comes before another try at what stopped the first.
    """

    rank: float
    serial: int
    cost: float = field(compare=False)
    moves: tuple[Move, ...] = field(compare=False)
    parent: Report = field(compare=False)

    @property
    def changes(self) -> tuple[Change, ...]:
        return merged(c for m in self.moves for c in m.changes)


@dataclass(frozen=True)
class Plan:
    """What a search came to: the suggestion where there is one, and the launches traced on the way."""

    suggestion: Suggestion | None
    tried: tuple[Report, ...]


def with_suggestion(
    session: Session, report: Report, model: ModelFolder | None = None, gpu: Gpu | None = None, limit: int = MOST_TRACES
) -> Report:
    """The report with a launch that comes to ``active``, or with a note that says why no change was found."""
    if report.verdict not in _FIXABLE:
        return report
    made = search(session, report, model, gpu, limit)
    if made.suggestion is not None:
        return replace(report, suggestion=made.suggestion)
    return replace(report, findings=(*report.findings, _no_change(report, made)))


def plan(
    session: Session, report: Report, model: ModelFolder | None = None, gpu: Gpu | None = None, limit: int = MOST_TRACES
) -> Suggestion | None:
    """The cheapest launch found that comes to ``active``; None where the report needs none or none was found."""
    return search(session, report, model, gpu, limit).suggestion if report.verdict in _FIXABLE else None


def is_active(report: Report) -> bool:
    """What a suggested launch has to come to, unless the caller wants more."""
    return report.verdict is Verdict.ACTIVE


def search(
    session: Session,
    report: Report,
    model: ModelFolder | None,
    gpu: Gpu | None,
    limit: int = MOST_TRACES,
    good: Callable[[Report], bool] = is_active,
    first: Iterable[tuple[Change, ...]] = (),
) -> Plan:
    """Looks for changes, at most ``limit`` launches traced; fewer where no GPU is given, as each then means many.

    ``good`` says whether a launch will do; ``first`` are changes that the caller knows of, to be tried before others.
    """
    limit = limit if gpu is not None else min(limit, _WITHOUT_GPU)
    return _Search(session, report, model, gpu, limit, good).run(first)


class _Search:
    def __init__(
        self,
        session: Session,
        report: Report,
        model: ModelFolder | None,
        gpu: Gpu | None,
        limit: int,
        good: Callable[[Report], bool],
    ) -> None:
        self.session, self.origin, self.model, self.gpu, self.limit = session, report, model, gpu, limit
        self.good = good
        assert session.judge.adviser is not None
        self.sites = session.judge.adviser.sites
        self.table = FlagTable.of(self.sites)
        self.data = planner_data()
        arguments = Arguments(report.launch.argv, self.table)
        self.user = frozenset(arguments.field(name) for name in arguments.names())
        self.queue: list[_Node] = []
        self.seen: set[Any] = {self._key(report.launch.argv, report.launch.env)}
        self.tried: list[Report] = []
        self.best: tuple[float, _Node, Report] | None = None
        self.serial = 0
        self.reached: dict[Any, int] = {}

    def run(self, first: Iterable[tuple[Change, ...]]) -> Plan:
        """The search itself."""
        for changes in first:
            self._push(self.origin, (Move(changes, 0.0),), 0.0)
        self._expand(self.origin, (), 0.0)
        left = self.limit
        while self.queue and left > 0:
            node = heapq.heappop(self.queue)
            if self.best is not None and node.cost >= self.best[0]:
                continue
            report = self._trace(node.changes)
            if report is None:
                continue
            left -= 1
            if self.good(report):
                left = min(left, _AFTER_FOUND)
                self._keep(node, report)
            elif report.verdict in _FIXABLE and _moved(node.parent, report) and len(node.moves) < MOST_MOVES:
                self._expand(report, node.moves, node.cost)
        if self.best is None:
            return Plan(None, tuple(self.tried))
        self._trim()
        _, node, report = self.best
        launch = report.launch
        return Plan(Suggestion(launch.argv, dict(launch.env), node.changes, report.verdict), tuple(self.tried))

    def _expand(self, report: Report, moves: tuple[Move, ...], cost: float) -> None:
        place = _place(report)
        self.reached[place] = self.reached.get(place, 0) + 1
        if self.reached[place] > _SAME_PLACE:
            return
        for move in Moves(report, self.sites, self.table, self.data, self.user).all():
            self._push(report, (*moves, move), cost + move.cost)

    def _push(self, parent: Report, moves: tuple[Move, ...], cost: float) -> None:
        self.serial += 1
        rank = cost - _PROGRESS * (len(moves) - 1)
        heapq.heappush(self.queue, _Node(rank, self.serial, cost, moves, parent))

    def _trace(self, changes: tuple[Change, ...]) -> Report | None:
        launch = self.origin.launch
        argv, env = applied(launch.argv, launch.env, changes, self.table)
        key = self._key(argv, env)
        if key in self.seen:
            return None
        self.seen.add(key)
        report = self.session.check(list(argv), env, self.gpu, self.model)
        self.tried.append(report)
        return report

    def _keep(self, node: _Node, report: Report) -> None:
        total = node.cost + self.data.lost(report.resolved, set(self.user))
        if self.best is None or total < self.best[0]:
            self.best = (total, node, report)

    def _trim(self) -> None:
        """Takes moves out of the best launch that it does not need."""
        assert self.best is not None
        for move in self.best[1].moves if len(self.best[1].moves) > 1 else ():
            node = self.best[1]
            rest = tuple(m for m in node.moves if m is not move)
            if not rest or move not in node.moves:
                continue
            fewer = _Node(0.0, 0, node.cost - move.cost, rest, node.parent)
            report = self._trace(fewer.changes)
            if report is not None and self.good(report):
                self._keep(fewer, report)

    @staticmethod
    def _key(argv: tuple[str, ...], env: dict[str, str]) -> Any:
        return (tuple(argv), tuple(sorted(env.items())))


def _moved(before: Report, after: Report) -> bool:
    """Whether a change led somewhere else: another verdict, or another place that stops it."""
    return bool(_place(before) != _place(after))


def _place(report: Report) -> Any:
    error = report.error
    return (report.verdict, report.stage, (error.file, error.line, error.message) if error is not None else None)


def _no_change(report: Report, made: Plan) -> Finding:
    """Why nothing helps, as a note."""
    alone = next((r for r in (report, *made.tried) if _own_target(r)), None)
    error = report.error
    if alone is not None and alone.draft is not None:
        why = (
            f"where the launch starts, the draft is {alone.draft.architecture} itself: this tree has no draft class "
            "for it. Another release may; `mtp-trace matrix` shows which"
        )
    elif error is not None:
        last = next((r.error for r in made.tried if r.error is not None and _further(report, r)), error)
        place = at(last.file, last.line)
        kept = "what stops it stays" if last is error else "without what stops it here, it stops at the next"
        why = f"{kept}: {last.type}: {' '.join(last.message.split())}" + (f" ({place})" if place else "")
    else:
        why = "nothing that this tree reads turns it on"
    count = len(made.tried)
    tried = f"{count} changed launch{'' if count == 1 else 'es'} traced, none comes to active"
    if not count:
        tried = "no flag or variable that this tree takes bears on it"
    return Finding(
        rule="no-change-helps",
        severity=Severity.NOTE,
        title="No change of flags or variables was found",
        message=f"{tried}; {why}.",
        file=error.file if error is not None else None,
        line=error.line if error is not None else None,
        end_line=error.end_line if error is not None else None,
    )


def _further(before: Report, after: Report) -> bool:
    """Whether a launch got past the parser, and past the place where it stopped before."""
    return after.verdict is Verdict.STARTUP_ERROR and after.stage != "cli" and before.stage == "cli"


def _own_target(report: Report) -> bool:
    name = report.draft.architecture if report.draft is not None else None
    return name is not None and report.model.architectures[:1] == (name,)
