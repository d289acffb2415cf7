from __future__ import annotations

import os
from pathlib import Path

import pytest
from source_helpers import FILES, commit, write

from mtp_trace.errors import SourceError
from mtp_trace.source import open_tree
from mtp_trace.source.interface import MAX_FILE_BYTES


@pytest.mark.parametrize(
    ("laid", "given"),
    [
        ("", ""),
        ("python", ""),
        ("python", "python"),
        ("", "sglang"),
        ("", "sglang/srt"),
        ("lib/python3.11/site-packages", ""),
        ("lib/python3.11/site-packages", "lib/python3.11/site-packages/sglang"),
    ],
)
def test_the_python_root_is_found(tmp_path: Path, laid: str, given: str) -> None:
    write(tmp_path / laid, FILES)
    tree = open_tree(str(tmp_path / given))
    assert tree.read("sglang/version.py")
    assert tree.root == str(tmp_path / given)
    assert tree.identity() is None and tree.ref is None


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    os.mkfifo(tmp_path / "sglang/srt/pipe.py")
    with pytest.raises(SourceError, match="not a regular file"):
        open_tree(str(tmp_path)).read("sglang/srt/pipe.py")


def test_links(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", FILES)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("k")
    srt = root / "sglang" / "srt"
    (srt / "inside.py").symlink_to("server_args.py")
    (srt / "models2").symlink_to("models")
    (srt / "outside.py").symlink_to(tmp_path / "secret" / "key")
    (srt / "outside").symlink_to(tmp_path / "secret")
    (srt / "broken.py").symlink_to("nothing")
    (srt / "loop.py").symlink_to("loop.py")
    tree = open_tree(str(root))
    assert tree.read("sglang/srt/inside.py") == tree.read("sglang/srt/server_args.py")
    assert tree.read("sglang/srt/models2/qwen3_next.py") == b"EntryClass = None\n"
    assert tree.read("sglang/srt/broken.py") is None
    assert tree.read("sglang/srt/loop.py") is None
    for path in ("sglang/srt/outside.py", "sglang/srt/outside"):
        with pytest.raises(SourceError, match="leaves the tree"):
            tree.read(path)
    assert tree.read("sglang/srt/outside/key") is None
    assert not tree.is_dir("sglang/srt/outside")


def test_a_tree_reached_by_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to("real")
    assert open_tree(str(tmp_path / "link")).read("sglang/version.py")


def test_a_sparse_file_is_refused_unread(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    with open(tmp_path / "sglang/srt/huge.py", "wb") as file:
        file.truncate(MAX_FILE_BYTES * 1000)
    with pytest.raises(SourceError, match="over the limit"):
        open_tree(str(tmp_path)).read("sglang/srt/huge.py")


def test_reads_are_kept(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    tree = open_tree(str(tmp_path))
    before = tree.read("sglang/version.py")
    (tmp_path / "sglang/version.py").unlink()
    assert tree.read("sglang/version.py") is before


@pytest.mark.parametrize("packed", [False, True])
def test_the_version_of_a_checkout_at_a_tag(tmp_path: Path, packed: bool) -> None:
    files = {f"python/{name}": text for name, text in FILES.items() if name != "sglang/version.py"}
    repo = commit(tmp_path / "repo", files, tags=("v0.5.14", "nightly"), annotated=packed)
    if packed:
        import git

        git.Repo(repo).git.pack_refs("--all")
    assert open_tree(str(repo)).version == "0.5.14"
    commit(repo, {"python/sglang/srt/new.py": ""})
    assert open_tree(str(repo)).version is None
