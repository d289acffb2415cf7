"""Instances of a configuration class, and flat pictures of what they hold. Used by dump_transformers.py."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import inspect
import json
import random
import textwrap

from transformers.configuration_utils import PretrainedConfig

# Refused arguments are told with the whole object in the message; writing that takes longer than all the rest.
PretrainedConfig.__repr__ = lambda self: type(self).__name__

SKIPPED = ("ignore_keys_at_rope_validation", "base_model_tp_plan")
"""Attributes that are of no use here."""
BASE_KWARGS = {
    "architectures": ["AForCausalLM"],
    "torch_dtype": "bfloat16",
    "dtype": "float16",
    "tie_word_embeddings": True,
    "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "auto_map": {"AutoConfig": "a.B"},
    "bos_token_id": 1,
    "eos_token_id": [1, 2],
    "pad_token_id": 0,
    "rope_theta": 5000000,
    "partial_rotary_factor": 0.5,
    "max_length": 30,
    "temperature": 0.5,
    "do_sample": True,
    "transformers_version": "4.40.0",
    "is_decoder": True,
    "is_encoder_decoder": True,
    "use_cache": False,
    "attn_implementation": "eager",
    "output_attentions": False,
    "num_labels": 5,
    "id2label": {"0": "a", "1": "b", "2": "c"},
    "zz_unheard_of": {"a": [1]},
    "head_dim": 48,
    "layers_block_type": ["x"],
}
ROPES = (
    {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
    {"rope_type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0},
    {"rope_type": "linear", "factor": 2.0},
    {"rope_type": "default", "mrope_section": [11, 11, 10], "mrope_interleaved": True},
    {"type": "mrope", "mrope_section": [16, 24, 24]},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
)
PARAMETERS = (
    {"rope_type": "default", "rope_theta": 1000000},
    {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10]},
    {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1000000},
)


def make(cls: type, kwargs: dict) -> object | None:
    """An instance, or None where the class refuses the arguments."""
    try:
        return cls(**copy.deepcopy(kwargs))
    except Exception:
        return None


def plain(value: object) -> object:
    """A value as JSON holds it; what JSON cannot hold becomes ``{"__object__": type name}``."""
    if isinstance(value, PretrainedConfig):
        return {"__config__": type(value).__name__}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else {"__object__": "float"}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return {"__object__": type(value).__name__}


def flat(config: object, prefix: str = "") -> dict[str, object]:
    """Every public attribute that an instance holds, those of configs inside it under dotted names."""
    out: dict[str, object] = {}
    for key, value in vars(config).items():
        if key.startswith("_") or key in SKIPPED or not isinstance(key, str):
            continue
        out[prefix + key] = plain(value)
        if isinstance(value, PretrainedConfig):
            out.update(flat(value, f"{prefix}{key}."))
    for name in properties(type(config)):
        try:
            out[prefix + name] = plain(getattr(config, name))
        except Exception:
            continue
    return out


@functools.cache
def properties(cls: type) -> tuple[str, ...]:
    """The public properties that the class adds to those of the common base."""
    return tuple(
        name
        for name in dir(cls)
        if not name.startswith("_")
        and isinstance(inspect.getattr_static(cls, name), property)
        and not isinstance(inspect.getattr_static(PretrainedConfig, name, None), property)
        and name not in ("sub_configs", "attribute_map")
    )


def parameters(cls: type) -> dict[str, object]:
    """Named arguments and their raw defaults, the class's own before those of its bases, the common base left out."""
    found: dict[str, object] = {}
    if dataclasses.is_dataclass(cls) and "__init__" not in _own_inits(cls):
        base = {field.name for field in dataclasses.fields(PretrainedConfig)}
        for field in dataclasses.fields(cls):
            default = field.default
            if default is dataclasses.MISSING:
                default = None if field.default_factory is dataclasses.MISSING else field.default_factory()
            if field.name not in base or plain(default) != plain(getattr(PretrainedConfig, field.name, None)):
                found[field.name] = default
        return found
    for owner in cls.__mro__:
        if owner is PretrainedConfig:
            break
        if "__init__" not in vars(owner):
            continue
        for name, parameter in inspect.signature(owner.__init__).parameters.items():
            if name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            if name not in found:
                found[name] = None if parameter.default is parameter.empty else parameter.default
    return found


def _own_inits(cls: type) -> list[str]:
    """["__init__"] where the class, or a base below the common one, wrote its own instead of the dataclass's."""
    for owner in cls.__mro__:
        if owner is PretrainedConfig:
            break
        init = vars(owner).get("__init__")
        if init is not None and "kwargs" in str(inspect.signature(init)) and not hasattr(init, "__wrapped__"):
            return ["__init__"]
    return []


