"""``diff``, ``gate`` and ``matrix`` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compare_support import MODEL, commit_at, history, lax, tree

RUN = "import sys; sys.argv[0] = 'mtp-trace'; from mtp_trace.cli import main; main()"
FLAGS = "--speculative-algorithm NEXTN --tp-size 8"


def mtp_trace(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("trees")
    fleet = folder / "fleet.yaml"
    fleet.write_text(
        f"schema: 1\nmodels: {{/m: {MODEL}}}\ndeployments:\n"
        f'  - {{id: chat, gpu: h200, command: "python -m sglang.launch_server --model-path /m {FLAGS}"}}\n',
        encoding="utf-8",
    )
    return lax(folder / "old"), tree(folder / "new"), fleet


def test_gate(trees: tuple[Path, Path, Path], tmp_path: Path) -> None:
    old, new, fleet = trees
    done = mtp_trace("gate", "--old", old, "--new", new, "--fleet", fleet)
    assert done.returncode == 1, done.stderr
    assert "1 regression" in done.stdout and "sglang/srt/server_args.py:" in done.stdout
    assert "+ --mamba-scheduler-strategy extra_buffer" in done.stdout
    assert mtp_trace("gate", "--old", new, "--new", old, "--fleet", fleet).returncode == 0
    target = tmp_path / "gate.json"
    done = mtp_trace("gate", "--old", old, "--new", new, "--fleet", fleet, "--format", "json", "--output", target,
                     "--fail-on", "never")  # fmt: skip
    assert done.returncode == 0 and not done.stdout
    (found,) = json.loads(target.read_text(encoding="utf-8"))["deployments"]
    assert (found["id"], found["change"], found["flags"]) == ("chat", "regression", [])
    assert found["suggestion"]["verdict"] == "active"


def test_gate_names_the_commit(trees: tuple[Path, Path, Path], tmp_path: Path) -> None:
    repo = history(tmp_path / "repo", 12, 7)
    done = mtp_trace("gate", "--sglang", repo, "--old", "v1", "--new", "v2", "--fleet", trees[2], "--no-suggest")
    assert done.returncode == 1, done.stderr
    assert f"commit: {commit_at(repo, 7, 12)[:12]} Refuse small pages too" in done.stdout


def test_gate_that_cannot_judge_is_not_a_pass(trees: tuple[Path, Path, Path], tmp_path: Path) -> None:
    old, new, _ = trees
    fleet = tmp_path / "wrong.yaml"
    fleet.write_text("schema: 1\ndeployments:\n  - id: chat\n    argv: [--model-path, /no/where]\n", encoding="utf-8")
    done = mtp_trace("gate", "--old", old, "--new", new, "--fleet", fleet)
    assert done.returncode == 2 and f"{fleet}:4: deployments[0].argv" in done.stderr
    done = mtp_trace("gate", "--old", tmp_path / "none", "--new", new, "--fleet", trees[2])
    assert done.returncode == 2 and "no such folder" in done.stderr


@pytest.mark.parametrize("form", ["terminal", "json", "markdown"])
def test_matrix(trees: tuple[Path, Path, Path], form: str) -> None:
    old, new, _ = trees
    done = mtp_trace("matrix", "--releases", f"{old},{new}", "--models", MODEL, "--flags", FLAGS, "--format", form)
    assert done.returncode == 0, done.stderr
    assert "startup-error" in done.stdout and "active" in done.stdout
    if form == "json":
        (runs,) = json.loads(done.stdout)["models"]
        assert (runs["first"], runs["spans"]) == ("old", [["old", "old"]])
    else:
        assert "runs first in old (old)" in done.stdout


def test_matrix_over_refs(tmp_path: Path) -> None:
    repo = history(tmp_path / "repo", 3, 2)
    done = mtp_trace("matrix", "--sglang", repo, "--refs", "v1,v2", "--models", MODEL, "--flags", FLAGS, "--no-suggest")
    assert done.returncode == 0 and "runs first in v1 (v1)" in done.stdout
    assert mtp_trace("matrix", "--refs", "v1", "--models", MODEL).returncode == 2
    assert mtp_trace("matrix", "--models", MODEL).returncode == 2


@pytest.mark.parametrize("form", ["terminal", "json", "markdown"])
def test_diff(trees: tuple[Path, Path, Path], form: str) -> None:
    old, new, _ = trees
    done = mtp_trace("diff", old, new, "--format", form)
    assert done.returncode == 0, done.stderr
    assert "page_size" in done.stdout
    same = mtp_trace("diff", old, old, "--format", form)
    assert same.returncode == 0 and "page_size" not in same.stdout


def test_diff_of_kinds_and_refs(tmp_path: Path) -> None:
    repo = history(tmp_path / "repo", 2, 1)
    done = mtp_trace("diff", "v1", "v2", "--sglang", repo, "--kind", "env-switch")
    assert done.returncode == 0 and done.stdout.startswith("0 changes")
    assert mtp_trace("diff", "v1", "v9", "--sglang", repo).returncode == 2
