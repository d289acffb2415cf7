from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from report_samples import (
    ACTIVE,
    AUDIT,
    DEPENDS,
    EVIL,
    GATE,
    INACTIVE,
    MATRIX,
    REPORTS,
    SCAN,
    STARTUP_ERROR,
    UNDETERMINED,
    hostile_report,
    sample_lines,
)

from mtp_trace.report.compare_model import Cell, Matrix
from mtp_trace.report.exitcode import FailOn
from mtp_trace.report.formats import (
    Format,
    RenderOptions,
    render_audit,
    render_check,
    render_gate,
    render_matrix,
    render_scan,
)
from mtp_trace.report.github import check_github
from mtp_trace.report.junit import audit_junit, check_junit
from mtp_trace.report.listing_model import Audit, AuditEntry
from mtp_trace.report.markdown import audit_markdown, check_markdown
from mtp_trace.report.markdown_text import plain_text
from mtp_trace.report.model import Finding, Report, Severity, Verdict
from mtp_trace.report.terminal import render_report
from mtp_trace.report.terminal_console import Screen, screen_for

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("form", Format)
def test_nothing_steers_in_any_format(form: Format) -> None:
    report = hostile_report()
    audit = Audit(report.sglang, (AuditEntry(EVIL, 1, EVIL, EVIL, report, (EVIL,), {EVIL: EVIL}, (EVIL,)),))
    for text in (render_check(report, form), render_audit(audit, form)):
        assert not STEERING.search(text)
        assert text.encode("utf-8")


# Terminal


@pytest.mark.parametrize("name", REPORTS)
def test_the_first_line_says_the_verdict(name: str) -> None:
    report = REPORTS[name]
    first = render_report(report, Screen(), sample_lines).splitlines()[0]
    assert first.startswith(report.verdict.value.upper())
    assert render_report(report, Screen(), quiet=True).splitlines() == [first]


@pytest.mark.parametrize("width", [40, 61, 80, 132])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("name", [*REPORTS, "hostile"])
def test_no_line_is_wider_than_the_screen(name: str, width: int, unicode: bool) -> None:
    from rich.cells import cell_len

    report = REPORTS.get(name) or hostile_report()
    text = render_report(replace(report, suggestion=None), Screen(width, unicode=unicode), sample_lines)
    # What is spelled out for a screen of ASCII is spelled out after the lines are broken.
    room = width if unicode else width + 12
    assert max(map(cell_len, text.splitlines())) <= room
    assert unicode or text.isascii()


def test_colours_only_where_asked() -> None:
    assert "\x1b[" in render_report(ACTIVE, Screen(color=True))
    assert "\x1b" not in render_report(ACTIVE, Screen())
    assert "\x1b[" in render_report(ACTIVE, Screen(color=True), quiet=True)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "env", "color"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_screen(stream: io.StringIO, env: dict[str, str], color: bool) -> None:
    screen = screen_for(stream, env)
    assert (screen.color, screen.unicode) == (color, True)


def test_the_deciding_line_is_marked_between_its_neighbours() -> None:
    text = render_report(STARTUP_ERROR, Screen(), sample_lines)
    marked = [line for line in text.splitlines() if line.startswith("> ")]
    assert marked == ["> 42 \u2502             raise ValueError('radix cache needs the extra buffer')"]
    assert "  40 \u2502 line 40 of the demo" in text


def test_without_source_the_snippet_stands_in() -> None:
    text = render_report(STARTUP_ERROR, Screen())
    assert "> 42 \u2502 raise ValueError" in text
    assert render_report(STARTUP_ERROR, Screen(), lambda file, first, last: None) == text


def test_the_command_is_whole_on_a_narrow_screen() -> None:
    lines = render_report(STARTUP_ERROR, Screen(40)).splitlines()
    start = lines.index("SGLANG_DEMO=1 \\")
    assert lines[start : start + 2] == ["SGLANG_DEMO=1 \\", "python -m sglang.launch_server \\"]
    assert lines[start + 5] == "  --strategy extra_buffer"


def test_a_long_message_is_cut_in_the_headline_and_whole_below() -> None:
    assert STARTUP_ERROR.error is not None
    message = "first line\n" + "word " * 80 + "end"
    text = render_report(replace(STARTUP_ERROR, error=replace(STARTUP_ERROR.error, message=message)), Screen(500))
    assert text.splitlines()[0].endswith("\u2026")
    assert "word end" in text


def test_a_matrix_breaks_into_tables_that_fit() -> None:
    cells = tuple(Cell(f"model-{n}", "1.0", Verdict.ACTIVE) for n in range(9))
    text = render_matrix(Matrix(cells), Format.TERMINAL, RenderOptions(screen=Screen(50)))
    assert text.count("release") > 1 and max(map(len, text.splitlines())) <= 50
    assert all(f"model-{n}" in text for n in range(9))


@pytest.mark.parametrize("render", [render_audit, render_scan, render_gate, render_matrix])
def test_quiet_leaves_one_line(render: object) -> None:
    result = {render_audit: AUDIT, render_scan: SCAN, render_gate: GATE, render_matrix: MATRIX}[render]
    text = render(result, Format.TERMINAL, RenderOptions(screen=Screen(200), quiet=True))  # type: ignore[operator]
    assert text.count("\n") == 1