METHODS = ("__init__", "__post_init__", "convert_rope_params_to_dict")
"""Where a class's own code takes and sets things."""


def read_from_kwargs(cls: type) -> list[str]:
    """The names that a class's own code takes from ``**kwargs``, beyond its named arguments."""
    names: set[str] = set()
    for owner in cls.__mro__:
        if owner is PretrainedConfig or not issubclass(owner, PretrainedConfig):
            break
        for method in METHODS:
            function = vars(owner).get(method)
            if function is None:
                continue
            try:
                tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
            except (OSError, TypeError, SyntaxError):
                continue
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "kwargs"
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                ):
                    names.add(str(node.args[0].value))
    return sorted(name for name in names if name.isidentifier())


def others(value: object, name: str = "") -> list[object]:
    """Values of the same kind that differ from this one, and that a class is likely to take."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2, value + 2, value * 3, value + 1, 24] if value > 0 else [value + 1, 7]
    if isinstance(value, float):
        return [value * 2, value / 2 or 0.5]
    if isinstance(value, str):
        return ["relu" if value != "relu" else "gelu", value + "_x"]
    if isinstance(value, (list, tuple)) and value:
        return [list(reversed(value)), [value[0]] * len(value)]
    if value is None:
        if "block_type" in name or "layer_type" in name:
            return [["attention", "mamba"], ["full_attention", "linear_attention"], ["mamba", "attention", "mamba"]]
        if name.endswith(("layers", "types", "ids", "list", "pattern")):
            return [[0, 1], 3]
        return [6, [1], 0.5, True, "x"]
    return []


def trials(name: str, params: dict[str, object]) -> list[object]:
    """The values that an argument, or a key that the class reads, is tried with on its own."""
    if name not in params:
        return ["MEM*E", "M*-ME"] if "pattern" in name else [3, 0.5, True]
    return others(params[name], name)[: 3 if params[name] is None else 1]


class Probe:
    """Draws arguments for a class and records what came out, as differences from an instance made without any."""

    def __init__(self, cls: type, seed: int) -> None:
        self.cls, self.random = cls, random.Random(seed)
        start = make(cls, {})
        self.plain = flat(start) if start is not None else {}

    def record(self, kwargs: dict) -> list[object] | None:
        """[arguments, what is set otherwise, what is gone]; None where refused."""
        made = make(self.cls, kwargs)
        if made is None:
            return None
        got = flat(made)
        changed = {key: value for key, value in got.items() if key not in self.plain or self.plain[key] != value}
        return [kwargs, changed, sorted(key for key in self.plain if key not in got)]

    def base_probes(self) -> list[object]:
        """What is common to all classes."""
        return [found for key, value in BASE_KWARGS.items() if (found := self.record({key: value}))]

    def probes(self, facts: dict) -> list[object]:
        """A few dozen: single arguments, None, mixtures, base arguments, rope forms, sub-configs, aliases."""
        params = parameters(self.cls)
        wanted: list[dict] = [{key: value} for key, value in BASE_KWARGS.items()]
        wanted += [{name: None} for name in params]
        wanted += [{name: value} for name in params for value in trials(name, params)]
        for _ in range(8):
            wanted.append(self.mixture(params))
        names = set(params) | set(self.plain)
        if "rope_scaling" in names or "rope_parameters" in names:
            wanted += [{"rope_scaling": dict(rope), "rope_theta": 1000000} for rope in ROPES]
            wanted += [{"rope_parameters": dict(rope)} for rope in PARAMETERS]
            wanted.append({"rope_scaling": None, "rope_theta": 500000.0})
        for key in facts.get("subs", {}):
            wanted += [{key: {}}, {key: {"model_type": "llama"}}]
            wanted.append({key: {"hidden_size": 96, "tie_word_embeddings": True}})
            wanted.append({key: {"model_type": "qwen3", "num_hidden_layers": 6}})
        wanted += [{alias: 12} for alias in facts["attribute_map"]]
        for name in facts.get("reads", []):
            for value in trials(name, params):
                wanted.append({name: value})
                wanted += [{name: value, path: self.plain.get(path)} for path in facts.get("popped", {}).get(name, ())]
        return [found for kwargs in wanted if _jsonable(kwargs) and (found := self.record(kwargs))]

    def mixture(self, params: dict[str, object]) -> dict:
        """Several arguments at once."""
        chosen = self.random.sample(sorted(params), min(len(params), 5))
        return {name: choices[0] for name in chosen if (choices := others(params[name], name))}


def _jsonable(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
