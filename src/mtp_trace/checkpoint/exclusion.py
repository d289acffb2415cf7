"""Which modules a quantized checkpoint leaves alone, by each method's way of matching names.

A method's way has changed between SGLang releases. Each way has a name here (a *convention*), and a method lists the
ones that were its own, oldest first. Where all agree on a module, the answer holds for every release; where they do
not, the caller has to know which one the tree at hand follows.

Sources, all below ``python/sglang/srt/layers/quantization/`` of SGLang, as read in releases 0.5.6 to 0.5.23.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .saferegex import UndecidedPatternError, glob_matches, regex_matches

Fused = Mapping[str, Sequence[str]]

FUSED_BY_DEFAULT: Fused = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
"""Layers that are built as one and stored as several (``_FALLBACK_FUSED_SHARDS`` of ``utils.py``, since 0.5.12)."""


class UndecidedError(Exception):
    """A convention gives no answer: parts of a fused layer differ (SGLang stops there), or a pattern is unusable."""


@dataclass(frozen=True)
class Scope:
    """What a convention looks at: the excluded patterns as the checkpoint has them, and the method's configuration."""

    patterns: tuple[str, ...]
    raw: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """The patterns as a set."""
        return frozenset(self.patterns)

    @cached_property
    def names_without_dots(self) -> frozenset[str]:
        """The patterns without the dots that some of them end in."""
        return frozenset(pattern.rstrip(".") for pattern in self.patterns)

    @cached_property
    def names_with_and_without_model(self) -> Scope:
        """Each pattern with and without a leading ``model.`` (``Fp8Config.from_config`` in ``fp8.py``, from 0.5.12)."""
        both: dict[str, None] = {}
        for pattern in self.patterns:
            base = pattern.removeprefix("model.")
            both[base] = both[f"model.{base}"] = None
        return Scope(tuple(both), self.raw)


Test = Callable[[str, Scope, Fused], bool]


@dataclass(frozen=True)
class Convention:
    """One way of matching. ``test`` takes a module name, the scope, the fused layers; it may raise UndecidedError."""

    name: str
    test: Test


def answer(convention: Convention, module: str, scope: Scope, fused: Fused) -> bool | None:
    """Whether the module is excluded by this convention; None where it gives no answer."""
    try:
        return convention.test(module, scope, fused)
    except (UndecidedError, UndecidedPatternError):
        return None


def is_experts(module: str) -> bool:
    """Whether this is the module that holds all routed experts of a layer (SGLang's ``FusedMoE``)."""
    return module.rsplit(".", 1)[-1] == "experts"


def parts_of(module: str, fused: Fused) -> list[str] | None:
    """The names that a fused layer has in a checkpoint; None if the layer is not fused."""
    last = module.rsplit(".", 1)[-1]
    return [module.replace(last, part) for part in fused[last]] if last in fused else None


def _all_alike(answers: Iterable[bool], module: str) -> bool:
    found = set(answers)
    if len(found) != 1:
        raise UndecidedError(f"parts of {module} are quantized and parts are not")
    return found.pop()


# --- utils.py: is_layer_skipped ---------------------------------------------------------------------------------------


def _skipped(
    module: str, scope: Scope, fused: Fused, match: Callable[[str, Scope], bool], *, experts_match: bool = False
) -> bool:
    parts = parts_of(module, fused)
    if parts is not None:
        return _all_alike((match(part, scope) for part in parts), module)
    found = match(module, scope)
    if "gate_up_proj" in module:
        halves = (module.replace("gate_up_proj", half) for half in ("gate_proj", "up_proj"))
        return found or all(half in scope.names for half in halves)
    if "experts" in module:
        # At first the entries for experts counted alone, later they came on top.
        return (found and experts_match) or any(module in name for name in scope.patterns if "experts" in name)
    return found


def _equal(module: str, scope: Scope) -> bool:
    return module in scope.names


