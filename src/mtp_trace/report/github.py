"""GitHub workflow commands: annotations on the run and, for an audit, on the launch's own lines."""

from __future__ import annotations

from collections.abc import Sequence

from mtp_trace.report.facttext import fact_text
from mtp_trace.report.listing_model import Audit, AuditEntry, Scan
from mtp_trace.report.model import Finding, Report, Severity
from mtp_trace.report.outcome import at, by_severity, headline, verdict_finding, verdict_is_told
from mtp_trace.report.textsafe import one_line, visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def check_github(reports: Sequence[Report]) -> str:
    """A line for each finding, at its place in SGLang's tree, after the verdict's line."""
    return "".join(line + "\n" for report in reports for line in _lines(report, None))


def audit_github(audit: Audit) -> str:
    """A line for each finding, at the launch that it is about."""
    return "".join(line + "\n" for entry in audit.launches for line in _lines(entry.report, entry))


def scan_github(scan: Scan) -> str:
    """A notice for each fact."""
    return "".join(
        _command("notice", fact.file, fact.line, fact.end_line, f"{fact.kind} {fact.rule}", fact_text(fact)) + "\n"
        for fact in scan.facts
    )


def _lines(report: Report, entry: AuditEntry | None) -> list[str]:
    verdict = verdict_finding(report)
    findings = by_severity(report.findings)
    prefix = f"{one_line(entry.name)}: " if entry else ""
    lines = []
    if verdict is None or report.accepted is not None or verdict_is_told(report):
        # Said all the same, without claiming a line of its own.
        level = "notice" if verdict is None or report.accepted is not None else _COMMANDS[verdict.severity]
        file, line = (entry.file, entry.line) if entry else (None, None)
        lines.append(_command(level, file, line, None, "mtp-trace", prefix + headline(report)))
    else:
        lines.append(_finding_line(verdict, entry, prefix, headline(report)))
    return lines + [_finding_line(finding, entry, prefix, "") for finding in findings]


def _finding_line(finding: Finding, entry: AuditEntry | None, prefix: str, text: str) -> str:
    title = f"{finding.title} [{finding.rule}]"
    message = prefix + (text or finding.message or finding.title)
    if finding.fix is not None:
        message += f"\nFix: {finding.fix.text}"
    command = _COMMANDS[finding.severity]
    if entry is None:
        return _command(command, finding.file, finding.line, finding.end_line, title, message)
    if finding.file:
        message += f"\nSGLang: {at(finding.file, finding.line)}"
    return _command(command, entry.file, entry.line, None, title, message)


def _command(level: str, file: str | None, line: int | None, end_line: int | None, title: str, message: str) -> str:
    properties = []
    if file:
        properties.append(f"file={_property(one_line(file))}")
        if line:
            properties.append(f"line={line}")
            properties.append(f"endLine={max(line, end_line or line)}")
    properties.append(f"title={_property(one_line(title))}")
    return f"::{level} {','.join(properties)}::{_data(visible(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
