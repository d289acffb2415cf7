"""Fixes found on the bundled miniature: the smallest, the one that keeps most, and none where none is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.model import Report, Suggestion, Verdict
from mtp_trace.source import open_tree
from mtp_trace.verdict.planner import plan, search, with_suggestion
from mtp_trace.verdict.session import Session

MODEL = Path(__file__).resolve().parents[2] / "fixtures" / "demo" / "model"
NEXTN = ("--speculative-algorithm", "NEXTN")
EXTRA = ("--mamba-scheduler-strategy", "extra_buffer")

FIXES = [
    ("refused with the radix cache", NEXTN, {("--mamba-scheduler-strategy", "extra_buffer")}),
    ("nothing asks for it", EXTRA, {("--speculative-algorithm", "NEXTN")}),
    ("two things at once", (), {("--speculative-algorithm", "NEXTN"), ("--mamba-scheduler-strategy", "extra_buffer")}),
    ("case", ("--speculative-algorithm", "nextn", *EXTRA), {("--speculative-algorithm", "NEXTN")}),
    ("an unknown flag", (*NEXTN, *EXTRA, "--gone-for-good", "7"), {("--gone-for-good", None)}),
    (
        "one of three",
        (*NEXTN, *EXTRA, "--speculative-num-draft-tokens", "4"),
        {("--speculative-num-draft-tokens", None)},
    ),
]


def judged(session: Session, argv: tuple[str, ...], model: ModelFolder) -> tuple[Report, Suggestion | None]:
    gpu = session.gpus.find("h200")
    report = session.check(list(argv), {}, gpu, model)
    return report, plan(session, report, model, gpu)


@pytest.mark.parametrize(("argv", "expected"), [f[1:] for f in FIXES], ids=[f[0] for f in FIXES])
def test_the_smallest_fix(session: Session, argv: tuple[str, ...], expected: set[tuple[str, str | None]]) -> None:
    model = ModelFolder.open(str(MODEL))
    report, found = judged(session, argv, model)
    assert report.verdict is not Verdict.ACTIVE
    assert found is not None and found.verdict is Verdict.ACTIVE
    assert {(c.name, c.new) for c in found.changes} == expected
    assert all(c.why for c in found.changes)
    again = session.check(list(found.argv), found.env, session.gpus.find("h200"), model)
    assert again.verdict is Verdict.ACTIVE


def test_a_launch_that_runs_needs_none(session: Session) -> None:
    model = ModelFolder.open(str(MODEL))
    report, found = judged(session, (*NEXTN, *EXTRA), model)
    assert report.verdict is Verdict.ACTIVE and found is None
    assert with_suggestion(session, report, model, session.gpus.find("h200")) is report


def test_a_model_without_a_draft_gets_a_reason(session: Session, tmp_path: Path) -> None:
    config = json.loads((MODEL / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["OtherForCausalLM"]}))
    model, gpu = ModelFolder.open(str(tmp_path)), session.gpus.find("h200")
    report = with_suggestion(session, session.check(list(NEXTN), {}, gpu, model), model, gpu)
    assert report.suggestion is None
    (note,) = [f for f in report.findings if f.rule == "no-change-helps"]
    assert "none comes to active" in note.message or "bears on it" in note.message


def test_the_number_of_traces_is_bounded(session: Session) -> None:
    model, gpu = ModelFolder.open(str(MODEL)), session.gpus.find("h200")
    report = session.check([], {}, gpu, model)
    made = search(session, report, model, gpu, 1)
    assert made.suggestion is None and len(made.tried) == 1


def changed_tree(tmp_path: Path, edits: dict[str, tuple[str, str]]) -> Session:
    """The miniature with some text replaced."""
    tree = tmp_path / "tree"
    shutil.copytree(MODEL.parent / "sglang", tree)
    for name, (old, new) in edits.items():
        file = tree / "sglang" / "srt" / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
    return Session(open_tree(str(tree)))


def test_a_value_that_has_to_be_given_brings_those_that_belong_to_it(tmp_path: Path) -> None:
    check = '''        assert self.speculative_eagle_topk == 1, "only top-k 1 is supported here"
        given = (self.spec'''
    session = changed_tree(tmp_path, {"server_args.py": ("        given = (self.spec", check)})
    model = ModelFolder.open(str(MODEL))
    report, found = judged(session, (*NEXTN, *EXTRA), model)
    assert report.error is not None and report.error.message == "only top-k 1 is supported here"
    assert found is not None and {(c.name, c.new) for c in found.changes} == {
        ("--speculative-num-steps", "3"),
        ("--speculative-eagle-topk", "1"),
        ("--speculative-num-draft-tokens", "4"),
    }


def test_what_the_tree_chose_is_changed_where_the_message_names_it_beside_others(tmp_path: Path) -> None:
    old = '''            assert runner.server_args.attention_backend in ("triton", "trtllm_mha"), (
                "only the triton and trtllm_mha backends work with hybrid models on Blackwell"
            )'''
    new = '''            allowed, used = {"triton", "trtllm_mha"}, runner.chosen()
            assert used in allowed, f"Only {allowed} work with hybrid models on Blackwell, got {used}."'''
    runner = "class ModelRunner:"
    chosen = f"{runner}\n    def chosen(self):\n        return self.server_args.attention_backend\n"
    session = changed_tree(
        tmp_path,
        {
            "layers/attention/attention_registry.py": (old, new),
            "model_executor/model_runner.py": (runner, chosen),
            "server_args.py": ('"fa3" if major == 9 else "triton"', '"fa3"'),
        },
    )
    model, gpu = ModelFolder.open(str(MODEL)), session.gpus.find("b200")
    report = session.check([*NEXTN, *EXTRA], {}, gpu, model)
    assert report.stage == "attention"
    found = plan(session, report, model, gpu)
    assert found is not None and {(c.name, c.new) for c in found.changes} == {("--attention-backend", "triton")}
