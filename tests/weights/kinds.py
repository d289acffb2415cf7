"""Miniature checkpoints of several families: a configuration, and a complete head as released ones name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Spec = tuple[str, Sequence[int]]
H, I, E, HEADS, KV, D, VOCAB = 256, 128, 4, 4, 2, 64, 512


def tensor(*shape: int) -> Spec:
    """A tensor in BF16."""
    return ("BF16", shape)


def gated(front: str, width: int = I) -> dict[str, Spec]:
    """A gated MLP."""
    return {
        f"{front}.gate_proj.weight": tensor(width, H),
        f"{front}.up_proj.weight": tensor(width, H),
        f"{front}.down_proj.weight": tensor(H, width),
    }


def experts(front: str, shared: str | None, bias: bool = False) -> dict[str, Spec]:
    """A mixture of experts with its router."""
    found = {f"{front}.gate.weight": tensor(E, H)}
    for e in range(E):
        found |= gated(f"{front}.experts.{e}")
    if shared is not None:
        found |= gated(f"{front}.{shared}")
    if bias:
        found[f"{front}.gate.e_score_correction_bias"] = ("F32", (E,))
    return found


def attention(front: str, norms: bool = True, wide: int = 1, bias: bool = False) -> dict[str, Spec]:
    """Grouped-query attention; ``wide`` 2 where the query carries a gate."""
    found = {
        f"{front}.q_proj.weight": tensor(HEADS * D * wide, H),
        f"{front}.k_proj.weight": tensor(KV * D, H),
        f"{front}.v_proj.weight": tensor(KV * D, H),
        f"{front}.o_proj.weight": tensor(H, HEADS * D),
    }
    if norms:
        found |= {f"{front}.q_norm.weight": tensor(D), f"{front}.k_norm.weight": tensor(D)}
    if bias:
        found |= {f"{front}.{p}_proj.bias": tensor(n) for p, n in (("q", HEADS * D), ("k", KV * D), ("v", KV * D))}
    return found


def latent(front: str) -> dict[str, Spec]:
    """Latent attention with a low-rank query."""
    return {
        f"{front}.q_a_proj.weight": tensor(128, H),
        f"{front}.q_a_layernorm.weight": tensor(128),
        f"{front}.q_b_proj.weight": tensor(HEADS * 192, 128),
        f"{front}.kv_a_proj_with_mqa.weight": tensor(512 + 64, H),
        f"{front}.kv_a_layernorm.weight": tensor(512),
        f"{front}.kv_b_proj.weight": tensor(HEADS * 256, 512),
        f"{front}.o_proj.weight": tensor(H, HEADS * 128),
    }


def indexer(front: str) -> dict[str, Spec]:
    """What chooses the keys that a sparse attention looks at."""
    return {
        f"{front}.wq_b.weight": tensor(HEADS * 128, 128),
        f"{front}.wk.weight": tensor(128, H),
        f"{front}.k_norm.weight": tensor(128),
        f"{front}.k_norm.bias": tensor(128),
        f"{front}.weights_proj.weight": tensor(HEADS, H),
    }


def norms(front: str, *names: str) -> dict[str, Spec]:
    """Norms of the hidden size."""
    return {f"{front}.{name}.weight": tensor(H) for name in names}


@dataclass(frozen=True)
class Kind:
    """A family: its configuration without quantization, its complete head, and a few tensors of the target."""

    name: str
    config: Mapping[str, Any]
    head: Callable[[], dict[str, Spec]]
    front: str
    argv: tuple[str, ...] = ()
    body: Mapping[str, Spec] = field(
        default_factory=lambda: {
            "model.embed_tokens.weight": tensor(VOCAB, H),
            "model.layers.0.input_layernorm.weight": tensor(H),
            "model.norm.weight": tensor(H),
            "lm_head.weight": tensor(VOCAB, H),
        }
    )


_COMMON: dict[str, Any] = {
    "hidden_size": H,
    "intermediate_size": I,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV,
    "vocab_size": VOCAB,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "initializer_range": 0.02,
}
_LINEAR: dict[str, Any] = {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4,
    "partial_rotary_factor": 0.25,
    "head_dim": D,
}
_MOE: dict[str, Any] = {"moe_intermediate_size": I, "num_experts_per_tok": 2, "norm_topk_prob": True}
_MLA: dict[str, Any] = {
    "q_lora_rank": 128,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": E,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "routed_scaling_factor": 2.5,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "num_key_value_heads": HEADS,
}


def _qwen35(moe: bool) -> dict[str, Spec]:
    found = {"mtp.fc.weight": tensor(H, 2 * H)} | norms("mtp", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")
    found |= norms("mtp.layers.0", "input_layernorm", "post_attention_layernorm") | attention(
        "mtp.layers.0.self_attn", wide=2
    )
    if moe:
        found |= experts("mtp.layers.0.mlp", "shared_expert") | {
            "mtp.layers.0.mlp.shared_expert_gate.weight": tensor(1, H)
        }
    else:
        found |= gated("mtp.layers.0.mlp")
    return found


def _nextn(layer: int, inner: dict[str, Spec]) -> dict[str, Spec]:
    front = f"model.layers.{layer}"
    return (
        norms(front, "enorm", "hnorm", "shared_head.norm", "input_layernorm", "post_attention_layernorm")
        | {
            f"{front}.eh_proj.weight": tensor(H, 2 * H),
            f"{front}.embed_tokens.weight": tensor(VOCAB, H),
            f"{front}.shared_head.head.weight": tensor(VOCAB, H),
        }
        | inner
    )


def _mimo() -> dict[str, Spec]:
    front = "model.mtp_layers.0"
    found = norms(
        front, "token_layernorm", "hidden_layernorm", "final_layernorm", "input_layernorm", "post_attention_layernorm"
    )
    found |= {f"{front}.input_proj.weight": tensor(H, 2 * H)} | attention(f"{front}.self_attn", norms=False, bias=True)
    return found | gated(f"{front}.mlp")


def _nemotron() -> dict[str, Spec]:
    first, second = "mtp.layers.0", "mtp.layers.1"
    found = norms(first, "enorm", "hnorm", "norm") | {f"{first}.eh_proj.weight": tensor(H, 2 * H)}
    found |= attention(f"{first}.mixer", norms=False) | norms(second, "norm", "final_layernorm")
    found |= {
        f"{second}.mixer.gate.weight": tensor(E, H),
        f"{second}.mixer.gate.e_score_correction_bias": ("F32", (E,)),
    }
    for e in range(E):
        found |= {
            f"{second}.mixer.experts.{e}.up_proj.weight": tensor(I, H),
            f"{second}.mixer.experts.{e}.down_proj.weight": tensor(H, I),
        }
    return found | {
        f"{second}.mixer.shared_experts.up_proj.weight": tensor(I, H),
        f"{second}.mixer.shared_experts.down_proj.weight": tensor(H, I),
    }


_QWEN35_TEXT = {
    **_COMMON,
    **_LINEAR,
    "num_hidden_layers": 4,
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": False,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
    "attn_output_gate": True,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000000,
        "partial_rotary_factor": 0.25,
        "mrope_section": [11, 11, 10],
        "mrope_interleaved": True,
    },
}
_VISION = {
    "model_type": "qwen3_5",
    "depth": 2,
    "hidden_size": 64,
    "num_heads": 2,
    "patch_size": 16,
    "out_hidden_size": H,
}

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "qwen3.5-dense",
            {
                "architectures": ["Qwen3_5ForConditionalGeneration"],
                "model_type": "qwen3_5",
                "tie_word_embeddings": False,
                "text_config": {**_QWEN35_TEXT, "model_type": "qwen3_5_text"},
                "vision_config": _VISION,
            },
            lambda: _qwen35(False),
            "mtp.",
        ),
        Kind(
            "qwen3.5-moe",
            {
                "architectures": ["Qwen3_5MoeForConditionalGeneration"],
                "model_type": "qwen3_5_moe",
                "tie_word_embeddings": False,
                "text_config": {
                    **_QWEN35_TEXT,
                    **_MOE,
                    "model_type": "qwen3_5_moe_text",
                    "num_experts": E,
                    "shared_expert_intermediate_size": I,
                },
                "vision_config": {**_VISION, "model_type": "qwen3_5_moe"},
            },
            lambda: _qwen35(True),
            "mtp.",
        ),
        Kind(
            "qwen3-next",
            {
                **_COMMON,
                **_LINEAR,
                **_MOE,
                "architectures": ["Qwen3NextForCausalLM"],
                "model_type": "qwen3_next",
                "num_experts": E,
                "num_hidden_layers": 4,
                "shared_expert_intermediate_size": I,
                "decoder_sparse_step": 1,
                "rope_theta": 10000000,
                "mlp_only_layers": [],
            },
            lambda: _qwen35(True),
            "mtp.",
        ),
        Kind(
            "deepseek-v3",
            {
                **_COMMON,
                **_MOE,
                **_MLA,
                "architectures": ["DeepseekV3ForCausalLM"],
                "model_type": "deepseek_v3",
                "num_hidden_layers": 3,
                "num_nextn_predict_layers": 1,
                "rope_theta": 10000,
            },
            lambda: _nextn(
                3, latent("model.layers.3.self_attn") | experts("model.layers.3.mlp", "shared_experts", bias=True)
            ),
            "model.layers.3.",
        ),
        Kind(
            "glm-4.x",
            {
                **_COMMON,
                **_MOE,
                "architectures": ["Glm4MoeForCausalLM"],
                "model_type": "glm4_moe",
                "num_hidden_layers": 3,
                "num_nextn_predict_layers": 1,
                "n_routed_experts": E,
                "n_shared_experts": 1,
                "n_group": 1,
                "topk_group": 1,
                "head_dim": D,
                "first_k_dense_replace": 1,
                "routed_scaling_factor": 2.5,
                "use_qk_norm": True,
                "partial_rotary_factor": 0.5,
                "rope_theta": 1000000,
            },
            lambda: _nextn(
                3, attention("model.layers.3.self_attn") | experts("model.layers.3.mlp", "shared_experts", bias=True)
            ),
            "model.layers.3.",
        ),
        Kind(
            "glm-5",
            {
                **_COMMON,
                **_MOE,
                **_MLA,
                "architectures": ["GlmMoeDsaForCausalLM"],
                "model_type": "glm_moe_dsa",
                "num_hidden_layers": 3,
                "num_nextn_predict_layers": 1,
                "index_head_dim": 128,
                "index_n_heads": HEADS,
                "index_topk": 2048,
                "qk_head_dim": 192,
                "head_dim": 64,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1000000},
            },
            lambda: _nextn(
                3,
                latent("model.layers.3.self_attn")
                | indexer("model.layers.3.self_attn.indexer")
                | experts("model.layers.3.mlp", "shared_experts", bias=True),
            ),
            "model.layers.3.",
        ),
        Kind(
            "mimo",
            {
                **_COMMON,
                "architectures": ["MiMoForCausalLM"],
                "model_type": "qwen2",
                "num_hidden_layers": 3,
                "num_nextn_predict_layers": 1,
                "head_dim": D,
                "attention_bias": True,
                "rope_theta": 640000,
                "use_sliding_window": False,
                "max_window_layers": 3,
            },
            _mimo,
            "model.mtp_layers.",
        ),
        Kind(
            "nemotron-h",
            {
                **{k: v for k, v in _COMMON.items() if k != "hidden_act"},
                "architectures": ["NemotronHForCausalLM"],
                "model_type": "nemotron_h",
                "num_hidden_layers": 4,
                "hybrid_override_pattern": "M*ME",
                "mtp_hybrid_override_pattern": "*E",
                "num_nextn_predict_layers": 1,
                "n_routed_experts": E,
                "n_shared_experts": 1,
                "moe_shared_expert_intermediate_size": I,
                "moe_intermediate_size": I,
                "num_experts_per_tok": 2,
                "n_group": 1,
                "topk_group": 1,
                "norm_topk_prob": True,
                "routed_scaling_factor": 2.5,
                "head_dim": D,
                "mamba_num_heads": 8,
                "mamba_head_dim": 64,
                "ssm_state_size": 64,
                "n_groups": 2,
                "conv_kernel": 4,
                "chunk_size": 128,
                "expand": 2,
                "mlp_hidden_act": "relu2",
                "layer_norm_epsilon": 1e-5,
                "use_bias": False,
                "mlp_bias": False,
                "use_conv_bias": True,
                "mamba_hidden_act": "silu",
            },
            _nemotron,
            "mtp.",
        ),
    )
}


FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}


_KEPT = ("eh_proj.weight", "input_proj.weight", "weights_proj.weight")  # left alone by those who quantize


def fp8(head: dict[str, Spec]) -> dict[str, Spec]:
    """The head's matrices in FP8, with a scale for every block."""
    found: dict[str, Spec] = {}
    for name, (dtype, shape) in head.items():
        if name.endswith(("_proj.weight", ".wq_b.weight", ".wk.weight")) and not name.endswith(_KEPT):
            found[name] = ("F8_E4M3", shape)
            found[f"{name}_scale_inv"] = ("F32", [-(-size // 128) for size in shape])
        else:
            found[name] = (dtype, shape)
    return found


def nvfp4(*ignored: str) -> dict[str, Any]:
    """The configuration of a checkpoint in NVFP4 that leaves these modules alone."""
    group = {"dynamic": False, "num_bits": 4, "type": "float", "group_size": 16}
    return {
        "quant_method": "modelopt",
        "quant_algo": "NVFP4",
        "ignore": ["lm_head", *ignored],
        "config_groups": {"group_0": {"input_activations": group, "weights": group, "targets": ["Linear"]}},
    }


def modules(head: dict[str, Spec]) -> list[str]:
    """The modules whose matrices these are."""
    return sorted(name.removesuffix(".weight") for name in head if name.endswith(".weight") and "norm" not in name)


def int4(*ignored: str) -> dict[str, Any]:
    """The configuration of a checkpoint in packed INT4 by compressed-tensors."""
    weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True, "dynamic": False}
    return {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "ignore": ["lm_head", *ignored],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
    }


def quark(*excluded: str) -> dict[str, Any]:
    """The configuration of a checkpoint in MXFP4 by quark."""
    weight = {
        "dtype": "fp4",
        "qscheme": "per_group",
        "group_size": 32,
        "is_dynamic": False,
        "scale_format": "e8m0",
        "scale_type": "float",
        "observer_cls": "PerBlockMXObserver",
        "ch_axis": -1,
        "round_method": "half_even",
        "symmetric": None,
    }
    group = {"weight": weight, "input_tensors": {**weight, "is_dynamic": True}, "output_tensors": None, "bias": None}
    return {
        "quant_method": "quark",
        "quant_mode": "eager_mode",
        "exclude": ["lm_head", *excluded],
        "export": {"kv_cache_group": [], "pack_method": "reorder", "weight_format": "real_quantized"},
        "global_quant_config": {**group, "target_device": None},
        "layer_quant_config": {},
        "layer_type_quant_config": {},
        "algo_config": None,
        "softmax_quant_spec": None,
        "kv_cache_quant_config": {},
    }