def _contains(module: str, scope: Scope) -> bool:
    return any(pattern in module for pattern in scope.patterns)


def _runs(module: str) -> Iterable[str]:
    """Every stretch of whole dotted parts of a module name."""
    parts = module.split(".")
    return (".".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1))


def _on_path(module: str, scope: Scope) -> bool:
    return any(run in scope.names for run in _runs(module))


def _on_path_without_dots(module: str, scope: Scope) -> bool:
    return any(run in scope.names_without_dots for run in _runs(module.rstrip(".")))


def skipped_if_equal(module: str, scope: Scope, fused: Fused) -> bool:
    """The whole name, or the names of all parts of a fused layer (until 0.5.8 or so)."""
    return _skipped(module, scope, fused, _equal)


def skipped_if_contained(module: str, scope: Scope, fused: Fused) -> bool:
    """A pattern anywhere in the name (as in 0.5.9)."""
    return _skipped(module, scope, fused, _contains)


def skipped_on_path(module: str, scope: Scope, fused: Fused) -> bool:
    """A pattern that is a stretch of whole dotted parts (``_module_path_match``, as in 0.5.12)."""
    return _skipped(module, scope, {**FUSED_BY_DEFAULT, **fused}, _on_path, experts_match=True)


def skipped_on_path_without_dots(module: str, scope: Scope, fused: Fused) -> bool:
    """The same, a pattern's trailing dots not counted (as in 0.5.18 and later)."""
    return _skipped(module, scope, {**FUSED_BY_DEFAULT, **fused}, _on_path_without_dots, experts_match=True)


# --- fp8.py -----------------------------------------------------------------------------------------------------------


def _fp8_early(skipped: Test) -> Test:
    # Experts were quantized whatever the list said, and fused layers were unknown.
    return lambda module, scope, fused: not is_experts(module) and skipped(module, scope, {})


def _fp8(skipped: Test) -> Test:
    return lambda module, scope, fused: skipped(module, scope.names_with_and_without_model, fused)


# --- modelopt_quant.py: is_layer_excluded -----------------------------------------------------------------------------

_MLA_PARTS = frozenset({"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"})


def _globbed(module: str, scope: Scope) -> bool:
    """By glob: the whole name, or one of its dotted parts; ``language_model.`` in front does not count."""
    names = [module]
    if module.startswith("language_model."):
        names.append(module.removeprefix("language_model."))
    candidates = dict.fromkeys([*names, *module.split(".")])
    tail = module.rsplit(".", 1)[-1]
    undecided: UndecidedPatternError | None = None
    for pattern in scope.patterns:
        try:
            if any(glob_matches(pattern, name) for name in candidates):
                return True
        except UndecidedPatternError as error:
            undecided = error
        last = pattern.rsplit(".", 1)[-1]
        if last in _MLA_PARTS and last in tail:
            return True
    if undecided is not None:
        raise undecided
    return False


def _globbed_whole(module: str, scope: Scope) -> bool:
    """By glob over the whole name, and parts of MLA's fused projections (as in 0.5.6)."""
    tail = module.rsplit(".", 1)[-1]
    for pattern in scope.patterns:
        if glob_matches(pattern, module):
            return True
        last = pattern.rsplit(".", 1)[-1]
        if last in _MLA_PARTS and last in tail:
            if module.count(".") != 4 or pattern.count(".") != 4:
                raise UndecidedError("SGLang asserts five dotted parts here")
            return True
    return False


def _modelopt(skipped: Test) -> Test:
    """Linear layers by either way of matching, experts by glob only (``ModelOptQuantConfig._get_quant_method``)."""

    def test(module: str, scope: Scope, fused: Fused) -> bool:
        if is_experts(module):
            return _globbed(module, scope)
        return skipped(module, scope, fused) or _globbed(module, scope)

    return test


