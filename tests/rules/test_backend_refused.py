"""Attention backends that a release's own maker refuses, told of launches whose arguments are accepted."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.model import Finding, Report, Severity
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.session import Session
from tests.rules.trees import tree_of

CONFIGS = Path(__file__).resolve().parents[2] / "fixtures" / "configs"
RELEASES = ("0.5.6", "0.5.9", "0.5.12", "0.5.18", "0.5.23")
WORDS = "FlashAttention v3 Backend requires SM>=80 and SM<=90"
pytestmark = pytest.mark.releases


@functools.cache
def session(version: str) -> Session:
    return Session(tree_of(version), DiskCache())


def check(version: str, *argv: str, gpu: str | None = "b200", model: str = "glm4-moe") -> Report:
    found = session(version)
    profile = found.gpus.find(gpu, None) if gpu is not None else None
    argv = ("--tp", "8", "--speculative-algorithm", "NEXTN", *argv)
    return found.check(list(argv), {}, profile, ModelFolder.open(str(CONFIGS / model)))


def refused(report: Report) -> list[Finding]:
    return [f for f in report.findings if f.rule == "backend-refused"]


@pytest.mark.parametrize("version", RELEASES)
def test_fa3_on_blackwell(version: str) -> None:
    """``create_flashattention_v3_backend`` asserts on the compute capability, long after the arguments were taken."""
    report = check(version, "--attention-backend", "fa3")
    (found,) = refused(report)
    assert (report.verdict.value, report.stage, report.error) == ("active", None, None)
    assert found.severity is Severity.ERROR and found.file is not None and found.line is not None
    lines = session(version).programs.module(found.file).lines(found.line, found.end_line or found.line)
    assert lines[0].strip().startswith("assert") and any(WORDS in line for line in lines)
    assert [line.strip() for line in found.snippet.splitlines()] == [line.strip() for line in lines]
    assert all(part in found.message for part in ("fa3", "b200", "AssertionError", WORDS))
    assert found.fix is not None
    assert [(c.name, c.old, c.new) for c in found.fix.changes] == [("--attention-backend", "fa3", "flashinfer")]
    assert refused(check(version, "--attention-backend", "flashinfer")) == []


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("gpu", ["h200", "b200", "mi300x", "rtx6000"])
@pytest.mark.parametrize("model", ["glm4-moe", "deepseek-v3", "qwen3.5-moe"])
def test_what_the_tree_chooses_is_made(version: str, gpu: str, model: str) -> None:
    assert refused(check(version, gpu=gpu, model=model)) == []


@pytest.mark.parametrize("version", RELEASES)
def test_fa3_where_it_runs(version: str) -> None:
    report = check(version, "--attention-backend", "fa3", gpu="h200")
    assert (report.verdict.value, refused(report)) == ("active", [])


@pytest.mark.parametrize("version", RELEASES)
def test_one_side_of_two(version: str) -> None:
    """The backend of the other side asks things that nobody knows; that takes nothing from what is certain here."""
    split = ("--attention-backend", "flashinfer", "--decode-attention-backend", "fa3")
    report = check(version, *split)
    if report.verdict.value != "active":
        assert refused(report) == []
        return
    (found,) = refused(report)
    assert WORDS in found.message and found.fix is not None
    assert [c.name for c in found.fix.changes] == ["--decode-attention-backend"]


@pytest.mark.parametrize("version", RELEASES)
def test_a_backend_of_the_other_attention(version: str) -> None:
    """``create_trtllm_mha_backend`` raises for MLA models, and ``create_trtllm_mla_backend`` for all others."""
    report = check(version, "--attention-backend", "trtllm_mha", model="deepseek-v3")
    if report.verdict.value == "active":
        (found,) = refused(report)
        assert "trtllm_mha backend can only be used with non-MLA models." in found.message
        assert found.fix is not None and [c.new for c in found.fix.changes] == [None]
    mla = check(version, "--attention-backend", "trtllm_mla", model="deepseek-v3")
    assert (mla.verdict.value, refused(mla)) == ("active", [])


def test_without_a_gpu_nothing_is_certain() -> None:
    assert refused(check("0.5.12", "--attention-backend", "fa3", gpu=None)) == []


@pytest.mark.parametrize("version", ["0.5.12", "0.5.23"])
def test_nothing_stays_of_the_question(version: str) -> None:
    """Modules that only a maker asks for are not read: the launches that follow find the tree as they would have."""
    found = Session(tree_of(version), DiskCache())
    launch = ["--tp", "8", "--speculative-algorithm", "NEXTN"]
    model = ModelFolder.open(str(CONFIGS / "glm4-moe"))
    asked = found.check([*launch, "--attention-backend", "fa3"], {}, found.gpus.find("h200", None), model)
    assert refused(asked) == []
    engine = found._engines[-1]
    own = found.entry.backends.table.partition(":")[0].rpartition(".")[0]
    assert not [name for name in engine.imports.modules if name.startswith(own) and "flashattention" in name]
    assert not engine.names_only and engine.stop_at_construction is None
