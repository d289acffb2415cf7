"""The header of a ``.safetensors`` file: names, dtypes, shapes and sizes of its tensors, without their data.

The format (the README of huggingface/safetensors): 8 bytes of little-endian header length; the header, a JSON object
from tensor name to ``{"dtype", "shape", "data_offsets": [begin, end]}`` and optionally ``__metadata__`` (text to
text); then the data, which the tensors tile without overlap and without holes, offsets counted from the header's end.
What is refused here is what the safetensors library refuses as well, so a server could not load the file either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from ..errors import CheckpointError
from .bounded import check_depth, json_kind, open_regular, read_exactly, readable_size, shown

MAX_HEADER_BYTES = 100_000_000  # the safetensors library's own limit
MAX_DIMENSIONS = 64

# Bits an element takes, by the format's name of the dtype (``Dtype::bitsize`` in safetensors/src/tensor.rs).
DTYPE_BITS: Mapping[str, int] = {
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "I64": 64,
    "U64": 64,
    "F64": 64,
    "C64": 64,
}

_METADATA = "__metadata__"

# Fully typed and three levels deep, so the decoder never descends into anything else.
_FAST = msgspec.json.Decoder(dict[str, dict[str, str | list[int]]])


@dataclass(frozen=True)
class TensorHeader:
    """One tensor of a header: dtype by the format's name, shape in elements, size in bytes."""

    dtype: str
    shape: tuple[int, ...]
    nbytes: int


@dataclass(frozen=True)
class ShardHeader:
    """The header of one file.

    Attributes:
        tensors: name to dtype, shape and size.
        metadata: the file's own text entries, where they are text.
        size: the file's size in bytes.
        header_only: the file ends where its data would begin, as a copy made for an analysis does.
    """

    tensors: dict[str, TensorHeader]
    metadata: dict[str, str]
    size: int
    header_only: bool


def read_header(path: Path) -> ShardHeader:
    """Read the header of one ``.safetensors`` file.

    Raises:
        CheckpointError: the file cannot be read, or its header is not one (``where`` names the file).
    """
    where = str(path)
    with open_regular(path) as (descriptor, size):
        start = read_exactly(descriptor, 8, path)
        if len(start) < 8:
            raise CheckpointError(f"the file is cut off: {size} bytes, a header takes more than 8", where, _FETCH)
        length = int.from_bytes(start, "little")
        if start == b"version ":
            raise CheckpointError(
                "this is a Git LFS pointer, not the weights", where, "Run `git lfs pull` in the model's folder."
            )
        if length > MAX_HEADER_BYTES:
            raise CheckpointError(
                f"the header claims {length} bytes, at most {MAX_HEADER_BYTES} are allowed", where, _FETCH
            )
        if length < 2:
            raise CheckpointError(f"the header claims {length} bytes, too few for a JSON object", where, _FETCH)
        if length > size - 8:
            raise CheckpointError(
                f"the header claims {length} bytes, but the file ends {max(size - 8, 0)} bytes after its start",
                where,
                _FETCH,
            )
        data = read_exactly(descriptor, length, path)
        if len(data) < length:
            raise CheckpointError("the file is cut off inside its header", where, _FETCH)
    if not data.startswith(b"{"):
        raise CheckpointError("the header does not begin with `{`", where, _FETCH)
    tensors, metadata = _parse(data, where)
    room = size - 8 - length
    end = _check_offsets(tensors, where)
    if end != room and not (room == 0 and end > 0):
        detail = f"its tensors take {readable_size(end)}, the file holds {readable_size(room)} of data"
        raise CheckpointError(
            f"the file is cut off: {detail}" if end > room else f"bytes that no tensor claims: {detail}", where, _FETCH
        )
    headers = {name: TensorHeader(dtype, shape, stop - begin) for name, (dtype, shape, begin, stop) in tensors.items()}
    return ShardHeader(headers, metadata, size, header_only=room == 0 and end > 0)


_FETCH = "Fetch the file again."

_Entry = tuple[str, tuple[int, ...], int, int]


