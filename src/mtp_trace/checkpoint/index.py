"""A weight index (``*.index.json``): which tensor lies in which file."""

from __future__ import annotations

import codecs
import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..errors import CheckpointError
from .bounded import MAX_DEPTH, MIB, decode_text, json_kind, parse_json, read_file, shown

# A million tensors take about 110 MB; the largest released models have a few hundred thousand.
MAX_INDEX_BYTES = 512 * MIB
MAX_SHARDS = 100_000

_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:")


# The first file name of a weight map, and how the files of one checkpoint are numbered.
_FIRST = re.compile(rb'\s*\{\s*"[^"\\]{0,4000}"\s*:\s*"([^"\\]{1,1000})"')
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})(-of-)([0-9]{1,9})(.*)", re.DOTALL)
_MAX_NUMBERED = 10_000


class _IndexFile(msgspec.Struct):
    weight_map: msgspec.Raw
    metadata: Any = None


_FAST = msgspec.json.Decoder(_IndexFile)
_ANY_FILES = msgspec.json.Decoder(dict[str, str])


@dataclass(frozen=True)
class WeightIndex:
    """A weight index, read.

    Attributes:
        weight_map: tensor name to file name, relative to the folder; equal file names are one object.
        shards: the file names, sorted.
        total_size: what the index says all tensors take together, in bytes; None where it does not say.
    """

    weight_map: dict[str, str]
    shards: tuple[str, ...]
    total_size: int | None


def read_index(path: Path) -> WeightIndex:
    """Read a weight index.

    Raises:
        CheckpointError: the file cannot be read, is not JSON, has no ``weight_map`` from names to file names,
            or names a file outside the folder.
    """
    where = str(path)
    weight_map, metadata = _parse(read_file(path, MAX_INDEX_BYTES), where)
    one = set(weight_map.values())
    if len(one) > MAX_SHARDS:
        raise CheckpointError(f"the index names {len(one)} files", where)
    for shard in one:
        check_shard_name(shard, f"{where}: weight_map")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    usable = isinstance(total, (int, float)) and not isinstance(total, bool) and 0 <= total < 2**63
    return WeightIndex(weight_map, tuple(sorted(one)), int(total) if usable and total is not None else None)


def check_shard_name(shard: str, where: str) -> None:
    """Refuse a file name that could leave the model's folder.

    Raises:
        CheckpointError: empty, absolute, with ``..``, with a backslash, a drive or a NUL.
    """
    parts = shard.split("/")
    bad = (
        not shard
        or len(shard) > 1000
        or "\0" in shard
        or "\\" in shard
        or _WINDOWS_DRIVE.match(shard) is not None
        or any(part in ("", ".", "..") for part in parts)
    )
    if bad:
        raise CheckpointError(
            f"{shown(shard)} is not a file inside the model's folder",
            where,
            "An index names files by plain relative names; do not use a checkpoint that does otherwise.",
        )


def _parse(data: bytes, where: str) -> tuple[dict[str, str], Any]:
    # The fast decoder recurses over keys that nobody asked for; a real index has three brackets in all.
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        try:
            _all_text(data)  # the decoder passes over keys that nobody asked for
            decoded = _FAST.decode(data)
            return _weight_map(decoded.weight_map), decoded.metadata
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # the slow way says better what is wrong, and takes a byte order mark and NaN as Python does
    value = parse_json(decode_text(data, where), where)
    if not isinstance(value, dict):
        raise CheckpointError(f"the index is {json_kind(value)}, not an object", where)
    weight_map = value.get("weight_map")
    if not isinstance(weight_map, dict):
        missing = "has no key `weight_map`" if "weight_map" not in value else f"has {json_kind(weight_map)} for it"
        raise CheckpointError(f"the index {missing}", f"{where}: weight_map", "Fetch the index file again.")
    one: dict[str, str] = {}
    for name, shard in weight_map.items():
        if isinstance(shard, str):
            weight_map[name] = one.setdefault(shard, shard)
        else:
            raise CheckpointError(
                f"the index gives {json_kind(shard)} for tensor {shown(name)}, not a file name",
                f"{where}: weight_map",
                "Fetch the index file again.",
            )
    return weight_map, value.get("metadata")


def _all_text(data: bytes) -> None:
    """Raises UnicodeDecodeError for what is no UTF-8; by pieces, as the whole would take the memory once more."""
    if not data.isascii():
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(data), MIB):
            decoder.decode(data[start : start + MIB], final=start + MIB >= len(data))


def _weight_map(raw: msgspec.Raw) -> dict[str, str]:
    """The weight map, equal file names as one object: a million equal strings take as long to make as the names.

    Raises:
        msgspec.DecodeError: it is not one from names to names.
    """
    names = _numbered(raw)
    if names:
        try:
            # A decoder that knows the file names hands out its own strings for them.
            known: dict[str, str] = msgspec.json.decode(raw, type=dict[str, operator.getitem(Literal, names)])  # type: ignore[misc]
            return known
        except msgspec.ValidationError:
            pass  # named otherwise than the first file lets expect
    weight_map, one = _ANY_FILES.decode(raw), dict[str, str]()
    for name, shard in weight_map.items():
        weight_map[name] = one.setdefault(shard, shard)
    return weight_map


def _numbered(raw: msgspec.Raw) -> tuple[str, ...]:
    """The names that a checkpoint's files have if they are named as its first one is."""
    found = _FIRST.match(memoryview(raw)[:8192])
    if found is None:
        return ()
    first = found.group(1).decode("utf-8", "replace")
    parts = _NUMBERED.fullmatch(first)
    if parts is None:
        return (first,)
    front, number, of, count, back = parts.groups()
    if int(count) > _MAX_NUMBERED:
        return (first,)
    return tuple(f"{front}{i:0{len(number)}d}{of}{count}{back}" for i in range(int(count) + 1))
