"""How a checkpoint says that it is quantized: the method, the bits, and the modules that it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..errors import CheckpointError
from .bounded import json_kind
from .exclusion import CONVENTIONS, Fused, Scope, answer
from .folder import ModelFolder

MODELOPT_FILE = "hf_quant_config.json"
MODELSLIM_FILE = "quant_model_description.json"

# Where each method keeps its list of excluded modules; the first key that is there counts.
_LIST_KEYS: Mapping[str, tuple[str, ...]] = {
    "fp8": ("ignored_layers", "modules_to_not_convert"),
    "mxfp8": ("ignored_layers", "modules_to_not_convert", "exclude_modules", "ignore"),
    "blockwise_int8": ("ignored_layers",),
    "fbgemm_fp8": ("modules_to_not_convert",),
    "w4afp8": ("ignored_layers", "modules_to_not_convert", "exclude_modules", "ignore"),
    "mxfp4": ("modules_to_not_convert",),
    "modelopt": ("ignore",),
    "modelopt_fp8": ("ignore",),
    "modelopt_fp4": ("ignore",),
    "modelopt_mixed": ("ignore", "exclude_modules"),
    "compressed-tensors": ("ignore",),
    "compressed_tensors": ("ignore",),
    "w8a8_int8": ("ignore",),
    "quark": ("exclude",),
    "awq": ("modules_to_not_convert",),
    "bitsandbytes": ("llm_int8_skip_modules",),
}
_OTHER_KEYS = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules", "exclude")


@dataclass(frozen=True)
class Weights:
    """How quantized weights are stored: bits a weight, the format's name, and how many weights share a scale."""

    bits: int | None = None
    dtype: str | None = None
    group_size: int | None = None
    block_size: tuple[int, ...] | None = None


@dataclass(frozen=True)
class QuantizationInfo:
    """What a checkpoint says about its quantization.

    Attributes:
        method: the method by SGLang's name: as ``quant_method`` has it, in lower case, except that ``modelopt`` is told
            apart by its algorithm (``modelopt_fp8``, ``modelopt_fp4``, ``modelopt_mixed``, ``mxfp8``, ``w4afp8``), as
            ``ModelConfig._parse_modelopt_quant_config`` does. Which kernel runs it (``awq_marlin`` and the like) hangs
            on the GPU and is not told here. Empty where the configuration names none.
        declared: ``quant_method`` as written; None where it is missing.
        source: the file and key that say so, as ``config.json: quantization_config``.
        weights: bits, format and grouping of the quantized weights; None fields where the checkpoint mixes several or
            does not say.
        excluded: the patterns of the modules that are left alone, as written.
        readable: the patterns could be read. If not, nothing is known to be excluded or not.
        raw: the method's configuration itself.
        notes: what is odd about it, each a sentence.
    """

    method: str
    declared: str | None
    source: str
    weights: Weights
    excluded: tuple[str, ...]
    raw: Mapping[str, Any] = field(repr=False)
    readable: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: ModelFolder) -> QuantizationInfo | None:
        """Read a model folder's quantization; None where nothing says that it is quantized.

        Looked for where ``get_quant_config`` of SGLang's ``model_loader/weight_utils.py`` does, in its order.

        Raises:
            CheckpointError: the configuration of it is not an object, or its own file is broken.
        """
        places = (
            ("quantization_config", folder.config.get("quantization_config")),
            ("text_config.quantization_config", _inside(folder.config.get("text_config"), "quantization_config")),
            ("compression_config", folder.config.get("compression_config")),
        )
        for key, value in places:
            if value is None:
                continue
            if not isinstance(value, dict):
                raise CheckpointError(f"`{key}` is {json_kind(value)}, not an object", f"{folder.config_file}: {key}")
            notes: tuple[str, ...] = ()
            if not folder.bare and folder.has(MODELSLIM_FILE):
                notes = (f"{MODELSLIM_FILE} is there as well; a target model is built from that one",)
            return cls.from_config(value, f"{folder.config_file.name}: {key}", notes)
        if not folder.bare and folder.has(MODELOPT_FILE):
            return cls.from_config(folder.read_json(MODELOPT_FILE), MODELOPT_FILE)
        if not folder.bare and folder.has(MODELSLIM_FILE):
            value = {**folder.read_json(MODELSLIM_FILE), "quant_method": "modelslim"}
            return cls.from_config(value, MODELSLIM_FILE)
        return None

    @classmethod
    def from_config(cls, config: Mapping[str, Any], source: str, notes: tuple[str, ...] = ()) -> QuantizationInfo:
        """Read a method's configuration, as it stands in config.json or in ``hf_quant_config.json``."""
        declared = config.get("quant_method")
        declared = declared if isinstance(declared, str) else None
        method = (declared or "").lower()
        raw, nested = config, False
        if method in ("", "modelopt") or method.startswith("modelopt_"):
            inner = config.get("quantization")
            if isinstance(inner, dict):
                raw, nested = inner, True
            method = _modelopt_method(raw) or method
        excluded, readable, why = _excluded(method, raw, nested)
        if not method:
            why = (*why, "the configuration names no method")
        weights, mixed = _weights(method, raw)
        return cls(method, declared, source, weights, excluded, raw, readable, (*notes, *why, *mixed))

    @cached_property
    def _scope(self) -> Scope:
        return Scope(self.excluded, self.raw)

    def answers(self, module: str, fused: Fused | None = None) -> dict[str, bool | None]:
        """By each way of matching that SGLang's releases have had for this method: is the module left alone?

        Args:
            module: the module's name as SGLang builds it, as ``model.layers.61.mlp.experts`` (no ``.weight``).
            fused: layers that the model class builds as one, to the names they have in the checkpoint
                (``packed_modules_mapping``).

        Returns:
            The convention's name to True, False, or None where it gives no answer (SGLang stops there, or a pattern
            cannot be matched). Oldest first; empty for a method that is not known here.
        """
        if not self.readable:
            return {}
        conventions = CONVENTIONS.get(self.method, ())
        return {way.name: answer(way, module, self._scope, fused or {}) for way in conventions}

    def is_excluded(self, module: str, fused: Fused | None = None) -> bool | None:
        """Is the module left in its original precision? The arguments are those of ``answers``.

        The patterns are matched as written. A model class may rename them first (``hf_to_sglang_mapper``): see
        ``with_patterns``.

        Returns:
            None where that is not known: the releases' ways of matching disagree, or there is no answer.
        """
        found = set(self.answers(module, fused).values())
        return found.pop() if len(found) == 1 else None

    def with_patterns(self, patterns: tuple[str, ...]) -> QuantizationInfo:
        """The same with other patterns, for a model class that renames them."""
        return replace(self, excluded=patterns)


