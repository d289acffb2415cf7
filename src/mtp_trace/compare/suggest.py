"""What would make a launch run again, or run as before: the planner's search over a deployment's own arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mtp_trace.report.model import Change, Report, Suggestion

if TYPE_CHECKING:
    from mtp_trace.verdict.case import Case
    from mtp_trace.verdict.session import Session


def suggested(
    session: Session,
    case: Case,
    report: Report,
    good: Callable[[Report], bool] | None = None,
    first: Sequence[tuple[Change, ...]] = (),
) -> Suggestion | None:
    """The smallest set of changes found after which ``good`` holds (the launch is active, unless told otherwise).

    ``first`` are changes to try before others. The suggestion holds the deployment's words, changed.
    """
    from mtp_trace.compare.flagmoves import flag_table
    from mtp_trace.compare.judging import equipment
    from mtp_trace.verdict.planner import is_active, search
    from mtp_trace.verdict.planner_edit import applied

    gpu, model = equipment(session, case)
    found = search(session, report, model, gpu, good=good or is_active, first=first).suggestion
    if found is None:
        return None
    argv, env = applied(case.argv, case.env, found.changes, flag_table(session))
    return replace(found, argv=argv, env=env)
