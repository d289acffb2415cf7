"""What is built against what is stored, without a tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkpoint.make import Spec, make_checkpoint

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.tensors import TensorIndex
from mtp_trace.verdict.weights_build import Parameter
from mtp_trace.verdict.weights_cost import Expected, expected, routed_experts
from mtp_trace.verdict.weights_judge import Compared, Comparison
from mtp_trace.verdict.weights_load import Load
from mtp_trace.verdict.weights_names import Sample
from mtp_trace.verdict.weights_rules import weight_rules


def _index(folder: Path, tensors: dict[str, Spec]) -> TensorIndex:
    return TensorIndex.of(ModelFolder.open(str(make_checkpoint(folder, {"model.safetensors": tensors}, data=False))))


def _compare(
    folder: Path, built: dict[str, str], tensors: dict[str, Spec], loads: list[Load], wanted: Expected | None = None
) -> Compared:
    head = {name: Parameter(name, (4, 4), dtype) for name, dtype in built.items()}
    chosen = [Sample(name, (name,)) for name in tensors]
    return Comparison(weight_rules(), head, chosen, loads, _index(folder, tensors)).compare(wanted)


def test_nothing_taken_is_absent(tmp_path: Path) -> None:
    found = _compare(tmp_path, {"model.fc.weight": "bfloat16"}, {"model.norm.weight": ("BF16", (4,))}, [])
    assert found.absent and found.taken == 0


def test_scales_never_filled_tell_of_plain_tensors(tmp_path: Path) -> None:
    built = {"o.weight": "float8_e4m3fn", "o.weight_scale_inv": "float32"}
    found = _compare(tmp_path, built, {"mtp.o.weight": ("BF16", (4, 4))}, [Load("mtp.o.weight", "o.weight", ())])
    assert found.built_quantized == {"o.weight": "mtp.o.weight"} and not found.built_plain


def test_scales_filled_are_in_order(tmp_path: Path) -> None:
    built = {"o.weight": "float8_e4m3fn", "o.weight_scale_inv": "float32"}
    tensors: dict[str, Spec] = {"mtp.o.weight": ("F8_E4M3", (4, 4)), "mtp.o.weight_scale_inv": ("F32", (1, 1))}
    loads = [Load("mtp.o.weight", "o.weight", ()), Load("mtp.o.weight_scale_inv", "o.weight_scale_inv", ())]
    found = _compare(tmp_path, built, tensors, loads)
    assert not found.built_quantized and not found.built_plain


def test_quantized_tensors_in_a_plain_parameter(tmp_path: Path) -> None:
    tensors: dict[str, Spec] = {"mtp.o.weight": ("F8_E4M3", (4, 4)), "mtp.o.weight_scale_inv": ("F32", (1, 1))}
    found = _compare(tmp_path, {"o.weight": "bfloat16"}, tensors, [Load("mtp.o.weight", "o.weight", ())])
    assert found.built_plain == {"o.weight": "mtp.o.weight"}


def test_a_scale_that_the_loader_used_is_no_loss(tmp_path: Path) -> None:
    """A loader that dequantizes as it loads reads both tensors into the one parameter."""
    tensors: dict[str, Spec] = {"mtp.o.weight": ("F8_E4M3", (4, 4)), "mtp.o.weight_scale_inv": ("F32", (1, 1))}
    loads = [Load(name, "o.weight", (f"joined={i}",)) for i, name in enumerate(tensors)]
    assert not _compare(tmp_path, {"o.weight": "bfloat16"}, tensors, loads).built_plain


def test_layers_loaded_over_each_other(tmp_path: Path) -> None:
    names = [f"mtp.{i}.norm.weight" for i in range(3)]
    tensors: dict[str, Spec] = dict.fromkeys(names, ("BF16", (4,)))
    found = _compare(tmp_path, {"norm.weight": "bfloat16"}, tensors, [Load(n, "norm.weight", ()) for n in names])
    assert found.collapsed == {"norm.weight": names}


def test_parts_of_one_parameter_are_no_collapse(tmp_path: Path) -> None:
    names = [f"mtp.experts.{i}.up_proj.weight" for i in range(3)]
    loads = [Load(n, "experts.w13_weight", (f"expert_id={i}", "shard_id=w3")) for i, n in enumerate(names)]
    found = _compare(tmp_path, {"experts.w13_weight": "bfloat16"}, dict.fromkeys(names, ("BF16", (4, 4))), loads)
    assert not found.collapsed


@pytest.mark.parametrize(("gone", "missing"), [(set(), []), ({1}, ["mtp.experts.1.up_proj.weight"])])
def test_missing_experts_are_named(tmp_path: Path, gone: set[int], missing: list[str]) -> None:
    probed = [
        Load(f"mtp.experts.{i}.up_proj.weight", "experts.w13_weight", (f"expert_id={i}", "shard_id=w3"))
        for i in (0, 1, 2)
    ]
    head = {"experts.w13_weight": Parameter("experts.w13_weight", (3, 4, 4), "bfloat16")}
    wanted = expected(probed, head, frozenset(head), routed_experts(probed, 3))
    assert wanted.count == 3
    loads = [load for i, load in enumerate(probed) if i not in gone]
    tensors: dict[str, Spec] = {load.tensor: ("BF16", (4, 4)) for load in loads}
    assert _compare(tmp_path, {"experts.w13_weight": "bfloat16"}, tensors, loads, wanted).missing == missing


def test_a_shared_expert_behind_the_others_is_not_numbered() -> None:
    probed = [
        Load("mtp.experts.0.up_proj.weight", "w13_weight", ("expert_id=0", "shard_id=w3")),
        Load("mtp.shared_expert.up_proj.weight", "w13_weight", ("expert_id=2", "shard_id=w3")),
    ]
    assert routed_experts(probed, 3) == 2
