"""Releases by version. pip runs for real, against a folder of wheels that its own settings point it to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from source_helpers import make_wheel

from mtp_trace.errors import SourceError
from mtp_trace.source import open_tree, release


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index folder, the only one that pip may use; the cache stands beside it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("MTP_TRACE_CACHE", str(tmp_path / "cache"))
    return folder


def test_fetched_once(index: Path, tmp_path: Path) -> None:
    wheel = make_wheel(index / "sglang-0.5.9-py3-none-any.whl")
    tree = open_tree("0.5.9")
    assert (tree.root, tree.version, tree.ref) == ("sglang==0.5.9", "0.5.9", None)
    tree.close()
    wheel.unlink()
    assert open_tree("sglang==0.5.9").read("sglang/version.py")
    assert [path.name for path in (tmp_path / "cache/releases").iterdir()] == ["0.5.9"]


def test_built_for_another_python(index: Path) -> None:
    make_wheel(index / "sglang-0.5.12-cp312-cp312-manylinux_2_34_x86_64.whl", version="0.5.12")
    make_wheel(index / "sglang-0.5.9-py3-none-any.whl")
    assert open_tree("0.5.12").requirements()


def test_no_such_release(index: Path, tmp_path: Path) -> None:
    make_wheel(index / "sglang-0.5.9-py3-none-any.whl")
    with pytest.raises(SourceError, match="pip finds no wheel"):
        open_tree("0.5.99")
    assert list((tmp_path / "cache/releases").iterdir()) == []


def test_an_index_that_is_not_reached(index: Path) -> None:
    with pytest.raises(SourceError, match="could not reach") as caught:
        open_tree("0.5.9")
    assert "need no network" in caught.value.hint


@pytest.mark.parametrize(("name", "version"), [("sglang", "0.5.8"), ("evil", "0.5.9")])
def test_another_package_in_the_wheel(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str
) -> None:
    def fetch(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        made = make_wheel(folder / "sglang-0.5.9-py3-none-any.whl", version=version, name=name)
        assert made.exists()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(release.subprocess, "run", fetch)
    with pytest.raises(SourceError, match=r"not sglang 0\.5\.9"):
        open_tree("0.5.9")
    assert list((tmp_path / "cache/releases").iterdir()) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("/usr/bin/python: No module named pip\n", "needs pip"),
        ("WARNING: Retrying ... NewConnectionError\nERROR: No matching distribution found\n", "could not reach"),
        ("ERROR: something else\n", "could not fetch the release: ERROR: something else"),
    ],
)
def test_what_pip_said(index: Path, monkeypatch: pytest.MonkeyPatch, said: str, expected: str) -> None:
    monkeypatch.setattr(
        release.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", said)
    )
    with pytest.raises(SourceError, match=expected):
        open_tree("0.5.9")


def test_a_killed_download_leaves_nothing(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(command: list[str], **_: object) -> None:
        (Path(command[command.index("--dest") + 1]) / "sglang-0.5.9-py3-none-any.whl").write_bytes(b"half")
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(release.subprocess, "run", stop)
    with pytest.raises(SourceError, match="timed out"):
        open_tree("0.5.9")
    assert list((tmp_path / "cache/releases").iterdir()) == []


def test_neither_path_nor_version(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such folder or file"):
        open_tree(str(tmp_path / "absent"))
    (tmp_path / "sglang.tar.gz").write_bytes(b"")
    with pytest.raises(SourceError, match="neither a folder nor a wheel"):
        open_tree(str(tmp_path / "sglang.tar.gz"))
