"""The models of a matrix: folders with a config.json, configurations, or folders of such folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mtp_trace.errors import CheckpointError


def named_models(given: Sequence[str]) -> dict[str, str]:
    """Path by the name that a table shows, in order.

    Raises CheckpointError for a path that holds no model.
    """
    paths: list[str] = []
    for item in given:
        paths += _models_of(item)
    paths = list(dict.fromkeys(paths))
    names = [_name(path) for path in paths]
    return {name if names.count(name) == 1 else path: path for name, path in zip(names, paths)}


def _models_of(item: str) -> list[str]:
    path = Path(item)
    if not path.is_dir() or (path / "config.json").is_file():
        return [item]
    inner = sorted(entry.path for entry in os.scandir(path) if (Path(entry.path) / "config.json").is_file())
    if not inner:
        hint = "give a model folder or a config.json"
        raise CheckpointError("no config.json here, nor in a folder of it", item, hint)
    return inner


def _name(path: str) -> str:
    place = Path(path)
    if place.name == "config.json":
        return place.absolute().parent.name
    return place.stem if place.suffix == ".json" else place.name or path
