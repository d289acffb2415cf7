"""A report as JSON, schema v1. ``docs/report-schema.md`` describes every key."""

from __future__ import annotations

from typing import Any

from mtp_trace.report.model import (
    Change,
    DraftInfo,
    Failure,
    Finding,
    Fix,
    LaunchInfo,
    ModelInfo,
    Report,
    SglangInfo,
    Suggestion,
)
from mtp_trace.report.plain import plain, plain_sorted, to_bytes


def report_dict(report: Report) -> dict[str, Any]:
    """``report`` as plain data in the schema's key order.

    Every key is there, but for ``id`` (batch only), ``suggestion``, ``weights`` and ``accepted``, which are left out
    where the report has none.
    """
    data: dict[str, Any] = {"schema": report.schema}
    if report.id is not None:
        data["id"] = plain(report.id)
    data |= {
        "verdict": report.verdict.value,
        "stage": plain(report.stage),
        "sglang": sglang_dict(report.sglang),
        "model": _model(report.model),
        "launch": _launch(report.launch),
        "resolved": plain_sorted(report.resolved),
        "draft": _draft(report.draft),
        "worker": plain(report.worker),
        "error": _failure(report.error),
        "depends_on": [
            {
                "question": plain(question.question),
                "options": [{"value": plain(o.value), "verdict": o.verdict.value} for o in question.options],
            }
            for question in report.depends_on
        ],
        "findings": [_finding(finding) for finding in report.findings],
        "path": [
            {
                "stage": plain(step.stage),
                "kind": plain(step.kind),
                "file": plain(step.file),
                "line": step.line,
                "function": plain(step.function),
                "text": plain(step.text),
                "note": plain(step.note),
            }
            for step in report.path
        ],
        "logs": [
            {"level": plain(log.level), "message": plain(log.message), "file": plain(log.file), "line": log.line}
            for log in report.logs
        ],
        "assumptions": [{"what": plain(a.what), "why": plain(a.why)} for a in report.assumptions],
    }
    if report.suggestion is not None:
        data["suggestion"] = suggestion_dict(report.suggestion)
    if report.weights is not None:
        data["weights"] = plain(report.weights)
    if report.accepted is not None:
        data["accepted"] = plain(report.accepted)
    return data


def report_json(report: Report) -> bytes:
    """``report`` for ``check``: indented, with a closing line break."""
    return to_bytes(report_dict(report), indent=True)


def report_line(report: Report) -> bytes:
    """``report`` for ``batch``: one compact line, without its line break."""
    return to_bytes(report_dict(report), indent=False)


def sglang_dict(info: SglangInfo) -> dict[str, Any]:
    """The ``sglang`` object."""
    return {"root": plain(info.root), "version": plain(info.version), "ref": plain(info.ref)}


def suggestion_dict(suggestion: Suggestion) -> dict[str, Any]:
    """The ``suggestion`` object; ``flag`` holds a flag with its dashes or the name of an environment variable."""
    return {
        "argv": plain(suggestion.argv),
        "env": plain_sorted(suggestion.env),
        "changes": [
            {
                "flag": plain(change.name),
                "from": plain(change.old),
                "to": plain(change.new),
                "why": plain(change.why),
            }
            for change in suggestion.changes
        ],
        "verdict": suggestion.verdict.value,
    }


def _model(model: ModelInfo) -> dict[str, Any]:
    return {
        "path": plain(model.path),
        "architectures": plain(model.architectures),
        "model_type": plain(model.model_type),
    }


def _launch(launch: LaunchInfo) -> dict[str, Any]:
    return {
        "argv": plain(launch.argv),
        "env": plain_sorted(launch.env),
        "gpu": plain(launch.gpu),
    }


def _draft(draft: DraftInfo | None) -> dict[str, Any] | None:
    if draft is None:
        return None
    return {
        "architecture": plain(draft.architecture),
        "class": plain(draft.cls),
        "file": plain(draft.file),
        "line": draft.line,
        "num_nextn_predict_layers": draft.num_nextn_predict_layers,
        "model_path": plain(draft.model_path),
    }


def _failure(error: Failure | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {
        "type": plain(error.type),
        "message": plain(error.message),
        "file": plain(error.file),
        "line": error.line,
        "end_line": error.end_line,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": plain(finding.rule),
        "severity": finding.severity.value,
        "title": plain(finding.title),
        "message": plain(finding.message),
        "file": plain(finding.file),
        "line": finding.line,
        "end_line": finding.end_line,
        "snippet": plain(finding.snippet),
        "fix": _fix(finding.fix),
        "related": [
            {
                "file": plain(place.file),
                "line": place.line,
                "end_line": place.end_line,
                "note": plain(place.note),
                "snippet": plain(place.snippet),
            }
            for place in finding.related
        ],
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {"text": plain(fix.text), "changes": [_change(change) for change in fix.changes]}


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": plain(change.kind),
        "name": plain(change.name),
        "old": plain(change.old),
        "new": plain(change.new),
        "why": plain(change.why),
    }
