from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from report_samples import ACTIVE, AUDIT, DIFF, GATE, MATRIX, REPORTS, SCAN, STARTUP_ERROR, hostile_report

from mtp_trace.report.formats import (
    Format,
    render_audit,
    render_check,
    render_diff,
    render_gate,
    render_matrix,
    render_scan,
)
from mtp_trace.report.jsonform import report_dict, report_json, report_line
from mtp_trace.report.jsonlists import fact_dict
from mtp_trace.report.listing_model import Fact
from mtp_trace.report.model import Report, Verdict
from mtp_trace.report.plain import plain, to_bytes
from mtp_trace.report.schema import KINDS, schema_bytes, schema_for

DOCS = Path(__file__).parents[2] / "docs"
KEYS = [
    "schema",
    "verdict",
    "stage",
    "sglang",
    "model",
    "launch",
    "resolved",
    "draft",
    "worker",
    "error",
    "depends_on",
    "findings",
    "path",
    "logs",
    "assumptions",
]
OUTPUTS = {
    **{name: ("report", render_check(report, Format.JSON)) for name, report in REPORTS.items()},
    "hostile": ("report", render_check(hostile_report(), Format.JSON)),
    "audit": ("audit", render_audit(AUDIT, Format.JSON)),
    "scan": ("scan", render_scan(SCAN, Format.JSON)),
    "diff": ("diff", render_diff(DIFF, Format.JSON)),
    "gate": ("gate", render_gate(GATE, Format.JSON)),
    "matrix": ("matrix", render_matrix(MATRIX, Format.JSON)),
}


def closed(schema: Any) -> Any:
    """``schema`` with every described object closed, so that an undescribed key fails a test."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    # Facts alone carry keys of their own kind.
    is_fact = {"kind", "snippet"} <= set(made.get("properties", ()))
    if "properties" in made and not is_fact:
        made["additionalProperties"] = False
    return made


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_validates(name: str) -> None:
    kind, text = OUTPUTS[name]
    schema = closed(schema_for(kind))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_refuses_an_empty_object(kind: str) -> None:
    assert not jsonschema.Draft202012Validator(schema_for(kind)).is_valid({})


def test_the_documented_schema_is_the_programs() -> None:
    assert (DOCS / "report.schema.json").read_bytes() == schema_bytes()


def test_the_docs_name_every_key() -> None:
    text = (DOCS / "report-schema.md").read_text(encoding="utf-8")
    for definition in schema_for()["$defs"].values():
        for key in definition.get("properties", {}):
            assert f"`{key}`" in text, key


@pytest.mark.parametrize("name", REPORTS)
def test_keys_are_always_there_in_order(name: str) -> None:
    assert [key for key in report_dict(REPORTS[name]) if key not in ("suggestion", "weights")] == KEYS


def test_optional_keys() -> None:
    bare = Report(Verdict.ACTIVE, ACTIVE.sglang, ACTIVE.model, ACTIVE.launch)
    assert list(report_dict(bare)) == KEYS
    full = report_dict(hostile_report())
    assert {"suggestion", "weights", "accepted"} <= set(full)
    assert "id" not in full


def test_batch_line_is_one_line_with_its_id() -> None:
    line = report_line(replace(hostile_report(), id="case\n1"))
    assert len(line.decode("utf-8").splitlines()) == 1
    assert json.loads(line)["id"] == "case\n1"
    assert list(json.loads(line))[:3] == ["schema", "id", "verdict"]


def test_draft_class_and_changes() -> None:
    data = report_dict(STARTUP_ERROR)
    change = {"kind": "flag", "name": "--strategy", "old": "no_buffer", "new": "extra_buffer"}
    assert data["findings"][1]["fix"]["changes"] == [{**change, "why": "the radix cache needs it"}]
    assert data["suggestion"]["changes"] == [
        {"flag": "--strategy", "from": "no_buffer", "to": "extra_buffer", "why": "the radix cache needs it"}
    ]
    assert report_dict(ACTIVE)["draft"]["class"] == "HybridForCausalLMMTP"


def test_resolved_order_does_not_change_the_bytes() -> None:
    turned = replace(ACTIVE, resolved=dict(reversed(ACTIVE.resolved.items())))
    assert report_json(turned) == report_json(ACTIVE)


def test_json_text_holds_nothing_that_steers_a_terminal() -> None:
    text = report_json(hostile_report()).decode("utf-8")
    assert not {"\x1b", "\x9b", "\x07", "\x7f", "\u202e"} & set(text)
    assert "\u202e" in json.loads(text)["stage"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**64 - 1, 2**64 - 1),
        (2**64, str(2**64)),
        (-(2**70), str(-(2**70))),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1.5, 1.5),
        ({3, 1}, [1, 3]),
        (frozenset({"b", 1, "a"}), [1, "a", "b"]),
        ((1, (2,)), [1, [2]]),
        ({1: "a", None: True}, {"1": "a", "None": True}),
        ("\ud800x", "\\ud800x"),
        (Verdict.DEPENDS, "depends"),
        (b"x", "b'x'"),
        (True, True),
    ],
)
def test_plain(value: Any, expected: Any) -> None:
    made = plain(value)
    assert made == expected and type(made) is type(expected)
    to_bytes(made, indent=False)


def test_a_facts_details_never_hide_its_place() -> None:
    fact = Fact("guard", "r", "a.py", 3, 4, details={"file": "other.py", "condition": "x"})
    assert fact_dict(fact)["file"] == "a.py"
    assert fact_dict(fact)["condition"] == "x"
