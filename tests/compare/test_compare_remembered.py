"""Reports kept from an earlier run: taken while nothing changed, and never after."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from compare_support import ARGS, GUARD, LAX, MODEL, NEXTN, history, replaced, tree

from mtp_trace.cli.app import cli
from mtp_trace.compare import judging
from mtp_trace.compare.judging import How, judge_tree
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.model import Verdict
from mtp_trace.rules.data import data_root
from mtp_trace.verdict.case import Case
from mtp_trace.verdict.session import Session

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


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, int]]:
    """``checked(tree, *options)``: what ``check`` prints, and how many launches it traced for it."""
    monkeypatch.setenv("MTP_TRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    traced: list[None] = []
    real = Session.check
    monkeypatch.setattr(Session, "check", lambda self, *a, **k: traced.append(None) or real(self, *a, **k))

    def run(place: Path, *options: str) -> tuple[str, int]:
        del traced[:]
        words = ["check", "--sglang", str(place), "--model", str(MODEL), "--gpu", "h200", "--format", "json"]
        found = CliRunner().invoke(cli, [*words, "--no-suggestion", *options, "--", *NEXTN])
        assert found.exit_code == 1, found.output
        return found.output, len(traced)

    return run


def test_check_answers_the_same_launch_again_from_memory(
    tmp_path: Path, checked: Callable[..., tuple[str, int]]
) -> None:
    place = tree(tmp_path / "t")
    first, count = checked(place)
    assert count == 1 and checked(place) == (first, 0)
    assert checked(place, "--no-cache") == (first, 1)


def test_check_forgets_what_changed(tmp_path: Path, checked: Callable[..., tuple[str, int]]) -> None:
    """The tree, the user's rules, the settings of the folder that it is called in."""
    place = tree(tmp_path / "t")
    rules = tmp_path / "rules"
    rules.mkdir()
    shipped = data_root() / "activation" / "draft.yaml"
    (rules / "own.yaml").write_bytes(shipped.read_bytes())
    checked(place)
    assert checked(place, "--rules", str(rules))[1] == 1
    assert checked(place, "--rules", str(rules))[1] == 0
    (rules / "readme.txt").write_text("a file more", encoding="utf-8")
    assert checked(place, "--rules", str(rules))[1] == 1
    (tmp_path / "mtp-trace.toml").write_text("", encoding="utf-8")
    assert checked(place)[1] == 1
    path = place / ARGS
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert checked(place)[1] == 1
    assert checked(place)[1] == 0
