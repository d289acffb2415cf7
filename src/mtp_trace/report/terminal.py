"""One report for a person at a terminal: the verdict first, then why, then what to change."""

from __future__ import annotations

from collections.abc import Iterable

from mtp_trace.report.command import command_lines, launch_diff
from mtp_trace.report.model import Finding, Report, Severity, Suggestion, Verdict
from mtp_trace.report.outcome import (
    SourceLines,
    at,
    by_severity,
    deciding_place,
    failure_text,
    head_text,
    headline,
    parameters_text,
)
from mtp_trace.report.terminal_console import Page, Screen, ascii_only, block, grid, joined, styled, table
from mtp_trace.report.terminal_source import add_path, add_source
from mtp_trace.report.textsafe import one_line

VERDICT_STYLES = {
    Verdict.ACTIVE: "green",
    Verdict.DEGRADED: "yellow",
    Verdict.INACTIVE: "yellow",
    Verdict.STARTUP_ERROR: "red",
    Verdict.DEPENDS: "cyan",
    Verdict.UNDETERMINED: "magenta",
}
SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def render_report(report: Report, screen: Screen, source_lines: SourceLines | None = None, quiet: bool = False) -> str:
    """``report`` as text that ends in a line break; ``quiet`` leaves only the first line.

    ``source_lines`` gives the lines around the deciding one; without it the recorded snippet stands in.
    """
    if quiet and not screen.color:
        line = headline(report) + "\n"
        return line if screen.unicode else ascii_only(line)
    page = Page(screen)
    add_headline(page, report)
    if not quiet:
        add_body(page, report, source_lines)
    return page.text()


def add_headline(page: Page, report: Report) -> None:
    """The verdict's line, wrapped where it is longer than the screen is wide."""
    word, _, rest = headline(report).partition("  ")
    style = VERDICT_STYLES[report.verdict]
    page.add(joined((word, f"bold {style} reverse"), (f"  {rest}" if rest else "", f"bold {style}")))


def add_body(page: Page, report: Report, source_lines: SourceLines | None) -> None:
    """Every section below the verdict; a section without content is left out."""
    _add_subject(page, report)
    if report.path:
        add_path(page, report.path)
    place = deciding_place(report)
    if place is not None:
        add_source(page, place, source_lines)
    if report.findings:
        page.heading("Findings")
        for finding in by_severity(report.findings):
            add_finding(page, finding)
    if report.suggestion is not None:
        _add_suggestion(page, report, report.suggestion)
    if report.depends_on:
        _add_questions(page, report)
    if report.logs:
        page.heading("SGLang would log")
        for log in report.logs:
            page.add(joined((f"{log.level} ", "bold"), (log.message, ""), (f"  {at(log.file, log.line)}", "dim")))
    if report.assumptions:
        page.heading("Assumptions")
        assumptions = grid(1, 1)
        for assumption in report.assumptions:
            assumptions.add_row(styled(assumption.what), styled(assumption.why, "dim"))
        page.add(assumptions)


def _add_subject(page: Page, report: Report) -> None:
    subject = grid(0, 1)
    for label, text in _subject(report):
        if text:
            subject.add_row(styled(label, "dim"), styled(text))
    page.line()
    page.add(subject)
    if failure_text(report) not in headline(report):
        page.line()
        page.add(block(f"{report.error.type}: {report.error.message}" if report.error else "", "red"))


def _subject(report: Report) -> Iterable[tuple[str, str]]:
    tree, model, draft = report.sglang, report.model, report.draft
    version = ", ".join(part for part in (tree.version and f"version {tree.version}", tree.ref) if part)
    yield "sglang", f"{tree.root} ({version})" if version else tree.root
    yield "model", " ".join(part for part in (model.path, _bracketed(", ".join(model.architectures))) if part)
    yield "gpu", report.launch.gpu or ""
    if draft is not None:
        yield (
            "draft",
            " ".join(
                part
                for part in (
                    draft.cls or draft.architecture or "",
                    _bracketed(at(draft.file, draft.line)),
                    f"from {draft.model_path}" if draft.model_path else "",
                )
                if part
            ),
        )
    yield "head", head_text(report)
    yield "worker", report.worker or ""
    yield "speculation", parameters_text(report)


def add_finding(page: Page, finding: Finding) -> None:
    """One finding: severity, title and rule, then the message, the places and the fix."""
    page.add(
        joined(
            (f"{finding.severity.value} ", SEVERITY_STYLES[finding.severity]),
            (finding.title, "bold"),
            (f"  [{finding.rule}]", "dim"),
        )
    )
    details = grid(0, 1)
    if finding.message:
        details.add_row("", block(finding.message))
    if finding.file:
        details.add_row("", styled(f"at {at(finding.file, finding.line)}", "dim"))
    for place in finding.related:
        note = f" ({one_line(place.note)})" if place.note else ""
        details.add_row("", styled(f"see {at(place.file, place.line)}{note}", "dim"))
    if finding.fix is not None:
        details.add_row("", joined(("fix: ", "bold green"), (finding.fix.text, "")))
    page.add(details)


def _add_suggestion(page: Page, report: Report, suggestion: Suggestion) -> None:
    page.line()
    add_launch_diff(page, report, suggestion)
    for change in suggestion.changes:
        if change.why:
            page.add(joined((f"{change.name}: ", "cyan"), (change.why, "")))
    page.line()
    for line in command_lines(suggestion.argv, suggestion.env):
        page.raw(line)


def add_launch_diff(page: Page, report: Report, suggestion: Suggestion) -> None:
    """The flags that a suggestion takes away and adds, under the verdict that they lead to."""
    style = VERDICT_STYLES[suggestion.verdict]
    page.add(joined(("What to change  ", "bold"), (f"then: {suggestion.verdict.value}", style)))
    launch = report.launch
    for sign, line in launch_diff(launch.argv, launch.env, suggestion.argv, suggestion.env):
        page.raw(f"{sign} {line}", "green" if sign == "+" else "red")


def _add_questions(page: Page, report: Report) -> None:
    page.heading("The verdict hangs on")
    questions = table("question", "if", "then")
    for question in report.depends_on:
        asked = question.question
        for option in question.options:
            then = styled(option.verdict.value, VERDICT_STYLES[option.verdict])
            questions.add_row(styled(asked), styled(option.value), then)
            asked = ""
    page.add(questions)


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""
