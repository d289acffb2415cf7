"""The JSON of every command but ``check`` and ``batch``: audit, scan, diff, gate, matrix."""

from __future__ import annotations

from typing import Any

from mtp_trace.report.compare_model import Deployment, Diff, FactSide, Gate, Matrix
from mtp_trace.report.jsonform import report_dict, sglang_dict, suggestion_dict
from mtp_trace.report.listing_model import Audit, Fact, Scan
from mtp_trace.report.model import SCHEMA
from mtp_trace.report.plain import plain, plain_sorted, to_bytes


def audit_json(audit: Audit) -> bytes:
    """Every launch with its own check report."""
    launches = [
        {
            "file": plain(entry.file),
            "line": entry.line,
            "source": plain(entry.source),
            "name": plain(entry.name),
            "argv": plain(entry.argv),
            "env": plain_sorted(entry.env),
            "unresolved": plain(entry.unresolved),
            "report": report_dict(entry.report),
        }
        for entry in audit.launches
    ]
    return to_bytes({"schema": SCHEMA, "sglang": sglang_dict(audit.sglang), "launches": launches}, indent=True)


def scan_json(scan: Scan) -> bytes:
    """Every fact; the keys of its kind stand after the common ones."""
    facts = [fact_dict(fact) for fact in scan.facts]
    return to_bytes({"schema": SCHEMA, "sglang": sglang_dict(scan.sglang), "facts": facts}, indent=True)


def fact_dict(fact: Fact) -> dict[str, Any]:
    """One fact; a detail never hides a common key."""
    common: dict[str, Any] = {
        "kind": plain(fact.kind),
        "rule": plain(fact.rule),
        "file": plain(fact.file),
        "line": fact.line,
        "end_line": fact.end_line,
        "snippet": plain(fact.snippet),
    }
    return common | plain_sorted({key: item for key, item in fact.details.items() if key not in common})


def diff_json(diff: Diff) -> bytes:
    """The facts that differ; ``sglang`` is the new tree."""
    changes = [
        {
            "kind": plain(change.kind),
            "change": change.change.value,
            "what": plain(change.what),
            "old": _side(change.old),
            "new": _side(change.new),
        }
        for change in diff.changes
    ]
    data = {
        "schema": SCHEMA,
        "sglang": sglang_dict(diff.new),
        "old": sglang_dict(diff.old),
        "new": sglang_dict(diff.new),
        "changes": changes,
    }
    return to_bytes(data, indent=True)


def gate_json(gate: Gate) -> bytes:
    """Every deployment in both trees; ``sglang`` is the new tree."""
    data = {
        "schema": SCHEMA,
        "sglang": sglang_dict(gate.new),
        "old": sglang_dict(gate.old),
        "new": sglang_dict(gate.new),
        "deployments": [_deployment(deployment) for deployment in gate.deployments],
    }
    return to_bytes(data, indent=True)


def matrix_json(matrix: Matrix) -> bytes:
    """Every cell, in order."""
    cells = [
        {
            "model": plain(cell.model),
            "release": plain(cell.release),
            "verdict": cell.verdict.value,
            "stage": plain(cell.stage),
            "draft": plain(cell.draft),
            "note": plain(cell.note),
        }
        for cell in matrix.cells
    ]
    models = [
        {
            "model": plain(runs.model),
            "first": plain(runs.first),
            "flags": plain(runs.flags),
            "spans": plain(runs.spans),
            "sooner": plain(runs.sooner),
            "sooner_with": plain(runs.sooner_with),
        }
        for runs in matrix.models
    ]
    data = {"schema": SCHEMA, "sglang": sglang_dict(matrix.sglang), "cells": cells, "models": models}
    return to_bytes(data, indent=True)


def _side(side: FactSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"file": plain(side.file), "line": side.line, "value": plain(side.value)}


def _deployment(deployment: Deployment) -> dict[str, Any]:
    reason = deployment.reason
    data: dict[str, Any] = {
        "id": plain(deployment.id),
        "old": report_dict(deployment.old),
        "new": report_dict(deployment.new),
        "change": deployment.change.value,
        "reason": reason and {"file": plain(reason.file), "line": reason.line, "message": plain(reason.message)},
        "commit": plain(deployment.commit),
        "flags": [
            {
                "flag": plain(move.flag),
                "to": plain(move.to),
                "why": plain(move.why),
                "file": plain(move.file),
                "line": move.line,
            }
            for move in deployment.flags
        ],
    }
    if deployment.suggestion is not None:
        data["suggestion"] = suggestion_dict(deployment.suggestion)
    return data
