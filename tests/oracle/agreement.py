"""Sets a report beside what the release itself did with the same launch."""

from __future__ import annotations

from typing import Any

CONFIG_STAGES = {"target_config": "target-config", "draft_config": "draft-config"}


def agrees(outcome: dict[str, Any], report: dict[str, Any]) -> str:
    """ "agree", "abstain" (depends or undetermined), or what is wrong."""
    verdict = report["verdict"]
    if outcome.get("external"):
        # Raised inside another package: what is installed decides.
        return (
            "agree"
            if verdict in ("startup-error", "depends")
            else f"{verdict}, the release: error in {outcome['external']}"
        )
    if verdict in ("depends", "undetermined"):
        return "abstain"
    if not outcome.get("ok"):
        return _error(outcome, report)
    wanted = _wanted(outcome)
    if verdict not in wanted:
        return f"{verdict}, the release: {'/'.join(sorted(wanted))}"
    draft = outcome.get("draft")
    if draft and verdict in ("active", "degraded") and (report.get("draft") or {}).get("architecture") != draft["arch"]:
        return f"draft {(report.get('draft') or {}).get('architecture')}, the release: {draft['arch']}"
    if outcome.get("worker") and verdict in ("active", "degraded") and report.get("worker") != outcome["worker"]:
        return f"worker {report.get('worker')}, the release: {outcome['worker']}"
    return "agree"


def _wanted(outcome: dict[str, Any]) -> set[str]:
    if outcome.get("attention_guard"):
        return {"startup-error"}
    algorithm = outcome["fields"].get("speculative_algorithm")
    if algorithm is None:
        return {"inactive"}
    draft = outcome.get("draft")
    if draft and draft["arch"] == outcome["target"]["arch"] and algorithm in ("EAGLE", "EAGLE3"):
        return {"degraded", "startup-error"}  # the whole target as its own draft: resolved, but never "active"
    if draft and draft["arch"] != outcome["target"]["arch"] and outcome.get("declared"):
        return {"active"}
    return {"active", "degraded"}


def _error(outcome: dict[str, Any], report: dict[str, Any]) -> str:
    if report["verdict"] != "startup-error":
        stated = f"{outcome.get('stage')} {outcome.get('error')} {outcome.get('message', '')[:80]}"
        return f"{report['verdict']}, the release: {stated}"
    stage = "cli" if outcome.get("error") == "ArgError" else CONFIG_STAGES.get(outcome.get("stage", ""), "args")
    if report["stage"] != stage:
        return f"stage {report['stage']}, the release: {stage}"
    if stage == "cli" or not outcome.get("at"):
        return "agree"
    file, line = outcome["at"].split(":")[:2]
    error = report["error"] or {}
    if error.get("file") != file or not error.get("line") or not error["line"] <= int(line) <= error["end_line"]:
        return f"raised at {error.get('file')}:{error.get('line')}, the release: {file}:{line}"
    return "agree"


def wrong_fields(outcome: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """Resolved fields that differ from the release's own, unknown ones aside."""
    got = report.get("resolved") or {}
    return [
        f"{name}: {got[name]!r}, the release: {value!r}"
        for name, value in (outcome.get("fields") or {}).items()
        if name in got and not (isinstance(got[name], dict) and "unknown" in got[name]) and got[name] != value
    ]
