"""A finding's identity without a line number: it survives code that moves up or down its file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from mtp_trace.report.listing_model import AuditEntry
from mtp_trace.report.model import Finding, Report

_LINE_NUMBER = re.compile(r"(:|\blines? )\d+")


def report_scope(report: Report) -> str:
    """Which launch a report's findings belong to: the case's id, empty for a single check."""
    return report.id or ""


def entry_scope(entry: AuditEntry) -> str:
    """Which launch an audited finding belongs to: its file and name."""
    return f"{entry.file}::{entry.name}"


def fingerprints(findings: Iterable[tuple[str, Finding]]) -> list[str]:
    """One identity for each ``(scope, finding)``, in order: 32 hexadecimal digits, distinct within the call.

    Made from the scope, the rule, the file, the title and the snippet (the message where there is no snippet); equal
    ones are told apart by their order.
    """
    seen: dict[str, int] = {}
    result = []
    for scope, finding in findings:
        key = _key(scope, finding)
        seen[key] = seen.get(key, 0) + 1
        material = key if seen[key] == 1 else f"{key}\x00{seen[key]}"
        result.append(hashlib.sha256(material.encode("utf-8", "backslashreplace")).hexdigest()[:32])
    return result


def _key(scope: str, finding: Finding) -> str:
    anchor = finding.snippet if finding.snippet.strip() else finding.message
    parts = (scope, finding.rule, finding.file or "", _settled(finding.title), _settled(anchor))
    return "\x00".join(parts)


def _settled(text: str) -> str:
    """``text`` without what a mere move changes: indentation, line breaks and quoted line numbers."""
    return _LINE_NUMBER.sub(r"\1N", " ".join(text.split()))
