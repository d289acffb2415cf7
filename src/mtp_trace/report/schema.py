"""The JSON Schema (2020-12) of everything that ``--format json`` and ``batch`` print.

``docs/report.schema.json`` holds it for other programs. Keys are only ever added within one schema version, so objects
are open: a reader must pass over keys that it does not know.
"""

from __future__ import annotations

from typing import Any

from mtp_trace.report.compare_model import Effect, FactMove
from mtp_trace.report.model import SCHEMA, Severity, Verdict
from mtp_trace.report.plain import to_bytes

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS = ("report", "audit", "scan", "diff", "gate", "matrix")
STAGES = ("cli", "args", "target-config", "draft-config", "registry", "weights", "worker", "attention")

_TEXT: dict[str, Any] = {"type": "string"}
_TEXT_OR_NULL: dict[str, Any] = {"type": ["string", "null"]}
_LINE: dict[str, Any] = {"type": "integer", "minimum": 0}
_LINE_OR_NULL: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_ENV: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT}
_ANY: dict[str, Any] = {}


def schema_for(kind: str = "report") -> dict[str, Any]:
    """The schema of one kind of output (one of ``KINDS``); the others stand in its ``$defs``."""
    return {
        "$schema": DIALECT,
        "title": f"mtp-trace {kind}, schema {SCHEMA}",
        "$ref": f"#/$defs/{kind}",
        "$defs": _definitions(),
    }


def schema_bytes() -> bytes:
    """The text of ``docs/report.schema.json``."""
    return to_bytes(schema_for("report"), indent=True)


def _definitions() -> dict[str, Any]:
    return {**_report_parts(), **_list_parts(), **_compare_parts()}


def _report_parts() -> dict[str, Any]:
    return {
        "report": _object(
            {
                "schema": {"const": SCHEMA},
                "verdict": _ref("verdict"),
                "stage": {"anyOf": [{"enum": [*STAGES]}, _TEXT_OR_NULL]},
                "sglang": _ref("sglang"),
                "model": _object({"path": _TEXT, "architectures": _TEXTS, "model_type": _TEXT_OR_NULL}),
                "launch": _object({"argv": _TEXTS, "env": _ENV, "gpu": _TEXT_OR_NULL}),
                "resolved": {"type": "object"},
                "draft": _or_null(_ref("draft")),
                "worker": _TEXT_OR_NULL,
                "error": _or_null(
                    _object(
                        {
                            "type": _TEXT,
                            "message": _TEXT,
                            "file": _TEXT_OR_NULL,
                            "line": _LINE_OR_NULL,
                            "end_line": _LINE_OR_NULL,
                        }
                    )
                ),
                "depends_on": _list(
                    _object(
                        {
                            "question": _TEXT,
                            "options": _list(_object({"value": _TEXT, "verdict": _ref("verdict")})),
                        }
                    )
                ),
                "findings": _list(_ref("finding")),
                "path": _list(
                    _object(
                        {
                            "stage": _TEXT,
                            "kind": _TEXT,
                            "file": _TEXT,
                            "line": _LINE,
                            "function": _TEXT,
                            "text": _TEXT,
                            "note": _TEXT,
                        }
                    )
                ),
                "logs": _list(_object({"level": _TEXT, "message": _TEXT, "file": _TEXT, "line": _LINE})),
                "assumptions": _list(_object({"what": _TEXT, "why": _TEXT})),
            },
            {
                "id": _TEXT,
                "suggestion": _ref("suggestion"),
                "weights": {"type": "object"},
                "accepted": _TEXT,
            },
        ),
        "verdict": {"enum": [verdict.value for verdict in Verdict]},
        "sglang": _object({"root": _TEXT, "version": _TEXT_OR_NULL, "ref": _TEXT_OR_NULL}),
        "draft": _object(
            {
                "architecture": _TEXT_OR_NULL,
                "class": _TEXT_OR_NULL,
                "file": _TEXT_OR_NULL,
                "line": _LINE_OR_NULL,
                "num_nextn_predict_layers": {"type": ["integer", "null"]},
                "model_path": _TEXT_OR_NULL,
            }
        ),
        "finding": _object(
            {
                "rule": _TEXT,
                "severity": {"enum": [severity.value for severity in Severity]},
                "title": _TEXT,
                "message": _TEXT,
                "file": _TEXT_OR_NULL,
                "line": _LINE_OR_NULL,
                "end_line": _LINE_OR_NULL,
                "snippet": _TEXT,
                "fix": _or_null(_object({"text": _TEXT, "changes": _list(_ref("change"))})),
                "related": _list(
                    _object({"file": _TEXT, "line": _LINE, "end_line": _LINE, "note": _TEXT, "snippet": _TEXT})
                ),
            }
        ),
        "change": _object(
            {
                "kind": {"enum": ["flag", "env"]},
                "name": _TEXT,
                "old": _TEXT_OR_NULL,
                "new": _TEXT_OR_NULL,
                "why": _TEXT,
            }
        ),
        "suggestion": _object(
            {
                "argv": _TEXTS,
                "env": _ENV,
                "changes": _list(_object({"flag": _TEXT, "from": _TEXT_OR_NULL, "to": _TEXT_OR_NULL, "why": _TEXT})),
                "verdict": _ref("verdict"),
            }
        ),
    }


