"""Headers and indexes: what a server would load is found, and a hostile file gives an error that names it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtp_trace.checkpoint.bounded import MAX_DEPTH
from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.index import read_index
from mtp_trace.checkpoint.safetensors import DTYPE_BITS, ShardHeader, read_header
from mtp_trace.checkpoint.tensors import Tensor, TensorIndex
from mtp_trace.errors import CheckpointError

from .make import header_of, make_checkpoint, write_config, write_index, write_raw, write_shard

TARGET = {"model.embed.weight": ("BF16", (8, 4)), "model.norm.weight": ("F32", (4,))}
HEAD = {"mtp.fc.weight": ("F8_E4M3", (4, 8)), "mtp.fc.weight_scale_inv": ("F32", (1, 1))}


def index_of(folder: Path) -> TensorIndex:
    return TensorIndex.of(ModelFolder.open(str(folder)))


def refused(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_header(path)
    assert path.name in caught.value.where
    return caught.value.what


def tensor(dtype: str = "F32", shape: object = (2,), begin: object = 0, end: object = 8) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


# --- headers ----------------------------------------------------------------------------------------------------------


def test_a_header_tells_dtype_shape_and_size(tmp_path: Path) -> None:
    tensors = {"a": ("BF16", (3, 5)), "scalar": ("F32", ()), "none": ("U8", (0, 7)), "é": ("F4", (4, 4))}
    header = read_header(write_shard(tmp_path / "x.safetensors", tensors))
    assert header.metadata == {"format": "pt"}
    assert {name: (t.dtype, t.shape, t.nbytes) for name, t in header.tensors.items()} == {
        "a": ("BF16", (3, 5), 30),
        "scalar": ("F32", (), 4),
        "none": ("U8", (0, 7), 0),
        "é": ("F4", (4, 4), 8),
    }
    assert not header.header_only


def test_a_header_without_data_is_read_and_marked(tmp_path: Path) -> None:
    assert read_header(write_shard(tmp_path / "x.safetensors", HEAD, data=False)).header_only
    assert not read_header(write_shard(tmp_path / "e.safetensors", {})).header_only


def test_padding_behind_the_object_is_part_of_the_header(tmp_path: Path) -> None:
    header, size = header_of(HEAD)
    assert len(read_header(write_raw(tmp_path / "x.safetensors", header + b"   ", size)).tensors) == 2


def test_a_dtype_that_is_newer_than_the_table_is_taken_at_its_word(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "x.safetensors", json.dumps({"a": tensor("F5", [3], 0, 2)}).encode(), 2)
    assert read_header(path).tensors["a"].nbytes == 2


@pytest.mark.parametrize(
    ("header", "data", "says"),
    [
        (b"[]", 0, "does not begin"),
        (b'{"a": 1', 0, "not JSON"),
        (b'{"\xff": 1}', 0, "not UTF-8 (byte 10)"),
        (b'{"a": ' + b"[" * 100_000, 0, f"deeper than {MAX_DEPTH}"),
        (b'{"a": ' + b'{"b": ' * 100_000, 0, f"deeper than {MAX_DEPTH}"),
        (b'{"a": ' + b"9" * 5000 + b"}", 0, "cannot be read" if sys.version_info >= (3, 11) else "a number"),
        (b'{"a": 1}', 0, "tensor 'a' is a number"),
        (b'{"a": null}', 0, "tensor 'a' is null"),
        (b'{"a": [1]}', 0, "tensor 'a' is a list"),
        (b'{"a": {}}', 0, "no dtype"),
        (b'{"__metadata__": 1}', 0, "`__metadata__` is a number"),
        (b'{"a": {"dtype": 1, "shape": [], "data_offsets": [0, 4]}}', 4, "no dtype"),
        (b'{"a": {"dtype": "F32", "data_offsets": [0, 4]}}', 4, "shape"),
        (b'{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "a": {}}', 4, "names 'a' twice"),
        (b'{"a": {"dtype": "F32", "dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "a": {}}', 4, "twice"),
        (b'{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "\\u0061": {}}', 4, "names 'a' twice"),
        (b'{"a": {}, "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}', 4, "names 'a' twice"),
        (b'{"__metadata__": {}, "__metadata__": {}}', 0, "twice"),
    ],
)
def test_a_header_that_is_not_one_is_refused(tmp_path: Path, header: bytes, data: int, says: str) -> None:
    assert says in refused(write_raw(tmp_path / "x.safetensors", header, data))


@pytest.mark.parametrize(
    ("entries", "data", "says"),
    [
        ({"a": tensor(begin=-8, end=0)}, 8, "not two positions"),
        ({"a": tensor(begin=0, end=2**64)}, 8, "not two positions"),
        ({"a": tensor(begin=0.0)}, 8, "not two positions"),
        ({"a": tensor(begin=True)}, 8, "not two positions"),
        ({"a": tensor(begin=8, end=0)}, 8, "ends before it begins"),
        ({"a": tensor(shape=[-2])}, 8, "not a list of sizes"),
        ({"a": tensor(shape=["2"])}, 8, "not a list of sizes"),
        ({"a": tensor(shape=2)}, 8, "not a list of sizes"),
        ({"a": tensor(shape=[1] * 65)}, 8, "65 dimensions"),
        ({"a": tensor(shape=[3])}, 8, "does not take the 8 bytes"),
        ({"a": tensor(shape=[2**62] * 60)}, 8, "does not take"),
        ({"a": tensor(), "b": tensor(begin=4, end=12)}, 12, "'a' and 'b' overlap"),
        ({"a": tensor(), "b": tensor()}, 8, "overlap"),
        ({"a": tensor(), "b": tensor(begin=16, end=24)}, 24, "bytes 8 to 16"),
        ({"a": tensor(begin=8, end=16)}, 16, "bytes 0 to 8"),
        ({"a": tensor()}, 7, "cut off: its tensors take 8 B, the file holds 7 B"),
        ({"a": tensor()}, 9, "bytes that no tensor claims"),
        ({"a": {**tensor(), "data_offsets": [0]}}, 8, "not two positions"),
    ],
)
def test_offsets_and_shapes_are_checked(tmp_path: Path, entries: dict[str, object], data: int, says: str) -> None:
    assert says in refused(write_raw(tmp_path / "x.safetensors", json.dumps(entries).encode(), data))


def test_lengths_are_checked_against_the_file_and_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    for content, says in (
        (b"", "cut off"),
        (b"1234567", "cut off"),
        (b"\0" * 8, "too few"),
        (b"\1" + b"\0" * 7 + b"{", "too few"),
        ((100).to_bytes(8, "little") + b"{}", "but the file ends 2 bytes"),
        ((100_000_001).to_bytes(8, "little") + b"{}", "at most 100000000"),
        (b"\xff" * 16, "at most 100000000"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
    ):
        path.write_bytes(content)
        assert says in refused(path)


def test_the_fast_and_the_slow_way_read_the_same(tmp_path: Path) -> None:
    plain, size = header_of({**TARGET, **HEAD}, {"format": "pt"})
    escaped = plain.replace(b"mtp.fc", b"mtp\\u002efc")
    braces = plain.replace(b'"pt"', b'"{}"')
    oddly = plain.replace(b'{"format": "pt"}', b'{"format": "pt", "data_offsets": "x", "n": [1, {"z": NaN}]}')
    read = [read_header(write_raw(tmp_path / "x.safetensors", text, size)) for text in (plain, escaped, oddly, braces)]
    assert read[0].tensors == read[1].tensors == read[2].tensors == read[3].tensors
    assert read[3].metadata == {"format": "{}"}
    assert read[0].metadata == read[1].metadata == {"format": "pt"}
    assert read[2].metadata == {"format": "pt", "data_offsets": "x"}


def test_a_number_of_many_digits_is_no_size(tmp_path: Path) -> None:
    header = b'{"a": {"dtype": "F32", "shape": [' + b"9" * 400 + b'], "data_offsets": [0, 8]}}'
    assert "not a list of sizes" in refused(write_raw(tmp_path / "x.safetensors", header, 8))


# --- a folder ---------------------------------------------------------------------------------------------------------


def test_headers_and_index_are_merged(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET, "b.safetensors": HEAD})
    index = index_of(tmp_path)
    assert (index.source, index.known, index.exact) == ("headers and index", True, True)
    assert index["mtp.fc.weight"] == Tensor("mtp.fc.weight", "b.safetensors", "F8_E4M3", (4, 8), 32)
    assert sorted(index) == sorted([*TARGET, *HEAD])
    assert index.names_under("mtp.") == list(HEAD)
    assert [t.nbytes for t in index.under("mtp.", "model.norm")] == [16, 32, 4]
    assert "mtp." not in index and index.get("nothing") is None
    assert index.notes == ()


def test_shards_without_an_index_are_read(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET, "b.safetensors": HEAD}, index=False)
    index = index_of(tmp_path)
    assert (index.source, index.exact, index.read_shards) == ("headers", True, ("a.safetensors", "b.safetensors"))


def test_an_index_alone_gives_names(tmp_path: Path) -> None:
    make_checkpoint(
        tmp_path, {"a.safetensors": TARGET, "b.safetensors": HEAD}, absent=["a.safetensors", "b.safetensors"]
    )
    index = index_of(tmp_path)
    assert (index.source, index.known, index.exact) == ("index", True, False)
    assert index.missing_shards == ("a.safetensors", "b.safetensors")
    assert index["mtp.fc.weight"] == Tensor("mtp.fc.weight", "b.safetensors")


def test_a_shard_that_is_not_on_disk_is_named(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET, "b.safetensors": HEAD}, absent=["b.safetensors"])
    index = index_of(tmp_path)
    assert (index.missing_shards, index.exact) == (("b.safetensors",), False)
    assert index["mtp.fc.weight"].dtype is None
    assert index["model.norm.weight"].dtype == "F32"


def test_a_shard_outside_the_index_is_kept_apart(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET, "mtp.safetensors": HEAD}, unindexed=["mtp.safetensors"])
    index = index_of(tmp_path)
    assert "mtp.fc.weight" not in index
    assert index.unindexed["mtp.fc.weight"].shard == "mtp.safetensors"
    assert "mtp.safetensors is not named by the index" in index.notes[0]


def test_an_index_that_promises_and_hides_is_corrected_by_the_headers(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET}, index=False)
    write_index(
        tmp_path / "model.safetensors.index.json",
        {"model.norm.weight": "a.safetensors", "mtp.fc.weight": "a.safetensors"},
        total_size=12,
    )
    index = index_of(tmp_path)
    assert index.promised == ("mtp.fc.weight",)
    assert sorted(index) == sorted(TARGET)
    assert index.total_size == 12
    assert len(index.notes) == 2


def test_a_tensor_in_two_shards_is_noted(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": HEAD, "b.safetensors": HEAD}, index=False)
    assert "both hold 'mtp.fc.weight', and 1 more" in index_of(tmp_path).notes[0]


def test_two_layouts_of_the_same_weights_count_once(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"consolidated.safetensors": HEAD, "model.safetensors": TARGET}, index=False)
    assert list(index_of(tmp_path)) == list(TARGET)


def test_a_cut_shard_is_marked(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": TARGET}, data=False)
    assert index_of(tmp_path).header_only_shards == ("a.safetensors",)


def test_a_pickle_index_gives_names(tmp_path: Path) -> None:
    write_config(tmp_path)
    write_index(tmp_path / "pytorch_model.bin.index.json", {"mtp.fc.weight": "pytorch_model-1.bin"})
    index = index_of(tmp_path)
    assert (index.source, index.known) == ("pickle index", True)
    assert index.missing_shards == ("pytorch_model-1.bin",)


@pytest.mark.parametrize("name", [None, "pytorch_model.bin", "model.gguf", "model.pt"])
def test_names_that_cannot_be_read_are_not_known_to_be_absent(tmp_path: Path, name: str | None) -> None:
    write_config(tmp_path)
    if name is not None:
        (tmp_path / name).write_bytes(b"x")
    index = index_of(tmp_path)
    assert (index.source, index.known, len(index)) == ("nothing", False, 0)
    assert bool(index.notes) is (name is not None)


def test_a_bare_configuration_has_no_tensors(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text("{}")
    write_shard(tmp_path / "a.safetensors", HEAD)
    assert not index_of(tmp_path / "demo.json").known


def test_shards_are_read_through_the_symlinks_of_a_cache(tmp_path: Path) -> None:
    write_shard(tmp_path / "blob", HEAD)
    folder = tmp_path / "snapshot"
    write_config(folder)
    (folder / "model.safetensors").symlink_to(Path("..") / "blob")
    assert sorted(index_of(folder)) == sorted(HEAD)


def test_a_broken_symlink_is_a_missing_shard(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": HEAD}, absent=["a.safetensors"])
    (tmp_path / "a.safetensors").symlink_to("../../blobs/gone")
    assert index_of(tmp_path).missing_shards == ("a.safetensors",)


def test_a_shard_in_a_subfolder_is_read(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "sub").mkdir()
    write_shard(tmp_path / "sub" / "a.safetensors", HEAD)
    write_index(tmp_path / "model.safetensors.index.json", dict.fromkeys(HEAD, "sub/a.safetensors"))
    assert index_of(tmp_path).exact
    assert "sub/a.safetensors is in a subfolder" in index_of(tmp_path).notes[0]


def test_a_directory_named_like_a_shard_is_no_shard(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, {"a.safetensors": HEAD}, absent=["a.safetensors"])
    (tmp_path / "a.safetensors").mkdir()
    assert index_of(tmp_path).missing_shards == ("a.safetensors",)


# --- indexes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shard",
    ["../x", "../../etc/x", "/etc/passwd", "a/../../x", "", ".", "..", "a//b", "a\\..\\b", "C:x", "a\0b", "./a", "a/"],
)
def test_a_file_outside_the_folder_is_refused(tmp_path: Path, shard: str) -> None:
    write_config(tmp_path)
    write_index(tmp_path / "model.safetensors.index.json", {"a": shard})
    with pytest.raises(CheckpointError, match="not a file inside") as caught:
        index_of(tmp_path)
    assert "model.safetensors.index.json" in caught.value.where


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"[]", "a list, not an object"),
        (b"{}", "no key `weight_map`"),
        (b'{"weight_map": null}', "null for it"),
        (b'{"weight_map": ["a"]}', "a list for it"),
        (b'{"weight_map": {"a": 1}}', "a number for tensor 'a'"),
        (b'{"weight_map": {"a": null}}', "null for tensor 'a'"),
        (b'{"weight_map": {"a": {"b": "c"}}}', "an object for tensor 'a'"),
        (b'{"x": ' + b"[" * 100_000, "deeper"),
        (b'{"weight_map": {"a": "\xff"}}', "not UTF-8"),
        (b'{"weight_map": {"a": "b"', "not JSON"),
    ],
)
def test_an_index_that_is_not_one_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_index(path)
    assert says in caught.value.what
    assert path.name in caught.value.where


@pytest.mark.parametrize(
    ("metadata", "total"),
    [(b'{"total_size": 12}', 12), (b'{"total_size": 1.5e3}', 1500), (b'{"total_size": NaN}', None), (b"[1]", None)],
)
def test_metadata_may_be_anything(tmp_path: Path, metadata: bytes, total: int | None) -> None:
    path = tmp_path / "i.json"
    path.write_bytes(b'\xef\xbb\xbf{"weight_map": {"a": "x", "a": "y"}, "metadata": ' + metadata + b"}")
    index = read_index(path)
    assert (index.weight_map, index.total_size) == ({"a": "y"}, total)


@pytest.mark.parametrize(
    "files",
    [
        ["model.safetensors", "model.safetensors"],
        ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
        ["model-00001-of-00002.safetensors", "model-00009-of-00002.safetensors", "é.safetensors"],
        ["model-1-of-999999999.safetensors", "model-2-of-999999999.safetensors"],
        ['a"b-of-1', "a\\u0031-of-2"],
    ],
)
def test_file_names_of_any_numbering(tmp_path: Path, files: list[str]) -> None:
    path = tmp_path / "i.json"
    wanted = {f"t{i}": file for i, file in enumerate(files * 2)}
    path.write_text(json.dumps({"weight_map": wanted}), encoding="utf-8")
    if any("\\" in file for file in files):
        with pytest.raises(CheckpointError):
            read_index(path)
        return
    index = read_index(path)
    assert index.weight_map == wanted and list(index.shards) == sorted(set(files))
    assert len({id(file) for file in index.weight_map.values()}) == len(set(files))


MILLION = """
def peak():
    # The high-water mark of this program alone: ru_maxrss keeps that of the process that started it.
    try:
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
    except (OSError, StopIteration):
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

