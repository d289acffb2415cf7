"""Audits and scans for a person at a terminal: the sum first, then one block for each launch or fact."""

from __future__ import annotations

from mtp_trace.report.facttext import fact_text
from mtp_trace.report.listing_model import Audit, AuditEntry, Scan
from mtp_trace.report.model import Severity
from mtp_trace.report.outcome import at, by_severity, headline
from mtp_trace.report.tally import audit_tally, scan_tally, tree_name
from mtp_trace.report.terminal import VERDICT_STYLES, add_finding, add_launch_diff
from mtp_trace.report.terminal_console import Page, Screen, joined


def render_audit(audit: Audit, screen: Screen, quiet: bool = False) -> str:
    """Every launch; ``quiet`` leaves only the sum. Notes are left to the single check."""
    page = Page(screen)
    page.line(audit_tally(audit), "bold")
    for entry in () if quiet else audit.launches:
        _add_entry(page, entry)
    return page.text()


def render_scan(scan: Scan, screen: Screen, quiet: bool = False) -> str:
    """Every fact, grouped by kind; ``quiet`` leaves only the sum."""
    page = Page(screen)
    page.add(joined((scan_tally(scan), "bold"), (f"  in {tree_name(scan.sglang)}", "dim")))
    for kind in () if quiet else dict.fromkeys(fact.kind for fact in scan.facts):
        page.heading(kind)
        for fact in scan.facts:
            if fact.kind == kind:
                page.add(joined((at(fact.file, fact.line), "cyan"), (f"  {fact.rule}", "dim")))
                page.indented(fact_text(fact))
    return page.text()


def _add_entry(page: Page, entry: AuditEntry) -> None:
    report = entry.report
    word, _, rest = headline(report).partition("  ")
    page.line()
    page.add(
        joined(
            (word, f"bold {VERDICT_STYLES[report.verdict]}"),
            (f"  {at(entry.file, entry.line)}", "cyan"),
            (f"  {entry.name}", "bold"),
            (f" ({entry.source})", "dim"),
        )
    )
    with page.inset():
        if rest:
            page.line(rest)
        if entry.unresolved:
            page.line(f"not known: {', '.join(entry.unresolved)}", "dim")
        for finding in by_severity(report.findings):
            if finding.severity is not Severity.NOTE:
                add_finding(page, finding)
        if report.suggestion is not None:
            add_launch_diff(page, report, report.suggestion)
