"""Objects made from the table hold what real ones hold.

``tests/data/transformers_objects.json`` was recorded from real releases by ``tests/tools/record_transformers.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mtp_trace.checkpoint.transformers_auto import Source, choose_class
from mtp_trace.checkpoint.transformers_object import ConfigObject, make_object
from mtp_trace.checkpoint.transformers_table import load_table

ROOT = Path(__file__).parents[2]
MOST_UNKNOWN = 40
"""One family makes its per-layer settings of keys of its own; the others leave ten attributes open at most."""
CONFIGS = ROOT / "fixtures" / "configs"
RECORDED = json.loads((ROOT / "tests" / "data" / "transformers_objects.json").read_text())


def picture(made: ConfigObject, prefix: str = "") -> tuple[dict[str, Any], set[str]]:
    """Attributes under dotted names, and the names of those that cannot be told."""
    out: dict[str, Any] = {}
    opaque = {prefix + name for name in made.opaque}
    for key, value in made.values.items():
        if isinstance(value, ConfigObject):
            inner, unknown = picture(value, f"{prefix}{key}.")
            out |= {prefix + key: {"__config__": value.cls}} | inner
            opaque |= unknown
        else:
            out[prefix + key] = value
    return out, opaque


def stages() -> list[Any]:
    return [
        pytest.param(name, release, index, id=f"{name}-{release}")
        for name, found in RECORDED.items()
        for index, (release, _) in enumerate(found)
    ]


@pytest.mark.parametrize(("name", "release", "index"), stages())
def test_as_recorded(name: str, release: str, index: int) -> None:
    wanted: dict[str, Any] = {}
    for _, change in RECORDED[name][: index + 1]:
        wanted = {key: value for key, value in wanted.items() if key not in change["drop"]} | change["set"]
    outcome = RECORDED[name][index][1]
    config = json.loads((CONFIGS / name / "config.json").read_text())
    table = load_table(release)
    choice = choose_class(table, config, "{path}", False)
    if "error" in outcome:
        assert (choice.source, choice.name, choice.text) == (Source.REFUSED, outcome["error"], outcome["text"])
        return
    assert (choice.source, choice.name) == (Source.TABLE, outcome["class"])
    got, opaque = picture(make_object(table, choice.name, config))
    known = {path for path in {*wanted, *got} if not any(path == one or path.startswith(f"{one}.") for one in opaque)}
    assert {path: got.get(path, "absent") for path in known} == {path: wanted.get(path, "absent") for path in known}
    assert len(opaque) <= (MOST_UNKNOWN if name == "step3.5" else 10), opaque


def test_reading() -> None:
    new, old = load_table("5.12.1"), load_table("4.57.1")
    made = make_object(new, "DeepseekV3Config", {"torch_dtype": "bfloat16", "rope_theta": 5, "head_dim": 7})
    assert made.read("num_local_experts") == made.read("n_routed_experts") == 256
    assert made.read("torch_dtype") == made.read("dtype") == "bfloat16"
    assert made.read("rope_scaling") == made.read("rope_parameters") == {"rope_theta": 5, "rope_type": "default"}
    assert made.read("head_dim") == 7
    with pytest.raises(KeyError):
        made.read("rope_theta")
    composite = make_object(old, "Qwen2_5_VLConfig", {"text_config": {"hidden_size": 64}})
    assert composite.read("hidden_size") == 64 and composite.read("text_config").read("hidden_size") == 64
    with pytest.raises(KeyError):
        make_object(new, "Qwen3_5MoeConfig", {}).read("hidden_size")


@pytest.mark.parametrize(
    ("release", "rope"),
    [("4.57.1", None), ("5.3.0", {"factor": 2.0, "type": "linear"}), ("5.12.1", {"factor": 2.0, "type": "linear"})],
)
def test_the_base_class_alone(release: str, rope: dict[str, Any] | None) -> None:
    given = {"hidden_size": 8, "rope_scaling": {"type": "linear", "factor": 2.0}, "model_type": "x"}
    made = make_object(load_table(release), "PretrainedConfig", given)
    assert made.read("hidden_size") == 8 and made.read("architectures") is None
    assert made.read("rope_scaling") == given["rope_scaling"]
    assert made.values.get("rope_parameters") == rope


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_the_installed_release(name: str) -> None:
    """Where transformers is installed here, and is a release that the table describes."""
    transformers = pytest.importorskip("transformers")
    table = load_table(transformers.__version__)
    if not table.exact:
        pytest.skip(f"transformers {transformers.__version__} is not described")
    config = json.loads((CONFIGS / name / "config.json").read_text())
    choice = choose_class(table, config, str(CONFIGS / name), False)
    if choice.source is Source.REFUSED:
        with pytest.raises(Exception, match=re.escape(choice.text)):
            transformers.AutoConfig.from_pretrained(str(CONFIGS / name), trust_remote_code=False)
        return
    real = transformers.AutoConfig.from_pretrained(str(CONFIGS / name), trust_remote_code=False)
    assert type(real).__name__ == choice.name
    got = make_object(table, choice.name, config).values
    simple = {key: value for key, value in got.items() if isinstance(value, (int, str, list)) and "dtype" not in key}
    held = {key: getattr(real, key, "absent") for key in simple}
    assert {key: list(value) if isinstance(value, tuple) else value for key, value in held.items()} == simple


def test_unknown_is_not_guessed() -> None:
    table = load_table("5.12.1")
    made = make_object(table, "LlavaConfig", {"text_config": {"model_type": "never_heard_of"}})
    assert "text_config" in made.opaque and "text_config" not in made.values


def test_the_given_dict_is_left_alone() -> None:
    given = {"rope_scaling": {"type": "linear", "factor": 2.0}, "text_config": {"hidden_size": 8}}
    before = json.dumps(given)
    make_object(load_table("5.12.1"), "Qwen3Config", given).values["rope_parameters"]["factor"] = 3
    make_object(load_table("4.57.1"), "LlamaConfig", given).values["rope_scaling"]["factor"] = 3
    assert json.dumps(given) == before


def test_defaults_are_not_shared() -> None:
    table = load_table("4.57.1")
    make_object(table, "Qwen3NextConfig", {}).values["mlp_only_layers"].append(1)
    assert make_object(table, "Qwen3NextConfig", {}).values["mlp_only_layers"] == []


def test_no_such_class() -> None:
    with pytest.raises(KeyError):
        make_object(load_table("4.51.1"), "Qwen3NextConfig", {})


def test_settings_that_differ_by_layer_are_not_read_as_one() -> None:
    given = {"per_layer_config": {"0": {"num_key_value_heads": 2}}, "num_key_value_heads": 8}
    assert "num_key_value_heads" in make_object(load_table("5.19.0"), "Qwen3Config", given).opaque
    assert make_object(load_table("5.12.1"), "Qwen3Config", given).read("num_key_value_heads") == 8


def test_what_follows_from_an_unknown_is_unknown() -> None:
    made = make_object(load_table("5.12.1"), "NemotronHConfig", {"hybrid_override_pattern": ["M", "E"]})
    assert {"layers_block_type", "num_hidden_layers"} <= set(made.opaque)
    told = make_object(load_table("5.12.1"), "NemotronHConfig", {"hybrid_override_pattern": "ME*"})
    assert told.read("layers_block_type") == ["mamba", "moe", "attention"] and told.read("num_hidden_layers") == 3


GEMMA_LAYERS = ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]


def test_layers_are_built_from_keys_of_their_own() -> None:
    """``Gemma4TextConfig.__post_init__`` of 5.19.0 gives each full-attention layer ``global_head_dim``."""
    given = {"layer_types": GEMMA_LAYERS, "num_hidden_layers": 4, "head_dim": 256, "global_head_dim": 128}
    made = make_object(load_table("5.19.0"), "Gemma4TextConfig", given)
    assert made.layers is not None
    assert made.layers.overrides == {1: {"head_dim": 128}, 3: {"head_dim": 128}}
    assert made.layers.whole == {"head_dim": 256} and "head_dim" in made.opaque
    assert made.read("num_key_value_heads") == 4, "the same in every layer"
    assert "global_head_dim" not in made.values
    assert make_object(load_table("5.12.1"), "Gemma4TextConfig", given).read("head_dim") == 256


def test_heads_of_full_attention_hang_on_a_switch() -> None:
    given = {"layer_types": GEMMA_LAYERS, "num_hidden_layers": 4, "num_global_key_value_heads": 2}
    table = load_table("5.19.0")
    off = make_object(table, "Gemma4TextConfig", {**given, "attention_k_eq_v": False})
    on = make_object(table, "Gemma4TextConfig", {**given, "attention_k_eq_v": True})
    assert off.layers is not None and off.layers.varying == {"head_dim"}
    assert on.layers is not None and on.layers.varying == {"head_dim", "num_key_value_heads"}


def test_the_last_layer_is_full_attention() -> None:
    given = {"layer_types": [*GEMMA_LAYERS[:3], "sliding_attention"], "num_hidden_layers": 4}
    for release in ("5.6.0", "5.12.1", "5.19.0"):
        assert make_object(load_table(release), "Gemma4TextConfig", given).read("layer_types") == GEMMA_LAYERS


def test_layers_that_say_what_the_whole_says_do_not_differ() -> None:
    given = {"per_layer_config": {"0": {"head_dim": 64}}, "head_dim": 64, "num_hidden_layers": 2}
    made = make_object(load_table("5.19.0"), "Qwen3Config", given)
    assert made.layers is not None and not made.layers.varying and made.read("head_dim") == 64


def test_layers_out_of_range_are_not_followed() -> None:
    given = {"per_layer_config": {"7": {"head_dim": 64}}, "head_dim": 32, "num_hidden_layers": 2}
    made = make_object(load_table("5.19.0"), "Qwen3Config", given)
    assert made.layers is None and {"per_layer_config", "head_dim"} <= set(made.opaque)


def test_a_block_beside_the_config_inside_fills_it() -> None:
    """``InklingConfig.__post_init__`` of 5.19.0 hands the text config what its own ``mtp_config`` block says."""
    given = {"mtp_config": {"num_nextn_predict_layers": 2, "local_layer_ids": [0]}, "text_config": {"hidden_size": 64}}
    made = make_object(load_table("5.19.0"), "InklingConfig", given)
    text = made.values["text_config"]
    assert text.read("num_mtp_layers") == 2 and text.read("mtp_local_layer_ids") == [0]
    assert text.read("chain_hidden_post_norm") is False
    assert made.values["vision_config"].read("text_hidden_size") == 64