def _inside(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _modelopt_method(raw: Mapping[str, Any]) -> str | None:
    algorithm = raw.get("quant_algo")
    if not isinstance(algorithm, str):
        return None
    if algorithm == "MIXED_PRECISION":
        # By what the newer releases look at; the older ones look at the architecture.
        layers = raw.get("quantized_layers")
        kinds = {str(_inside(layer, "quant_algo")).upper() for layer in _values(layers)}
        return "modelopt_mixed" if kinds & {"NVFP4", "W4A16_NVFP4"} else "w4afp8"
    if "FP4" in algorithm:
        return "modelopt_fp4"
    if algorithm == "MXFP8":
        return "mxfp8"
    return "modelopt_fp8" if "FP8" in algorithm else None


def _excluded(method: str, raw: Mapping[str, Any], nested: bool) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """The patterns, whether they could be read, and why not."""
    if method == "gptq":
        rules = raw.get("dynamic") or {}
        if not isinstance(rules, dict):
            return (), False, (f"`dynamic` is {json_kind(rules)}, not an object",)
        return tuple(rule for rule in rules if rule.startswith("-:")), True, ()
    if method == "modelslim":
        return tuple(key.removesuffix(".weight") for key, value in raw.items() if value == "FLOAT"), True, ()
    if method == "auto-round":
        layers = raw.get("extra_config")
        bits = {name: _inside(value, "bits") for name, value in layers.items()} if isinstance(layers, dict) else {}
        return tuple(name for name, value in bits.items() if isinstance(value, int) and value >= 16), True, ()
    keys = _LIST_KEYS.get(method, _OTHER_KEYS)
    if nested and method.startswith("modelopt"):
        # The older file keeps its list under another name than config.json does (``ModelOptFp4Config.from_config``).
        keys = ("exclude_modules",)
    for key in keys:
        value = raw.get(key)
        if value is None:
            continue
        if not isinstance(value, list) or not all(isinstance(pattern, str) for pattern in value):
            return (), False, (f"`{key}` is not a list of module names",)
        return tuple(value), True, ()
    return (), True, ()


def _weights(method: str, raw: Mapping[str, Any]) -> tuple[Weights, tuple[str, ...]]:
    """The stored form, and a note where the checkpoint mixes several."""
    block = raw.get("weight_block_size")
    block_size = tuple(block) if isinstance(block, list) and all(_number(size) for size in block) else None
    group = _number(raw.get("group_size"))
    if method == "fp8":
        fmt = raw.get("fmt")
        return Weights(8, f"fp8_{fmt}" if isinstance(fmt, str) else "fp8_e4m3", group, block_size), ()
    if method in _FIXED:
        bits, dtype = _FIXED[method]
        return Weights(bits, dtype, group or (16 if method == "modelopt_fp4" else None), block_size), ()
    if method in ("compressed-tensors", "compressed_tensors"):
        groups = [_inside(each, "weights") for each in _values(raw.get("config_groups"))]
        return _one_of([_compressed(each, raw.get("format")) for each in groups if isinstance(each, dict)])
    if method == "quark":
        groups = [raw.get("global_quant_config"), *_values(raw.get("layer_quant_config"))]
        return _one_of([_quark(weight) for each in groups if isinstance(weight := _inside(each, "weight"), dict)])
    if method in ("awq", "gptq", "auto-round"):
        width = _number(raw.get("bits", raw.get("w_bit")))
        return Weights(width, None if width is None else f"int{width}", group or _number(raw.get("q_group_size"))), ()
    if method == "bitsandbytes":
        if raw.get("load_in_8bit") is True:
            return Weights(8, "int8"), ()
        kind = raw.get("bnb_4bit_quant_type")
        return Weights(4, kind if isinstance(kind, str) else "fp4"), ()
    if method in ("modelopt_mixed", "modelslim", "w4afp8"):
        return Weights(None, None, group, block_size), ("the checkpoint mixes precisions",)
    return Weights(_number(raw.get("bits")), None, group, block_size), ()


_FIXED: Mapping[str, tuple[int, str]] = {
    "mxfp8": (8, "mxfp8"),
    "blockwise_int8": (8, "int8"),
    "w8a8_int8": (8, "int8"),
    "w8a8_fp8": (8, "fp8_e4m3"),
    "fbgemm_fp8": (8, "fp8_e4m3"),
    "mxfp4": (4, "mxfp4"),
    "modelopt_fp8": (8, "fp8_e4m3"),
    "modelopt_fp4": (4, "nvfp4"),
    "petit_nvfp4": (4, "nvfp4"),
}


def _compressed(weights: Mapping[str, Any], fmt: Any) -> Weights:
    bits, kind = _number(weights.get("num_bits")), weights.get("type")
    group, block = _number(weights.get("group_size")), weights.get("block_structure")
    size = tuple(block) if isinstance(block, list) and all(_number(each) for each in block) else None
    dtype = f"{kind}{bits}" if isinstance(kind, str) and bits is not None else None
    if dtype == "float4":
        dtype = "mxfp4" if group == 32 or (isinstance(fmt, str) and "mxfp4" in fmt) else "nvfp4"
    return Weights(bits, {"float8": "fp8_e4m3"}.get(dtype or "", dtype), group, size)


def _quark(weight: Mapping[str, Any]) -> Weights:
    dtype = weight.get("dtype")
    group = _number(weight.get("group_size"))
    if not isinstance(dtype, str):
        return Weights(None, None, group)
    bits = next((size for size in (4, 6, 8) if f"fp{size}" in dtype or f"int{size}" in dtype), None)
    if dtype == "fp4":
        dtype = "mxfp4" if weight.get("scale_format") == "e8m0" else "nvfp4"
    return Weights(bits, dtype, group)


def _one_of(found: list[Weights]) -> tuple[Weights, tuple[str, ...]]:
    kinds = list(dict.fromkeys(found))
    if len(kinds) == 1:
        return kinds[0], ()
    if not kinds:
        return Weights(), ()
    names = ", ".join(str(kind.dtype) for kind in kinds[:4])
    bits = {kind.bits for kind in kinds}
    return Weights(bits.pop() if len(bits) == 1 else None), (f"the checkpoint mixes precisions: {names}",)


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