import json, resource, sys, time
from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.tensors import TensorIndex
before = time.perf_counter()
index = TensorIndex.of(ModelFolder.open(sys.argv[1]))
head = index.names_under("model.layers.61.")
print(json.dumps([len(index), len(head), time.perf_counter() - before,
                  peak()]))
"""


def test_a_million_names_fit_in_500_mib(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    write_config(tmp_path)
    kinds = ("gate_proj.weight", "gate_proj.weight_scale_inv", "up_proj.weight", "down_proj.weight")
    with (tmp_path / "model.safetensors.index.json").open("w") as file:
        file.write('{"metadata": {"total_size": 1}, "weight_map": {')
        for number in range(1_000_000):
            layer, rest = divmod(number, 16_000)
            name = f"model.layers.{layer}.mlp.experts.{rest // 4}.{kinds[rest % 4]}"
            shard = f"model-{number // 6000 + 1:05d}-of-00167.safetensors"
            file.write(f'{"," if number else ""}\n    "{name}": "{shard}"')
        file.write("}}")
    done = subprocess.run([sys.executable, "-c", MILLION, str(tmp_path)], capture_output=True, text=True, check=True)
    count, head, seconds, mebibytes = json.loads(done.stdout)
    record_property("seconds", seconds)
    print(f"1,000,000 names: {seconds:.2f} s, {mebibytes:.0f} MiB")
    assert (count, head) == (1_000_000, 16_000)
    assert mebibytes < 500 and seconds < 3


# --- anything at all --------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "mtp.fc.weight", "__metadata__", "data_offsets", "é", ""])
NUMBERS = st.integers(-2, 40) | st.sampled_from([2**63, 2**64, -(2**63), 10**30]) | st.floats()
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from([*DTYPE_BITS, "F5", 1, None]),
        "shape": st.lists(NUMBERS, max_size=3) | NUMBERS | st.none(),
        "data_offsets": st.lists(NUMBERS, max_size=3) | NUMBERS,
        "extra": st.none() | st.lists(st.none(), max_size=2),
    },
)
HEADERS = st.dictionaries(NAMES, ENTRIES | NUMBERS | st.none() | st.text(max_size=3), max_size=4)


def check(path: Path) -> None:
    try:
        header = read_header(path)
    except CheckpointError as error:
        assert error.what and path.name in error.where
    else:
        assert isinstance(header, ShardHeader)
        assert all(t.nbytes >= 0 and all(size >= 0 for size in t.shape) for t in header.tensors.values())


@settings(max_examples=150, deadline=None)
@given(HEADERS, st.integers(0, 40), st.none() | st.integers(0, 300) | st.integers(0, 2**64 - 1))
def test_any_header_gives_tensors_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, header: object, data: int, claimed: int | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    check(write_raw(path, json.dumps(header).encode(), data, claimed))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_valid_header_with_bytes_changed_gives_tensors_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = write_shard(tmp_path_factory.getbasetemp() / "any.safetensors", {**TARGET, **HEAD})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path.write_bytes(bytes(content))
    check(path)


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=80)
    | st.dictionaries(
        st.sampled_from(["weight_map", "metadata"]),
        st.dictionaries(st.text(max_size=4), st.text(max_size=4) | NUMBERS, max_size=3) | NUMBERS,
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_index_gives_names_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "index"
    write_config(folder)
    (folder / "model.safetensors.index.json").write_bytes(content)
    try:
        index = index_of(folder)
    except CheckpointError as error:
        assert error.what and error.where
    else:
        assert all(index[name].name == name for name in index)