def _modelopt_early(module: str, scope: Scope, fused: Fused) -> bool:
    """As in 0.5.6: experts always quantized; 8 bits by substring, 4 bits by glob over the whole name."""
    if is_experts(module):
        return False
    if skipped_if_equal(module, scope, fused):
        return True
    if "FP4" in str(scope.raw.get("quant_algo", "")):
        return _globbed_whole(module, scope)
    return _contains(module, scope)


def _modelopt_mixed(skipped: Test) -> Test:
    """What no entry of ``quantized_layers`` covers is not quantized (``_resolve_quant_algo``)."""

    def test(module: str, scope: Scope, fused: Fused) -> bool:
        if _modelopt(skipped)(module, scope, fused):
            return True
        layers = scope.raw.get("quantized_layers")
        if not isinstance(layers, Mapping):
            raise UndecidedError("the configuration has no map of quantized layers")
        names = {module, *(parts_of(module, {**FUSED_BY_DEFAULT, **fused}) or ())}
        names |= {_with_language_model(name) for name in names}
        return not any(name in layers for name in names) and not any(
            key.startswith(f"{name}.") for key in layers if isinstance(key, str) for name in names
        )

    return test


def _with_language_model(name: str) -> str:
    if name.startswith("model.language_model."):
        return "model." + name.removeprefix("model.language_model.")
    return "model.language_model." + name.removeprefix("model.") if name.startswith("model.") else name


# --- compressed_tensors/utils.py: should_ignore_layer -----------------------------------------------------------------


def _ignored(match: Callable[[str, Scope], bool], covered: bool) -> Test:
    def one(module: str, scope: Scope, fused: Fused) -> bool:
        parts = parts_of(module, fused)
        if parts is not None and module not in scope.names:
            return _all_alike((match(part, scope) for part in parts), module)
        return match(module, scope)

    def test(module: str, scope: Scope, fused: Fused) -> bool:
        # Experts are asked for by the names of the first one's matrices (``get_moe_scheme``).
        experts = covered and is_experts(module)
        asked = [f"{module}.0.{part}" for part in ("gate_proj", "up_proj", "down_proj")] if experts else []
        ignored = _all_alike((one(name, scope, fused) for name in asked or [module]), module)
        if covered and not ignored:
            _must_be_covered(module, asked, scope, fused)
        return ignored

    return test


def _must_be_covered(module: str, asked: list[str], scope: Scope, fused: Fused) -> None:
    """A layer that is neither ignored nor named by a group's targets stops SGLang (``find_matched_target``)."""
    groups = scope.raw.get("config_groups")
    targets: list[str] = []
    for group in groups.values() if isinstance(groups, Mapping) else ():
        found = group.get("targets") if isinstance(group, Mapping) else None
        targets += [target for target in found if isinstance(target, str)] if isinstance(found, list) else []
    # A class name stands for every layer of that class; without any target only sparsity was configured.
    if not targets or any("." not in target and not target.startswith("re:") for target in targets):
        return
    names = [*(asked or [module]), *(parts_of(module, {**FUSED_BY_DEFAULT, **fused}) or ())]
    if not any(_equal_or_regex(name, target) for name in names for target in targets):
        raise UndecidedError(f"{module} is neither ignored nor covered by a group")


def _equal_or_regex(module: str, pattern: str) -> bool:
    return regex_matches(pattern[3:], module) if pattern.startswith("re:") else pattern == module


def _regex_or(module: str, scope: Scope, plain: Callable[[str, str], bool]) -> bool:
    undecided: UndecidedPatternError | None = None
    for pattern in scope.patterns:
        try:
            if regex_matches(pattern[3:], module) if pattern.startswith("re:") else plain(pattern, module):
                return True
        except UndecidedPatternError as error:
            undecided = error
    if undecided is not None:
        raise undecided
    return False


def _regex_or_equal(module: str, scope: Scope) -> bool:
    return _regex_or(module, scope, lambda pattern, name: pattern == name)


