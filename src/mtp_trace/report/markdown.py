"""Markdown for a comment on a pull request: one report, an audit, or a scan."""

from __future__ import annotations

from mtp_trace.report.command import command_lines, launch_diff
from mtp_trace.report.facttext import fact_text
from mtp_trace.report.listing_model import Audit, AuditEntry, Scan
from mtp_trace.report.markdown_text import cell, code, document, fenced, fitting, folded, pipe_table, plain_text
from mtp_trace.report.model import Finding, Report, Step, Suggestion, Verdict
from mtp_trace.report.outcome import at, by_severity, deciding_place, headline
from mtp_trace.report.tally import audit_tally, scan_tally
from mtp_trace.report.textsafe import counted


def check_markdown(report: Report) -> str:
    """One report: the verdict as the heading, the path folded away."""
    return document([f"## mtp-trace: {headline_text(report)}", *report_parts(report)])


def audit_markdown(audit: Audit) -> str:
    """A table of all launches, then each that is not active in full, folded away."""
    rows = [
        (
            code(entry.report.verdict.value),
            cell(at(entry.file, entry.line)),
            plain_text(entry.name),
            plain_text(headline(entry.report).partition("  ")[2]),
        )
        for entry in audit.launches
    ]
    table = pipe_table(("verdict", "launch", "name", "why"), rows) if rows else ""
    details = [_entry(entry) for entry in audit.launches if entry.report.verdict is not Verdict.ACTIVE]
    return document([f"## mtp-trace audit: {plain_text(audit_tally(audit))}", table, *fitting(details, "launch")])


def scan_markdown(scan: Scan) -> str:
    """A table of all facts."""
    rows = [
        (plain_text(fact.kind), cell(at(fact.file, fact.line)), plain_text(fact.rule), cell(fact_text(fact)))
        for fact in scan.facts
    ]
    table = pipe_table(("kind", "where", "rule", "fact"), rows) if rows else ""
    return document([f"## mtp-trace scan: {plain_text(scan_tally(scan))}", table])


def headline_text(report: Report) -> str:
    """The headline with its verdict in bold."""
    word, _, rest = headline(report).partition("  ")
    return f"**{word}** {plain_text(rest)}".rstrip()


def report_parts(report: Report) -> list[str]:
    """Everything below a report's heading; a part without content is empty."""
    return [
        _subject(report),
        _deciding(report),
        "\n".join(_finding(finding) for finding in by_severity(report.findings)),
        suggestion_part(report, report.suggestion) if report.suggestion else "",
        _questions(report),
        folded(f"Activation path ({counted(len(report.path), 'step')})", _path(report.path)) if report.path else "",
        _assumptions(report),
    ]


def suggestion_part(report: Report, suggestion: Suggestion) -> str:
    """What to change: the flags as a diff, the reasons, the whole command."""
    launch = report.launch
    diff = launch_diff(launch.argv, launch.env, suggestion.argv, suggestion.env)
    reasons = [f"- {code(change.name)}: {plain_text(change.why)}" for change in suggestion.changes if change.why]
    parts = [
        f"**What to change** (then: {suggestion.verdict.value})",
        fenced([f"{sign} {line}" for sign, line in diff], "diff") if diff else "",
        "\n".join(reasons),
        fenced(command_lines(suggestion.argv, suggestion.env), "sh"),
    ]
    return "\n\n".join(part for part in parts if part)


def _entry(entry: AuditEntry) -> str:
    unresolved = f"Not known: {', '.join(map(code, entry.unresolved))}" if entry.unresolved else ""
    parts = [f"### {headline_text(entry.report)}", unresolved, *report_parts(entry.report)]
    return folded(f"{entry.name} ({at(entry.file, entry.line)})", document(parts).rstrip("\n"))


def _subject(report: Report) -> str:
    tree, model = report.sglang, report.model
    rows = [
        ("SGLang", " ".join(cell(part) for part in (tree.version or tree.root, tree.ref or "") if part)),
        ("model", " ".join(cell(part) for part in (model.path, *model.architectures) if part)),
        ("GPU", cell(report.launch.gpu or "")),
        ("draft", cell((report.draft.cls or report.draft.architecture or "") if report.draft else "")),
        ("worker", cell(report.worker or "")),
    ]
    return pipe_table(("", ""), [row for row in rows if row[1]])


def _deciding(report: Report) -> str:
    place = deciding_place(report)
    if place is None:
        return ""
    where = f"Decided at {code(at(place.file, place.line))}"
    return f"{where}\n\n{fenced(place.snippet.splitlines(), 'python')}" if place.snippet else where


def _finding(finding: Finding) -> str:
    where = f" at {code(at(finding.file, finding.line))}" if finding.file else ""
    line = f"- **{finding.severity.value}** {plain_text(finding.title)} ({code(finding.rule)}){where}"
    message = f": {plain_text(finding.message)}" if finding.message else ""
    fix = f"\n  - fix: {plain_text(finding.fix.text)}" if finding.fix else ""
    return line + message + fix


def _questions(report: Report) -> str:
    rows = [
        (plain_text(question.question) if index == 0 else "", plain_text(option.value), option.verdict.value)
        for question in report.depends_on
        for index, option in enumerate(question.options)
    ]
    return pipe_table(("question", "if", "then"), rows) if rows else ""


def _path(steps: tuple[Step, ...]) -> str:
    return "\n".join(
        f"1. {plain_text(step.stage)}: {plain_text(step.kind)} {code(step.text)}"
        + (f" at {code(at(step.file, step.line))}" if step.file else "")
        + (f" ({plain_text(step.note)})" if step.note else "")
        for step in steps
    )


def _assumptions(report: Report) -> str:
    if not report.assumptions:
        return ""
    lines = [f"- {plain_text(assumption.what)} ({plain_text(assumption.why)})" for assumption in report.assumptions]
    return "\n".join(["Assumed:", "", *lines])
