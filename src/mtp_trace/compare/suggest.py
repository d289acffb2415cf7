"""What would make a launch run again: the findings' own fixes, tried one by one, and shown only once traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mtp_trace.compare.edit import edited, given
from mtp_trace.report.model import Change, Report, Suggestion, Verdict

if TYPE_CHECKING:
    from mtp_trace.compare.judging import Case
    from mtp_trace.verdict.session import Session

MAX_TRACES = 6
MAX_STEPS = 3


def suggested(
    session: Session,
    case: Case,
    report: Report,
    good: Callable[[Report], bool] | None = None,
    first: Sequence[tuple[Change, ...]] = (),
) -> Suggestion | None:
    """The smallest set of changes found after which ``good`` holds (the launch is active, unless told otherwise).

    ``first`` are changes to try before the findings' own. At most ``MAX_TRACES`` launches are traced before the
    planner is asked.
    """
    from mtp_trace.compare.judging import judge_case

    wanted = good or (lambda tried: tried.verdict is Verdict.ACTIVE)
    if report.suggestion is not None and good is None:
        return report.suggestion
    queue: list[tuple[tuple[Change, ...], Report]] = [((), report)]
    seen = {_key(case.argv, case.env)}
    traces = 0
    while queue:
        done, last = queue.pop(0)
        steps = [*(first if not done else ()), *_fixes(last)]
        for step in steps:
            argv, env = edited(case.argv, case.env, [*done, *step])
            if _key(argv, env) in seen or len(done) + len(step) > MAX_STEPS * 2:
                continue
            if traces >= MAX_TRACES:
                return _planned(session, case, report, wanted)
            seen.add(_key(argv, env))
            traces += 1
            tried = judge_case(session, replace(case, argv=argv, env=env))
            changes = (*done, *_told(case, step))
            if wanted(tried):
                return Suggestion(argv, env, changes, tried.verdict)
            if _moved_on(last, tried):
                queue.append((changes, tried))
    return _planned(session, case, report, wanted)


def _planned(session: Session, case: Case, report: Report, wanted: Callable[[Report], bool]) -> Suggestion | None:
    """What the planner finds where the findings' own fixes do not suffice."""
    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.compare.judging import judge_case
    from mtp_trace.verdict.planner import plan

    if report.verdict is Verdict.ACTIVE:
        return None
    model = ModelFolder.open(case.model) if case.model else None
    gpu = session.gpus.find(case.gpu, case.gpu_count) if case.gpu else None
    found = plan(session, report, model, gpu)
    if found is None:
        return None
    tried = judge_case(session, replace(case, argv=found.argv, env=found.env))
    return found if wanted(tried) else None


def _fixes(report: Report) -> list[tuple[Change, ...]]:
    return [finding.fix.changes for finding in report.findings if finding.fix is not None and finding.fix.changes]


def _told(case: Case, step: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes with what the launch itself had before."""
    return tuple(
        replace(change, old=case.env.get(change.name) if change.kind == "env" else given(case.argv, change.name))
        for change in step
    )


def _moved_on(before: Report, after: Report) -> bool:
    """Whether the launch stops elsewhere now, so that going on from here may help."""
    return (before.verdict, _stop(before)) != (after.verdict, _stop(after))


def _stop(report: Report) -> tuple[str | None, str]:
    return report.stage, report.error.message if report.error else ""


def _key(argv: Sequence[str], env: dict[str, str]) -> object:
    return tuple(argv), tuple(sorted(env.items()))
