"""How transformers 5 gathers ``rope_theta``, ``rope_scaling`` and ``partial_rotary_factor`` into ``rope_parameters``.

Stated from the behaviour of ``RotaryEmbeddingConfigMixin`` (``convert_rope_params_to_dict``,
``standardize_rope_params``); ``rope_scaling`` then reads as ``rope_parameters``. Releases before 5 keep what is given.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from mtp_trace.checkpoint.transformers_table import ClassInfo

_SCALED = ("llama3", "yarn", "longrope")


def standardise_rope(values: dict[str, Any], given: Mapping[str, Any], style: str, info: ClassInfo) -> None:
    """Set ``rope_parameters`` in an object's values. ``style`` is the release's: "flat-theta" or "nested-theta"."""
    chosen = given.get("rope_scaling") or values.get("rope_parameters") or info.params.get("rope_parameters") or {}
    if not isinstance(chosen, dict):
        return
    parameters: dict[str, Any] = copy.deepcopy(chosen)
    named = values.pop("rope_theta", None) if "rope_theta" not in info.params else values.get("rope_theta")
    theta = given.get("rope_theta", named if named is not None else info.default_theta)
    partial = values.get("partial_rotary_factor", info.default_partial)
    own_partial = partial if "partial_rotary_factor" in info.params else None
    kept_theta = values.get("rope_theta")
    layer_types = values.get("layer_types")
    labels = layer_types if isinstance(layer_types, list) else []
    nested_style = style == "nested-theta"
    if nested_style:
        nested = [key for key in parameters if key in labels]
        for inner in [parameters[key] for key in nested] or [parameters]:
            _fill(inner, theta, partial)
    else:
        _fill(parameters, theta, partial)
        nested = sorted(set(labels)) if labels and set(parameters) <= set(labels) else []
    if not nested:
        _one(parameters, values, kept_theta, own_partial, info, nested_style)
    for key in nested:
        if isinstance(parameters.get(key), dict):
            _one(parameters[key], values, kept_theta, own_partial, info, nested_style)
    values["rope_parameters"] = parameters


def name_rope_type(scaling: Any, style: str) -> None:
    """What some classes of transformers 4 do to ``rope_scaling``: the old key "type" is copied to "rope_type".

    ``style`` "mrope": a type "mrope" becomes "default" on the way.
    """
    if not isinstance(scaling, dict) or "type" not in scaling:
        return
    if style == "mrope" and scaling["type"] == "mrope":
        scaling["type"] = "default"
    scaling["rope_type"] = scaling["type"]


def _fill(parameters: Any, theta: Any, partial: Any) -> None:
    if isinstance(parameters, dict):
        parameters.setdefault("rope_theta", theta)
        if partial is not None:
            parameters.setdefault("partial_rotary_factor", partial)


def _one(
    parameters: dict[str, Any], values: dict[str, Any], theta: Any, partial: Any, info: ClassInfo, nested_style: bool
) -> None:
    parameters.setdefault("rope_type", parameters.get("type", "default"))
    parameters.setdefault("rope_theta", theta)
    if partial is not None and (not nested_style or "partial_rotary_factor" not in parameters):
        parameters["partial_rotary_factor"] = partial
    if info.default_rope_type not in (None, "default") and parameters["rope_type"] == "default":
        parameters["rope_type"] = info.default_rope_type
    if parameters["rope_type"] in _SCALED:
        original = values.get("original_max_position_embeddings")
        if original is not None:
            parameters["original_max_position_embeddings"] = original
        else:
            parameters.setdefault("original_max_position_embeddings", values.get("max_position_embeddings"))
