"""Drafts that are none, and configurations that declare no draft."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkpoint.make import make_checkpoint

from mtp_trace.report.model import Severity

from .kinds import KINDS, VOCAB, H, tensor
from .launches import RELEASES, Release, check, folder, weights_rules

pytestmark = pytest.mark.releases
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": H,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": VOCAB,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("version", RELEASES)
def test_a_model_of_its_own_is_no_draft(release: Release, tmp_path: Path, version: str, weights: bool) -> None:
    """``LlamaForCausalLM`` is loaded as any model. ``llama.py`` never reads ``forward_batch.spec_info``, in which a
    worker hands the target's hidden states over; ``llama_eagle.py`` and ``deepseek_nextn.py`` join them to the tokens.
    """
    kind = KINDS["deepseek-v3"]
    shards = {"model.safetensors": {"model.embed_tokens.weight": tensor(VOCAB, H)}} if weights else {}
    draft = make_checkpoint(tmp_path / "draft", shards, data=False, index=False, **LLAMA)
    place = folder(tmp_path / "target", kind, kind.head())
    report = check(release, version, kind, place, "--speculative-draft-model-path", str(draft))
    assert report.verdict.value == "degraded" and "weights/not-a-draft" in weights_rules(report), report.error
    finding = next(f for f in report.findings if f.rule == "weights/not-a-draft")
    assert finding.file == "sglang/srt/models/llama.py"


@pytest.mark.parametrize("version", RELEASES)
def test_another_model_of_the_family_without_a_head(release: Release, tmp_path: Path, version: str) -> None:
    """The draft's architecture is remapped by name alone; of this checkpoint the loader takes nothing."""
    kind = KINDS["deepseek-v3"]
    draft, place = folder(tmp_path / "draft", kind, {}), folder(tmp_path / "target", kind, kind.head())
    report = check(release, version, kind, place, "--speculative-draft-model-path", str(draft))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-missing"])


@pytest.mark.parametrize("version", RELEASES)
def test_no_layer_declared(release: Release, tmp_path: Path, version: str) -> None:
    """``deepseek_nextn.py`` builds one layer whatever ``num_nextn_predict_layers`` says: with the tensors known it is
    ``degraded``, with the configuration alone it is a warning."""
    kind = KINDS["deepseek-v3"]
    report = check(release, version, kind, folder(tmp_path / "a", kind, {}, num_nextn_predict_layers=0))
    assert (report.verdict.value, weights_rules(report)) == ("degraded", ["weights/head-missing"])
    assert "declares 0 draft layers" in next(f.message for f in report.findings if f.rule.startswith("weights/"))
    alone = make_checkpoint(tmp_path / "b", {}, index=False, **{**kind.config, "num_nextn_predict_layers": 0})
    report = check(release, version, kind, alone)
    found = [f.severity for f in report.findings if f.rule == "weights/no-draft-layers"]
    assert (report.verdict.value, found) == ("active", [Severity.WARNING])
