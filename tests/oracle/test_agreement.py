"""The tool's answers against what real releases did with the same launches (``outcomes/``, made by ``record.py``).

By default a slice of the launches; ``MTP_TRACE_ALL_CASES=1`` runs every one on every release and GPU recorded.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mtp_trace.report.jsonform import report_dict
from mtp_trace.source import SourceTree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.session import Session

from .agreement import agrees, wrong_fields

HERE = Path(__file__).parent
CONFIGS = HERE.parents[1] / "fixtures" / "configs"
ALL = bool(os.environ.get("MTP_TRACE_ALL_CASES"))
RECORDED = sorted(p.name.removesuffix(".jsonl").rsplit(".", 1) for p in (HERE / "outcomes").glob("*.jsonl"))
SLICE = [
    (v, g)
    for v, g in RECORDED
    if ALL or (v, g) in {("0.5.9", "rtx6000"), ("0.5.12", "h200"), ("0.5.18", "h200"), ("0.5.23", "h200")}
]
STEP = 1 if ALL else 5


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@pytest.mark.releases
@pytest.mark.parametrize(("version", "gpu"), SLICE)
def test_agrees_with_the_release(version: str, gpu: str, release: Callable[[str], SourceTree]) -> None:
    session = Session(release(version), DiskCache())
    card = session.gpus.find(gpu)
    outcomes = {o["id"]: o for o in lines(HERE / "outcomes" / f"{version}.{gpu}.jsonl")}
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    fields = 0
    for case in lines(HERE / "cases.jsonl")[::STEP]:
        outcome = outcomes[case["id"]]
        if outcome.get("unusable") or outcome.get("error") in ("HARNESS", "DIED"):
            continue
        argv = [word.replace("{configs}", str(CONFIGS)) for word in case["argv"]]
        report = json.loads(
            json.dumps(report_dict(session.check(argv, case.get("env") or {}, card))).replace(str(CONFIGS), "{configs}")
        )
        kind = agrees(outcome, report)
        tally["agree" if kind == "agree" else "abstain" if kind == "abstain" else "wrong"] += 1
        if kind not in ("agree", "abstain"):
            wrong.append(f"{case['id']}: {kind}")
        if outcome.get("ok"):
            bad = wrong_fields(outcome, report)
            fields += bool(bad)
            wrong += [f"{case['id']}: {b}" for b in bad]
    total = sum(tally.values())
    shown = "\n".join(wrong[:20])
    assert tally["wrong"] <= 0.003 * total, shown
    assert tally["agree"] >= 0.98 * total, f"{dict(tally)}\n{shown}"
    assert fields == 0, shown
