"""What a head costs, whole and on one GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.head import expected_tensors, head_cost
from mtp_trace.checkpoint.tensors import Tensor, TensorIndex
from mtp_trace.errors import CheckpointError

from .make import make_checkpoint

HEAD = {
    "mtp.enorm.weight": ("BF16", (64,)),
    "mtp.fc.weight": ("BF16", (64, 128)),
    "mtp.mlp.gate.weight": ("F32", (8, 64)),
    "mtp.self_attn.o_proj.weight": ("F8_E4M3", (64, 64)),
    "mtp.self_attn.o_proj.weight_scale_inv": ("F32", (4, 4)),
    **{f"mtp.mlp.experts.{e}.up_proj.weight": ("F8_E4M3", (32, 64)) for e in range(8)},
}
BYTES = {"BF16": 64 * 2 + 64 * 128 * 2, "F32": 8 * 64 * 4 + 4 * 4 * 4, "F8_E4M3": 64 * 64 + 8 * 32 * 64}


def test_headers_give_exact_costs(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": {**HEAD, "model.norm.weight": ("BF16", (64,))}})
    head = TensorIndex.of(ModelFolder.open(str(tmp_path))).under("mtp.")
    cost = head_cost(head)
    assert cost.tensors == len(HEAD)
    assert cost.by_dtype == BYTES
    assert list(cost.by_dtype) == ["F8_E4M3", "BF16", "F32"]
    assert cost.nbytes == cost.per_gpu_bytes == sum(BYTES.values())
    # the scale is no parameter
    assert cost.parameters == 64 + 64 * 128 + 8 * 64 + 64 * 64 + 8 * 32 * 64
    assert cost.from_headers and not cost.unknown


@pytest.mark.parametrize(("tp", "ep"), [(4, 1), (4, 2), (4, 4)])
def test_one_gpu_holds_its_share(tmp_path: Path, tp: int, ep: int) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": HEAD}, data=False)
    cost = head_cost(TensorIndex.of(ModelFolder.open(str(tmp_path))).under("mtp."), tp=tp, ep=ep)
    whole = 64 * 2 + 64 * 128 * 2 + 8 * 64 * 4
    split = 64 * 64 + 4 * 4 * 4 + 8 * 32 * 64
    assert cost.per_gpu_bytes == whole + split // 4
    assert len(cost.assumptions) == 4
    assert ("spread" in cost.assumptions[0]) is (ep > 1)


def test_expert_scales_follow_their_experts() -> None:
    scales = [Tensor(f"mtp.mlp.experts.{e}.up_proj.weight_scale", "a", "F32", (), 4) for e in range(8)]
    assert head_cost(scales, tp=8, ep=8).per_gpu_bytes == 8
    assert head_cost(scales, tp=8).per_gpu_bytes == 32


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "bits", "parameters"),
    [
        ("mtp.a.weight", "U8", (4, 8), 4, 64),
        ("mtp.a.weight_packed", "I32", (4, 8), 4, 256),
        ("mtp.a.qweight", "I32", (4, 8), 8, 128),
        ("mtp.experts.gate_up_proj_blocks", "U8", (2, 4, 8), 4, 128),
        ("mtp.a.weight", "F4", (4, 16), 4, 64),
        ("mtp.a.weight", "BF16", (4, 8), 4, 32),
        ("mtp.a.weight", "U8", (4, 8), None, 32),
        ("mtp.a.weight_scale", "F8_E4M3", (4, 1), 4, 0),
        ("mtp.a.weight_scale_2", "F32", (), 4, 0),
        ("mtp.experts.gate_up_proj_scales", "U8", (4, 1), 4, 0),
        ("mtp.a.qzeros", "I32", (4, 1), 4, 0),
        ("mtp.a.input_scale", "F32", (), 4, 0),
        ("mtp.scaled_norm.weight", "F32", (4,), 4, 4),
    ],
)
def test_packed_weights_are_counted_singly(
    name: str, dtype: str, shape: tuple[int, ...], bits: int | None, parameters: int
) -> None:
    tensor = next(iter(expected_tensors({name: shape}, dtype).values()))
    assert head_cost([tensor], weight_bits=bits).parameters == parameters


def test_expected_shapes_stand_in_for_headers() -> None:
    index = TensorIndex.of_names(["mtp.fc.weight", "mtp.norm.weight", "mtp.new.weight"])
    expected = expected_tensors({"mtp.fc.weight": (4, 8), "mtp.norm.weight": (4,), "mtp.other": (1,)}, "BF16")
    cost = head_cost(index.under("mtp."), expected=expected, tp=2)
    assert (cost.tensors, cost.nbytes, cost.unknown) == (3, 72, ("mtp.new.weight",))
    assert not cost.from_headers
    assert not head_cost(expected.values()).from_headers
    assert head_cost([]).nbytes == 0


def test_nonsense_is_refused() -> None:
    for tp, ep in ((0, 1), (1, 0), (4, 3), (2, 4), (-1, -1)):
        with pytest.raises(CheckpointError, match="multiple"):
            head_cost([], tp=tp, ep=ep)
    with pytest.raises(CheckpointError, match="dtype"):
        expected_tensors({}, "F5")
    with pytest.raises(CheckpointError, match="negative"):
        expected_tensors({"a": (-1,)}, "F32")
