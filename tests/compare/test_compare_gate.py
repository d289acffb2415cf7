"""What an upgrade does to a launch, judged on the miniature and on made-up reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compare_support import ARGS, MODEL, NEXTN, lax, replaced, tree

from mtp_trace.compare.edit import flags_in, given
from mtp_trace.compare.effect import difference
from mtp_trace.compare.gate import GateOptions, gate
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.compare_model import Deployment, Effect
from mtp_trace.report.exitcode import ExitCode, exit_code_gate
from mtp_trace.report.model import Change, DraftInfo, Failure, LaunchInfo, ModelInfo, Report, SglangInfo, Step, Verdict
from mtp_trace.rules.flags import FlagTable
from mtp_trace.verdict.case import Case
from mtp_trace.verdict.planner_edit import applied

Launch = tuple[tuple[str, ...], dict[str, str]]
HYBRID = Case("hybrid", ("--model-path", str(MODEL), *NEXTN), gpu="h200")
BUFFERED = Case("buffered", (*HYBRID.argv, "--mamba-scheduler-strategy", "extra_buffer"), gpu="h200")
RESOLVED = {
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
    "disable_radix_cache": False,
    "disable_overlap_schedule": False,
}
ACTIVE = Report(
    Verdict.ACTIVE,
    SglangInfo("t", None),
    ModelInfo("m"),
    LaunchInfo(),
    resolved=RESOLVED,
    draft=DraftInfo("A", "A"),
    path=(Step("args", "write", "sglang/srt/a.py", 7, "f", "disable_radix_cache = True"),),
)


def stopped(message: str, line: int = 1) -> Report:
    return replace(ACTIVE, verdict=Verdict.STARTUP_ERROR, stage="args", error=Failure("ValueError", message, "f", line))


def with_fields(**fields: object) -> Report:
    return replace(ACTIVE, resolved={**RESOLVED, **fields})


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (ACTIVE, ACTIVE, Effect.NONE),
        (ACTIVE, stopped("no"), Effect.REGRESSION),
        (ACTIVE, replace(ACTIVE, verdict=Verdict.INACTIVE), Effect.REGRESSION),
        (ACTIVE, replace(ACTIVE, verdict=Verdict.DEGRADED), Effect.REGRESSION),
        (replace(ACTIVE, verdict=Verdict.INACTIVE), stopped("no"), Effect.REGRESSION),
        (stopped("no"), ACTIVE, Effect.IMPROVEMENT),
        (ACTIVE, replace(ACTIVE, verdict=Verdict.DEPENDS), Effect.CHANGED),
        (ACTIVE, replace(ACTIVE, verdict=Verdict.UNDETERMINED), Effect.CHANGED),
        (stopped("no", 5), stopped("no", 9), Effect.NONE),
        (stopped("no"), stopped("never"), Effect.CHANGED),
        (with_fields(speculative_num_steps=5), ACTIVE, Effect.REGRESSION),
        (ACTIVE, with_fields(disable_radix_cache=True), Effect.REGRESSION),
        (ACTIVE, with_fields(disable_overlap_schedule=True), Effect.REGRESSION),
        (with_fields(disable_overlap_schedule=True), ACTIVE, Effect.IMPROVEMENT),
        (ACTIVE, replace(ACTIVE, draft=DraftInfo("B", "B")), Effect.CHANGED),
        (ACTIVE, with_fields(disable_radix_cache={"unknown": "why"}), Effect.NONE),
    ],
)
def test_the_effect(old: Report, new: Report, effect: Effect) -> None:
    assert difference(old, new).effect is effect


def test_a_silent_switch_is_told_with_its_line() -> None:
    reason = difference(ACTIVE, with_fields(disable_radix_cache=True)).reason
    assert reason is not None and reason.message == "the radix cache is switched off"
    assert (reason.file, reason.line) == ("sglang/srt/a.py", 7)


def judged(old: Path, new: Path, *cases: Case) -> list[Deployment]:
    return list(gate(TreeSpec(str(old)), TreeSpec(str(new)), cases, GateOptions(workers=1)).deployments)


def test_a_guard_that_is_new_stops_only_what_meets_it(tmp_path: Path) -> None:
    found = judged(lax(tmp_path / "old"), tree(tmp_path / "new"), BUFFERED, HYBRID)
    assert [(d.id, d.change) for d in found] == [("hybrid", Effect.REGRESSION), ("buffered", Effect.NONE)]
    worst = found[0]
    lines = (tmp_path / "new" / ARGS).read_text(encoding="utf-8").splitlines()
    assert worst.reason is not None and worst.reason.line is not None
    assert worst.reason.file == ARGS and "raise ValueError(" in lines[worst.reason.line - 1]
    assert worst.suggestion is not None and worst.suggestion.verdict is Verdict.ACTIVE
    assert "--mamba-scheduler-strategy extra_buffer" in " ".join(worst.suggestion.argv)


def test_a_guard_that_goes_mends(tmp_path: Path) -> None:
    (found,) = judged(tree(tmp_path / "old"), lax(tmp_path / "new"), HYBRID)
    assert found.change is Effect.IMPROVEMENT
    assert found.reason is not None and "no longer stopped" in found.reason.message


def test_other_draft_parameters_are_a_regression_that_flags_undo(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", {ARGS: replaced("= 3, 1, 4", "= 5, 4, 8")})
    (found,) = judged(old, tree(tmp_path / "new"), BUFFERED)
    assert found.change is Effect.REGRESSION
    assert found.reason is not None and "are (3, 1, 4), not (5, 4, 8)" in found.reason.message
    assert found.reason.file == ARGS
    assert found.suggestion is not None
    assert " ".join(found.suggestion.argv).endswith(
        "--speculative-num-steps 5 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8"
    )


def test_a_renamed_flag_is_followed_and_traced(tmp_path: Path) -> None:
    def renamed(text: str) -> str:
        return text.replace("mamba-scheduler-strategy", "mamba-radix-cache-strategy").replace(
            "mamba_scheduler_strategy", "mamba_radix_cache_strategy"
        )

    (found,) = judged(tree(tmp_path / "old"), tree(tmp_path / "new", {ARGS: renamed}), BUFFERED)
    assert found.change is Effect.REGRESSION and found.new.stage == "cli"
    (move,) = found.flags
    assert (move.flag, move.to) == ("--mamba-scheduler-strategy", "--mamba-radix-cache-strategy")
    assert move.file == ARGS and move.line
    assert found.reason is not None and found.reason.line == move.line
    assert found.suggestion is not None and found.suggestion.verdict is Verdict.ACTIVE
    assert "--mamba-radix-cache-strategy extra_buffer" in " ".join(found.suggestion.argv)
    assert "--mamba-scheduler-strategy" not in found.suggestion.argv


@pytest.mark.parametrize(
    ("effect", "verdict", "code"),
    [
        (Effect.NONE, Verdict.ACTIVE, ExitCode.ACTIVE),
        (Effect.REGRESSION, Verdict.STARTUP_ERROR, ExitCode.FAILED),
        (Effect.CHANGED, Verdict.DEPENDS, ExitCode.OPEN),
        (Effect.NONE, Verdict.UNDETERMINED, ExitCode.OPEN),
        (Effect.NONE, Verdict.DEPENDS, ExitCode.ACTIVE),
    ],
)
def test_the_exit_code(effect: Effect, verdict: Verdict, code: ExitCode) -> None:
    from mtp_trace.report.compare_model import Gate

    new = replace(ACTIVE, verdict=verdict)
    found = Gate(ACTIVE.sglang, ACTIVE.sglang, (Deployment("a", ACTIVE, new, effect),))
    assert exit_code_gate(found) is code


def test_launches_are_edited_where_the_flag_stands() -> None:
    def edited(words: tuple[str, ...], env: dict[str, str], changes: list[Change]) -> Launch:
        return applied(words, env, changes, FlagTable([]))

    argv = ("--a", "1", "--b", "--c=x", "-3", "--a", "2")
    assert edited(argv, {}, [Change("flag", "--a", None, "9")])[0] == ("--b", "--c=x", "-3", "--a", "9")
    assert edited(argv, {}, [Change("flag", "--b", None, None)])[0] == ("--a", "1", "--c=x", "-3", "--a", "2")
    assert edited(argv, {}, [Change("flag", "--c", None, "y")])[0] == ("--a", "1", "--b", "--c=y", "--a", "2")
    assert edited((), {"A": "1"}, [Change("env", "A", "1", None), Change("env", "B", None, "2")]) == ((), {"B": "2"})
    assert edited((), {}, [Change("flag", "--n", None, "")])[0] == ("--n",)
    assert given(argv, "--a") == "2" and given(argv, "--b") == "" and given(argv, "--d") is None
    assert flags_in(argv) == ["--a", "--b", "--c"]
