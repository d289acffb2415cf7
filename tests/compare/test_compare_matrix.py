"""The matrix: on the miniature, and against what real releases were recorded to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from compare_support import MODEL, NEXTN, lax, tree
from recorded import CONFIGS, cases, disagreement, outcomes, releases

from mtp_trace.compare.judging import judge_trees
from mtp_trace.compare.matrix import matrix, of_reports
from mtp_trace.compare.models import named_models
from mtp_trace.compare.trees import TreeSpec, in_order
from mtp_trace.errors import InputError, SourceError
from mtp_trace.report.model import Verdict
from mtp_trace.report.tally import runs_text
from mtp_trace.source import open_tree
from mtp_trace.verdict.case import Case

ALL = "MTP_TRACE_ALL_RELEASES"
FEW = ("0.5.9", "0.5.10.post1")
FEW_MODELS = ("qwen3-next", "deepseek-v3", "glm4-moe")


def test_where_a_model_runs_and_what_it_needs_elsewhere(tmp_path: Path) -> None:
    trees = [
        TreeSpec(str(tree(tmp_path / "1.0"))),
        TreeSpec(str(lax(tmp_path / "1.1"))),
        TreeSpec(str(tree(tmp_path / "1.2"))),
        TreeSpec(str(lax(tmp_path / "1.3"))),
    ]
    found = matrix(trees, {"hybrid": str(MODEL)}, NEXTN, gpu="h200", workers=2)
    verdicts = [cell.verdict for cell in found.cells]
    assert verdicts == [Verdict.STARTUP_ERROR, Verdict.ACTIVE, Verdict.STARTUP_ERROR, Verdict.ACTIVE]
    assert found.cells[1].draft == "MiniHybridForCausalLMMTP"
    assert "runs with --mamba-scheduler-strategy extra_buffer" in found.cells[0].note
    (runs,) = found.models
    assert (runs.first, runs.spans) == ("1.1", (("1.1", "1.1"), ("1.3", "1.3")))
    assert (runs.sooner, runs.sooner_with) == ("1.0", "--mamba-scheduler-strategy extra_buffer")
    assert runs_text(runs) == (
        "runs first in 1.1 (1.1, 1.3); in 1.0 with --mamba-scheduler-strategy extra_buffer"
    )  # fmt: skip


def test_workers_and_one_process_say_the_same(tmp_path: Path) -> None:
    trees = [TreeSpec(str(tree(tmp_path / "a"))), TreeSpec(str(lax(tmp_path / "b")))]
    case = [Case("m", ("--model-path", str(MODEL), *NEXTN), gpu="h200")]
    assert judge_trees(trees, case, workers=1) == judge_trees(trees, case, workers=2)


def test_what_a_worker_refuses_keeps_its_place(tmp_path: Path) -> None:
    trees = [TreeSpec(str(tree(tmp_path / "a"))), TreeSpec(str(tmp_path / "none"))]
    with pytest.raises(InputError) as caught:
        judge_trees(trees, [Case("m", NEXTN)], workers=2)
    assert str(tmp_path / "none") in caught.value.where


def test_releases_stand_in_their_order() -> None:
    trees = [TreeSpec(version) for version in ("0.5.10", "0.5.9", "0.5.10", "0.5.9.post1")]
    assert [item.name for item in in_order(trees)] == ["0.5.9", "0.5.9.post1", "0.5.10"]
    assert [item.name for item in in_order([TreeSpec("x"), TreeSpec("a")])] == ["x", "a"]


def test_models_are_folders_configurations_or_folders_of_folders() -> None:
    assert named_models([str(CONFIGS / "qwen3-next")]) == {"qwen3-next": str(CONFIGS / "qwen3-next")}
    assert list(named_models([str(CONFIGS / "qwen3-next" / "config.json")])) == ["qwen3-next"]
    assert {"qwen3-next", "deepseek-v3"} <= set(named_models([str(CONFIGS)]))
    with pytest.raises(InputError):
        named_models([str(CONFIGS / "qwen3-next" / "..")[:0] or str(Path(__file__).parent)])


# --- real releases ------------------------------------------------------------------------------------------------


def fetched(versions: list[str]) -> list[TreeSpec]:
    """The releases, fetched into the cache; without a network, no test."""
    for version in versions:
        try:
            open_tree(version).close()
        except SourceError as error:
            pytest.skip(f"release {version} cannot be had: {error}")
    return [TreeSpec(version) for version in versions]


def wrong_cells(versions: list[str], only: tuple[str, ...] = ()) -> list[str]:
    recorded = [case for case in cases() if not only or case["id"] in only]
    launches = [Case(case["id"], tuple(case["argv"]), case["env"], "h200") for case in recorded]
    trees = fetched(versions)
    rows = judge_trees(trees, launches)
    assert len(of_reports(trees, launches, rows, ()).cells) == len(versions) * len(launches)
    wrong = []
    for version, row in zip(versions, rows):
        truth = outcomes(version)
        for launch, report in zip(launches, row):
            told = disagreement(truth[launch.id], report)
            wrong += [f"{version} {launch.id}: {told}"] if told else []
    return wrong


@pytest.mark.releases
def test_a_few_releases_agree_with_what_was_recorded() -> None:
    assert wrong_cells(list(FEW), FEW_MODELS) == []


@pytest.mark.releases
@pytest.mark.skipif(not os.environ.get(ALL), reason=f"set {ALL}=1 for every recorded release")
def test_every_release_agrees_with_what_was_recorded() -> None:
    assert wrong_cells(releases()) == []


def test_a_model_that_is_nowhere_is_bad_input() -> None:
    for name in ("nosuch/model", "nosuch", "a" * 400):
        with pytest.raises(InputError) as caught:
            named_models([name])
        assert name[:100] in f"{caught.value}"


def test_a_model_of_the_local_cache_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = tmp_path / "hub" / "models--Some-Org--Name-1.5"
    snapshot = repo / "snapshots" / ("c" * 40)
    for place in (repo / "refs", snapshot):
        place.mkdir(parents=True)
    (repo / "refs" / "main").write_text("c" * 40)
    (snapshot / "config.json").write_bytes((Path(MODEL) / "config.json").read_bytes())
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    models = named_models(["Some-Org/Name-1.5"])
    assert models == {"Name-1.5": str(snapshot)}
    found = matrix([TreeSpec(str(lax(tmp_path / "tree")))], models, NEXTN, gpu="h200", workers=1)
    assert [cell.verdict for cell in found.cells] == [Verdict.ACTIVE]
