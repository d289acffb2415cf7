"""Which tensors a checkpoint holds: from its files' headers where they are there, else from its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..errors import CheckpointError
from .bounded import shown
from .folder import ModelFolder
from .index import WeightIndex, read_index
from .safetensors import ShardHeader, TensorHeader, read_header

SAFETENSORS_INDEX = "model.safetensors.index.json"
PICKLE_INDEX = "pytorch_model.bin.index.json"

# Suffixes of weight files whose tensor names cannot be read without unpickling or without another format's reader.
_OPAQUE = (".bin", ".pt", ".pth", ".gguf")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: where it lies and, where a header told, its dtype, its shape (elements) and its size (bytes)."""

    name: str
    shard: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    nbytes: int | None = None


@dataclass(frozen=True)
class _Parts:
    """What the files said, merged. ``where`` maps a name to its file, ``headers`` to its header."""

    source: str
    known: bool
    where: dict[str, str] = field(default_factory=dict)
    headers: dict[str, TensorHeader] = field(default_factory=dict)
    read_shards: tuple[str, ...] = ()
    missing_shards: tuple[str, ...] = ()
    header_only_shards: tuple[str, ...] = ()
    unindexed: dict[str, tuple[str, TensorHeader]] = field(default_factory=dict)
    promised: tuple[str, ...] = ()
    total_size: int | None = None
    notes: tuple[str, ...] = ()


class TensorIndex(Mapping[str, Tensor]):
    """The tensors that a server would find in a checkpoint, by name. Only headers and indexes are read.

    A file on disk that the index does not name is not loaded (``filter_duplicate_safetensors_files`` in SGLang's
    ``model_loader/weight_utils.py``, since 0.4; some releases make an exception for one file of one family), so its
    tensors are kept apart in ``unindexed``.
    A file that the index names is loaded with all that it holds, whatever the index says of its contents.

    Attributes:
        source: ``"headers"``, ``"headers and index"``, ``"index"``, ``"pickle index"`` or ``"nothing"``.
        known: the names are known. False where the folder holds no weights at all, or only weights whose names
            cannot be read: then a name that is not here may well be in the checkpoint.
        read_shards: the files whose headers were read.
        missing_shards: files that the index names and the folder does not hold.
        header_only_shards: files that end with their header.
        unindexed: tensors of files on disk that the index does not name.
        promised: names that the index places in a file whose header does not have them, sorted; not in the mapping.
        total_size: what the index says all tensors take, in bytes.
        notes: what is odd about the files, each a sentence.
    """

    def __init__(self, parts: _Parts) -> None:
        self._where, self._headers = parts.where, parts.headers
        self.source, self.known = parts.source, parts.known
        self.read_shards, self.missing_shards = parts.read_shards, parts.missing_shards
        self.header_only_shards, self.promised = parts.header_only_shards, parts.promised
        self.total_size, self.notes = parts.total_size, parts.notes
        self.unindexed: dict[str, Tensor] = {
            name: _tensor(name, shard, header) for name, (shard, header) in parts.unindexed.items()
        }

    @classmethod
    def of(cls, folder: ModelFolder) -> TensorIndex:
        """Read a model folder's index and headers.

        Raises:
            CheckpointError: an index or a header that is on disk is broken, or an index names a file outside.
        """
        return cls(_read(folder))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> TensorIndex:
        """An index of bare names, for tests and for callers that know the names from elsewhere."""
        return cls(_Parts("index", True, dict.fromkeys(names, "")))

    def __getitem__(self, name: str) -> Tensor:
        return _tensor(name, self._where[name], self._headers.get(name))

    def __contains__(self, name: object) -> bool:
        return name in self._where

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def __repr__(self) -> str:
        return f"<TensorIndex of {len(self)} tensors from {self.source}>"

    @property
    def exact(self) -> bool:
        """Whether every tensor's dtype, shape and size are known."""
        return self.known and len(self._headers) == len(self._where)

    def names_under(self, *prefixes: str) -> list[str]:
        """The names that begin with one of the prefixes (plain text: give ``"mtp."``, not ``"mtp"``), in file order."""
        return [name for name in self._where if name.startswith(prefixes)]

    def under(self, *prefixes: str) -> list[Tensor]:
        """The tensors whose names begin with one of the prefixes, in file order."""
        return [self[name] for name in self.names_under(*prefixes)]


def _tensor(name: str, shard: str, header: TensorHeader | None) -> Tensor:
    if header is None:
        return Tensor(name, shard)
    return Tensor(name, shard, header.dtype, header.shape, header.nbytes)


