"""Settings that a configuration gives otherwise for some of its layers (``per_layer_config``, transformers 5.19 on).

Source: ``transformers/integrations/heterogeneity/configuration_utils.py`` of 5.19.0. What differs from layer to layer
is not to be read from the object itself: that is an error there.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtp_trace.checkpoint.transformers_forms import Opaque

PER_LAYER = "per_layer_config"


@dataclass(frozen=True)
class LayerSettings:
    """``overrides`` by layer index, what the object itself holds of them, and the names that any layer was given."""

    overrides: dict[int, dict[str, Any]]
    whole: dict[str, Any]
    explicit: frozenset[str]

    @property
    def varying(self) -> frozenset[str]:
        """The names that differ from the object's own value in some layer."""
        return frozenset(name for layer in self.overrides.values() for name in layer if name != "skip")


def build_overrides(
    rules: Mapping[str, Mapping[str, Mapping[str, Any]]],
    given: Mapping[str, Any],
    values: Mapping[str, Any],
    opaque: Mapping[str, str],
) -> dict[int, dict[str, Any]]:
    """What a class makes for its layers: by layer type, each attribute from a key (or an attribute) of the config.

    ``rules`` is the class's ``layers`` part: ``{layer type: {attribute: {"of", "default", "if", "skip_null"}}}``.
    Raises Opaque where the layer types, or what an attribute is taken from, are not known.
    """
    needed = [rule[part] for kind in rules.values() for rule in kind.values() for part in ("of", "if") if part in rule]
    doubt = next((opaque[name] for name in ("layer_types", *needed) if name in opaque), None)
    if doubt is not None:
        raise Opaque(doubt)
    kinds = values.get("layer_types")
    if not isinstance(kinds, list):
        raise Opaque(f"{PER_LAYER} follows from layer_types, which is not known")
    made = {kind: _attributes(attributes, given, values) for kind, attributes in rules.items()}
    return {index: copy.deepcopy(made[kind]) for index, kind in enumerate(kinds) if kind in made}


def _attributes(
    rules: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, rule in rules.items():
        value = values[rule["of"]] if rule["of"] in values else given.get(rule["of"], rule.get("default"))
        if "if" in rule and not values.get(rule["if"], True):
            value = None
        if value is not None or not rule.get("skip_null"):
            found[name] = value
    return found


def settle(layers: Mapping[Any, Any], values: Mapping[str, Any], aliases: Mapping[str, str]) -> LayerSettings:
    """The overrides less what equals the object's own value. Raises Opaque for what the release itself would refuse."""
    overrides: dict[int, dict[str, Any]] = {}
    count = values.get("num_hidden_layers")
    for key, given in layers.items():
        if not str(key).isdigit() or not isinstance(given, Mapping):
            raise Opaque(f"{PER_LAYER} has an entry {key!r} that is no layer")
        if not isinstance(count, int) or int(key) >= count:
            raise Opaque(f"{PER_LAYER} has an entry {key!r}, of {count} layers")
        overrides[int(key)] = {name: value for name, value in given.items() if name != "skip" or value}
    explicit = frozenset(name for layer in overrides.values() for name in layer if name != "skip")
    for name in explicit:
        own = aliases.get(name, name)
        if own not in values:
            if len(overrides) != count or any(name not in layer for layer in overrides.values()):
                raise Opaque(f"{PER_LAYER} sets {name}, which the configuration itself does not have")
            continue
        for layer in overrides.values():
            if name in layer and layer[name] == values[own]:
                del layer[name]
    overrides = {index: layer for index, layer in overrides.items() if layer}
    settings = LayerSettings(overrides, {}, explicit)
    whole = {own: values[own] for own in (aliases.get(name, name) for name in settings.varying) if own in values}
    return LayerSettings(overrides, whole, explicit)
