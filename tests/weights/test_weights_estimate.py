"""What a head takes where only a configuration is there."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import pytest
from checkpoint.make import make_checkpoint

from mtp_trace.report.model import Report

from .kinds import KINDS, nvfp4
from .launches import Release, check, session_of

pytestmark = pytest.mark.releases
EXPERTS, HIDDEN, INNER = 512, 4096, 1024


def _estimate(release: Release, place: Path, name: str, *more: str, **extra: Any) -> Report:
    kind = KINDS[name]
    folder = make_checkpoint(place, {}, index=False, **{**kind.config, **extra})
    weigher = session_of(release, "0.5.18").weigher
    weigher.estimating = True
    try:
        return check(release, "0.5.18", kind, folder, *more, gpu="b200")
    finally:
        weigher.estimating = False


@pytest.mark.parametrize("name", list(KINDS))
def test_the_class_tells_what_a_complete_head_has(release: Release, tmp_path: Path, name: str) -> None:
    """As many tensors and weights as the family's complete head, but for what a draft shares with its target."""
    report = _estimate(release, tmp_path, name)
    shared = ("embed_tokens.weight", "shared_head.head.weight")
    head = {n: shape for n, (_, shape) in KINDS[name].head().items() if not n.endswith(shared)}
    assert report.verdict.value == "active" and report.weights is not None
    assert report.weights["present"] is None
    assert report.weights["expected"] in (len(head), None)
    assert report.weights["params"] == sum(prod(shape) for shape in head.values())


@pytest.mark.parametrize(("tp", "ep"), [(1, 1), (8, 1), (8, 8)])
def test_a_large_head(release: Release, tmp_path: Path, tp: int, ep: int) -> None:
    """512 experts of three matrices and 17 more tensors: 1,553. Two bytes a weight in BF16.

    Under ``--tp 8`` every expert's matrices are split over 8 GPUs, under ``--ep 8`` each GPU has 64 whole ones: the
    same share. What all GPUs hold in full are norms, the routers and ``fc``.
    """
    text = {**KINDS["qwen3.5-moe"].config["text_config"], "hidden_size": HIDDEN, "num_experts": EXPERTS}
    text |= {"moe_intermediate_size": INNER, "shared_expert_intermediate_size": INNER, "vocab_size": 248320}
    text |= {"num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 256}
    flags = ("--tp", str(tp), "--ep", str(ep))
    quantization = nvfp4("mtp*")
    report = _estimate(release, tmp_path, "qwen3.5-moe", *flags, text_config=text, quantization_config=quantization)
    assert report.weights is not None and report.verdict.value == "active", report.error
    routed = EXPERTS * 3 * HIDDEN * INNER
    attention = HIDDEN * 256 * (2 * 32 + 2 + 2 + 32)
    split = routed + attention + 3 * HIDDEN * INNER
    whole = 2 * HIDDEN * HIDDEN + 5 * HIDDEN + 2 * 256 + EXPERTS * HIDDEN + HIDDEN
    assert report.weights["expected"] == 1553
    assert report.weights["bf16_bytes"] == report.weights["bytes"] == 2 * (split + whole) == 13_191_136_256
    assert report.weights["per_gpu_bytes"] == 2 * (split // tp + whole)
    memory = session_of(release, "0.5.18").gpus.find("b200").memory_mib * 1024 * 1024
    assert report.weights["gpu_memory_share"] == round(report.weights["per_gpu_bytes"] / memory, 4)
