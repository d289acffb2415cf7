"""The quantization a checkpoint declares, and which modules each method's matching leaves alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtp_trace.checkpoint.exclusion import CONVENTIONS
from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.quantization import QuantizationInfo, Weights
from mtp_trace.errors import CheckpointError

from .make import write_config

LAYER = "model.layers.61"
QKV = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}


def info(**config: Any) -> QuantizationInfo:
    return QuantizationInfo.from_config(config, "config.json: quantization_config")


def of(folder: Path) -> QuantizationInfo | None:
    return QuantizationInfo.of(ModelFolder.open(str(folder)))


# --- where it stands --------------------------------------------------------------------------------------------------


def test_nothing_says_so_in_a_plain_checkpoint(tmp_path: Path) -> None:
    write_config(tmp_path, quantization_config=None, text_config=None)
    assert of(tmp_path) is None


@pytest.mark.parametrize(
    ("config", "source"),
    [
        ({"quantization_config": {"quant_method": "fp8"}}, "config.json: quantization_config"),
        ({"text_config": {"quantization_config": {"quant_method": "fp8"}}}, "text_config.quantization_config"),
        ({"compression_config": {"quant_method": "fp8"}}, "compression_config"),
    ],
)
def test_every_place_in_the_configuration_is_looked_at(tmp_path: Path, config: dict[str, Any], source: str) -> None:
    write_config(tmp_path, **config)
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "NVFP4"}}')
    found = of(tmp_path)
    assert found is not None
    assert found.method == "fp8"
    assert found.source.endswith(source)


def test_the_modelopt_file_counts_where_the_configuration_is_silent(tmp_path: Path) -> None:
    write_config(tmp_path)
    quantization = {"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head", "mtp*"]}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps({"quantization": quantization}))
    found = of(tmp_path)
    assert found is not None
    assert (found.method, found.source, found.excluded) == ("modelopt_fp4", "hf_quant_config.json", ("lm_head", "mtp*"))
    assert found.weights == Weights(4, "nvfp4", 16)


def test_files_beside_a_bare_configuration_are_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text('{"architectures": ["A"]}')
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "NVFP4"}}')
    assert of(tmp_path / "demo.json") is None


def test_a_description_of_every_tensor_is_read(tmp_path: Path) -> None:
    write_config(tmp_path)
    description = {"model.layers.0.a.weight": "W8A8", "model.layers.61.eh_proj.weight": "FLOAT", "version": "1"}
    (tmp_path / "quant_model_description.json").write_text(json.dumps(description))
    found = of(tmp_path)
    assert found is not None
    assert (found.method, found.excluded) == ("modelslim", ("model.layers.61.eh_proj",))
    assert found.is_excluded("model.layers.61.eh_proj") is True
    assert found.is_excluded("model.layers.0.a") is False
    write_config(tmp_path, quantization_config={"quant_method": "fp8"})
    both = of(tmp_path)
    assert both is not None and both.method == "fp8" and "quant_model_description.json" in both.notes[0]


@pytest.mark.parametrize("value", [[], "fp8", 8, True])
def test_a_quantization_that_is_no_object_is_refused(tmp_path: Path, value: object) -> None:
    write_config(tmp_path, quantization_config=value)
    with pytest.raises(CheckpointError, match="not an object"):
        of(tmp_path)


def test_a_broken_modelopt_file_is_refused(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "hf_quant_config.json").write_text("[]")
    with pytest.raises(CheckpointError, match="a list"):
        of(tmp_path)


# --- method, bits, format ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "method", "weights"),
    [
        (
            {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
            "fp8",
            Weights(8, "fp8_e4m3", None, (128, 128)),
        ),
        ({"quant_method": "FP8"}, "fp8", Weights(8, "fp8_e4m3")),
        ({"quant_method": "mxfp4"}, "mxfp4", Weights(4, "mxfp4")),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "modelopt_fp8", Weights(8, "fp8_e4m3")),
        ({"quant_algo": "NVFP4", "ignore": []}, "modelopt_fp4", Weights(4, "nvfp4", 16)),
        ({"quant_method": "modelopt", "quant_algo": "MXFP8"}, "mxfp8", Weights(8, "mxfp8")),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "w4afp8", Weights()),
        (
            {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}},
            "modelopt_mixed",
            Weights(),
        ),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", Weights(4, "int4", 128)),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, "awq", Weights(4, "int4", 64)),
        ({"quant_method": "gptq", "bits": 8}, "gptq", Weights(8, "int8")),
        ({"quant_method": "bitsandbytes", "bnb_4bit_quant_type": "nf4"}, "bitsandbytes", Weights(4, "nf4")),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes", Weights(8, "int8")),
        (
            {
                "quant_method": "quark",
                "global_quant_config": {"weight": {"dtype": "fp4", "scale_format": "e8m0", "group_size": 32}},
            },
            "quark",
            Weights(4, "mxfp4", 32),
        ),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}},
            "quark",
            Weights(8, "fp8_e4m3"),
        ),
        ({"quant_method": "something_new", "bits": 3}, "something_new", Weights(3)),
        ({}, "", Weights()),
    ],
)
def test_method_and_stored_form(config: dict[str, Any], method: str, weights: Weights) -> None:
    found = info(**config)
    assert (found.method, found.weights) == (method, weights)
    assert bool(found.notes) is (not method or method in ("w4afp8", "modelopt_mixed"))


@pytest.mark.parametrize(
    ("groups", "weights", "notes"),
    [
        ([{"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}], (8, "fp8_e4m3"), 0),
        ([{"num_bits": 4, "type": "float", "group_size": 16}], (4, "nvfp4"), 0),
        ([{"num_bits": 4, "type": "float", "group_size": 32}], (4, "mxfp4"), 0),
        ([{"num_bits": 4, "type": "int", "group_size": 32}], (4, "int4"), 0),
        ([{"num_bits": 4, "type": "int"}, {"num_bits": 8, "type": "int"}], (None, None), 1),
        ([{"num_bits": 8, "type": "float"}, {"num_bits": 8, "type": "int"}], (8, None), 1),
        ([], (None, None), 0),
    ],
)
def test_groups_of_compressed_tensors(groups: list[object], weights: tuple[object, object], notes: int) -> None:
    found = info(
        quant_method="compressed-tensors", config_groups={f"g{n}": {"weights": each} for n, each in enumerate(groups)}
    )
    assert (found.weights.bits, found.weights.dtype) == weights
    assert len(found.notes) == notes


# --- excluded or not --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "module", "excluded"),
    [
        # fp8: by equal name in every release, by a stretch of parts in the newer ones only
        ({"quant_method": "fp8", "modules_to_not_convert": [f"{LAYER}.eh_proj"]}, f"{LAYER}.eh_proj", True),
        ({"quant_method": "fp8", "modules_to_not_convert": [f"{LAYER}.eh_proj"]}, f"{LAYER}.mlp.down_proj", False),
        ({"quant_method": "fp8", "modules_to_not_convert": [LAYER]}, f"{LAYER}.eh_proj", None),
        ({"quant_method": "fp8", "modules_to_not_convert": ["mlp.gate"]}, "model.layers.0.mlp.gate_up_proj", None),
        ({"quant_method": "fp8", "ignored_layers": None}, "lm_head", False),
        # modelopt: by glob over the whole name or a part
        ({"quant_algo": "NVFP4", "ignore": [f"{LAYER}*"]}, f"{LAYER}.mlp.down_proj", True),
        ({"quant_algo": "NVFP4", "ignore": ["mtp*"]}, "mtp.fc", True),
        ({"quant_algo": "NVFP4", "ignore": ["mtp*"]}, "model.layers.0.mlp.down_proj", False),
        ({"quant_algo": "NVFP4", "ignore": [f"{LAYER}*"]}, f"{LAYER}.mlp.experts", None),
        (
            {"quant_algo": "NVFP4", "ignore": ["model.layers.0.self_attn.q_a_proj"]},
            "model.layers.0.self_attn.o_proj",
            False,
        ),
        (
            {"quant_algo": "NVFP4", "ignore": ["model.layers.0.self_attn.kv_a_proj_with_mqa"]},
            "model.layers.0.self_attn.fused_qkv_a_proj_with_mqa",
            True,
        ),
        ({"quant_algo": "FP8", "ignore": ["lm_head"]}, "lm_head", True),
        # compressed-tensors: "re:", suffixes, and the first expert for all
        ({"quant_method": "compressed-tensors", "ignore": ["re:.*eh_proj$"]}, f"{LAYER}.eh_proj", True),
        ({"quant_method": "compressed-tensors", "ignore": [f"re:{LAYER}.*"]}, f"{LAYER}.mlp.experts", True),
        ({"quant_method": "compressed-tensors", "ignore": ["eh_proj"]}, f"{LAYER}.eh_proj", None),
        ({"quant_method": "compressed-tensors", "ignore": ["lm_head"]}, f"{LAYER}.mlp.experts", False),
        (
            {"quant_method": "compressed-tensors", "ignore": [f"{LAYER}.mlp.experts.0.up_proj"]},
            f"{LAYER}.mlp.experts",
            None,
        ),
        # quark
        ({"quant_method": "quark", "exclude": [f"{LAYER}.eh_proj"]}, f"{LAYER}.eh_proj", True),
        ({"quant_method": "quark", "exclude": ["eh_proj"]}, f"{LAYER}.eh_proj", False),
        ({"quant_method": "quark", "exclude": ["re:.*layers.61.*"]}, f"{LAYER}.eh_proj", True),
        ({"quant_method": "quark", "exclude": [f"{LAYER}.mlp.experts.7.up_proj"]}, f"{LAYER}.mlp.experts", None),
        # awq, gptq, bitsandbytes
        ({"quant_method": "awq", "modules_to_not_convert": ["mtp"]}, "mtp.layers.0.mlp.experts", True),
        ({"quant_method": "awq", "modules_to_not_convert": ["mtp"]}, "model.layers.0.mlp.gate", False),
        ({"quant_method": "gptq", "dynamic": {"-:.*mtp.*": {}}}, "mtp.fc", True),
        ({"quant_method": "gptq", "dynamic": {"+:mtp": {"bits": 8}, "-:.*mtp.*": {}}}, "mtp.fc", False),
        ({"quant_method": "gptq", "dynamic": {"-:.*mtp.*": {}}}, "mtp.layers.0.mlp.experts", False),
        ({"quant_method": "gptq", "modules_to_not_convert": ["mtp"]}, "mtp.fc", False),
        ({"quant_method": "bitsandbytes", "llm_int8_skip_modules": ["lm_head"]}, "lm_head", True),
        ({"quant_method": "bitsandbytes", "llm_int8_skip_modules": ["model.layers"]}, "model.layers.0.a", True),
        ({"quant_method": "bitsandbytes", "llm_int8_skip_modules": ["head"]}, "lm_head", False),
        # methods that look at no list
        ({"quant_method": "w4afp8", "modules_to_not_convert": ["mtp"]}, "mtp.fc", False),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["mtp"]}, "mtp.layers.0.mlp.experts", False),
        ({"quant_method": "mxfp4"}, "model.layers.0.self_attn.qkv_proj", True),
        # auto-round
        ({"quant_method": "auto-round", "bits": 4, "extra_config": {"mtp.fc": {"bits": 16}}}, "mtp.fc", True),
        ({"quant_method": "auto-round", "bits": 4, "extra_config": {".*mtp.*": {"bits": 16}}}, "mtp.fc", True),
        ({"quant_method": "auto-round", "bits": 4, "block_name_to_quantize": "model.layers"}, "mtp.fc", True),
        ({"quant_method": "auto-round", "bits": 4}, "mtp.fc", False),
        (
            {"quant_method": "auto-round", "extra_config": {"mtp.mlp.experts.0.up_proj": {"bits": 16}}},
            "mtp.mlp.experts",
            True,
        ),
        # mixed precision: what is not listed is not quantized
        (
            {
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {"model.layers.0.mlp.down_proj": {"quant_algo": "NVFP4"}},
            },
            "model.layers.0.mlp.down_proj",
            False,
        ),
        (
            {
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {"model.layers.0.mlp.experts.0.x": {"quant_algo": "NVFP4"}},
            },
            "model.layers.0.mlp.experts",
            False,
        ),
        (
            {
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {"model.layers.0.mlp.down_proj": {"quant_algo": "NVFP4"}},
            },
            "mtp.fc",
            True,
        ),
        # nobody knows
        ({"quant_method": "something_new", "modules_to_not_convert": ["mtp"]}, "mtp.fc", None),
        ({}, "mtp.fc", None),
    ],
)
def test_is_excluded(config: dict[str, Any], module: str, excluded: bool | None) -> None:
    assert info(**config).is_excluded(module) is excluded


def test_the_ways_of_matching_can_be_told_apart() -> None:
    found = info(quant_method="fp8", modules_to_not_convert=["mlp.gate"])
    assert found.answers("model.layers.0.mlp.gate_up_proj") == {
        "equal": False,
        "contained": True,
        "on path": False,
        "on path, dots stripped": False,
    }
    dotted = info(quant_method="fp8", modules_to_not_convert=["mtp."]).answers("mtp.fc")
    assert dotted["on path"] is False and dotted["on path, dots stripped"] is True


def test_fused_layers_need_their_parts_to_agree() -> None:
    parts = [f"{LAYER}.self_attn.{part}_proj" for part in "qkv"]
    for method, key in (("fp8", "modules_to_not_convert"), ("compressed-tensors", "ignore"), ("quark", "exclude")):
        all_of_them = info(**{"quant_method": method, key: parts})
        one_of_them = info(**{"quant_method": method, key: parts[:1]})
        name = f"{LAYER}.self_attn.qkv_proj"
        assert list(all_of_them.answers(name, QKV).values())[-1] is True
        assert list(one_of_them.answers(name, QKV).values())[-1] is None


def test_a_module_that_no_group_covers_has_no_answer() -> None:
    groups = {"g": {"targets": ["re:.*experts.*"], "weights": {"num_bits": 4}}}
    found = info(quant_method="compressed-tensors", ignore=["lm_head"], config_groups=groups)
    assert found.is_excluded(f"{LAYER}.eh_proj") is None
    assert found.is_excluded(f"{LAYER}.mlp.experts") is False
    assert found.is_excluded("lm_head") is True


def test_patterns_may_be_renamed() -> None:
    found = info(quant_algo="NVFP4", ignore=["model.language_model.mtp*"])
    assert found.is_excluded("mtp.fc") is False
    assert found.with_patterns(("mtp*",)).is_excluded("mtp.fc") is True


@pytest.mark.parametrize("value", ["lm_head", {"lm_head": 1}, ["lm_head", 1], 7])
def test_a_list_that_is_none_leaves_everything_open(value: object) -> None:
    found = info(quant_method="fp8", modules_to_not_convert=value)
    assert not found.readable and found.notes
    assert found.is_excluded("lm_head") is None


@pytest.mark.parametrize("key", ["ignore", "exclude_modules"])
def test_modelopt_keeps_its_list_under_one_name_in_each_file(key: str) -> None:
    flat = info(quant_algo="NVFP4", **{key: ["mtp*"]})
    nested = info(quantization={"quant_algo": "NVFP4", key: ["mtp*"]})
    assert flat.excluded == (("mtp*",) if key == "ignore" else ())
    assert nested.excluded == (("mtp*",) if key == "exclude_modules" else ())


@pytest.mark.parametrize(
    "pattern",
    [
        "re:(a+)+$",
        "re:(a|aa)+$",
        "re:(.*a){20}",
        "re:" + "a?" * 30 + "a" * 30,
        "re:(",
        "re:" + "(" * 5000,
        "re:[",
        "re:a{9" + "9" * 20 + "}",
    ],
)
def test_a_pattern_that_cannot_be_trusted_gives_no_answer_and_takes_no_time(pattern: str) -> None:
    before = time.perf_counter()
    for method, key in (("compressed-tensors", "ignore"), ("quark", "exclude")):
        found = info(**{"quant_method": method, key: [pattern, "lm_head"]})
        assert found.is_excluded("a" * 60 + "!") is None
        assert found.is_excluded("lm_head") is True
    assert time.perf_counter() - before < 1


@pytest.mark.parametrize(
    "pattern",
    [
        r"re:^model\.layers\.(" + "|".join(map(str, range(61, 92))) + r")\..*eh_proj$",
        r"re:.*\.(?:shared_head|eh_proj)$",
        r"re:(?!.*self_attn).*eh_proj",
        r"re:[^.]+\.layers\.\d+\.eh_proj",
        r"re:model.layers.61.*",
    ],
)
def test_the_patterns_of_real_checkpoints_are_matched(pattern: str) -> None:
    found = info(quant_method="compressed-tensors", ignore=[pattern])
    assert found.is_excluded(f"{LAYER}.eh_proj") is True
    assert found.is_excluded("model.layers.6.self_attn.o_proj") is False


def test_many_patterns_and_modules_are_quick() -> None:
    patterns = [f"model.layers.{layer}.self_attn.{part}_proj" for layer in range(400) for part in "qkvo"]
    before = time.perf_counter()
    for method, key in (("fp8", "modules_to_not_convert"), ("modelopt_fp4", "ignore"), ("quark", "exclude")):
        found = info(**{"quant_method": method, "quant_algo": "NVFP4", key: patterns})
        for layer in range(60):
            assert found.is_excluded(f"model.layers.{layer}.mlp.down_proj") is False
    assert time.perf_counter() - before < 10


TEXT = st.text("ab.*+?()[]|{}\\:re-1", max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 16) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "modules_to_not_convert",
    "ignored_layers",
    "ignore",
    "exclude",
    "exclude_modules",
    "quant_algo",
    "bits",
    "group_size",
    "dynamic",
    "fmt",
    "format",
    "config_groups",
    "quantized_layers",
    "extra_config",
    "global_quant_config",
    "layer_quant_config",
    "weight_block_size",
    "quantization",
    "llm_int8_skip_modules",
    "block_name_to_quantize",
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([*CONVENTIONS, "modelopt", "new", None, 3]),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5),
    st.sampled_from(["a", "a.b", "a.experts", "a.b.qkv_proj", "experts.1.a", "", "."]),
)
def test_any_configuration_gives_an_answer(method: object, config: dict[str, Any], module: str) -> None:
    found = info(quant_method=method, **config)
    for fused in (None, QKV):
        assert found.is_excluded(module, fused) in (True, False, None)
