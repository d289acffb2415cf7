from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from report_samples import ACTIVE, DEGRADED, GATE, REPORTS, STARTUP_ERROR, hostile_report

from mtp_trace.errors import InputError
from mtp_trace.report.baseline import (
    Baseline,
    apply_baseline,
    baseline_text,
    load_baseline,
    make_baseline,
    parse_baseline,
    save_baseline,
)
from mtp_trace.report.compare_model import Effect, Gate
from mtp_trace.report.exitcode import ExitCode, FailOn, exit_code, exit_code_all, exit_code_gate
from mtp_trace.report.fingerprint import fingerprints
from mtp_trace.report.model import Finding, Report, Severity

TODAY = date(2030, 6, 15)
SCOPED = [(name, report) for name, report in REPORTS.items()]


def expiring(baseline: Baseline, day: date) -> Baseline:
    return Baseline(tuple(replace(entry, expires=day) for entry in baseline.entries))


def test_what_was_written_is_known(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    save_baseline(path, make_baseline(SCOPED, reason="as it was"))
    applied = apply_baseline(load_baseline(path), SCOPED, TODAY)
    assert all(not report.findings for report in applied.reports)
    assert exit_code_all(applied.reports, FailOn.NOTE) is ExitCode.ACTIVE
    assert (applied.stale, applied.expired) == ((), ())
    assert applied.known == len(load_baseline(path).entries)


def test_only_known_findings_are_filtered() -> None:
    new = Finding("other", Severity.ERROR, "t", "m", "a.py", 1)
    applied = apply_baseline(make_baseline([("", ACTIVE)]), [("", replace(ACTIVE, findings=(new,)))], TODAY)
    assert applied.reports[0].findings == (new,)
    assert len(applied.stale) == 1
    assert exit_code_all(applied.reports) is ExitCode.FAILED


def test_an_accepted_verdict_keeps_its_reason_and_its_new_findings_count() -> None:
    baseline = make_baseline([("", STARTUP_ERROR)], reason="next month")
    (report,) = apply_baseline(baseline, [("", STARTUP_ERROR)], TODAY).reports
    assert report.accepted == "next month" and exit_code(report) is ExitCode.ACTIVE
    new = Finding("other", Severity.ERROR, "t", "m")
    assert exit_code(replace(report, findings=(new,))) is ExitCode.FAILED


@pytest.mark.parametrize(("day", "holds"), [(date(2030, 6, 14), False), (TODAY, True), (date(2031, 1, 1), True)])
def test_entries_expire(day: date, holds: bool) -> None:
    baseline = expiring(make_baseline([("", STARTUP_ERROR)]), day)
    applied = apply_baseline(baseline, [("", STARTUP_ERROR)], TODAY)
    assert (applied.reports[0].accepted is not None) is holds
    assert (len(applied.reports[0].findings) == 0) is holds
    assert bool(applied.expired) is not holds
    assert not applied.stale


def test_scopes_are_apart() -> None:
    applied = apply_baseline(make_baseline([("a", DEGRADED)]), [("b", DEGRADED)], TODAY)
    assert applied.known == 0 and len(applied.stale) == 3


def test_writing_anew_keeps_reasons_and_drops_stale_entries() -> None:
    old = expiring(make_baseline([("", DEGRADED), ("x", ACTIVE)], reason="why"), TODAY)
    new = make_baseline([("", DEGRADED), ("", STARTUP_ERROR)], old, reason="new")
    assert {(entry.reason, entry.expires) for entry in new.entries} == {("why", TODAY), ("new", None)}
    assert not any(entry.scope == "x" for entry in new.entries)


def test_the_file_is_stable_and_survives_hostile_text() -> None:
    baseline = make_baseline([*SCOPED, ("evil", hostile_report())])
    text = baseline_text(baseline)
    assert text.isascii() and baseline_text(parse_baseline(text)) == text
    assert baseline_text(Baseline(tuple(reversed(baseline.entries)))) == text


ENTRY = {"fingerprint": "a", "rule": "r"}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("{", "f:1:2"),
        ([], "f: version"),
        ({"version": 2, "entries": []}, "f: version"),
        ({"version": 1}, "f: entries"),
        ({"version": 1, "entries": [1]}, "f: entries[0]"),
        ({"version": 1, "entries": [{"rule": "r"}]}, "f: entries[0].fingerprint"),
        ({"version": 1, "entries": [{**ENTRY, "reason": 1}]}, "f: entries[0].reason"),
        ({"version": 1, "entries": [{**ENTRY, "line": 1}]}, "f: entries[0].line"),
        ({"version": 1, "entries": [{**ENTRY, "expires": "20300101"}]}, "f: entries[0].expires"),
        ({"version": 1, "entries": [{**ENTRY, "expires": "2030-02-30"}]}, "f: entries[0].expires"),
        ({"version": 1, "entries": [{**ENTRY, "expires": 5}]}, "f: entries[0].expires"),
        ({"version": 1, "entries": [ENTRY, ENTRY]}, "f: entries[1].fingerprint"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(data: object, where: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_baseline(data if isinstance(data, str) else json.dumps(data), "f")
    assert caught.value.where == where


def test_a_missing_or_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="cannot be written"):
        save_baseline(tmp_path / "no" / "where.json", Baseline())


BASE = Finding("r", Severity.ERROR, "title", "message at a.py:10", "a.py", 10, 11, "if x:\n    raise")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(BASE, line=90, end_line=99), True),
        (replace(BASE, snippet="  if x:\n\n        raise\n"), True),
        (replace(BASE, severity=Severity.NOTE), True),
        (replace(BASE, message="another"), True),
        (replace(BASE, snippet="if y: raise"), False),
        (replace(BASE, file="b.py"), False),
        (replace(BASE, rule="s"), False),
        (replace(BASE, title="other"), False),
    ],
)
def test_identity(other: Finding, same: bool) -> None:
    assert (fingerprints([("", BASE)]) == fingerprints([("", other)])) is same


