"""The recordings themselves: complete, compact, and free of the machine that they were made on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parents[1] / "fixtures" / "configs"
RECORDED = sorted([*HERE.glob("outcomes/*.jsonl"), *HERE.glob("matrix/[0-9]*.jsonl")])
STAGES = {"cli", "args", "check", "target_config", "draft_config", "worker", "attention"}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def cases_of(recorded: Path) -> list[dict]:
    return lines(recorded.parent / "cases.jsonl" if recorded.parent.name == "matrix" else HERE / "cases.jsonl")


@pytest.mark.parametrize("cases", [HERE / "cases.jsonl", HERE / "matrix" / "cases.jsonl"], ids=["cases", "matrix"])
def test_cases_are_distinct_launches_over_configs_that_exist(cases: Path) -> None:
    found = lines(cases)
    assert len({case["id"] for case in found}) == len(found)
    assert len({json.dumps([case["argv"], case["env"]]) for case in found}) == len(found)
    named = {name for case in found for name in re.findall(r"\{configs\}/([\w.-]+)", " ".join(case["argv"]))}
    missing = {name for name in named if not (CONFIGS / name / "config.json").is_file()}
    assert missing <= {"nowhere", "qwen3-next-missing"}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_case_has_one_usable_outcome(recorded: Path) -> None:
    outcomes = lines(recorded)
    assert [outcome["id"] for outcome in outcomes] == [case["id"] for case in cases_of(recorded)]
    for outcome in outcomes:
        if outcome["ok"]:
            assert outcome["fields"] and outcome["target"]["arch"], outcome["id"]
        else:
            assert outcome["stage"] in STAGES and outcome["error"] not in ("HARNESS", "DIED"), outcome["id"]
            assert outcome["stage"] == "cli" or outcome["at"].startswith("sglang/"), outcome["id"]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_path_of_the_recording_machine_is_left(recorded: Path) -> None:
    assert not re.search(r"/(root|home|tmp|work)/", recorded.read_text())