def _parse(data: bytes, where: str) -> tuple[dict[str, _Entry], dict[str, str]]:
    raw: Mapping[str, Any]
    try:
        raw = _FAST.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raw = _parse_slowly(data, where)
    else:
        # The decoder keeps the last of two equal names. It also saw to it that every name has an object: one brace
        # more than there are names means that each came once. More may be braces in text; the slow way tells.
        if data.count(b"{") != len(raw) + 1:
            raw = _parse_slowly(data, where)
    metadata: dict[str, str] = {}
    tensors: dict[str, _Entry] = {}
    dtypes: dict[str, str] = {}
    for name, entry in raw.items():
        if name == _METADATA:
            if not isinstance(entry, dict):
                raise CheckpointError(f"`{_METADATA}` is {json_kind(entry)}, not an object", where, _FETCH)
            metadata = {key: value for key, value in entry.items() if isinstance(value, str)}
            continue
        tensors[name] = _entry(name, entry, dtypes, where)
    return tensors, metadata


def _parse_slowly(data: bytes, where: str) -> Mapping[str, Any]:
    """The same by the standard parser: slower, but it sees every key, and its errors name the place."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"the header is not UTF-8 (byte {error.start + 8})", where, _FETCH) from error
    check_depth(text, where, MAX_HEADER_BYTES)
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise CheckpointError(f"the header is not JSON: {error.msg} (byte {error.pos + 8})", where, _FETCH) from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError("the header holds a value that cannot be read", where, _FETCH) from error
    if not isinstance(value, _Pairs):
        raise CheckpointError(f"the header is {json_kind(value)}, not an object", where, _FETCH)
    return value.checked("the header", where)


class _Pairs:
    """A JSON object with every key it had, so that none is lost when it came twice."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs

    def checked(self, what: str, where: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in self.pairs:
            if key in found:
                raise CheckpointError(f"{what} names {shown(key)} twice", where, _FETCH)
            found[key] = value.checked(shown(key), where) if isinstance(value, _Pairs) else value
        return found


def _entry(name: str, entry: Any, dtypes: dict[str, str], where: str) -> _Entry:
    what = f"tensor {shown(name)}"
    if not isinstance(entry, dict):
        raise CheckpointError(f"{what} is {json_kind(entry)}, not an object", where, _FETCH)
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str):
        raise CheckpointError(f"{what} has no dtype", where, _FETCH)
    if not isinstance(shape, list) or not all(_is_count(size) for size in shape):
        raise CheckpointError(f"{what} has a shape that is not a list of sizes: {shown(shape)}", where, _FETCH)
    if len(shape) > MAX_DIMENSIONS:
        raise CheckpointError(f"{what} has {len(shape)} dimensions", where, _FETCH)
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_count(offset) for offset in offsets):
        raise CheckpointError(f"{what} has data_offsets that are not two positions: {shown(offsets)}", where, _FETCH)
    begin, end = offsets
    if begin > end:
        raise CheckpointError(f"{what} ends before it begins: {begin} to {end}", where, _FETCH)
    bits = DTYPE_BITS.get(dtype)
    # A dtype that is newer than this table is taken at its offsets' word.
    if bits is not None and prod(shape) * bits != (end - begin) * 8:
        raise CheckpointError(
            f"{what}: {dtype} of shape {shown(shape)} does not take the {end - begin} bytes that its offsets span",
            where,
            _FETCH,
        )
    return dtypes.setdefault(dtype, dtype), tuple(shape), begin, end


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _check_offsets(tensors: Mapping[str, _Entry], where: str) -> int:
    """Where the data ends, in bytes from the header's end."""
    at, before = 0, ""
    for begin, end, name in sorted((begin, end, name) for name, (_, _, begin, end) in tensors.items()):
        if begin < at:
            raise CheckpointError(f"tensors {shown(before)} and {shown(name)} overlap", where, _FETCH)
        if begin > at:
            raise CheckpointError(
                f"bytes {at} to {begin} before tensor {shown(name)} belong to no tensor", where, _FETCH
            )
        at, before = end, name
    return at