def test_identity_without_a_snippet_passes_over_quoted_lines() -> None:
    bare = replace(BASE, snippet="")
    assert fingerprints([("", bare)]) == fingerprints([("", replace(bare, message="message at a.py:77"))])
    assert fingerprints([("", bare)]) != fingerprints([("", replace(bare, message="another"))])


def test_equal_findings_are_told_apart() -> None:
    first, second = fingerprints([("", BASE), ("", BASE)])
    assert first != second and [first] == fingerprints([("", BASE)])


# Exit codes


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("active", ExitCode.ACTIVE),
        ("degraded", ExitCode.FAILED),
        ("inactive", ExitCode.FAILED),
        ("startup-error", ExitCode.FAILED),
        ("depends", ExitCode.OPEN),
        ("undetermined", ExitCode.OPEN),
    ],
)
def test_exit_codes(name: str, code: ExitCode) -> None:
    assert exit_code(REPORTS[name]) is code
    assert exit_code(REPORTS[name], FailOn.NEVER) is ExitCode.ACTIVE


def with_finding(severity: Severity) -> Report:
    return replace(ACTIVE, findings=(Finding("r", severity, "t", "m"),))


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("level", [FailOn.ERROR, FailOn.WARNING, FailOn.NOTE])
def test_the_gates_level(severity: Severity, level: FailOn) -> None:
    order = ["error", "warning", "note"]
    fails = order.index(severity.value) <= order.index(level.value)
    assert (exit_code(with_finding(severity), level) is ExitCode.FAILED) is fails


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ((), ExitCode.USAGE),
        (("active",), ExitCode.ACTIVE),
        (("active", "depends"), ExitCode.OPEN),
        (("active", "depends", "inactive"), ExitCode.FAILED),
    ],
)
def test_many(names: tuple[str, ...], code: ExitCode) -> None:
    assert exit_code_all(REPORTS[name] for name in names) is code


@pytest.mark.parametrize(
    ("effects", "code"),
    [
        ((), ExitCode.USAGE),
        ((Effect.NONE, Effect.IMPROVEMENT), ExitCode.ACTIVE),
        ((Effect.CHANGED,), ExitCode.OPEN),
        ((Effect.REGRESSION, Effect.CHANGED), ExitCode.FAILED),
    ],
)
def test_gate(effects: tuple[Effect, ...], code: ExitCode) -> None:
    gate = Gate(GATE.old, GATE.new, tuple(d for d in GATE.deployments if d.change in effects))
    assert exit_code_gate(gate) is code
    assert exit_code_gate(GATE, FailOn.NEVER) is ExitCode.ACTIVE


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version": ' + "9" * 5000 + "}"])
def test_json_that_no_parser_holds_is_bad_input(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_baseline(text, "known.json")
    assert caught.value.where == "known.json"
