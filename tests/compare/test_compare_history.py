"""The commit that brought a difference."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from compare_support import ARGS, MODEL, NEXTN, commit_at, history, lax, tree

from mtp_trace.compare import gate as gate_module
from mtp_trace.compare.gate import GateOptions, Prober, gate
from mtp_trace.compare.history import Commit, Line, Search, budget, line_between
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.compare_model import Effect
from mtp_trace.verdict.case import Case

CASE = Case("hybrid", ("--model-path", str(MODEL), *NEXTN), gpu="h200")


def line(commits: int, from_old: bool = True) -> Line:
    return Line("base", tuple(Commit(f"{n:040d}", f"change {n}") for n in range(1, commits + 1)), from_old)


@pytest.mark.parametrize("commits", [1, 2, 3, 64, 65, 200])
def test_every_commit_is_found_within_the_budget(commits: int) -> None:
    for culprit in range(1, commits + 1):
        found = Search(lambda sha, culprit=culprit: int(sha) >= culprit)
        text = found.find(line(commits))
        assert text is not None and text.endswith(f"change {culprit}")
        assert found.traces <= math.ceil(math.log2(commits)) + 1 if commits > 1 else found.traces <= 1


def test_a_history_of_200_costs_at_most_nine() -> None:
    assert budget(200) == 9


def test_a_base_that_is_not_the_old_ref_is_traced_first() -> None:
    asked: list[str] = []

    def probe(sha: str) -> bool:
        asked.append(sha)
        return sha != "base" and int(sha) >= 150

    found = Search(probe)
    assert str(found.find(line(200, from_old=False))).endswith("change 150")
    assert asked[0] == "base" and found.traces <= 9


def test_a_base_that_is_like_the_new_tree_holds_no_culprit() -> None:
    search = Search(lambda sha: True)
    assert search.find(line(200, from_old=False)) is None
    assert search.traces == 1


def test_commits_that_cannot_be_traced_are_passed_over() -> None:
    search = Search(lambda sha: None if int(sha) == 8 else int(sha) >= 11)
    assert str(search.find(line(16))).endswith("change 11")


def test_where_none_between_can_be_traced_the_span_is_named() -> None:
    search = Search(lambda sha: None)
    text = search.find(line(200))
    assert text is not None and text.startswith("between base and ") and search.traces <= 9


@pytest.mark.parametrize("guard_at", [1, 137, 200])
def test_the_commit_is_named_in_at_most_nine_traces(
    tmp_path: Path, guard_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = history(tmp_path / "repo", 200, guard_at)
    traced: list[str] = []
    judged = Prober._judged
    monkeypatch.setattr(Prober, "_judged", lambda self, sha: traced.append(sha) or judged(self, sha))
    old, new = TreeSpec(str(repo), "v1"), TreeSpec(str(repo), "v2")
    found = gate(old, new, [CASE], GateOptions(suggest=False, workers=1)).deployments[0]
    assert found.change is Effect.REGRESSION
    assert found.commit == f"{commit_at(repo, guard_at, 200)[:12]} Refuse small pages too"
    assert len(traced) <= 9
    assert found.reason is not None and found.reason.file == ARGS


def test_launches_share_what_was_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = history(tmp_path / "repo", 16, 5)
    opened: list[str] = []
    real = gate_module.open_session
    monkeypatch.setattr(gate_module, "open_session", lambda spec: opened.append(spec.ref) or real(spec))
    cases = [CASE, Case("again", CASE.argv, gpu="h200")]
    found = gate(TreeSpec(str(repo), "v1"), TreeSpec(str(repo), "v2"), cases, GateOptions(suggest=False, workers=1))
    assert {d.commit and d.commit.partition(" ")[2] for d in found.deployments} == {"Refuse small pages too"}
    assert len(opened) == len(set(opened)) <= 5


def test_folders_have_no_history(tmp_path: Path) -> None:
    old, new = lax(tmp_path / "old"), tree(tmp_path / "new")
    found = gate(TreeSpec(str(old)), TreeSpec(str(new)), [CASE], GateOptions(suggest=False, workers=1))
    assert found.deployments[0].change is Effect.REGRESSION and found.deployments[0].commit is None


def test_nothing_lies_between_a_ref_and_itself(tmp_path: Path) -> None:
    repo = history(tmp_path / "repo", 3, 1)
    assert line_between(str(repo), "v2", "v2") is None
    assert line_between(str(repo), "v2", "v1") is None
    forward = line_between(str(repo), "v1", "v2")
    assert forward is not None and len(forward.commits) == 3 and forward.from_old