def test_rich_is_imported_only_to_write_to_a_terminal() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import report_samples as s; "
        "from mtp_trace.report.formats import *; "
        "[render_check(r, f) for r in s.REPORTS.values() for f in Format if f is not Format.TERMINAL]; "
        "render_check(s.ACTIVE, Format.TERMINAL, RenderOptions(quiet=True)); "
        "sys.exit('rich' in sys.modules)"
    )
    where = __file__.rpartition("/")[0]
    assert subprocess.run([sys.executable, "-c", program, where], check=False).returncode == 0


# JUnit


def outcome(report: Report, fail_on: FailOn = FailOn.ERROR) -> str:
    root = ElementTree.fromstring(check_junit([report], fail_on))
    tags = [child.tag for child in root[0][0] if child.tag != "system-out"]
    return tags[0] if tags else "passed"


WARNED = replace(ACTIVE, findings=(Finding("r", Severity.WARNING, "t", "m"),))


@pytest.mark.parametrize(
    ("report", "fail_on", "expected"),
    [
        (ACTIVE, FailOn.WARNING, "passed"),
        (ACTIVE, FailOn.NOTE, "failure"),
        (WARNED, FailOn.ERROR, "passed"),
        (WARNED, FailOn.WARNING, "failure"),
        (INACTIVE, FailOn.ERROR, "failure"),
        (INACTIVE, FailOn.NEVER, "passed"),
        (DEPENDS, FailOn.ERROR, "skipped"),
        (UNDETERMINED, FailOn.ERROR, "error"),
        (UNDETERMINED, FailOn.NEVER, "passed"),
        (replace(UNDETERMINED, accepted=""), FailOn.ERROR, "skipped"),
        (replace(INACTIVE, accepted="known", findings=()), FailOn.NOTE, "skipped"),
    ],
)
def test_junit_outcomes(report: Report, fail_on: FailOn, expected: str) -> None:
    assert outcome(report, fail_on) == expected


def test_junit_counts() -> None:
    root = ElementTree.fromstring(audit_junit(AUDIT, FailOn.ERROR))
    suite = root[0]
    assert root.tag == "testsuites" and len(root) == 1
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "3",
        "errors": "1",
        "skipped": "1",
    }


def test_junit_holds_hostile_text() -> None:
    text = check_junit([hostile_report()], FailOn.ERROR)
    case = ElementTree.fromstring(text)[0][0]
    assert "]]>" not in text and "]]>" in (case.findtext("system-out") or "")
    assert "<script>" in (case.findtext("system-out") or "")


# GitHub


COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:]*,)*\w+=[^,:]*)::(.*)")


@pytest.mark.parametrize("name", [*REPORTS, "hostile"])
def test_github_lines_are_commands(name: str) -> None:
    report = REPORTS.get(name) or hostile_report()
    lines = check_github([report]).splitlines()
    assert lines and all(COMMAND.fullmatch(line) for line in lines)


def test_github_escapes() -> None:
    finding = Finding("r", Severity.ERROR, "50%: a, b", "100%\nnext: a, b", "a,b:c.py", 3, 5)
    line = check_github([replace(ACTIVE, findings=(finding,))]).splitlines()[1]
    assert line == ("::error file=a%2Cb%3Ac.py,line=3,endLine=5,title=50%25%3A a%2C b [r]::100%25%0Anext: a, b")


# Markdown


def tokens(text: str) -> list[str]:
    found = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        found += [child.type + child.content for child in token.children or [] if child.type != "text"]
        if token.type == "html_block":
            found.append(token.content)
    return found


@pytest.mark.parametrize("name", [*REPORTS, "hostile"])
def test_markdown_makes_no_html_and_no_links_of_text(name: str) -> None:
    found = "\n".join(tokens(check_markdown(REPORTS.get(name) or hostile_report())))
    html = re.findall(r"html_inline(<[^\n]*>)", found)
    assert set(html) <= {"<!-- -->"}
    assert "<script" not in re.sub(r"code_inline[^\n]*", "", found)
    assert not re.search(r"link_open|image|strikethrough|\bem_open", found)


def test_markdown_tables_keep_their_shape() -> None:
    text = check_markdown(hostile_report())
    for line in text.splitlines():
        if line.startswith("| "):
            bars = len(re.findall(r"(?<!\\)\|", line))
            assert bars in (3, 4), line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b*c*", "a\\_b\\*c\\*"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("# title", "\\# title"),
        ("--flag", "\\--flag"),
        ("1.3.0", "1.3.0"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("a|b", "a\\|b"),
        ("@team #12", "@<!-- -->team #<!-- -->12"),
        ("see https://x.example", "see https\\://x.example"),
        ("two\nlines", "two lines"),
    ],
)
def test_plain_text(text: str, expected: str) -> None:
    assert plain_text(text) == expected


def test_a_comment_stays_within_githubs_limit() -> None:
    entry = AUDIT.launches[1]
    text = audit_markdown(Audit(AUDIT.sglang, (entry,) * 100))
    assert len(text) < 65_536
    assert "launches left out here for length" in text
