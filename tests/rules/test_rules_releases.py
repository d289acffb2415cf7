"""What the rules say of real releases: findings of launches, and the tables of scans."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.model import Finding, Report, SglangInfo
from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.scan import scan
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.session import Session
from tests.rules.trees import sites_of, tree_of

CONFIGS = Path(__file__).resolve().parents[2] / "fixtures" / "configs"
pytestmark = pytest.mark.releases


@functools.cache
def session(version: str) -> Session:
    return Session(tree_of(version), DiskCache())


def check(version: str, *argv: str, gpu: str = "h200", model: str = "qwen3.5-moe-nvfp4") -> Report:
    found = session(version)
    return found.check(list(argv), {}, found.gpus.find(gpu, None), ModelFolder.open(str(CONFIGS / model)))


def finding(report: Report, rule: str) -> Finding:
    found = [f for f in report.findings if f.rule == rule]
    assert found, [f.rule for f in report.findings]
    return found[0]


@functools.cache
def facts(version: str) -> tuple[Any, ...]:
    return scan(load_pack(), sites_of(version), SglangInfo(version, version)).facts


def test_without_flags_nothing_turns_it_on() -> None:
    found = finding(check("0.5.12", "--tp", "8"), "no-auto-detection")
    assert found.line == 579 and found.fix is not None
    assert [(c.name, c.new) for c in found.fix.changes] == [("--speculative-algorithm", "NEXTN")]


def test_the_radix_cache_guard_has_its_fix() -> None:
    found = finding(check("0.5.12", "--tp", "8", "--speculative-algorithm", "NEXTN"), "radix-cache-no-buffer")
    assert found.line == 2568 and found.fix is not None
    assert [(c.name, c.new) for c in found.fix.changes] == [("--mamba-scheduler-strategy", "extra_buffer")]


def test_no_draft_path_is_needed() -> None:
    strategy = ("--mamba-scheduler-strategy", "extra_buffer")
    report = check("0.5.12", "--tp", "8", "--speculative-algorithm", "NEXTN", *strategy)
    assert finding(report, "draft-path-fallback").line == 391


def test_the_layer_count_is_set_where_nobody_reads_it() -> None:
    found = finding(check("0.5.9", "--tp", "8", "--speculative-algorithm", "NEXTN"), "layer-count-elsewhere")
    assert (found.line, found.related[0].line) == (329, 548)


def test_where_both_are_set_nothing_is_said() -> None:
    report = check("0.5.18", "--tp", "8", "--speculative-algorithm", "NEXTN")
    assert "layer-count-elsewhere" not in {f.rule for f in report.findings}


def test_the_blackwell_guard_has_its_fix() -> None:
    report = check("0.5.9", "--tp", "8", "--speculative-algorithm", "NEXTN", gpu="rtx-pro-6000")
    found = finding(report, "hybrid-backend-guard")
    assert found.fix is not None and [(c.name, c.new) for c in found.fix.changes] == [("--attention-backend", "triton")]


def test_a_flag_that_is_gone_names_its_successor() -> None:
    report = check("0.5.23", "--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer")
    found = finding(report, "refused-flag")
    assert found.fix is not None
    assert [(c.name, c.new) for c in found.fix.changes] == [
        ("--mamba-scheduler-strategy", None),
        ("--mamba-radix-cache-strategy", "extra_buffer"),
    ]


# Line by rule for one hybrid model, as read in the release's own files.
SENTENCES = {
    ("architecture-remap", 348), ("algorithm-rewrite", 2984), ("draft-path-auto-set", 3042),
    ("draft-path-fallback", 271),
    ("draft-parameters-default", 6745), ("draft-steps-incomplete", 3054), ("draft-tokens-adjusted", 3081),
    ("overlap-schedule", 3003), ("overlap-schedule", 3015), ("scheduler-strategy-choice", 967),
    ("radix-cache-no-buffer", 2206), ("extra-buffer-constraints", 2182), ("extra-buffer-constraints", 2177),
    ("extra-buffer-support", 2003), ("hybrid-recognition", 1834), ("hybrid-backend-guard", 209),
    ("hybrid-backend-guard", 216), ("topk-page-size", 3088), ("backend-topk", 3070), ("speculative-moe-runner", 2979),
    ("speculative-moe-runner-fallback", 2972), ("spec-dp-attention", 2989), ("spec-pipeline-parallel", 6070),
    ("spec-mixed-chunk", 3022), ("spec-lora", 6270), ("spec-device", 3094), ("max-running-requests-reset", 2994),
    ("draft-quantization-override", 55), ("draft-config-override", 68), ("draft-config-override", 69),
    ("head-divisibility", 640), ("head-divisibility", 644), ("verify-state-update", 874), ("verify-state-update", 994),
    ("verify-state-update", 581), ("env-switches", 442), ("draft-class", 39), ("algorithm-compared", 1795),
}  # fmt: skip


def test_every_sentence_of_fact_has_its_line() -> None:
    assert SENTENCES - {(f.rule, f.line) for f in facts("0.5.10.post1")} == set()


PARAMETERS = {
    "0.5.6": [["5", "4", "8"], ["3", "1", "4"], ["5", "4", "8"], ["5", "4", "8"]],
    "0.5.9": [["5", "4", "8"], ["3", "1", "4"], ["5", "4", "8"], ["3", "1", "4"]],
    "0.5.18": [["5", "4", "8"], ["3", "1", "4"], ["5", "4", "8"], ["3", "1", "4"]],
    "0.5.23": [["5", "4", "8"], ["3", "1", "4"], ["5", "4", "8"], ["3", "1", "4"]],
}


@pytest.mark.parametrize("version", PARAMETERS)
def test_the_parameter_table_in_its_order(version: str) -> None:
    rows = [f.details for f in facts(version) if f.kind == "draft-parameters" and f.details["architectures"] != "any"]
    assert [[str(r["steps"]), str(r["topk"]), str(r["draft_tokens"])] for r in rows] == PARAMETERS[version]
    assert rows[0]["architectures"] == ["LlamaForCausalLM"] and rows[-1]["architectures"] == "default"
    assert "DeepseekV3ForCausalLM" in rows[1]["architectures"]


@pytest.mark.parametrize(("version", "count"), [("0.5.9", 10), ("0.5.12", 12), ("0.5.18", 12), ("0.5.23", 14)])
def test_the_auto_set_list(version: str, count: int) -> None:
    lists = [f.details["architectures"] for f in facts(version) if f.rule == "draft-path-auto-set"]
    assert [len(found) for found in lists] == [count]


@pytest.mark.parametrize("version", ["0.4.6.post5", "0.5.0rc0", "0.5.6", "0.5.14", "0.5.19", "0.5.23"])
def test_every_remap_target_is_registered_and_no_rule_drifts(version: str) -> None:
    from mtp_trace.rules.drift import drift

    classes = {f.details["architecture"] for f in facts(version) if f.kind == "draft-class"}
    targets = {t for f in facts(version) if f.kind == "architecture-remap" for t in f.details["to"]}
    assert targets - classes == set()
    assert drift(load_pack(), sites_of(version)) == []
