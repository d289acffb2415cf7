"""SARIF 2.1.0, for code-scanning services and editors.

A check points at SGLang's source. An audit points at the launch in the user's own files, which is what the user can
change, and names SGLang's line as a related place. Identities hold no line number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from mtp_trace.report.facttext import fact_text
from mtp_trace.report.fingerprint import entry_scope, fingerprints, report_scope
from mtp_trace.report.listing_model import Audit, AuditEntry, Scan
from mtp_trace.report.model import Finding, Report, Severity, Step
from mtp_trace.report.outcome import is_open, verdict_finding, verdict_is_told
from mtp_trace.report.plain import to_bytes
from mtp_trace.report.ruletext import RuleText
from mtp_trace.report.textsafe import visible

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "mtpTrace/v1"
TREE_ROOT, LAUNCH_ROOT = "SRCROOT", "LAUNCHROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_ORDER = list(_LEVELS.values())
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def check_sarif(reports: Sequence[Report], rules: Mapping[str, RuleText], tool_version: str | None = None) -> bytes:
    """Reports whose places are in SGLang's tree. ``rules`` maps a rule's id to its text, where it has one."""
    return _log(_results([_Launch(report, report_scope(report)) for report in reports]), rules, tool_version)


def audit_sarif(audit: Audit, rules: Mapping[str, RuleText], tool_version: str | None = None) -> bytes:
    """Launches whose places are in the audited files."""
    launches = [_Launch(entry.report, entry_scope(entry), entry) for entry in audit.launches]
    return _log(_results(launches), rules, tool_version)


def scan_sarif(scan: Scan, rules: Mapping[str, RuleText], tool_version: str | None = None) -> bytes:
    """Facts as informational results: nothing is wrong with them."""
    findings = [
        Finding(
            rule=fact.rule,
            severity=Severity.NOTE,
            title=fact.kind,
            message=fact_text(fact) or fact.kind,
            file=fact.file,
            line=fact.line,
            end_line=fact.end_line,
            snippet=fact.snippet,
        )
        for fact in scan.facts
    ]
    results = []
    for finding, fingerprint in zip(findings, fingerprints(("", finding) for finding in findings)):
        result = _result(finding, fingerprint, f"{finding.title}: {finding.message}")
        result |= {"kind": "informational", "level": "none"}
        _place(result, finding, None)
        results.append((finding, result))
    return _log(results, rules, tool_version)


class _Launch(NamedTuple):
    report: Report
    scope: str
    entry: AuditEntry | None = None

    def findings(self) -> list[Finding]:
        verdict = verdict_finding(self.report)
        own = [verdict] if verdict is not None and not verdict_is_told(self.report) else []
        return [*own, *self.report.findings]


def _results(launches: Sequence[_Launch]) -> list[tuple[Finding, dict[str, Any]]]:
    results = []
    listed = [(launch, number, finding) for launch in launches for number, finding in enumerate(launch.findings())]
    identities = fingerprints((launch.scope, finding) for launch, _, finding in listed)
    for (launch, number, finding), fingerprint in zip(listed, identities):
        report, entry = launch.report, launch.entry
        result = _result(finding, fingerprint, _message(finding, entry))
        _place(result, finding, entry)
        is_verdict = finding.rule.startswith("verdict/")
        if is_verdict and is_open(report.verdict):
            result |= {"kind": "open", "level": "none"}
        if is_verdict and report.accepted is not None:
            result["suppressions"] = [{"kind": "external", "justification": visible(report.accepted)}]
        # The activation path belongs to the launch, not to each of its findings: the first one carries it.
        if report.path and number == 0:
            result["codeFlows"] = [{"threadFlows": [{"locations": [_flow(step) for step in report.path]}]}]
        result["properties"] = _properties(report, finding, entry)
        results.append((finding, result))
    return results


def _result(finding: Finding, fingerprint: str, message: str) -> dict[str, Any]:
    return {
        "ruleId": visible(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": _text(message)},
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }


def _message(finding: Finding, entry: AuditEntry | None) -> str:
    text = finding.title if finding.message in ("", finding.title) else f"{finding.title}: {finding.message}"
    if entry is not None:
        text = f"{entry.name}: {text}"
    return f"{text}\nFix: {finding.fix.text}" if finding.fix else text


def _place(result: dict[str, Any], finding: Finding, entry: AuditEntry | None) -> None:
    own = []
    if finding.file:
        own.append(_location(TREE_ROOT, finding.file, finding.line, finding.end_line, finding.snippet))
    related = [
        {**_location(TREE_ROOT, place.file, place.line, place.end_line, place.snippet), **_said(place.note)}
        for place in finding.related
    ]
    if entry is not None:
        related = [*({**place, **_said("")} for place in own), *related]
        own = [_location(LAUNCH_ROOT, entry.file, entry.line, entry.line, "")]
    result["locations"] = own
    if related:
        result["relatedLocations"] = related


def _said(note: str) -> dict[str, Any]:
    return {"message": {"text": _text(note or "SGLang's source")}}


def _location(base: str, file: str, line: int | None, end_line: int | None, snippet: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(base, file)}
    if line is not None and line > 0:
        physical["region"] = {"startLine": line, "endLine": max(line, end_line or line)}
        if snippet:
            physical["region"]["snippet"] = {"text": visible(snippet)}
    return {"physicalLocation": physical}


def _artifact(base: str, file: str) -> dict[str, Any]:
    path = file.encode("utf-8", "backslashreplace").decode("utf-8")
    if _DRIVE.match(path):
        return {"uri": "file:///" + quote(path.replace("\\", "/"), safe="/:")}
    if path.startswith("/"):
        return {"uri": "file://" + quote(path)}
    return {"uri": quote(path), "uriBaseId": base}


def _flow(step: Step) -> dict[str, Any]:
    location = _location(TREE_ROOT, step.file, step.line, None, "") if step.file else {}
    text = f"{step.stage}: {step.kind} {step.text}" + (f" ({step.note})" if step.note else "")
    return {"location": {**location, "message": {"text": _text(text)}}}


def _properties(report: Report, finding: Finding, entry: AuditEntry | None) -> dict[str, Any]:
    data: dict[str, Any] = {"verdict": report.verdict.value}
    if report.stage:
        data["stage"] = visible(report.stage)
    if entry is not None:
        data |= {"launch": visible(entry.name), "source": visible(entry.source)}
    if finding.fix is not None and finding.fix.changes:
        data["changes"] = [
            {
                "name": visible(change.name),
                "from": change.old if change.old is None else visible(change.old),
                "to": change.new if change.new is None else visible(change.new),
            }
            for change in finding.fix.changes
        ]
    return data


def _text(text: str) -> str:
    # "[words](1)" would be a link in a SARIF message, which no quoted source means to be.
    return visible(text).replace("](", "]\\(") or "-"


def _log(
    results: Sequence[tuple[Finding, dict[str, Any]]], rules: Mapping[str, RuleText], tool_version: str | None
) -> bytes:
    described = _rules([finding for finding, _ in results], rules)
    index = {rule["id"]: number for number, rule in enumerate(described)}
    driver: dict[str, Any] = {"name": "mtp-trace", **({"version": tool_version} if tool_version else {})}
    run = {
        "tool": {"driver": {**driver, "rules": described}},
        "originalUriBaseIds": {
            TREE_ROOT: {"description": {"text": "The Python root of the SGLang tree."}},
            LAUNCH_ROOT: {"description": {"text": "The root of the audited files."}},
        },
        "columnKind": "unicodeCodePoints",
        "results": [{"ruleId": r["ruleId"], "ruleIndex": index[r["ruleId"]], **r} for _, r in results],
    }
    return to_bytes({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}, indent=True)


def _rules(findings: Sequence[Finding], texts: Mapping[str, RuleText]) -> list[dict[str, Any]]:
    described: dict[str, dict[str, Any]] = {}
    for finding in findings:
        rule_id, level = visible(finding.rule), _LEVELS[finding.severity]
        text = texts.get(finding.rule) or RuleText(finding.title)
        rule = described.setdefault(
            rule_id,
            {
                "id": rule_id,
                "shortDescription": {"text": _text(text.name)},
                "help": {"text": _text(text.help or text.name)},
                "defaultConfiguration": {"level": level},
            },
        )
        gravest = min(rule["defaultConfiguration"]["level"], level, key=_ORDER.index)
        rule["defaultConfiguration"]["level"] = gravest
    return [described[rule_id] for rule_id in sorted(described)]
