"""Miniature checkpoints for tests: real headers and indexes, data areas sparse or left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from mtp_trace.checkpoint.safetensors import DTYPE_BITS

Spec = tuple[str, Sequence[int]]


def header_of(tensors: Mapping[str, Spec], metadata: Mapping[str, str] | None = None) -> tuple[bytes, int]:
    """A safetensors header for ``name -> (dtype, shape)``, and the bytes of data that it describes."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    at = 0
    for name, (dtype, shape) in tensors.items():
        size = prod(shape) * DTYPE_BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    return json.dumps(header).encode(), at


def write_raw(path: Path, header: bytes, data: int = 0, claimed: int | None = None) -> Path:
    """A file with this very header and ``data`` sparse bytes behind it; ``claimed`` overrides the length field."""
    length = len(header) if claimed is None else claimed
    with path.open("wb") as file:
        file.write(length.to_bytes(8, "little") + header)
        if data:
            file.truncate(8 + len(header) + data)
    return path


def write_shard(path: Path, tensors: Mapping[str, Spec], *, data: bool = True) -> Path:
    """A valid safetensors file; its data is a hole in the file, or (``data=False``) is not there at all."""
    header, size = header_of(tensors, {"format": "pt"})
    return write_raw(path, header, size if data else 0)


def write_index(path: Path, weight_map: Mapping[str, str], total_size: int | None = None) -> Path:
    """A weight index."""
    metadata = {} if total_size is None else {"total_size": total_size}
    path.write_text(json.dumps({"metadata": metadata, "weight_map": dict(weight_map)}), encoding="utf-8")
    return path


def write_config(folder: Path, **config: Any) -> Path:
    """A config.json; ``architectures`` is there unless it is given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.json"
    path.write_text(json.dumps({"architectures": ["DemoForCausalLM"], "model_type": "demo", **config}))
    return path


def make_checkpoint(
    folder: Path,
    shards: Mapping[str, Mapping[str, Spec]],
    *,
    index: bool = True,
    unindexed: Sequence[str] = (),
    absent: Sequence[str] = (),
    data: bool = True,
    **config: Any,
) -> Path:
    """A model folder: config.json, the shards, and (``index``) the index over all but ``unindexed``.

    ``absent`` shards are in the index and not on disk.
    """
    write_config(folder, **config)
    for name, tensors in shards.items():
        if name not in absent:
            write_shard(folder / name, tensors, data=data)
    if index:
        weight_map = {name: shard for shard, names in shards.items() if shard not in unindexed for name in names}
        write_index(folder / "model.safetensors.index.json", weight_map)
    return folder


def make_cache(root: Path, repo_id: str, *, commit: str = "a" * 40, ref: str | None = "main", **config: Any) -> Path:
    """A model in a Hugging Face cache below ``root``: blobs, and a snapshot of symlinks. Returns the snapshot."""
    repo = root / ("models--" + repo_id.replace("/", "--"))
    snapshot = repo / "snapshots" / commit
    (repo / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    blob = repo / "blobs" / ("b" * 40)
    blob.write_text(json.dumps({"architectures": ["DemoForCausalLM"], **config}))
    (snapshot / "config.json").symlink_to(Path("../../blobs") / blob.name)
    if ref is not None:
        (repo / "refs").mkdir()
        (repo / "refs" / ref).write_text(commit)
    return snapshot
