"""JUnit reports have the form that build servers check."""

from __future__ import annotations

from dataclasses import replace

import pytest
from junit_form import faults
from report_samples import ACTIVE, AUDIT, REPORTS, SCAN, hostile_report

from mtp_trace.report.exitcode import FailOn
from mtp_trace.report.junit import audit_junit, check_junit, scan_junit

DOCUMENTS = {
    **{f"{name} {gate.value}": check_junit([report], gate) for name, report in REPORTS.items() for gate in FailOn},
    **{f"audit {gate.value}": audit_junit(AUDIT, gate) for gate in FailOn},
    "batch": check_junit(list(REPORTS.values()), FailOn.NOTE),
    "hostile": check_junit([hostile_report()], FailOn.ERROR),
    "nameless": check_junit([replace(ACTIVE, id="", model=replace(ACTIVE.model, path=""))], FailOn.ERROR),
    "empty": check_junit([], FailOn.ERROR),
    "no launch": audit_junit(replace(AUDIT, launches=()), FailOn.ERROR),
    "scan": scan_junit(SCAN),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_form_holds(name: str) -> None:
    assert faults(DOCUMENTS[name]) == []


BROKEN = {
    '<testsuite name="a" tests="0" failures="0"/>': "testsuite lacks errors",
    '<testsuite name="a" tests="1" failures="0" errors="0"/>': "a: tests is 1",
    '<testsuite name="a" tests="x" failures="0" errors="0"/>': "testsuite has tests='x'",
    '<testsuites skipped="0"/>': "testsuites has skipped",
    '<testsuites time="soon"/>': "testsuites has time='soon'",
    "<testsuites>words</testsuites>": "testsuites has text",
    '<testsuites><testcase name="a" line="3"/></testsuites>': "testsuites holds testcase",
    '<testcase name="a" line="3"/>': "testcase has line",
    "<testsuites><b/></testsuites>": "b is no element of a report",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_not_of_the_form_is_told(text: str) -> None:
    assert BROKEN[text] in faults(text)


def test_a_launch_tells_its_own_place() -> None:
    entry = AUDIT.launches[0]
    assert f"<system-out>{entry.file}:{entry.line}\n" in audit_junit(AUDIT, FailOn.ERROR)
