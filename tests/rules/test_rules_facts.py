"""Facts about one hybrid model on one release: each is in a command's output, at the line where the tree says it."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from mtp_trace.report.model import Finding
from mtp_trace.rules.flagfacts import flag_facts
from tests.rules.test_rules_releases import check, facts
from tests.rules.trees import sites_of

pytestmark = pytest.mark.releases
VERSION = "0.5.10.post1"
NEXTN = ("--tp", "8", "--speculative-algorithm", "NEXTN")
EXTRA = ("--mamba-scheduler-strategy", "extra_buffer")

# What is said, by which rule, in which file, what the line that is named says, and what else the fact holds.
SCAN: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("both Qwen3.5 architectures become the MTP class, one layer is set", "architecture-remap", "model_config.py",
     'architectures[0] = "Qwen3_5ForCausalLMMTP"',
     {"from": ["Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"],
      "sets": {"self.hf_config.num_nextn_predict_layers": "1"}}),
    ("a near one is spelled with MoE", "architecture-remap", "model_config.py",
     'architectures[0] = "ExaoneMoEForCausalLMMTP"', {"from": ["ExaoneMoEForCausalLM"]}),
    ("the target of the remap is registered", "draft-class", "qwen3_5_mtp.py", "class Qwen3_5ForCausalLMMTP",
     {"architecture": "Qwen3_5ForCausalLMMTP"}),
    ("NEXTN is another name for EAGLE", "algorithm-rewrite", "server_args.py", 'speculative_algorithm = "EAGLE"',
     {"from": ["NEXTN"], "to": ["EAGLE"]}),
    ("a check runs before the name is rewritten", "algorithm-compared-early", "server_args.py",
     'if self.speculative_algorithm == "EAGLE":', {"architectures": ["MiMoV2FlashForCausalLM"]}),
    ("the draft's path is set for a list", "draft-path-auto-set", "server_args.py",
     "speculative_draft_model_path = self.model_path", {}),
    ("where no path is given the model's own stands in", "draft-path-fallback", "model_config.py",
     "model_path=model_path or server_args.model_path", {"architectures": "default"}),
    ("Llama has a row of its own", "draft-parameters", "server_args.py", "return (5, 4, 8)",
     {"architectures": ["LlamaForCausalLM"], "steps": 5, "topk": 4, "draft_tokens": 8}),
    ("Qwen3.5 falls through to the default", "draft-parameters-default", "server_args.py", "return (3, 1, 4)",
     {"steps": 3, "topk": 1, "draft_tokens": 4}),
    ("top-k and tokens without steps are refused", "draft-steps-incomplete", "server_args.py",
     "self.speculative_eagle_topk is None", {}),
    ("top-k 1 makes it steps + 1 tokens", "draft-tokens-adjusted", "server_args.py",
     "speculative_num_draft_tokens = self.speculative_num_steps + 1", {}),
    ("spec v2 is off by default", "env-switches", "environ.py", "SGLANG_ENABLE_SPEC_V2 = EnvBool(False)",
     {"name": "SGLANG_ENABLE_SPEC_V2", "default": "False"}),
    ("spec v2 switches the overlap schedule on", "overlap-schedule", "server_args.py",
     "disable_overlap_schedule = False", {"sets": "disable_overlap_schedule=False"}),
    ("else it is switched off", "overlap-schedule", "server_args.py", "disable_overlap_schedule = True", {}),
    ("spec v2 takes top-k 1", "spec-v2-topk", "server_args.py", "Spec v2 currently only supports topk = 1", {}),
    ("the strategy is auto by default", "scheduler-strategy-default", "server_args.py",
     'mamba_scheduler_strategy: str = "auto"', {"sets": "mamba_scheduler_strategy='auto'"}),
    ("auto is no_buffer", "scheduler-strategy-choice", "server_args.py", 'mamba_scheduler_strategy = "no_buffer"',
     {"condition": "self.mamba_scheduler_strategy == 'auto'"}),
    ("no_buffer and speculation exclude the radix cache", "radix-cache-no-buffer", "server_args.py",
     "is not compatible with radix cache", {}),
    ("the track interval is no less than the draft tokens", "extra-buffer-constraints", "server_args.py",
     "self.mamba_track_interval >= self.speculative_num_draft_tokens", {}),
    ("the track interval divides by the page size", "extra-buffer-constraints", "server_args.py",
     "self.mamba_track_interval % self.page_size == 0", {}),
    ("chunk and page size divide", "extra-buffer-constraints", "server_args.py",
     "max(FLA_CHUNK_SIZE, self.page_size) % min(FLA_CHUNK_SIZE, self.page_size)", {}),
    ("extra_buffer is for CUDA", "extra-buffer-constraints", "server_args.py", "is_cuda()", {}),
    ("Qwen3.5 has extra_buffer", "extra-buffer-support", "server_args.py", "support_mamba_cache_extra_buffer=True",
     {"architectures": ["Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration",
                        "Qwen3_5ForConditionalGeneration"]}),
    ("Qwen3.5 is a hybrid GDN model", "hybrid-recognition", "model_runner.py", "Qwen3_5MoeConfig", {}),
    ("Blackwell takes four backends", "hybrid-backend-guard", "attention_registry.py",
     "only supported backends on Blackwell GPUs for hybrid GDN models", {}),
    ("NPU takes one", "hybrid-backend-guard", "attention_registry.py", "only supported backend on NPU", {}),
    ("top-k above 1 with pages", "topk-page-size", "server_args.py", "with page_size > 1 is unstable", {}),
    ("trtllm_mha takes top-k 1", "backend-topk", "server_args.py", "trtllm_mha backend only supports topk = 1", {}),
    ("the draft's MoE runner is not flashinfer_trtllm", "speculative-moe-runner", "server_args.py",
     "speculative MoE runner", {}),
    ("the draft's MoE runner is the target's, or auto", "speculative-moe-runner-fallback", "server_args.py",
     "speculative_moe_runner_backend = (", {"condition": "self.speculative_moe_runner_backend is None"}),
    ("DP attention is not for STANDALONE", "spec-dp-attention", "server_args.py",
     "standalone speculative decoding does not support dp attention", {}),
    ("pipeline parallelism is refused", "spec-pipeline-parallel", "server_args.py",
     "Pipeline parallelism is not compatible", {}),
    ("mixed chunk is switched off", "spec-mixed-chunk", "server_args.py", "enable_mixed_chunk = False", {}),
    ("LoRA is for NGRAM", "spec-lora", "server_args.py", "LoRA is only compatible with NGRAM", {}),
    ("NGRAM is for CUDA", "spec-device", "server_args.py", "only supports CUDA device", {}),
    ("48 requests run at most", "max-running-requests-reset", "server_args.py", "max_running_requests = 48", {}),
    ("the draft is built unquantized", "draft-quantization-override", "qwen3_5_mtp.py", "quant_config = None",
     {"method": "modelopt_fp4"}),
    ("the draft has one layer", "draft-config-override", "qwen3_5_mtp.py", "config.num_hidden_layers = 1", {}),
    ("with full attention", "draft-config-override", "qwen3_5_mtp.py", "config.full_attention_interval = 1", {}),
    ("heads divide by the ranks", "head-divisibility", "qwen3_5.py",
     "self.total_num_heads % self.attn_tp_size == 0", {}),
    ("KV heads are split", "head-divisibility", "qwen3_5.py", "self.total_num_kv_heads % self.attn_tp_size == 0", {}),
    ("or repeated", "head-divisibility", "qwen3_5.py", "self.attn_tp_size % self.total_num_kv_heads == 0", {}),
    ("the worker steps the state back", "verify-state-update", "eagle_worker.py", "update_mamba_state_after_mtp_verify",
     {"worker": "EAGLEWorker._mamba_verify_update"}),
    ("so does the second", "verify-state-update", "eagle_worker_v2.py", "update_mamba_state_after_mtp_verify", {}),
    ("and the multi-layer one", "verify-state-update", "multi_layer_eagle_worker.py",
     "update_mamba_state_after_mtp_verify", {}),
]  # fmt: skip

# The same of a launch's findings: what is said, the arguments, the rule, the file, what the line says.
CHECK: list[tuple[str, tuple[str, ...], str, str, str]] = [
    ("nothing turns speculation on", ("--tp", "8"), "no-auto-detection", "server_args.py",
     "speculative_algorithm: Optional[str] = None"),
    ("no_buffer stops the launch", NEXTN, "radix-cache-no-buffer", "server_args.py",
     "is not compatible with radix cache"),
    ("the remap is named", NEXTN + EXTRA, "architecture-remap", "model_config.py", "Qwen3_5ForCausalLMMTP"),
    ("the rewrite is named", NEXTN + EXTRA, "algorithm-rewrite", "server_args.py", 'speculative_algorithm = "EAGLE"'),
    ("no path is needed", NEXTN + EXTRA, "draft-path-fallback", "model_config.py",
     "model_path or server_args.model_path"),
    ("the default row holds", NEXTN + EXTRA, "draft-parameters-default", "server_args.py", "return (3, 1, 4)"),
    ("mtp_num_hidden_layers is not read, the count is hard-coded", NEXTN + EXTRA, "mtp-layers-one", "model_config.py",
     "num_nextn_predict_layers = 1"),
    ("the count is set on one object and read from another", NEXTN + EXTRA, "layer-count-elsewhere", "model_config.py",
     "self.hf_config.num_nextn_predict_layers = 1"),
    ("16 heads do not divide by 3", ("--tp", "3", *NEXTN[2:], *EXTRA), "attention-heads-tp", "qwen3_5.py",
     "self.total_num_heads % self.attn_tp_size == 0"),
    ("nor do the KV heads", ("--tp", "3", *NEXTN[2:], *EXTRA), "kv-heads-tp", "qwen3_5.py", "total_num_kv_heads"),
    ("the running requests are reset", NEXTN + EXTRA, "max-running-requests-reset", "server_args.py", "= 48"),
    ("pipeline parallelism stops it", (*NEXTN, *EXTRA, "--pp-size", "2"), "spec-pipeline-parallel", "server_args.py",
     "Pipeline parallelism is not compatible"),
]  # fmt: skip


def text_at(file: str, first: int, last: int) -> str:
    lines = sites_of(VERSION).text(file).decode().split("\n")[first - 1 : last]
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize(("said", "rule", "file", "text", "holds"), SCAN, ids=[f"{s[1]}: {s[0]}" for s in SCAN])
def test_scan_says_it_at_its_line(said: str, rule: str, file: str, text: str, holds: dict[str, Any]) -> None:
    found = [f for f in facts(VERSION) if f.rule == rule and f.file.endswith("/" + file)]
    there = [f for f in found if text in text_at(f.file, f.line, f.end_line)]
    assert there, [(f.line, text_at(f.file, f.line, f.end_line)) for f in found]
    assert any(all(f.details.get(k) == v for k, v in holds.items()) for f in there), [f.details for f in there]


@functools.cache
def findings(argv: tuple[str, ...]) -> tuple[Finding, ...]:
    return check(VERSION, *argv).findings


@pytest.mark.parametrize(("said", "argv", "rule", "file", "text"), CHECK, ids=[f"{s[2]}: {s[0]}" for s in CHECK])
def test_check_says_it_at_its_line(said: str, argv: tuple[str, ...], rule: str, file: str, text: str) -> None:
    (found,) = [f for f in findings(argv) if f.rule == rule][:1]
    assert found.file is not None and found.line is not None and found.file.endswith("/" + file)
    assert text in text_at(found.file, found.line, found.end_line or found.line)


def test_a_flag_that_does_not_touch_speculation_is_told_with_its_lines() -> None:
    found = flag_facts(sites_of(VERSION), "--disable-custom-all-reduce")
    assert not found.interacts and found.meets == ()
    assert [("model_runner.py" in place.file) for place in found.reads] == [True]


@pytest.mark.parametrize("rule", ["spec-disaggregation"])
def test_what_the_tree_does_not_say_is_not_invented(rule: str) -> None:
    assert [f for f in facts(VERSION) if f.rule == rule] == []
