"""Any text at all, in every place of a report, in every format."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import ACTIVE, STARTUP_ERROR

from mtp_trace.report.command import command_lines, shell_word
from mtp_trace.report.formats import Format, render_check
from mtp_trace.report.markdown_text import cell, fenced
from mtp_trace.report.model import Failure, Finding, Fix, LaunchInfo, Place, Report, Severity, Step, Suggestion, Verdict
from mtp_trace.report.textsafe import one_line, visible

TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def report_of(a: str, b: str) -> Report:
    finding = Finding(a, Severity.ERROR, b, a, b, 3, 4, a, Fix(b), (Place(a, 1, 2, b, a),))
    return replace(
        STARTUP_ERROR,
        stage=b,
        error=Failure(a, b, a, 5, 6),
        findings=(finding,),
        path=(Step(a, b, a, 1, b, a, b),),
        launch=LaunchInfo((a, b), {"X": a}, b),
        suggestion=Suggestion((a, "--x", b), {"X": b}, (), Verdict.ACTIVE),
    )


@pytest.mark.parametrize("form", Format)
@settings(max_examples=25, deadline=None)
@given(a=TEXT, b=TEXT)
def test_every_format_takes_any_text(form: Format, a: str, b: str) -> None:
    text = render_check(report_of(a, b), form)
    assert text.endswith("\n") and not STEERING.search(text)
    if form in (Format.JSON, Format.SARIF):
        json.loads(text)
    elif form is Format.JUNIT:
        ElementTree.fromstring(text)
    elif form is Format.GITHUB:
        assert all(line.startswith("::") for line in text.split("\n")[:-1])


@given(TEXT)
def test_text_is_made_safe_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert one_line(one_line(text)) == one_line(text)
    assert "\n" not in one_line(text)


def test_a_long_row_of_blanks_takes_no_longer_than_other_text() -> None:
    assert one_line("a" + " " * 500_000 + "\tb \n\t c") == "a" + " " * 500_001 + "b c"


@given(TEXT)
def test_a_cell_has_no_bare_bar(text: str) -> None:
    assert not re.search(r"(?<!\\)\|", cell(text))


@given(TEXT)
def test_a_fence_is_closed_only_by_itself(text: str) -> None:
    block = fenced(text.split("\n"), "sh").split("\n")
    fence = block[-1]
    assert set(fence) == {"`"} and not any(line.strip().startswith(fence) for line in block[1:-1])


@given(TEXT)
def test_plain_words_are_quoted_as_a_shell_reads_them(word: str) -> None:
    quoted = shell_word(word)
    if not quoted.startswith("$'"):
        assert shlex.split(quoted) == [word]


def test_a_shell_reads_every_word_back() -> None:
    words = ["--flag", "it's", "a\nb", "\x1b[31m\\", "\u202e'\u009b", "$HOME `x`", "", "-1", "\U000e0041", "caf\u00e9"]
    command = " ".join(map(shell_word, words))
    script = f"printf '%s\\0' {command}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert result.stdout.decode("utf-8").split("\0")[:-1] == words


def test_a_command_keeps_a_program_that_was_given() -> None:
    lines = command_lines(("python3", "-m", "server", "--tp", "8", "--bias", "-1.5", "-v"), {"B": "2", "A": "a b"})
    assert lines == ["A='a b' \\", "B=2 \\", "python3 -m server \\", "  --tp 8 \\", "  --bias -1.5 \\", "  -v"]


def test_a_report_does_not_change_while_it_is_written() -> None:
    before = repr(ACTIVE)
    for form in Format:
        render_check(ACTIVE, form)
    assert repr(ACTIVE) == before
