"""Miniature checkpoints on real releases: does the draft find its tensors, in the precision it is built in?"""

from __future__ import annotations

from pathlib import Path

import pytest
from checkpoint.make import make_checkpoint, write_index

from .kinds import KINDS
from .launches import RELEASES, Release, check, folder, session_of, weights_rules

pytestmark = pytest.mark.releases
# The transformers release that 0.5.9 requires does not know GLM-5's configuration.
KNOWN = [(name, version) for name in KINDS for version in RELEASES if (name, version) != ("glm-5", "0.5.9")]


def _shared(name: str) -> bool:
    """A draft of these families reads the target's own embedding and output matrix in place of these."""
    return name.endswith(("embed_tokens.weight", "shared_head.head.weight"))


@pytest.mark.parametrize(("name", "version"), KNOWN)
def test_complete(release: Release, tmp_path: Path, version: str, name: str) -> None:
    """Every tensor that a released checkpoint has for the head is read into a parameter, and every parameter is filled.

    The loaders: ``qwen3_5_mtp.py`` and ``qwen3_next.py`` take names with ``mtp`` in them, ``deepseek_weight_loader.py``
    and ``glm4_moe.py`` those below ``model.layers.{num_hidden_layers}``, ``mimo_mtp.py`` those below
    ``model.mtp_layers``, ``nemotron_h.py`` those with ``mtp``; all map them onto what ``__init__`` builds.
    """
    kind = KINDS[name]
    report = check(release, version, kind, folder(tmp_path, kind, kind.head()))
    assert (report.verdict.value, weights_rules(report)) == ("active", []), report.error
    assert report.weights is not None
    count = sum(not _shared(tensor) for tensor in kind.head())
    assert (report.weights["present"], report.weights["missing"]) == (count, [])
    assert report.weights["expected"] in (count, None)


@pytest.mark.parametrize(("name", "version"), KNOWN)
def test_stripped(release: Release, tmp_path: Path, version: str, name: str) -> None:
    """No name passes the loader's filter: nobody raises (the loaders only skip), and the head keeps what was allocated.

    The line is the class that builds it.
    """
    kind = KINDS[name]
    report = check(release, version, kind, folder(tmp_path, kind, {}))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-missing"]), report.error
    finding = next(f for f in report.findings if f.rule == "weights/head-missing")
    assert report.draft is not None and (finding.file, finding.line) == (report.draft.file, report.draft.line)
    assert report.weights is not None and report.weights["present"] == 0


@pytest.mark.parametrize(("name", "version"), KNOWN)
def test_partly_stripped(release: Release, tmp_path: Path, version: str, name: str) -> None:
    """Loaders read what is there and compare nothing with what was built: the rest stays as it was allocated."""
    kind = KINDS[name]
    gone = {n for n in kind.head() if "o_proj" in n or ".experts.2." in n}
    report = check(
        release, version, kind, folder(tmp_path, kind, {n: t for n, t in kind.head().items() if n not in gone})
    )
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-incomplete"]), report.error
    assert report.weights is not None and set(report.weights["missing"]) == gone


@pytest.mark.parametrize(("name", "version"), [cell for cell in KNOWN if cell[0] != "mimo"])
def test_renamed_prefix(release: Release, tmp_path: Path, version: str, name: str) -> None:
    """A head below another name passes no filter: the same as none. (``mimo_mtp.py`` has no filter of this kind: it
    looks every name up, and a name of neither the target nor the head is a KeyError.)
    """
    kind = KINDS[name]
    head = {n.replace("mtp.", "draft.").replace("model.layers.3.", "model.head."): t for n, t in kind.head().items()}
    report = check(release, version, kind, folder(tmp_path, kind, head))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-missing"]), report.error


_MIMO_OUTSIDE = ("token_layernorm", "hidden_layernorm", "input_proj", "final_layernorm")  # of the block


@pytest.mark.parametrize(("version", "line"), [("0.5.9", 168), ("0.5.12", 170), ("0.5.18", 171), ("0.5.23", 172)])
def test_renamed_prefix_that_is_looked_up(release: Release, tmp_path: Path, version: str, line: int) -> None:
    """``map_model_name_to_mtp_param_name`` renames below ``model.mtp_layers.N.`` only. A name without ``mtp_block`` is
    passed over unless ``token_layernorm``, ``hidden_layernorm``, ``input_proj`` or ``final_layernorm`` stands in it
    (0.5.9: lines 159 to 167): ``model.head.0.token_layernorm.weight`` gets by, and ``params_dict[name]`` in the line
    behind has only ``model.token_layernorm.weight``: KeyError.
    """
    kind = KINDS["mimo"]
    head = {n.replace("model.mtp_layers.", "model.head."): t for n, t in kind.head().items()}
    report = check(release, version, kind, folder(tmp_path, kind, head))
    assert (report.verdict.value, report.stage) == ("startup-error", "weights") and report.error is not None
    assert (report.error.type, report.error.file) == ("KeyError", "sglang/srt/models/mimo_mtp.py")
    assert report.error.line == line and "model.head.0.token_layernorm.weight" in report.error.message