def _read(folder: ModelFolder) -> _Parts:
    if folder.bare:
        return _Parts("nothing", False)
    on_disk = [file.name for file in folder.files if file.name.endswith(".safetensors") and file.size is not None]
    if any(file.name == SAFETENSORS_INDEX for file in folder.files):
        return _merge(folder, read_index(folder.file_path(SAFETENSORS_INDEX)), on_disk)
    if on_disk:
        return _from_headers(folder, on_disk)
    if any(file.name == PICKLE_INDEX for file in folder.files):
        return _from_pickle_index(folder, read_index(folder.file_path(PICKLE_INDEX)))
    opaque = [file.name for file in folder.files if file.name.endswith(_OPAQUE)]
    if opaque:
        note = f"the tensor names in {', '.join(opaque[:3])} cannot be read: only safetensors headers and indexes are"
        return _Parts("nothing", False, notes=(note,))
    return _Parts("nothing", False)


def _from_headers(folder: ModelFolder, on_disk: list[str]) -> _Parts:
    notes = []
    if sorted(on_disk) == ["consolidated.safetensors", "model.safetensors"]:
        # The same weights in two layouts; the server takes the second (filter_duplicate_safetensors_files again).
        on_disk = ["model.safetensors"]
        notes.append("consolidated.safetensors was left out, as the server leaves it out beside model.safetensors")
    where: dict[str, str] = {}
    headers: dict[str, TensorHeader] = {}
    cut = []
    for shard in on_disk:
        header = read_header(folder.file_path(shard))
        _take(shard, header, where, headers, notes)
        if header.header_only:
            cut.append(shard)
    return _Parts("headers", True, where, headers, tuple(on_disk), (), tuple(cut), notes=tuple(notes))


def _take(
    shard: str, header: ShardHeader, where: dict[str, str], headers: dict[str, TensorHeader], notes: list[str]
) -> None:
    twice = [name for name in header.tensors if name in headers]
    if twice:
        notes.append(f"{shard} and {where[twice[0]]} both hold {shown(twice[0])}" + _more(len(twice) - 1))
    for name, tensor in header.tensors.items():
        where[name] = shard
        headers[name] = tensor


def _merge(folder: ModelFolder, index: WeightIndex, on_disk: list[str]) -> _Parts:
    where, headers = index.weight_map, dict[str, TensorHeader]()
    notes: list[str] = []
    cut: list[str] = []
    present = {shard for shard in index.shards if _is_there(folder, shard)}
    seen: dict[str, str] = {}
    for shard in sorted(present):
        header = read_header(folder.path / shard)
        _take(shard, header, seen, headers, notes)
        if header.header_only:
            cut.append(shard)
    promised = sorted(name for name, shard in where.items() if shard in present and name not in headers)
    for name in promised:
        del where[name]
    unlisted = [name for name in headers if name not in where]
    where.update(seen)
    if promised:
        notes.append(f"the index names {shown(promised[0])}, which its file does not hold" + _more(len(promised) - 1))
    if unlisted:
        notes.append(
            f"{seen[unlisted[0]]} holds {shown(unlisted[0])}, which is not in the index" + _more(len(unlisted) - 1)
        )
    unindexed: dict[str, tuple[str, TensorHeader]] = {}
    outside = [shard for shard in on_disk if shard not in present]
    for shard in outside:
        for name, tensor in read_header(folder.file_path(shard)).tensors.items():
            unindexed.setdefault(name, (shard, tensor))
    if outside:
        notes.append(f"{outside[0]} is not named by the index" + _more(len(outside) - 1))
    inner = [shard for shard in index.shards if "/" in shard]
    if inner:
        notes.append(f"{inner[0]} is in a subfolder, where servers do not look for weights" + _more(len(inner) - 1))
    missing = tuple(shard for shard in index.shards if shard not in present)
    source = "headers and index" if present else "index"
    return _Parts(
        source,
        True,
        where,
        headers,
        tuple(sorted(present)),
        missing,
        tuple(cut),
        unindexed,
        tuple(promised),
        index.total_size,
        tuple(notes),
    )


def _from_pickle_index(folder: ModelFolder, index: WeightIndex) -> _Parts:
    missing = tuple(shard for shard in index.shards if not _is_there(folder, shard))
    return _Parts("pickle index", True, index.weight_map, {}, (), missing, total_size=index.total_size)


def _is_there(folder: ModelFolder, shard: str) -> bool:
    if "/" not in shard:
        return any(file.name == shard and file.size is not None for file in folder.files)
    try:
        return (folder.path / shard).is_file()
    except OSError as error:
        raise CheckpointError(
            f"the file cannot be reached: {error.strerror or error}", str(folder.path / shard)
        ) from error


def _more(count: int) -> str:
    return f", and {count} more" if count > 0 else ""
