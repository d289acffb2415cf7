"""A model folder is found by every name a user gives it, and nothing a file holds gets past the reader."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import types
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtp_trace.checkpoint.bounded import MAX_DEPTH
from mtp_trace.checkpoint.folder import MAX_CONFIG_BYTES, ModelFolder
from mtp_trace.checkpoint.hubcache import cache_root, is_repo_id
from mtp_trace.errors import CheckpointError

from .make import make_cache, write_config


def refused(given: object, **options: object) -> str:
    with pytest.raises(CheckpointError) as caught:
        ModelFolder.open(str(given), **options)  # type: ignore[arg-type]
    return str(caught.value)


def config_with(folder: Path, content: bytes) -> Path:
    path = folder / "config.json"
    path.write_bytes(content)
    return path


def test_a_file_and_its_folder_are_the_same_model(tmp_path: Path) -> None:
    path = write_config(tmp_path, num_hidden_layers=3)
    (tmp_path / "other.txt").write_text("12345")
    for given_as in (path, tmp_path):
        model = ModelFolder.open(str(given_as))
        assert model.path == tmp_path
        assert model.config["num_hidden_layers"] == 3
        assert (model.architectures, model.model_type) == (("DemoForCausalLM",), "demo")
        assert [(file.name, file.size) for file in model.files][1] == ("other.txt", 5)
        assert model.has("other.txt") and not model.has("absent")


def test_a_configuration_under_its_own_name_has_no_neighbours(tmp_path: Path) -> None:
    (tmp_path / "demo-model.json").write_text('{"architectures": ["A"]}')
    (tmp_path / "hf_quant_config.json").write_text("{}")
    model = ModelFolder.open(str(tmp_path / "demo-model.json"))
    assert model.bare
    assert [file.name for file in model.files] == ["demo-model.json"]


def test_a_byte_order_mark_nan_and_double_keys_are_taken_as_python_does(tmp_path: Path) -> None:
    config_with(tmp_path, b'\xef\xbb\xbf{"architectures": ["A"], "x": NaN, "y": -Infinity, "k": 1, "k": 2}')
    config = ModelFolder.open(str(tmp_path)).config
    assert config["x"] != config["x"]
    assert config["y"] == float("-inf")
    assert config["k"] == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"not json", "not JSON"),
        (b'{"a": 1,}', "config.json:1:"),
        (b"[1]", "a list, not an object"),
        (b"null", "null, not an object"),
        (b"true", "a boolean, not an object"),
        (b'"text"', "a string, not an object"),
        (b"12", "a number, not an object"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 7)"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"<!DOCTYPE html>", "web page"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b'{"a": "unterminated' + b"[" * 300, "not JSON"),
    ],
)
def test_what_is_not_a_configuration_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    if b"999" in content and sys.version_info < (3, 10, 7):
        pytest.skip("this Python converts integers of any length")
    config_with(tmp_path, content)
    message = refused(tmp_path)
    assert says in message
    assert "config.json" in message


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"a":[', b'["\\"[]", ['])
def test_a_hundred_thousand_levels_are_refused_under_any_recursion_limit(tmp_path: Path, opening: bytes) -> None:
    config_with(tmp_path, b'{"x": ' + opening * 100_000)
    limit = sys.getrecursionlimit()
    try:
        for raised in (limit, 1_000_000):
            sys.setrecursionlimit(raised)
            assert f"deeper than {MAX_DEPTH}" in refused(tmp_path)
    finally:
        sys.setrecursionlimit(limit)


def test_depth_counts_brackets_outside_text_only(tmp_path: Path) -> None:
    value = {"t": "[{" * 5000, "u": 'a"]' * 50, "deep": [[[]]]}
    config_with(tmp_path, json.dumps(value).encode())
    assert ModelFolder.open(str(tmp_path)).config == value


def test_the_depth_allowed_is_read_and_one_more_is_not(tmp_path: Path) -> None:
    inside = MAX_DEPTH - 1
    config_with(tmp_path, b'{"x": ' + b"[" * inside + b"]" * inside + b"}")
    assert ModelFolder.open(str(tmp_path)).config["x"]
    config_with(tmp_path, b'{"x": ' + b"[" * (inside + 1) + b"]" * (inside + 1) + b"}")
    assert "nested" in refused(tmp_path)


def test_millions_of_small_values_are_refused_before_they_are_built(tmp_path: Path) -> None:
    config_with(tmp_path, b'{"x": [' + b"[]," * 1_500_000 + b"[]]}")
    assert "too many objects and lists" in refused(tmp_path)


def test_a_large_file_is_refused_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.write(b"{")
        file.truncate(200 * 1024 * 1024)
    before = time.perf_counter()
    assert "too large: 200.0 MiB" in refused(tmp_path)
    assert time.perf_counter() - before < 1


def test_the_size_limit_itself_is_read(tmp_path: Path) -> None:
    text = b'{"architectures": ["A"]}'
    config_with(tmp_path, text + b" " * (MAX_CONFIG_BYTES - len(text)))
    assert ModelFolder.open(str(tmp_path)).architectures == ("A",)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "no key `architectures`"),
        ({"architectures": None}, "null"),
        ({"architectures": []}, "empty list"),
        ({"architectures": "A"}, "a string"),
        ({"architectures": ["A", 1]}, "a number"),
        ({"architectures": {"A": 1}}, "an object"),
    ],
)
def test_architectures_are_required_only_where_asked_for(tmp_path: Path, config: dict[str, object], says: str) -> None:
    config_with(tmp_path, json.dumps(config).encode())
    model = ModelFolder.open(str(tmp_path))
    assert model.architectures == ()
    with pytest.raises(CheckpointError, match=says) as caught:
        model.require_architectures()
    assert caught.value.hint and "config.json" in caught.value.where


def test_a_model_type_that_is_not_text_is_none(tmp_path: Path) -> None:
    config_with(tmp_path, b'{"architectures": ["A"], "model_type": 7}')
    assert ModelFolder.open(str(tmp_path)).model_type is None
    assert ModelFolder.open(str(tmp_path)).require_architectures() == ("A",)


def test_special_files_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    assert "a FIFO" in refused(tmp_path)
    assert "a FIFO" in refused(tmp_path / "config.json")
    assert "a character device" in refused("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(str(tmp_path / "s"))
        assert "a socket" in refused(tmp_path / "s")
    finally:
        server.close()


def test_a_directory_named_config_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    assert "a directory" in refused(tmp_path)


def test_symlinks_are_followed_and_broken_ones_named(tmp_path: Path) -> None:
    real = tmp_path / "real"
    write_config(real)
    link = tmp_path / "link"
    link.mkdir()
    (link / "config.json").symlink_to(real / "config.json")
    (link / "model.safetensors").symlink_to(tmp_path / "gone")
    (link / "loop").symlink_to(link / "loop")
    model = ModelFolder.open(str(link))
    assert model.path == link
    assert {file.name: file.size for file in model.files}["model.safetensors"] is None
    assert not model.has("model.safetensors")
    (link / "config.json").unlink()
    (link / "config.json").symlink_to(tmp_path / "gone")
    assert "symlink to a file that does not exist" in refused(link)
    assert "leads back to itself" in refused(link / "loop")


def test_a_file_without_permission_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_config(tmp_path)

    def deny(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mtp_trace.checkpoint.bounded.os.open", deny)
    assert "permission denied" in refused(tmp_path)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ("params.json", "params.json"),
        ("model.gguf", "GGUF"),
        ("adapter_config.json", "adapter"),
        ("readme", "Give the folder"),
    ],
)
def test_a_folder_without_a_configuration_gets_advice(tmp_path: Path, made: str, says: str) -> None:
    (tmp_path / made).write_text("x")
    message = refused(tmp_path)
    assert "no config.json" in message
    assert says in message


@pytest.mark.parametrize("text", ["", "  ", "/nowhere/at/all", "a\0b", "x" * 5000, "../..//nothing", "\udcff", "~/x y"])
def test_names_of_nothing_are_refused(text: str, tmp_path: Path) -> None:
    assert refused(text, env={"HF_HOME": str(tmp_path)})


def test_read_json_reads_plain_names_only(tmp_path: Path) -> None:
    write_config(tmp_path / "model")
    (tmp_path / "secret.json").write_text("{}")
    (tmp_path / "model" / "extra.json").write_text('{"a": 1}')
    model = ModelFolder.open(str(tmp_path / "model"))
    assert model.read_json("extra.json") == {"a": 1}
    for name in ("../secret.json", "/etc/passwd", "", "..", "a\\b", "a\0b", "absent.json"):
        with pytest.raises(CheckpointError):
            model.read_json(name)


# --- the Hugging Face cache -------------------------------------------------------------------------------------------


def test_the_cache_is_where_the_hub_library_puts_it() -> None:
    assert cache_root({"HF_HUB_CACHE": "/c", "HF_HOME": "/h"}) == Path("/c")
    assert cache_root({"HUGGINGFACE_HUB_CACHE": "/c", "HF_HOME": "/h"}) == Path("/c")
    assert cache_root({"HF_HOME": "/h"}) == Path("/h/hub")
    assert cache_root({"HF_HOME": "~/h", "HOME": "/u"}) == Path("/u/h/hub")
    assert cache_root({"XDG_CACHE_HOME": "/x"}) == Path("/x/huggingface/hub")
    assert cache_root({"HOME": "/u"}) == Path("/u/.cache/huggingface/hub")


@pytest.mark.parametrize("revision", ["main", "a" * 40])
def test_a_cached_model_is_read_through_its_symlinks(tmp_path: Path, revision: str) -> None:
    snapshot = make_cache(tmp_path, "org/Name-1.5", num_hidden_layers=9)
    model = ModelFolder.open("org/Name-1.5", env={"HF_HUB_CACHE": str(tmp_path)}, revision=revision)
    assert (model.path, model.repo_id, model.revision) == (snapshot, "org/Name-1.5", "a" * 40)
    assert model.config["num_hidden_layers"] == 9
    assert model.notes == ()


def test_a_lone_snapshot_without_a_ref_is_read_and_noted(tmp_path: Path) -> None:
    make_cache(tmp_path, "org/name", ref=None)
    env = {"HF_HUB_CACHE": str(tmp_path)}
    assert "only snapshot" in ModelFolder.open("org/name", env=env).notes[0]
    (tmp_path / "models--org--name" / "snapshots" / ("c" * 40)).mkdir()
    assert "has no revision 'main'" in refused("org/name", env=env)


def test_a_cache_that_lies_is_refused(tmp_path: Path) -> None:
    make_cache(tmp_path, "org/name")
    env = {"HF_HUB_CACHE": str(tmp_path)}
    ref = tmp_path / "models--org--name" / "refs" / "main"
    for content in ("../../..", "", "x" * 101, "..", "a/b"):
        ref.write_text(content)
        assert "not a commit" in refused("org/name", env=env)
    ref.write_text("d" * 40)
    assert "holds no snapshot" in refused("org/name", env=env)
    assert "not a revision" in refused("org/name", env=env, revision="../x")
    assert "no revision" in refused("org/name", env=env, revision="v2")
    assert "Hugging Face cache" in refused("org/other", env=env)
    assert "give ORG/NAME" in refused(tmp_path / "models--org--name")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("org/name", True),
        ("gpt2", True),
        ("a/b/c", False),
        ("../x", False),
        ("a--b/c", False),
        ("/a", False),
        ("", False),
    ],
)
def test_repository_names(text: str, answer: bool) -> None:
    assert is_repo_id(text) is answer


def test_fetching_asks_for_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def snapshot_download(**options: object) -> str:
        asked.update(options)
        return str(make_cache(tmp_path, "org/name"))

    fake = types.ModuleType("huggingface_hub")
    fake.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    env = {"HF_HUB_CACHE": str(tmp_path)}
    assert "no such file" in refused("org/name", env=env)
    assert not asked
    model = ModelFolder.open("org/name", env=env, fetch=True)
    assert asked["allow_patterns"] == ["config.json", "*.index.json"]
    assert model.notes


def test_fetching_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def snapshot_download(**_: object) -> str:
        raise RuntimeError("401 gated")

    fake = types.ModuleType("huggingface_hub")
    fake.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    env = {"HF_HUB_CACHE": str(tmp_path)}
    assert "401 gated" in refused("org/name", env=env, fetch=True)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "mtp-trace[hub]" in refused("org/name", env=env, fetch=True)


# --- anything at all --------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=60), JSON.map(lambda value: json.dumps(value).encode())))
def test_any_bytes_give_a_configuration_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    config_with(folder, content)
    try:
        model = ModelFolder.open(str(folder))
    except CheckpointError as error:
        assert error.what and error.where
    else:
        assert isinstance(model.config, dict)
        assert isinstance(model.architectures, tuple)
