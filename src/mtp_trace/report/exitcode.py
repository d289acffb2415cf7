"""Exit codes: 0 active, 1 not active or findings at the gate's level, 2 unusable input, 3 undetermined or depends."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from mtp_trace.report.model import Finding, Report, Severity, Verdict
from mtp_trace.report.outcome import is_open

if TYPE_CHECKING:
    from mtp_trace.report.compare_model import Gate


class ExitCode(IntEnum):
    """What the program's exit code means."""

    ACTIVE = 0
    FAILED = 1
    USAGE = 2
    OPEN = 3


class FailOn(str, Enum):
    """The gate's level (``--fail-on``): findings of this severity or a graver one fail; ``never`` lets all pass."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"


_CAUGHT = {
    FailOn.ERROR: {Severity.ERROR},
    FailOn.WARNING: {Severity.ERROR, Severity.WARNING},
    FailOn.NOTE: {Severity.ERROR, Severity.WARNING, Severity.NOTE},
    FailOn.NEVER: set[Severity](),
}


def caught(findings: Iterable[Finding], fail_on: FailOn) -> list[Finding]:
    """The findings at or above the gate's level, in order."""
    return [finding for finding in findings if finding.severity in _CAUGHT[fail_on]]


def exit_code(report: Report, fail_on: FailOn = FailOn.ERROR) -> ExitCode:
    """The exit code of one report.

    An open verdict is 3 whatever its findings, as they hang on the same answer. A verdict that a baseline accepts
    counts as active; its remaining findings still count.
    """
    if fail_on is FailOn.NEVER:
        return ExitCode.ACTIVE
    if report.accepted is None:
        if is_open(report.verdict):
            return ExitCode.OPEN
        if report.verdict is not Verdict.ACTIVE:
            return ExitCode.FAILED
    return ExitCode.FAILED if caught(report.findings, fail_on) else ExitCode.ACTIVE


def exit_code_all(reports: Iterable[Report], fail_on: FailOn = FailOn.ERROR) -> ExitCode:
    """The exit code of many reports: a failure outweighs an open verdict, and nothing judged at all is 2, not 0."""
    codes = {exit_code(report, fail_on) for report in reports}
    for code in (ExitCode.FAILED, ExitCode.OPEN, ExitCode.ACTIVE):
        if code in codes:
            return code
    return ExitCode.USAGE


def exit_code_gate(gate: Gate, fail_on: FailOn = FailOn.ERROR) -> ExitCode:
    """The exit code of an upgrade: 1 for a regression, 3 for a change to an open verdict, 2 for no deployment.

    What could not be judged in the new tree is 3 too, though it could not be judged in the old one either.
    """
    from mtp_trace.report.compare_model import Effect

    if not gate.deployments:
        return ExitCode.USAGE
    if fail_on is FailOn.NEVER:
        return ExitCode.ACTIVE
    if any(deployment.change is Effect.REGRESSION for deployment in gate.deployments):
        return ExitCode.FAILED
    unjudged = any(deployment.new.verdict is Verdict.UNDETERMINED for deployment in gate.deployments)
    changed = (deployment for deployment in gate.deployments if deployment.change is not Effect.NONE)
    turned_open = any(is_open(deployment.new.verdict) for deployment in changed)
    return ExitCode.OPEN if unjudged or turned_open else ExitCode.ACTIVE