def _regex_or_contained(module: str, scope: Scope) -> bool:
    return _regex_or(module, scope, lambda pattern, name: pattern.lower() in name.lower())


def _regex_or_suffix(module: str, scope: Scope) -> bool:
    return _regex_or(module, scope, lambda pattern, name: pattern == name or name.endswith(f".{pattern}"))


# --- quark/utils.py: should_ignore_layer ------------------------------------------------------------------------------


def _quark_early(module: str, scope: Scope, fused: Fused) -> bool:
    parts = parts_of(module, fused)
    if parts is not None:
        return _all_alike((_regex_or_equal(part, scope) for part in parts), module)
    return _regex_or_equal(module, scope)


def _quark(module: str, scope: Scope, fused: Fused) -> bool:
    """The fused name itself counts too, and one excluded expert excludes them all (as in 0.5.23)."""
    if _regex_or_equal(module, scope):
        return True
    if is_experts(module) and any(pattern.startswith(f"{module}.") for pattern in scope.patterns):
        return True
    parts = parts_of(module, fused)
    return parts is not None and _all_alike((_regex_or_equal(part, scope) for part in parts), module)


# --- awq, gptq, bitsandbytes, auto-round, modelslim -------------------------------------------------------------------


def _awq(module: str, scope: Scope, fused: Fused) -> bool:
    """A pattern anywhere in the name (``is_layer_skipped_awq`` of ``awq/awq.py``)."""
    return _contains(module, scope)


def _gptq(module: str, scope: Scope, fused: Fused) -> bool:
    """The first rule of ``dynamic`` that matches, if it is a negative one (``get_dynamic_override`` of ``utils.py``).

    Experts have no such rules (``GPTQMarlinConfig.get_quant_method`` of ``gptq.py``).
    """
    if is_experts(module):
        return False
    rules = scope.raw.get("dynamic")
    for rule in rules if isinstance(rules, Mapping) else ():
        if not isinstance(rule, str):
            continue
        if rule.startswith("-:"):
            if regex_matches(rule[2:], module):
                return True
        elif regex_matches(rule.removeprefix("+:"), module):
            return False
    return False


def _bitsandbytes(module: str, scope: Scope, fused: Fused) -> bool:
    """A dotted part, or a leading stretch of parts (``is_layer_skipped_bnb`` of ``bitsandbytes.py``)."""
    parts = module.split(".")
    heads = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(part in scope.names for part in parts) or any(head in scope.names for head in heads)


def _auto_round(module: str, scope: Scope, fused: Fused) -> bool:
    """16 bits by ``extra_config`` (``get_layer_config`` of ``auto_round.py``), or outside the blocks to quantize."""
    raw = scope.raw
    blocks = raw.get("block_name_to_quantize", raw.get("to_quant_block_names"))
    blocks = blocks.split(",") if isinstance(blocks, str) else blocks
    inside = not isinstance(blocks, list) or not blocks
    quantized = inside or any(isinstance(block, str) and module.startswith(block) for block in blocks or ())
    extra = raw.get("extra_config")
    overrides = extra if isinstance(extra, Mapping) else {}
    if is_experts(module):
        names = [name for name in overrides if isinstance(name, str) and name.startswith(module)]
        if names:
            return _all_alike((_auto_round_one(name, overrides, quantized) for name in names), module)
    parts = parts_of(module, fused) if module not in overrides else None
    return _all_alike((_auto_round_one(name, overrides, quantized) for name in parts or [module]), module)


def _auto_round_one(module: str, overrides: Mapping[str, Any], quantized: bool) -> bool:
    found = overrides.get(module)
    if not isinstance(found, Mapping):
        special = set(r"*+?^$()[]{}|\\")
        found = next(
            (
                value
                for pattern, value in overrides.items()
                if isinstance(value, Mapping) and special & set(pattern) and regex_matches(pattern, module, whole=True)
            ),
            {},
        )
    bits = found.get("bits", 4 if quantized else 16)
    if not isinstance(bits, int):
        raise UndecidedError(f"the bits of {module} are no number")
    return bits >= 16


