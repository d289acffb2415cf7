"""The world a launch is traced in: versions that the tree pins, what counts as installed, tables of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.checkpoint.transformers_auto import choose_class
from mtp_trace.checkpoint.transformers_forms import Opaque
from mtp_trace.checkpoint.transformers_layers import LayerSettings, settle
from mtp_trace.checkpoint.transformers_object import ConfigObject, make_object
from mtp_trace.checkpoint.transformers_table import TransformersTable, load_table
from mtp_trace.rules.yamlfile import shipped
from mtp_trace.source import SourceTree, pinned_version
from mtp_trace.trace.world import Gpu, World


def pinned_versions(tree: SourceTree) -> dict[str, str]:
    """Versions by distribution name: what the tree pins, then what the rules say of the rest."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    packages = shipped("packages.yaml")
    lines = tree.requirements()
    found: dict[str, str] = {}
    for line in lines:
        try:
            name = canonicalize_name(Requirement(line).name)
        except InvalidRequirement:
            continue
        version = pinned_version((line,), name)
        if version is not None:
            found.setdefault(name, version)
    for name, other in packages.get("same-as", {}).items():
        if other in found:
            found.setdefault(name, found[other])
    return {**packages.get("versions", {}), **found}


def make_world(tree: SourceTree, gpu: Gpu | None, env: dict[str, str]) -> World:
    """The world of a launch; its files are set for each launch."""
    packages = shipped("packages.yaml")
    versions = pinned_versions(tree)
    return World(gpu=gpu, env=env, versions=versions, absent=_absent(tree, packages, gpu),
                 python=tuple(packages.get("python", (3, 11, 7))),
                 tables=_tables(versions.get("transformers")))  # fmt: skip


def _absent(tree: SourceTree, packages: dict[str, Any], gpu: Gpu | None) -> frozenset[str]:
    usual = tuple(packages.get("usual-extras", ()))
    required = " ".join(line.lower() for line in tree.requirements() if _is_usual(line, usual))
    kind = gpu.kind if gpu is not None else ""
    optional = packages.get("absent-unless-required", {})
    left = {name for name, kinds in optional.items() if name not in required and kind not in kinds}
    return frozenset(packages.get("absent", ())) | left


def _is_usual(line: str, extras: tuple[str, ...]) -> bool:
    """Whether every server installs it: no extra, or one that every installation asks for."""
    marker = line.partition(";")[2]
    return "extra" not in marker or any(f'"{e}"' in marker or f"'{e}'" in marker for e in extras)


def _tables(transformers: str | None) -> Callable[..., Any]:
    loaded: list[TransformersTable] = []

    def table() -> TransformersTable:
        if not loaded:
            loaded.append(load_table(transformers))
        return loaded[0]

    def ask(name: str, *args: Any) -> Any:
        if name == "transformers.make":
            return _made(table(), *args)
        if name == "transformers.class":
            return _class(table(), args[0])
        if name == "transformers.model_type":
            return table().config_class(args[0])
        if name == "transformers.settle":
            return _settled(*args)
        if name == "transformers.base_property":
            return args[0] in table().base_properties
        if name == "transformers.choose":
            config, path, trust, registered, files = args
            choice = choose_class(table(), config, path, trust, registered, lambda f: f in files)
            return {"source": choice.source.value, "name": choice.name, "text": choice.text}
        raise KeyError(name)

    return ask


def _class(table: TransformersTable, name: str) -> dict[str, Any] | None:
    info = table.class_info(name)
    if info is None:
        return None
    bases = [b for b in info.bases if b not in (table.base_class, "PretrainedConfig", "PreTrainedConfig")]
    return {"bases": bases[:1], "model_type": info.model_type, "attribute_map": dict(info.attribute_map),
            "base_config_key": info.base_config_key}  # fmt: skip


def _made(table: TransformersTable, name: str, given: dict[str, Any]) -> dict[str, Any]:
    # A class of the tree's own starts from the bare base.
    return _plain(make_object(table, name or "PretrainedConfig", given))  # type: ignore[no-any-return]


def _layers(layers: LayerSettings | None) -> dict[str, Any] | None:
    if layers is None:
        return None
    return {"overrides": layers.overrides, "whole": {k: _plain(v) for k, v in layers.whole.items()},
            "varying": sorted(layers.varying), "explicit": sorted(layers.explicit)}  # fmt: skip


def _settled(layers: Any, values: dict[str, Any], aliases: dict[str, str]) -> dict[str, Any] | None:
    """What an object's layers are after ``per_layer_config`` was set; None where the release would refuse it."""
    try:
        return _layers(settle(layers, values, aliases))
    except Opaque:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, ConfigObject):
        return {"__config__": value.cls, "values": {k: _plain(v) for k, v in value.values.items()},
                "opaque": dict(value.opaque), "delegate": value.delegate, "layers": _layers(value.layers)}  # fmt: skip
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
