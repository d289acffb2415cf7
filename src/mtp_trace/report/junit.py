"""JUnit XML for build servers: one suite, a case for each launch.

Only what build servers' schemas know: places are words of the output, since a case has no attribute for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtp_trace.report.exitcode import ExitCode, FailOn, caught, exit_code
from mtp_trace.report.facttext import fact_text
from mtp_trace.report.listing_model import Audit, Scan
from mtp_trace.report.model import Finding, Report, Verdict
from mtp_trace.report.outcome import at, by_severity, failure_text, headline
from mtp_trace.report.textsafe import one_line, visible

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def check_junit(reports: Sequence[Report], fail_on: FailOn) -> str:
    """A case for each report, named by its id or, for a single check, by its model."""
    suite = _suite("mtp-trace check")
    for report in reports:
        _launch(suite, report.id or report.model.path, report.model.path, "", report, fail_on)
    return _document(suite)


def audit_junit(audit: Audit, fail_on: FailOn) -> str:
    """A case for each launch, in the class of its file."""
    suite = _suite("mtp-trace audit")
    for entry in audit.launches:
        _launch(suite, entry.name, entry.file, at(entry.file, entry.line), entry.report, fail_on)
    return _document(suite)


def scan_junit(scan: Scan) -> str:
    """A passing case for each fact."""
    suite = _suite("mtp-trace scan")
    for fact in scan.facts:
        case = _case(suite, f"{fact.rule} {at(fact.file, fact.line)}", fact.kind)
        _add(case, "system-out", fact_text(fact))
    return _document(suite)


def _launch(suite: Element, name: str, group: str, place: str, report: Report, fail_on: FailOn) -> None:
    """Failure: not active, or findings at the gate's level. Skipped: the answer is open (``depends``) or accepted.

    Error: the trace itself could not go on (``undetermined``), which is no statement about the launch.
    """
    case = _case(suite, name, group)
    code = exit_code(report, fail_on)
    if code is ExitCode.FAILED:
        _outcome(case, "failure", report, fail_on)
    elif report.verdict is Verdict.UNDETERMINED and code is ExitCode.OPEN:
        _outcome(case, "error", report, fail_on)
    elif report.verdict is not Verdict.ACTIVE and fail_on is not FailOn.NEVER:
        _outcome(case, "skipped", report, fail_on)
    _add(case, "system-out", "\n".join(filter(None, [one_line(place), _story(report)])))


def _outcome(case: Element, tag: str, report: Report, fail_on: FailOn) -> None:
    grave = by_severity(tuple(caught(report.findings, fail_on)))
    message = headline(report)
    if report.verdict is Verdict.ACTIVE and grave:
        message = f"{one_line(grave[0].title)} ({message})"
    told = grave or by_severity(report.findings)
    outcome = _add(case, tag, "\n".join(filter(None, [failure_text(report), *map(_finding, told)])))
    outcome.set("message", one_line(message))
    if tag != "skipped":
        outcome.set("type", report.verdict.value)


def _story(report: Report) -> str:
    return "\n".join([headline(report), *map(_finding, by_severity(report.findings))])


def _finding(finding: Finding) -> str:
    lines = [f"{finding.severity.value}: {one_line(finding.title)} [{one_line(finding.rule)}]"]
    lines += [f"  {part}" for part in (one_line(finding.message), at(finding.file, finding.line)) if part]
    return "\n".join([*lines, f"  fix: {one_line(finding.fix.text)}"] if finding.fix else lines)


def _suite(name: str) -> Element:
    from xml.etree.ElementTree import Element

    return Element("testsuite", {"name": name})


def _case(suite: Element, name: str, group: str) -> Element:
    from xml.etree.ElementTree import SubElement

    names = {"name": one_line(name) or "launch", "classname": one_line(group) or "launch", "time": "0"}
    return SubElement(suite, "testcase", names)


def _add(parent: Element, tag: str, text: str) -> Element:
    from xml.etree.ElementTree import SubElement

    child = SubElement(parent, tag)
    child.text = visible(text)
    return child


def _document(suite: Element) -> str:
    from xml.etree.ElementTree import Element, indent, tostring

    suite.set("tests", str(len(suite)))
    for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in suite)))
    suite.set("time", "0")
    # Some build servers read only the outer element of many suites.
    root = Element("testsuites", {key: suite.get(key, "0") for key in ("tests", "failures", "errors")})
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
