"""Reports kept from an earlier run: taken while nothing changed, and never after."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from compare_support import ARGS, GUARD, LAX, MODEL, NEXTN, history, replaced, tree

from mtp_trace.compare import judging
from mtp_trace.compare.judging import Case, How, judge_tree
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.model import Verdict

KEEP = How(suggest=True, remember=True)


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the cases that are traced, in a cache of its own."""
    monkeypatch.setenv("MTP_TRACE_CACHE", str(tmp_path / "cache"))
    seen: list[str] = []
    real = judging.judge_case
    monkeypatch.setattr(judging, "judge_case", lambda session, case: seen.append(case.id) or real(session, case))
    return seen


def case(model: Path = MODEL) -> Case:
    return Case("m", ("--model-path", str(model), *NEXTN), gpu="h200")


def test_a_second_run_traces_nothing_and_says_the_same(tmp_path: Path, traced: list[str]) -> None:
    spec = TreeSpec(str(tree(tmp_path / "t")))
    first = judge_tree(spec, [case()], KEEP)
    del traced[:]
    assert judge_tree(spec, [case()], KEEP) == first and traced == []
    assert first[0].suggestion is not None


def test_what_changed_is_traced_again(tmp_path: Path, traced: list[str]) -> None:
    spec = TreeSpec(str(tree(tmp_path / "t")))
    model = tmp_path / "model"
    model.mkdir()
    config = model / "config.json"
    config.write_bytes((MODEL / "config.json").read_bytes())
    assert judge_tree(spec, [case(model)], KEEP)[0].verdict is Verdict.STARTUP_ERROR
    path = tmp_path / "t" / ARGS
    path.write_text(replaced(GUARD, LAX)(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert judge_tree(spec, [case(model)], KEEP)[0].verdict is Verdict.ACTIVE
    for change in (
        lambda: config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8"),
        lambda: os.utime(config, ns=(1, 1)),
    ):
        del traced[:]
        change()
        judge_tree(spec, [case(model)], KEEP)
        assert traced
    for other in (replace(case(model), env={"A": "1"}), replace(case(model), gpu="b200")):
        del traced[:]
        judge_tree(spec, [other], KEEP)
        assert traced


def test_a_ref_is_known_by_its_commit(tmp_path: Path, traced: list[str]) -> None:
    repo = str(history(tmp_path / "repo", 2, 2))
    first, last = (judge_tree(TreeSpec(repo, ref), [case()], KEEP)[0].verdict for ref in ("v1", "v2"))
    assert (first, last) == (Verdict.ACTIVE, Verdict.STARTUP_ERROR)
    del traced[:]
    judge_tree(TreeSpec(repo, "v1"), [case()], KEEP)
    assert traced == []


def test_a_damaged_entry_is_traced_again(tmp_path: Path, traced: list[str]) -> None:
    spec = TreeSpec(str(tree(tmp_path / "t")))
    judge_tree(spec, [case()], KEEP)
    for path in (tmp_path / "cache" / "reports").iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    del traced[:]
    assert judge_tree(spec, [case()], KEEP)[0].verdict is Verdict.STARTUP_ERROR
    assert traced


def test_a_model_that_is_not_here_is_not_remembered(tmp_path: Path, traced: list[str]) -> None:
    spec = TreeSpec(str(tree(tmp_path / "t")))
    for _ in range(2):
        judge_tree(spec, [Case("m", ("--model-path", "/no/where", *NEXTN), gpu="h200")], KEEP)
    assert len(traced) >= 2
