"""An upgrade judged for a fleet: every deployment on both trees, what changes, why, since when, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mtp_trace.compare.edit import flags_in
from mtp_trace.compare.effect import Difference, compared_fields, difference
from mtp_trace.compare.flagmoves import as_changes, flag_table, moves, pinned
from mtp_trace.compare.history import Line, Search, line_between
from mtp_trace.compare.judging import judge_case, judge_trees, open_session
from mtp_trace.compare.suggest import suggested
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.errors import InputError
from mtp_trace.report.compare_model import Deployment, Effect, FlagMove, Gate, Reason
from mtp_trace.report.model import Change, Report, SglangInfo, Suggestion, Verdict
from mtp_trace.verdict.case import Case
from mtp_trace.verdict.session import Session

_ORDER = (Effect.REGRESSION, Effect.CHANGED, Effect.IMPROVEMENT, Effect.NONE)
_FLAGS_FIRST = "cli"


@dataclass(frozen=True)
class GateOptions:
    """``bisect`` looks for commits where both trees are refs of one repository; ``suggest`` for changed launches."""

    bisect: bool = True
    suggest: bool = True
    workers: int | None = None


def gate(old: TreeSpec, new: TreeSpec, cases: Sequence[Case], options: GateOptions = GateOptions()) -> Gate:
    """Every case on both trees, regressions first, else in the fleet's order."""
    before, after = judge_trees([old, new], cases, workers=options.workers)
    found = [difference(a, b) for a, b in zip(before, after)]
    rows = list(zip(cases, before, after, found))
    wanting = [row for row in rows if row[3].effect is not Effect.NONE or row[2].verdict is not Verdict.ACTIVE]
    advice = _advice(old, new, wanting) if options.suggest and wanting else {}
    changed = [row for row in rows if row[3].effect is not Effect.NONE]
    commits = _commits(old, new, changed) if options.bisect and changed else {}
    deployments = []
    for case, a, b, diff in rows:
        flags, suggestion = advice.get(case.id, ((), None))
        reason = _flag_reason(b, flags) or diff.reason
        deployments.append(
            Deployment(case.id, a, b, diff.effect, reason, commits.get(case.id), suggestion, flags)
        )  # fmt: skip
    deployments.sort(key=lambda d: _ORDER.index(d.change))
    return Gate(_info(before), _info(after), tuple(deployments))


Row = tuple[Case, Report, Report, Difference]


def _info(reports: Sequence[Report]) -> SglangInfo:
    return reports[0].sglang


def _flag_reason(new: Report, flags: tuple[FlagMove, ...]) -> Reason | None:
    """Where the new tree refuses a flag, its successor's line says more than the refusal, which has none."""
    if new.stage != _FLAGS_FIRST or new.error is None or new.error.file is not None:
        return None
    move = next((move for move in flags if move.to is not None), None)
    return Reason(f"{new.error.message}; {move.flag} is now {move.to}", move.file, move.line) if move else None


def _advice(
    old: TreeSpec, new: TreeSpec, rows: Sequence[Row]
) -> dict[str, tuple[tuple[FlagMove, ...], Suggestion | None]]:
    """For each launch the flags that moved, and what makes it run in the new tree as it did."""
    out: dict[str, tuple[tuple[FlagMove, ...], Suggestion | None]] = {}
    session, earlier = open_session(new), open_session(old)
    try:
        table = flag_table(session)
        refused = {flag for case, *_ in rows for flag in flags_in(case.argv)} - set(table.by_name)
        before = flag_table(earlier) if refused else table
        for case, a, b, diff in rows:
            moved = moves(case.argv, before, table)
            first: list[tuple[Change, ...]] = [as_changes(case.argv, moved)] if moved else []
            first += [held] if (held := _held(table, a, diff)) else []
            needed = b.verdict is not Verdict.ACTIVE or diff.effect is Effect.REGRESSION
            found = suggested(session, case, b, _good(a, b), first) if needed else None
            out[case.id] = (moved, found)
    finally:
        session.tree.close()
        earlier.tree.close()
    return out


def _held(table: object, old: Report, diff: Difference) -> tuple[Change, ...]:
    from mtp_trace.rules.flags import FlagTable

    assert isinstance(table, FlagTable)
    names = compared_fields().parameters
    return pinned(table, names, old.resolved) if any(name in names for name in diff.fields) else ()


def _good(old: Report, new: Report) -> Callable[[Report], bool]:
    """Running again is enough where it did not run; where it did, it must run as before."""

    def runs(tried: Report) -> bool:
        if tried.verdict is not Verdict.ACTIVE:
            return False
        return new.verdict is not Verdict.ACTIVE or difference(old, tried).effect is not Effect.REGRESSION

    return runs


# --- since when ----------------------------------------------------------------------------------------------------


def _commits(old: TreeSpec, new: TreeSpec, rows: Sequence[Row]) -> dict[str, str]:
    """The commit for each launch that changes, where both trees are refs of one repository."""
    if old.ref is None or new.ref is None or old.spec != new.spec:
        return {}
    line = line_between(old.spec, old.ref, new.ref)
    if line is None:
        return {}
    prober = Prober(old.spec, [row[0] for row in rows])
    found: dict[str, str] = {}
    for case, a, b, diff in rows:
        commit = prober.search(line, case, a, b, diff)[0]
        if commit is not None:
            found[case.id] = commit
    return found


class Prober:
    """Traces launches at commits: all launches that changed, as soon as one of them asks for a commit."""

    def __init__(self, folder: str, cases: Sequence[Case]) -> None:
        self.folder, self.cases = folder, tuple(cases)
        self._reports: dict[str, dict[str, Report]] = {}

    def search(self, line: Line, case: Case, old: Report, new: Report, diff: Difference) -> tuple[str | None, int]:
        """The commit in words, and how many traces it took."""
        search = Search(lambda sha: _like_new(self._report(sha, case), old, new, diff))
        return search.find(line), search.traces

    def _report(self, sha: str, case: Case) -> Report | None:
        if sha not in self._reports:
            self._reports[sha] = self._judged(sha)
        return self._reports[sha].get(case.id)

    def _judged(self, sha: str) -> dict[str, Report]:
        """What the launches come to at a commit; nothing where its tree cannot be read."""
        try:
            session: Session = open_session(TreeSpec(self.folder, sha))
        except InputError:
            return {}
        try:
            return {case.id: judge_case(session, case) for case in self.cases}
        except InputError:
            return {}
        finally:
            session.tree.close()


def _like_new(tried: Report | None, old: Report, new: Report, diff: Difference) -> bool | None:
    """Whether a commit shows the new tree's behaviour; None where it says neither."""
    if tried is None or (tried.verdict is Verdict.UNDETERMINED and new.verdict is not Verdict.UNDETERMINED):
        return None
    if old.verdict is not new.verdict:
        return (tried.verdict, tried.stage) == (new.verdict, new.stage)
    if tried.verdict is not new.verdict:
        return False
    if diff.fields:
        return tried.resolved.get(diff.fields[0]) == new.resolved.get(diff.fields[0])
    if new.error is not None:
        return tried.error is not None and tried.error.message == new.error.message
    return _draft(tried) == _draft(new)


def _draft(report: Report) -> str | None:
    return report.draft.architecture if report.draft is not None else None