def _modelslim(module: str, scope: Scope, fused: Fused) -> bool:
    """The description says FLOAT of its weight (``ModelSlimConfig.is_layer_skipped`` of ``modelslim/modelslim.py``)."""
    if is_experts(module):
        return scope.raw.get(f"{module}.0.gate_proj.weight") == "FLOAT"
    parts = parts_of(module, fused) or [module]
    return _all_alike((scope.raw.get(f"{part}.weight") == "FLOAT" for part in parts), module)


def _never(module: str, scope: Scope, fused: Fused) -> bool:
    """The method reads no list (``W4AFp8Config.from_config`` of ``w4afp8.py``)."""
    return False


def _all_but_experts(module: str, scope: Scope, fused: Fused) -> bool:
    """Only experts are quantized, whatever the list says (``Mxfp4Config`` of ``mxfp4.py``)."""
    return not is_experts(module)


def _linear_only(skipped: Test) -> Test:
    def test(module: str, scope: Scope, fused: Fused) -> bool:
        if is_experts(module):
            raise UndecidedError("the method says nothing of experts")
        return skipped(module, scope, fused)

    return test


_SKIPPED: tuple[tuple[str, Test], ...] = (
    ("equal", skipped_if_equal),
    ("contained", skipped_if_contained),
    ("on path", skipped_on_path),
    ("on path, dots stripped", skipped_on_path_without_dots),
)
_MODELOPT = (
    Convention("early", _modelopt_early),
    *(Convention(f"{name}, or glob", _modelopt(test)) for name, test in _SKIPPED[1:]),
)
_FP8 = (
    *(Convention(name, _fp8_early(test)) for name, test in _SKIPPED[:2]),
    *(Convention(name, _fp8(test)) for name, test in _SKIPPED[2:]),
)
_COMPRESSED = (
    Convention("regex or equal", _ignored(_regex_or_equal, True)),
    Convention("regex or contained", _ignored(_regex_or_contained, True)),
    Convention("regex or suffix", _ignored(_regex_or_suffix, True)),
)

# By the method's name in config.json; ``modelopt_*`` as SGLang derives it from ``quant_algo``.
CONVENTIONS: Mapping[str, tuple[Convention, ...]] = {
    "fp8": _FP8,
    "mxfp8": _FP8,
    "blockwise_int8": tuple(Convention(name, _fp8_early(test)) for name, test in _SKIPPED),
    "fbgemm_fp8": tuple(Convention(name, _linear_only(test)) for name, test in _SKIPPED),
    "w4afp8": (Convention("never", _never),),
    "mxfp4": (Convention("all but experts", _all_but_experts),),
    "modelopt": _MODELOPT,
    "modelopt_fp8": _MODELOPT,
    "modelopt_fp4": _MODELOPT,
    "modelopt_mixed": tuple(
        Convention(f"{name}, glob, or unlisted", _modelopt_mixed(test)) for name, test in _SKIPPED[2:]
    ),
    "compressed-tensors": _COMPRESSED,
    "compressed_tensors": _COMPRESSED,
    "w8a8_int8": (
        Convention("regex or equal", _ignored(_regex_or_equal, False)),
        Convention("regex or contained", _ignored(_regex_or_contained, False)),
        Convention("regex or suffix", _ignored(_regex_or_suffix, False)),
    ),
    "quark": (Convention("regex or equal", _quark_early), Convention("regex, equal, or an expert", _quark)),
    "awq": (Convention("contained", _awq),),
    "gptq": (Convention("dynamic", _gptq),),
    "bitsandbytes": (Convention("part", _bitsandbytes),),
    "auto-round": (Convention("extra config", _auto_round),),
    "modelslim": (Convention("description", _modelslim),),
}
