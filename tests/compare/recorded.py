"""Recorded launches as cells: which verdicts, stage, line, draft and worker a release itself came to."""

from __future__ import annotations

import json
import re
from typing import Any

from compare_support import ROOT

from mtp_trace.report.model import Report, Verdict

MATRIX = ROOT / "tests" / "oracle" / "matrix"
CONFIGS = ROOT / "fixtures" / "configs"
_STAGES = {"target_config": "target-config", "draft_config": "draft-config"}
_AT = re.compile(r"(.*?):(\d+)(?::.*)?\Z")


def releases() -> list[str]:
    """The recorded releases, oldest first."""
    from packaging.version import Version

    return sorted((path.name.removesuffix(".h200.jsonl") for path in MATRIX.glob("*.h200.jsonl")), key=Version)


def cases() -> list[dict[str, Any]]:
    """The recorded launches, the configurations' folder filled in."""
    text = (MATRIX / "cases.jsonl").read_text(encoding="utf-8").replace("{configs}", str(CONFIGS))
    return [json.loads(line) for line in text.splitlines()]


def outcomes(release: str) -> dict[str, dict[str, Any]]:
    """What the release itself did, by case."""
    lines = (MATRIX / f"{release}.h200.jsonl").read_text(encoding="utf-8").splitlines()
    return {outcome["id"]: outcome for outcome in map(json.loads, lines)}


def disagreement(outcome: dict[str, Any], report: Report) -> str | None:
    """In words, None where the report says what the release did."""
    if outcome.get("external"):
        # Raised inside another package: the installed version decides.
        fits = report.verdict in (Verdict.STARTUP_ERROR, Verdict.DEPENDS)
        return None if fits else f"{report.verdict.value}, the release: an error in {outcome['external']}"
    wanted = _verdicts(outcome)
    if report.verdict not in wanted:
        place = f" ({report.error.message[:80]})" if report.error else ""
        return f"{report.verdict.value}{place}, the release: {'/'.join(sorted(v.value for v in wanted))}"
    if not outcome["ok"]:
        return _stop_differs(outcome, report)
    if outcome.get("attention_guard"):
        return None if report.stage == "attention" else f"stage {report.stage}, the release: attention"
    if report.verdict not in (Verdict.ACTIVE, Verdict.DEGRADED):
        return None
    draft, worker = outcome.get("draft"), outcome.get("worker")
    if draft and (report.draft is None or report.draft.architecture != draft["arch"]):
        return f"draft {report.draft and report.draft.architecture}, the release: {draft['arch']}"
    if worker and report.worker not in (None, worker):
        return f"worker {report.worker}, the release: {worker}"
    return None


def _verdicts(outcome: dict[str, Any]) -> set[Verdict]:
    if not outcome["ok"] or outcome.get("attention_guard"):
        return {Verdict.STARTUP_ERROR}
    fields, draft, target = outcome["fields"], outcome.get("draft"), outcome["target"]
    if fields.get("speculative_algorithm") is None:
        return {Verdict.INACTIVE}
    if draft and draft["arch"] == target["arch"] and fields["speculative_algorithm"] in ("EAGLE", "EAGLE3"):
        return {Verdict.DEGRADED, Verdict.STARTUP_ERROR}
    if draft and draft["arch"] != target["arch"] and outcome.get("declared"):
        return {Verdict.ACTIVE}
    return {Verdict.ACTIVE, Verdict.DEGRADED}


def _stop_differs(outcome: dict[str, Any], report: Report) -> str | None:
    stage = "cli" if outcome.get("error") == "ArgError" else _STAGES.get(outcome["stage"], "args")
    if report.stage != stage:
        return f"stage {report.stage}, the release: {stage}"
    at = _AT.match(outcome.get("at") or "") if stage != "cli" else None
    if at is None:
        return None
    error = report.error
    if error is None or error.line is None or not (error.file or "").endswith(at.group(1)):
        return f"raised at {error and error.file}, the release: {at.group()}"
    inside = error.line <= int(at.group(2)) <= (error.end_line or error.line)
    return None if inside else f"raised at line {error.line}, the release: {at.group()}"
