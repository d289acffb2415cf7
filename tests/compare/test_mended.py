"""Which other tree mends a finding."""

from __future__ import annotations

from dataclasses import replace

from mtp_trace.compare.mended import with_mended
from mtp_trace.report.model import (
    Finding,
    Fix,
    LaunchInfo,
    ModelInfo,
    Report,
    Severity,
    SglangInfo,
    Verdict,
)

BROKEN = Finding("weights/built-quantized", Severity.ERROR, "t", "m", fix=Fix("Take another."))
NOTE = Finding("draft-class", Severity.NOTE, "t", "m")
HERE = Report(
    sglang=SglangInfo("a", "1"),
    model=ModelInfo("m"),
    launch=LaunchInfo((), {}, None),
    verdict=Verdict.DEGRADED,
    findings=(BROKEN, NOTE),
    weights={"present": 3},
)
FINE = replace(HERE, verdict=Verdict.ACTIVE, findings=())


def _fix(report: Report) -> str:
    found = report.findings[0].fix
    return found.text if found is not None else ""


def test_the_first_tree_that_mends_it_is_named() -> None:
    told = with_mended(HERE, [("2", HERE), ("3", FINE), ("4", FINE)])
    assert _fix(told) == "Take another. Mended in 3: the same launch has no such finding there."
    assert told.findings[1] == NOTE


def test_a_tree_that_does_not_start_or_was_not_looked_at_mends_nothing() -> None:
    stopped = replace(FINE, verdict=Verdict.STARTUP_ERROR)
    unseen = replace(FINE, weights=None)
    assert _fix(with_mended(HERE, [("2", stopped), ("3", unseen)])) == "Take another. Not mended in 2, 3."


def test_nothing_wrong_says_nothing() -> None:
    assert with_mended(FINE, [("2", HERE)]) is FINE
    assert with_mended(HERE, []) is HERE
