from __future__ import annotations

import os
from pathlib import Path

import git
import pytest
from source_helpers import FILES, commit

from mtp_trace.errors import SourceError
from mtp_trace.source import open_tree

AT_ROOT = {f"python/{name}": text for name, text in FILES.items()}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits: v0.5.9, then main with a changed version and a link."""
    path = commit(tmp_path / "repo", AT_ROOT, tags=("v0.5.9",))
    os.symlink("server_args.py", path / "python/sglang/srt/alias.py")
    os.symlink("models", path / "python/sglang/srt/models2")
    os.symlink("../../../../outside.py", path / "python/sglang/srt/outside.py")
    return commit(path, {"python/sglang/version.py": "import elsewhere\n"}, tags=("v0.5.10",))


def test_each_ref_is_read_without_touching_the_repository(repo: Path) -> None:
    before = sorted(path for path in repo.rglob("*"))
    old, new = open_tree(str(repo), "v0.5.9"), open_tree(str(repo), "v0.5.10")
    assert (old.version, new.version) == ("0.5.9", "0.5.10")
    assert (old.ref, old.root) == ("v0.5.9", str(repo))
    assert old.identity() != new.identity() == open_tree(str(repo), "HEAD").identity()
    assert old.read("sglang/srt/alias.py") is None
    old.close(), new.close()
    assert sorted(path for path in repo.rglob("*")) == before


def test_links_inside_the_repository(repo: Path) -> None:
    tree = open_tree(str(repo), "HEAD")
    assert tree.read("sglang/srt/alias.py") == tree.read("sglang/srt/server_args.py")
    assert tree.is_dir("sglang/srt/models2")
    assert tree.read("sglang/srt/models2/qwen3_next.py")
    with pytest.raises(SourceError, match="leaves the tree"):
        tree.read("sglang/srt/outside.py")


@pytest.mark.parametrize("given", ["python", "python/sglang"])
def test_a_folder_inside_the_repository(repo: Path, given: str) -> None:
    assert open_tree(str(repo / given), "v0.5.9").read("sglang/version.py")


def test_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git.Repo(repo).clone(bare, bare=True).close()
    assert open_tree(str(bare), "v0.5.9").version == "0.5.9"
    assert open_tree(str(bare)).version == "0.5.10"


@pytest.mark.parametrize("ref", ["v0.5.99", "0.5.9", "", "--upload-pack=x", "v0.5.9:python"])
def test_a_ref_that_is_not_there(repo: Path, ref: str) -> None:
    with pytest.raises(SourceError, match="not found") as caught:
        open_tree(str(repo), ref)
    if ref in ("v0.5.99", "0.5.9"):
        assert "v0.5.9" in caught.value.hint


def test_a_folder_without_a_repository(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a git repository"):
        open_tree(str(tmp_path), "main")
    with pytest.raises(SourceError, match="no such folder"):
        open_tree(str(tmp_path / "absent"), "main")