def _list_parts() -> dict[str, Any]:
    return {
        "audit": _document(
            {
                "launches": _list(
                    _object(
                        {
                            "file": _TEXT,
                            "line": _LINE,
                            "source": _TEXT,
                            "name": _TEXT,
                            "argv": _TEXTS,
                            "env": _ENV,
                            "unresolved": _TEXTS,
                            "report": _ref("report"),
                        }
                    )
                )
            }
        ),
        "scan": _document(
            {
                "facts": _list(
                    _object(
                        {
                            "kind": _TEXT,
                            "rule": _TEXT,
                            "file": _TEXT,
                            "line": _LINE,
                            "end_line": _LINE,
                            "snippet": _TEXT,
                        }
                    )
                )
            }
        ),
    }


def _compare_parts() -> dict[str, Any]:
    side = _object({"file": _TEXT, "line": _LINE, "value": _ANY})
    return {
        "diff": _document(
            {
                "old": _ref("sglang"),
                "new": _ref("sglang"),
                "changes": _list(
                    _object(
                        {
                            "kind": _TEXT,
                            "change": {"enum": [move.value for move in FactMove]},
                            "what": _TEXT,
                            "old": _or_null(side),
                            "new": _or_null(side),
                        }
                    )
                ),
            }
        ),
        "gate": _document(
            {
                "old": _ref("sglang"),
                "new": _ref("sglang"),
                "deployments": _list(
                    _object(
                        {
                            "id": _TEXT,
                            "old": _ref("report"),
                            "new": _ref("report"),
                            "change": {"enum": [effect.value for effect in Effect]},
                            "reason": _or_null(
                                _object({"file": _TEXT_OR_NULL, "line": _LINE_OR_NULL, "message": _TEXT})
                            ),
                            "commit": _TEXT_OR_NULL,
                        },
                        {
                            "suggestion": _ref("suggestion"),
                            "flags": _list(
                                _object(
                                    {
                                        "flag": _TEXT,
                                        "to": _TEXT_OR_NULL,
                                        "why": _TEXT,
                                        "file": _TEXT_OR_NULL,
                                        "line": _LINE_OR_NULL,
                                    }
                                )
                            ),
                        },
                    )
                ),
            }
        ),
        "matrix": _document(
            {
                "cells": _list(
                    _object(
                        {
                            "model": _TEXT,
                            "release": _TEXT,
                            "verdict": _ref("verdict"),
                            "stage": _TEXT_OR_NULL,
                            "draft": _TEXT_OR_NULL,
                            "note": _TEXT,
                        }
                    )
                ),
                "models": _list(
                    _object(
                        {
                            "model": _TEXT,
                            "first": _TEXT_OR_NULL,
                            "flags": _TEXTS,
                            "spans": _list(_TEXTS),
                            "sooner": _TEXT_OR_NULL,
                            "sooner_with": _TEXT,
                        }
                    )
                ),
            }
        ),
    }


def _document(required: dict[str, Any]) -> dict[str, Any]:
    return _object({"schema": {"const": SCHEMA}, "sglang": _ref("sglang"), **required})


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}