@pytest.mark.parametrize("version", RELEASES)
def test_renamed_prefix_of_the_block_alone(release: Release, tmp_path: Path, version: str) -> None:
    """``mimo_mtp.py`` leaves a projection without ``mtp_block`` in its name (0.5.9: ``break``, line 146) and passes
    over the block's norms (line 167): nobody raises, and the block keeps what was allocated.
    """
    kind = KINDS["mimo"]
    renamed = {n: n.replace("model.mtp_layers.", "model.head.") for n in kind.head()}
    renamed |= {n: n for n in renamed if any(part in n for part in _MIMO_OUTSIDE)}
    report = check(release, version, kind, folder(tmp_path, kind, {renamed[n]: t for n, t in kind.head().items()}))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-incomplete"]), report.error
    assert report.weights is not None and report.weights["present"] == len(_MIMO_OUTSIDE)


@pytest.mark.parametrize("version", RELEASES)
def test_prefix_as_the_class_itself_has_it(release: Release, tmp_path: Path, version: str) -> None:
    """A head saved from the running class: ``model.mtp_block.`` and ``model.input_proj`` are what the names would be
    mapped to, and pass as they are (0.5.9: lines 145 and 159).
    """
    kind = KINDS["mimo"]
    fronts = {n: "model." if any(part in n for part in _MIMO_OUTSIDE) else "model.mtp_block." for n in kind.head()}
    head = {n.replace("model.mtp_layers.0.", fronts[n]): t for n, t in kind.head().items()}
    report = check(release, version, kind, folder(tmp_path, kind, head))
    assert (report.verdict.value, weights_rules(report)) == ("active", []), report.error
    assert report.weights is not None and report.weights["present"] == len(head)


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("0.5.9", "degraded"), ("0.5.12", "degraded"), ("0.5.18", "degraded"), ("0.5.23", "active")],
)
def test_ignored_head_under_compressed_tensors(release: Release, tmp_path: Path, version: str, verdict: str) -> None:
    """The list names ``mtp.layers.0.self_attn.q_proj`` and its kin; the class builds one ``qkv_proj``. To tell that
    this one is meant, the quantization config needs the class's ``packed_modules_mapping``: ``Qwen3_5ForCausalLMMTP``
    has it in 0.5.23 only: before, ``qkv_proj`` and ``gate_up_proj`` are built quantized."""
    kind = KINDS["qwen3.5-moe"]
    weights = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False}
    config = {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "ignore": ["lm_head", *sorted(n.removesuffix(".weight") for n in kind.head() if "norm" not in n)],
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": weights,
                "input_activations": {**weights, "strategy": "token", "dynamic": True},
            }
        },
    }
    report = check(release, version, kind, folder(tmp_path, kind, kind.head(), quantization_config=config))
    assert report.verdict.value == verdict, report.error
    assert weights_rules(report) == (["weights/built-quantized"] if verdict == "degraded" else [])


@pytest.mark.parametrize("version", ["0.5.12", "0.5.18"])
def test_three_layers_on_one_block(release: Release, tmp_path: Path, version: str) -> None:
    """``map_model_name_to_mtp_param_name`` drops the number of ``model.mtp_layers.N.``: the last layer's win."""
    kind = KINDS["mimo"]
    head = {n.replace("mtp_layers.0", f"mtp_layers.{i}"): t for i in range(3) for n, t in kind.head().items()}
    report = check(release, version, kind, folder(tmp_path, kind, head, num_nextn_predict_layers=3))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/layers-collapse"]), report.error


def test_configuration_alone_says_nothing(release: Release, tmp_path: Path) -> None:
    """Without weights or an index beside it, nobody knows what the checkpoint holds."""
    kind = KINDS["qwen3.5-moe"]
    place = make_checkpoint(tmp_path, {}, index=False, **kind.config)
    report = check(release, "0.5.18", kind, place)
    assert (report.verdict.value, weights_rules(report), report.weights) == ("active", [], None)


def test_dummy_weights_say_nothing(release: Release, tmp_path: Path) -> None:
    """``--load-format dummy`` reads no tensor."""
    kind = KINDS["qwen3.5-moe"]
    session = session_of(release, "0.5.18")
    argv = [
        "--model-path",
        str(folder(tmp_path, kind, {})),
        "--speculative-algorithm",
        "NEXTN",
        "--load-format",
        "dummy",
    ]
    report = session.check(argv, {}, session.gpus.find("h200"))
    assert (report.verdict.value, weights_rules(report), report.weights) == ("active", [], None)


def test_what_a_large_head_costs(release: Release, tmp_path: Path) -> None:
    """512 experts of three matrices and 17 more tensors: 1,553; in BF16 two bytes a weight; its experts over 8 GPUs."""
    kind = KINDS["qwen3.5-moe"]
    text = {**kind.config["text_config"], "hidden_size": 4096, "moe_intermediate_size": 1024, "num_experts": 512}
    text |= {"num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320}
    text |= {"shared_expert_intermediate_size": 1024}
    place = make_checkpoint(tmp_path, {}, index=False, **{**kind.config, "text_config": text})
    write_index(place / "model.safetensors.index.json", {"model.norm.weight": "model-00001.safetensors"})
    session = session_of(release, "0.5.18")
    argv = ["--model-path", str(place), "--speculative-algorithm", "NEXTN", "--tp", "8"]
    report = session.check(argv, {}, session.gpus.find("h200"))
    assert report.weights is not None
    assert report.weights["expected"] == 1553
    experts = 512 * 3 * 4096 * 1024
    attention = 4096 * 256 * (2 * 32 + 2 + 2 + 32) + 2 * 256
    others = 2 * 4096 * 4096 + 5 * 4096 + 512 * 4096 + 3 * 4096 * 1024 + 4096
    assert report.weights["bytes"] == 2 * (experts + attention + others)
    assert report.weights["per_gpu_bytes"] < report.weights["bytes"] / 7
