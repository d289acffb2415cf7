"""The models of a matrix: folders with a config.json, configurations, folders of such folders, names in the cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mtp_trace.errors import CheckpointError


def named_models(given: Sequence[str]) -> dict[str, str]:
    """Path by the name that a table shows, in order.

    Raises CheckpointError for a path that holds no model, and for a name that the local cache does not know.
    """
    found: dict[str, str] = {}  # name by path
    for item in given:
        found.update(_models_of(item))
    names = list(found.values())
    return {name if names.count(name) == 1 else path: path for path, name in found.items()}


def _models_of(item: str) -> dict[str, str]:
    from mtp_trace.checkpoint.folder import ModelFolder

    path = Path(item)
    if not os.path.isdir(path) or os.path.isfile(path / "config.json"):
        folder = ModelFolder.open(item)
        return {item if os.path.exists(item) else str(folder.path): _name(item)}
    inner = sorted(entry.path for entry in os.scandir(path) if (Path(entry.path) / "config.json").is_file())
    if not inner:
        hint = "give a model folder or a config.json"
        raise CheckpointError("no config.json here, nor in a folder of it", item, hint)
    return {path: _name(path) for path in inner}


def _name(path: str) -> str:
    place = Path(path)
    if place.name == "config.json":
        return place.absolute().parent.name
    return place.stem if place.suffix == ".json" else place.name or path
