"""Fixes on real releases, as an operator would want them: complete, and nothing beyond what is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.model import Verdict
from mtp_trace.source import SourceTree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.planner import with_suggestion
from mtp_trace.verdict.session import Session

pytestmark = pytest.mark.releases
CONFIGS = Path(__file__).resolve().parents[2] / "fixtures" / "configs"
Release = Callable[[str], SourceTree]
Set = set[tuple[str, str, str | None]]
DRAFT = {
    ("flag", "--speculative-num-steps", "3"),
    ("flag", "--speculative-eagle-topk", "1"),
    ("flag", "--speculative-num-draft-tokens", "4"),
}


def fix(tree: SourceTree, model: str, gpu: str, *argv: str) -> tuple[Verdict, Set]:
    """The verdict on a launch, and what the suggested one changes."""
    session, folder = Session(tree, DiskCache()), ModelFolder.open(str(CONFIGS / model))
    card = session.gpus.find(gpu)
    report = with_suggestion(session, session.check(list(argv), {}, card, folder), folder, card)
    assert report.suggestion is not None and report.suggestion.verdict is Verdict.ACTIVE
    return report.verdict, {(c.kind, c.name, c.new) for c in report.suggestion.changes}


@pytest.mark.parametrize("algorithm", ["NEXTN", "EAGLE"])
def test_values_that_belong_together_come_together(release: Release, algorithm: str) -> None:
    """0.5.23, ``deepseek_v4_hook.py``: only EAGLE and DSPARK are let through, before NEXTN becomes EAGLE; EAGLE needs a
    top-k of 1, and with that given ``speculative_hook.py`` compares the other two, which are then still unset."""
    verdict, changes = fix(release("0.5.23"), "deepseek-v4", "h200", "--speculative-algorithm", algorithm, "--tp", "8")
    rewritten = {("flag", "--speculative-algorithm", "EAGLE")} if algorithm == "NEXTN" else set()
    assert (verdict, changes) == (Verdict.STARTUP_ERROR, DRAFT | rewritten)


@pytest.mark.parametrize(
    ("version", "env"), [("0.5.10.post1", {("env", "SGLANG_ENABLE_SPEC_V2", "1")}), ("0.5.12", set())]
)
def test_a_hybrid_model_keeps_its_radix_cache(release: Release, version: str, env: Set) -> None:
    """Spec v2 is on by default from 0.5.11 on; before, extra_buffer needs it asked for."""
    _, changes = fix(release(version), "qwen3.5-moe", "b200", "--speculative-algorithm", "NEXTN", "--tp", "4")
    assert changes == {("flag", "--mamba-scheduler-strategy", "extra_buffer"), *env}


def test_a_flag_that_was_renamed(release: Release) -> None:
    given = ("--speculative-algorithm", "NEXTN", "--tp", "4", "--mamba-scheduler-strategy", "extra_buffer")
    _, changes = fix(release("0.5.23"), "qwen3.5-moe", "b200", *given)
    renamed = ("flag", "--mamba-radix-cache-strategy", "extra_buffer")
    assert changes == {("flag", "--mamba-scheduler-strategy", None), renamed}
