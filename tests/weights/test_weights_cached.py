"""``--model ORG/NAME``: answered from the Hugging Face cache on disk, and asked of nobody else."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from mtp_trace.cli.app import run

from .kinds import KINDS
from .launches import Release, folder

pytestmark = pytest.mark.releases
COMMIT, NAME = "c" * 40, "Some-Org/Name-1.5"


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the hub's library that is still empty; whoever asks for a host or a connection fails the test."""

    def refused(*_: object, **__: object) -> None:
        pytest.fail("the network was asked")

    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    return tmp_path / "home"


def cached(home: Path, model: Path) -> None:
    """The model as the hub's library keeps it: blobs, a snapshot of links to them, and a ref that names it."""
    repo = home / "hub" / ("models--" + NAME.replace("/", "--"))
    snapshot = repo / "snapshots" / COMMIT
    for place in (repo / "blobs", repo / "refs", snapshot):
        place.mkdir(parents=True)
    for number, file in enumerate(sorted(model.iterdir())):
        file.rename(repo / "blobs" / f"{number:040x}")
        (snapshot / file.name).symlink_to(Path("../../blobs") / f"{number:040x}")
    (repo / "refs" / "main").write_text(COMMIT)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int | str | None, str, str]:
    """Exit status, output and errors of a check on 0.5.18."""
    with pytest.raises(SystemExit) as ended:
        run(["check", "--sglang", "0.5.18", "--gpu", "h200", "--no-cache", *words])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


@pytest.mark.parametrize(("by", "complete"), [("option", True), ("launch", False)])
def test_a_model_by_name(
    release: Release, tmp_path: Path, offline: Path, capsys: pytest.CaptureFixture[str], by: str, complete: bool
) -> None:
    """``qwen3_5_mtp.py`` finds its tensors behind the snapshot's links as in any folder, or finds none of them and
    keeps what was allocated; the launch may name the model itself.
    """
    release("0.5.18")
    kind = KINDS["qwen3.5-moe"]
    cached(offline, folder(tmp_path / "model", kind, kind.head() if complete else {}))
    words = ["--model", NAME] if by == "option" else []
    argv = ["--speculative-algorithm", "NEXTN", *(["--model-path", NAME] if by == "launch" else [])]
    code, out, err = asked(capsys, *words, "--format", "json", "--no-suggestion", "--", *argv)
    assert code == (0 if complete else 1), err
    report = json.loads(out)
    rules = [f["rule"] for f in report["findings"] if f["rule"].startswith("weights/")]
    assert (report["verdict"], rules) == (("active", []) if complete else ("degraded", ["weights/head-missing"]))
    assert report["weights"]["present"] == (len(kind.head()) if complete else 0)


def test_a_name_that_is_not_in_the_cache(release: Release, offline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is fetched that was not asked for: bad input, and where it was looked for."""
    release("0.5.18")
    code, _, err = asked(capsys, "--model", NAME)
    assert code == 2 and str(offline / "hub") in err and NAME in err
