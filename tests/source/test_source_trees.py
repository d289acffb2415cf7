"""Every kind of tree answers alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from source_helpers import FILES, commit, make_wheel, write

from mtp_trace.errors import SourceError
from mtp_trace.source import SourceTree, open_tree
from mtp_trace.source.interface import MAX_FILE_BYTES

Make = Callable[[Path, dict[str, str]], SourceTree]


def _folder(tmp_path: Path, files: dict[str, str]) -> SourceTree:
    return open_tree(str(write(tmp_path / "tree", files)))


def _checkout(tmp_path: Path, files: dict[str, str]) -> SourceTree:
    write(tmp_path / "repo" / "python", files)
    return open_tree(str(tmp_path / "repo"))


def _wheel(tmp_path: Path, files: dict[str, str]) -> SourceTree:
    return open_tree(str(make_wheel(tmp_path / "sglang-0.5.9-py3-none-any.whl", files)))


def _git(tmp_path: Path, files: dict[str, str]) -> SourceTree:
    repo = commit(tmp_path / "repo", {f"python/{name}": content for name, content in files.items()})
    return open_tree(str(repo), "HEAD")


@pytest.fixture(params=[_folder, _checkout, _wheel, _git])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param


def test_reads_lists_and_version(make: Make, tmp_path: Path) -> None:
    tree = make(tmp_path, FILES)
    assert tree.read("sglang/srt/server_args.py") == b"class ServerArgs:\n    pass\n"
    assert tree.read("sglang/srt/absent.py") is None
    assert tree.read("sglang/srt") is None
    assert tree.read("sglang/srt/server_args.py/x") is None
    assert tree.list("sglang/srt") == ("__init__.py", "models", "server_args.py")
    assert tree.list("sglang/srt/") == tree.list("sglang/srt")
    assert tree.list("sglang/absent") == () == tree.list("sglang/version.py")
    assert "sglang" in tree.list("")
    assert tree.exists("sglang/srt/models") and tree.is_dir("sglang/srt/models")
    assert tree.exists("sglang/version.py") and not tree.is_dir("sglang/version.py")
    assert not tree.exists("sglang/nothing")
    assert tree.version == "0.5.9"
    tree.close()


def test_names_are_exact(make: Make, tmp_path: Path) -> None:
    tree = make(tmp_path, FILES)
    assert tree.read("sglang/SRT/server_args.py") is None
    assert tree.read("sglang/srt/Server_Args.py") is None
    assert not tree.is_dir("SGLANG")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "sglang/../../x", "sglang//srt", "C:/x", "sglang\\srt", "a\0b"]
)
def test_paths_stay_inside(make: Make, tmp_path: Path, path: str) -> None:
    tree = make(tmp_path, FILES)
    for ask in (tree.read, tree.exists, tree.is_dir, tree.list):
        with pytest.raises(SourceError, match="does not stay inside"):
            ask(path)


def test_a_large_file_is_refused(make: Make, tmp_path: Path) -> None:
    tree = make(tmp_path, {**FILES, "sglang/srt/big.py": "#" * (MAX_FILE_BYTES + 1)})
    with pytest.raises(SourceError, match="over the limit") as caught:
        tree.read("sglang/srt/big.py")
    assert "sglang/srt/big.py" in caught.value.where
    assert tree.read("sglang/srt/server_args.py")


def test_without_sglang_it_says_what_it_looked_for(make: Make, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"looked for .*sglang/srt"):
        make(tmp_path, {"sglang/other.py": "", "elsewhere/srt/x.py": ""})


def test_names_that_are_not_ascii(make: Make, tmp_path: Path) -> None:
    tree = make(tmp_path, {**FILES, "sglang/srt/größe.py": "x = 1\n"})
    assert tree.read("sglang/srt/größe.py") == b"x = 1\n"
