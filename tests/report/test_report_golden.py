from __future__ import annotations

import pytest
from report_golden import GOLDEN, check_golden
from report_samples import AUDIT, DIFF, GATE, MATRIX, REPORTS, SCAN, STARTUP_ERROR, sample_lines

from mtp_trace.errors import InputError
from mtp_trace.report.formats import (
    COMPARE_FORMATS,
    Format,
    RenderOptions,
    render_audit,
    render_check,
    render_diff,
    render_gate,
    render_matrix,
    render_scan,
)
from mtp_trace.report.terminal_console import Screen

ENDINGS = {
    Format.TERMINAL: "txt",
    Format.JSON: "json",
    Format.SARIF: "sarif",
    Format.JUNIT: "xml",
    Format.GITHUB: "github",
    Format.MARKDOWN: "md.txt",  # as .md a formatter would rewrite the quoted source
}
OPTIONS = RenderOptions(screen=Screen(width=90), source_lines=sample_lines)
LISTS = {"audit": (render_audit, AUDIT), "scan": (render_scan, SCAN)}
COMPARISONS = {"diff": (render_diff, DIFF), "gate": (render_gate, GATE), "matrix": (render_matrix, MATRIX)}


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("name", REPORTS)
def test_check(name: str, form: Format) -> None:
    text = render_check(REPORTS[name], form, OPTIONS)
    assert text == render_check(REPORTS[name], form, OPTIONS)
    check_golden(f"check-{name}.{ENDINGS[form]}", text)


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("name", LISTS)
def test_lists(name: str, form: Format) -> None:
    render, result = LISTS[name]
    check_golden(f"{name}.{ENDINGS[form]}", render(result, form, OPTIONS))


@pytest.mark.parametrize("form", COMPARE_FORMATS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, form: Format) -> None:
    render, result = COMPARISONS[name]
    check_golden(f"{name}.{ENDINGS[form]}", render(result, form, OPTIONS))


def test_colours() -> None:
    options = RenderOptions(screen=Screen(width=70, color=True), source_lines=sample_lines)
    check_golden("check-colours.ansi", render_check(STARTUP_ERROR, Format.TERMINAL, options))


@pytest.mark.parametrize("form", [form for form in Format if form not in COMPARE_FORMATS])
@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_refuses_formats_for_findings(name: str, form: Format) -> None:
    render, result = COMPARISONS[name]
    with pytest.raises(InputError, match=form.value):
        render(result, form)


def test_every_golden_file_is_used() -> None:
    wanted = {f"check-{name}.{ending}" for name in REPORTS for ending in ENDINGS.values()} | {"check-colours.ansi"}
    wanted |= {f"{name}.{ending}" for name in LISTS for ending in ENDINGS.values()}
    wanted |= {f"{name}.{ENDINGS[form]}" for name in COMPARISONS for form in COMPARE_FORMATS}
    assert {path.name for path in GOLDEN.iterdir()} == wanted
