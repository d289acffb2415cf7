from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
from report_samples import (
    ACTIVE,
    AUDIT,
    DEGRADED,
    DEPENDS,
    REPORTS,
    SCAN,
    STARTUP_ERROR,
    UNDETERMINED,
    hostile_report,
)

from mtp_trace.report.model import Finding, Report, Severity
from mtp_trace.report.ruletext import RuleText
from mtp_trace.report.sarif import audit_sarif, check_sarif, scan_sarif

OFFICIAL = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0.json").read_bytes())
LOGS = {
    **{name: check_sarif([report], {}) for name, report in REPORTS.items()},
    "batch": check_sarif(list(REPORTS.values()), {"radix-no-buffer": RuleText("Name", "Help")}, "1.0.0"),
    "hostile": check_sarif([hostile_report()], {}),
    "empty": check_sarif([], {}),
    "audit": audit_sarif(AUDIT, {}),
    "scan": scan_sarif(SCAN, {}),
}


def run_of(log: bytes) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(log)["runs"][0]
    return run


def locations(log: bytes) -> list[dict[str, Any]]:
    found = []
    for result in run_of(log)["results"]:
        found += [place["physicalLocation"] for place in result["locations"] + result.get("relatedLocations", [])]
    return found


@pytest.mark.parametrize("name", LOGS)
def test_the_official_schema_validates_it(name: str) -> None:
    kind = jsonschema.validators.validator_for(OFFICIAL)
    kind(OFFICIAL, format_checker=kind.FORMAT_CHECKER).validate(json.loads(LOGS[name]))


@pytest.mark.parametrize("name", LOGS)
def test_rules_are_found_by_their_index(name: str) -> None:
    run = run_of(LOGS[name])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({result["ruleId"] for result in run["results"]})
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]


@pytest.mark.parametrize("name", LOGS)
def test_places_are_relative_and_real(name: str) -> None:
    for place in locations(LOGS[name]):
        artifact = place["artifactLocation"]
        assert artifact["uriBaseId"] in ("SRCROOT", "LAUNCHROOT")
        assert not urlsplit(artifact["uri"]).scheme and not artifact["uri"].startswith("/")
        region = place.get("region", {"startLine": 1, "endLine": 1})
        assert 1 <= region["startLine"] <= region["endLine"]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/c#d.py", "a%20b/c%23d.py"),
        ("/abs/x.sh", "file:///abs/x.sh"),
        ("C:\\run\\x.sh", "file:///C:/run/x.sh"),
        ("http://x/y", "http%3A//x/y"),
    ],
)
def test_uris(file: str, uri: str) -> None:
    finding = Finding("r", Severity.ERROR, "t", "m", file, 1)
    assert locations(check_sarif([replace(ACTIVE, findings=(finding,))], {}))[0]["artifactLocation"]["uri"] == uri


def moved(report: Report, lines: int) -> Report:
    def down(finding: Finding) -> Finding:
        return replace(finding, line=(finding.line or 0) + lines, end_line=(finding.end_line or 0) + lines)

    error = report.error and replace(report.error, line=(report.error.line or 0) + lines)
    return replace(report, findings=tuple(map(down, report.findings)), error=error)


@pytest.mark.parametrize("name", REPORTS)
def test_identities_survive_moved_code_and_are_distinct(name: str) -> None:
    def identities(report: Report) -> list[str]:
        return [r["partialFingerprints"]["mtpTrace/v1"] for r in run_of(check_sarif([report], {}))["results"]]

    before = identities(REPORTS[name])
    assert identities(moved(REPORTS[name], 7)) == before
    assert len(set(before)) == len(before)
    assert not {"7", "42"} & set(before)


def test_an_audit_points_at_the_launch() -> None:
    results = run_of(audit_sarif(AUDIT, {}))["results"]
    guard = next(result for result in results if result["ruleId"] == "radix-no-buffer")
    assert guard["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "deploy/startup-error.sh",
        "uriBaseId": "LAUNCHROOT",
    }
    assert guard["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 42


@pytest.mark.parametrize("report", [DEPENDS, UNDETERMINED])
def test_an_open_verdict_is_no_failure(report: Report) -> None:
    verdict = run_of(check_sarif([report], {}))["results"][0]
    assert (verdict["kind"], verdict["level"]) == ("open", "none")


def test_a_told_verdict_is_not_told_twice() -> None:
    ids = [result["ruleId"] for result in run_of(check_sarif([STARTUP_ERROR, DEGRADED], {}))["results"]]
    assert not [rule for rule in ids if rule.startswith("verdict/")]


def test_an_accepted_verdict_is_suppressed() -> None:
    report = replace(STARTUP_ERROR, findings=(), accepted="known")
    (verdict,) = run_of(check_sarif([report], {}))["results"]
    assert verdict["suppressions"] == [{"kind": "external", "justification": "known"}]


def test_the_path_is_a_code_flow_of_the_first_result() -> None:
    results = run_of(check_sarif([STARTUP_ERROR], {}))["results"]
    steps = results[0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == len(STARTUP_ERROR.path)
    assert all("codeFlows" not in result for result in results[1:])


def test_rule_texts_and_tool_version() -> None:
    driver = run_of(LOGS["batch"])["tool"]["driver"]
    rule = next(rule for rule in driver["rules"] if rule["id"] == "radix-no-buffer")
    assert (rule["shortDescription"]["text"], rule["help"]["text"]) == ("Name", "Help")
    assert driver["version"] == "1.0.0"
    assert "helpUri" not in rule


def test_quoted_source_makes_no_link() -> None:
    finding = Finding("r", Severity.ERROR, "t", "see [here](1)")
    text = run_of(check_sarif([replace(ACTIVE, findings=(finding,))], {}))["results"][0]["message"]["text"]
    assert "](" not in text
