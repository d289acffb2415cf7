"""Which other tree mends what is wrong with a launch in this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mtp_trace.report.model import Finding, Fix, Report, Severity, Verdict

_RUNS = (Verdict.ACTIVE, Verdict.DEGRADED)


def with_mended(report: Report, others: Sequence[tuple[str, Report]]) -> Report:
    """The report, each grave finding naming the first other tree where the same launch runs and has none like it."""
    if not others or not any(f.severity is Severity.ERROR for f in report.findings):
        return report
    return replace(report, findings=tuple(_told(f, report, others) for f in report.findings))


def _told(finding: Finding, report: Report, others: Sequence[tuple[str, Report]]) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    mended = next((name for name, other in others if _mends(finding, report, other)), None)
    if mended is not None:
        more = f"Mended in {mended}: the same launch has no such finding there."
    else:
        names = ", ".join(name for name, _ in others)
        more = f"Not mended in {names}."
    fix = finding.fix or Fix("")
    return replace(finding, fix=replace(fix, text=f"{fix.text} {more}".strip()))


def _mends(finding: Finding, report: Report, other: Report) -> bool:
    """Whether the launch runs there, was looked at as closely, and has no finding of that rule."""
    looked = other.weights is not None or report.weights is None
    return other.verdict in _RUNS and looked and all(f.rule != finding.rule for f in other.findings)
