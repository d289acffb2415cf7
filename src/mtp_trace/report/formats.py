"""Which renderer writes which format of which result. Renderers are imported when one is picked, not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from mtp_trace.errors import InputError
from mtp_trace.report.exitcode import FailOn
from mtp_trace.report.terminal_console import Screen

if TYPE_CHECKING:
    from mtp_trace.report.compare_model import Diff, Gate, Matrix
    from mtp_trace.report.listing_model import Audit, Scan
    from mtp_trace.report.model import Report
    from mtp_trace.report.outcome import SourceLines
    from mtp_trace.report.ruletext import RuleText


class Format(str, Enum):
    """The formats of ``--format``."""

    TERMINAL = "terminal"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    MARKDOWN = "markdown"


# Comparisons hold no findings, so the formats that carry nothing else have no form for them.
COMPARE_FORMATS = (Format.TERMINAL, Format.JSON, Format.MARKDOWN)


@dataclass(frozen=True)
class RenderOptions:
    """What a renderer may need besides the result; each format takes what concerns it.

    ``screen`` and ``quiet`` are the terminal's, ``source_lines`` gives it the lines around the deciding one;
    ``fail_on`` is JUnit's; ``rules`` (by rule id) and ``tool_version`` are SARIF's.
    """

    screen: Screen = field(default_factory=Screen)
    quiet: bool = False
    source_lines: SourceLines | None = None
    fail_on: FailOn = FailOn.ERROR
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    tool_version: str | None = None


_DEFAULTS = RenderOptions()


def render_check(report: Report, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """One report as text that ends in a line break."""
    if form is Format.JSON:
        from mtp_trace.report.jsonform import report_json

        return report_json(report).decode("utf-8")
    if form is Format.SARIF:
        from mtp_trace.report.sarif import check_sarif

        return check_sarif([report], options.rules, options.tool_version).decode("utf-8")
    if form is Format.JUNIT:
        from mtp_trace.report.junit import check_junit

        return check_junit([report], options.fail_on)
    if form is Format.GITHUB:
        from mtp_trace.report.github import check_github

        return check_github([report])
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown import check_markdown

        return check_markdown(report)
    from mtp_trace.report.terminal import render_report

    return render_report(report, options.screen, options.source_lines, options.quiet)


def render_audit(audit: Audit, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """Every launch of an audit as text that ends in a line break (``github``: a line each, maybe none)."""
    if form is Format.JSON:
        from mtp_trace.report.jsonlists import audit_json

        return audit_json(audit).decode("utf-8")
    if form is Format.SARIF:
        from mtp_trace.report.sarif import audit_sarif

        return audit_sarif(audit, options.rules, options.tool_version).decode("utf-8")
    if form is Format.JUNIT:
        from mtp_trace.report.junit import audit_junit

        return audit_junit(audit, options.fail_on)
    if form is Format.GITHUB:
        from mtp_trace.report.github import audit_github

        return audit_github(audit)
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown import audit_markdown

        return audit_markdown(audit)
    from mtp_trace.report.terminal_lists import render_audit as terminal

    return terminal(audit, options.screen, options.quiet)


def render_scan(scan: Scan, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """Every fact of a scan as text that ends in a line break (``github``: a line each, maybe none)."""
    if form is Format.JSON:
        from mtp_trace.report.jsonlists import scan_json

        return scan_json(scan).decode("utf-8")
    if form is Format.SARIF:
        from mtp_trace.report.sarif import scan_sarif

        return scan_sarif(scan, options.rules, options.tool_version).decode("utf-8")
    if form is Format.JUNIT:
        from mtp_trace.report.junit import scan_junit

        return scan_junit(scan)
    if form is Format.GITHUB:
        from mtp_trace.report.github import scan_github

        return scan_github(scan)
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown import scan_markdown

        return scan_markdown(scan)
    from mtp_trace.report.terminal_lists import render_scan as terminal

    return terminal(scan, options.screen, options.quiet)


def render_diff(diff: Diff, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """Two trees' facts side by side; ``InputError`` for a format outside of ``COMPARE_FORMATS``."""
    _refuse_others(form)
    if form is Format.JSON:
        from mtp_trace.report.jsonlists import diff_json

        return diff_json(diff).decode("utf-8")
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown_compare import diff_markdown

        return diff_markdown(diff)
    from mtp_trace.report.terminal_compare import render_diff as terminal

    return terminal(diff, options.screen, options.quiet)


def render_gate(gate: Gate, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """An upgrade's deployments; ``InputError`` for a format outside of ``COMPARE_FORMATS``."""
    _refuse_others(form)
    if form is Format.JSON:
        from mtp_trace.report.jsonlists import gate_json

        return gate_json(gate).decode("utf-8")
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown_compare import gate_markdown

        return gate_markdown(gate)
    from mtp_trace.report.terminal_compare import render_gate as terminal

    return terminal(gate, options.screen, options.quiet)


def render_matrix(matrix: Matrix, form: Format, options: RenderOptions = _DEFAULTS) -> str:
    """Models against releases; ``InputError`` for a format outside of ``COMPARE_FORMATS``."""
    _refuse_others(form)
    if form is Format.JSON:
        from mtp_trace.report.jsonlists import matrix_json

        return matrix_json(matrix).decode("utf-8")
    if form is Format.MARKDOWN:
        from mtp_trace.report.markdown_compare import matrix_markdown

        return matrix_markdown(matrix)
    from mtp_trace.report.terminal_compare import render_matrix as terminal

    return terminal(matrix, options.screen, options.quiet)


def _refuse_others(form: Format) -> None:
    if form not in COMPARE_FORMATS:
        known = ", ".join(known.value for known in COMPARE_FORMATS)
        raise InputError(f"a comparison has no {form.value} form", "--format", f"use {known}")
