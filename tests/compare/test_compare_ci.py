"""The script parts of ``docs/ci``, run as the service would run them, and what they do with a pin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from compare_support import MODEL, ROOT, lax, tree

CI = ROOT / "docs" / "ci"
SCRIPT = CI / "upgrade-gate.sh"
FAKE = """#!/bin/sh
echo "$@" > {said}
while [ $# -gt 0 ]; do [ "$1" = --output ] && echo '## gate' > "$2"; shift; done
exit {status}
"""
REAL = f"""#!/bin/sh
exec {sys.executable} -c 'import sys; sys.argv[0] = "mtp-trace"; from mtp_trace.cli import main; main()' "$@"
"""


def load(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


def program(folder: Path, text: str) -> None:
    (folder / "bin").mkdir()
    path = folder / "bin" / "mtp-trace"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def repository(folder: Path, old: str = "sglang[all]==1.2.3\n", new: str = "sglang[all]==1.3.0\n") -> Path:
    """A repository whose pin is changed by its last commit."""
    repo = folder / "repo"
    (repo / "ci").mkdir(parents=True)
    (repo / "ci" / "upgrade-gate.sh").write_bytes(SCRIPT.read_bytes())
    (repo / "fleet.yaml").write_text(
        "schema: 1\ndefaults: {gpu: h200}\ndeployments:\n"
        f"  - {{id: chat, argv: [--model-path, {MODEL}, --speculative-algorithm, NEXTN, --tp-size, 8]}}\n",
        encoding="utf-8",
    )
    git(folder, "init", "-q", str(repo))
    for text in (old, new):
        (repo / "requirements.txt").write_text(text, encoding="utf-8")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "--allow-empty", "-m", "pin")
    return repo


def run(command: str, repo: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{repo.parent / 'bin'}{os.pathsep}{os.environ['PATH']}", **variables}
    env.setdefault("GITHUB_STEP_SUMMARY", str(repo.parent / "summary.md"))
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=repo, env=env, capture_output=True, text=True, timeout=120
    )


def script_parts() -> dict[str, tuple[str, dict[str, str]]]:
    """Every integration's own command, with the variables that its service sets."""
    action = load("action/action.yml")["runs"]["steps"][-1]["run"]
    workflow = load("github-workflow.yml")["jobs"]["gate"]["steps"][-1]["run"]
    gitlab = "\n".join(load("gitlab-ci.yml")["sglang-upgrade-gate"]["script"])
    hook = load("pre-commit-config.yaml")["repos"][0]["hooks"][0]["entry"]
    inputs = {"PIN_FILE": "requirements.txt", "FLEET": "fleet.yaml", "BASE_REF": "HEAD^", "GATE_FLAGS": ""}
    return {
        "action": (action, {**inputs, "GITHUB_ACTION_PATH": str(CI / "action")}),
        "workflow": (workflow, {"BASE_SHA": "HEAD^"}),
        "gitlab": (gitlab, {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD^"}),
        "pre-commit": (hook.replace(" HEAD", " HEAD^"), {}),
    }


@pytest.mark.parametrize("name", list(script_parts()))
@pytest.mark.parametrize("status", [0, 1, 3])
def test_each_script_judges_the_pins_and_keeps_the_exit_status(tmp_path: Path, name: str, status: int) -> None:
    command, variables = script_parts()[name]
    program(tmp_path, FAKE.format(said=tmp_path / "said", status=status))
    done = run(command, repository(tmp_path), **variables)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "said").read_text().startswith("gate --old 1.2.3 --new 1.3.0 --fleet fleet.yaml ")
    assert "## gate" in done.stdout


@pytest.mark.parametrize("name", list(script_parts()))
def test_each_script_stops_a_regression(tmp_path: Path, name: str) -> None:
    command, variables = script_parts()[name]
    program(tmp_path, REAL)
    trees = {"OLD": str(lax(tmp_path / "old")), "NEW": str(tree(tmp_path / "new"))}
    done = run(command, repository(tmp_path), **variables, **trees)
    assert done.returncode == 1, done.stderr
    assert "1 regression" in done.stdout and "| regression | chat | active | startup-error |" in done.stdout
    if name in ("action", "workflow"):
        assert "1 regression" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_a_pin_that_stays_is_not_judged(tmp_path: Path) -> None:
    program(tmp_path, FAKE.format(said=tmp_path / "said", status=1))
    done = run(script_parts()["workflow"][0], repository(tmp_path, new="sglang[all]==1.2.3 # same\n"), BASE_SHA="HEAD^")
    assert done.returncode == 0 and "stays at 1.2.3" in done.stdout
    assert not (tmp_path / "said").exists()


def test_a_file_without_a_pin_is_refused(tmp_path: Path) -> None:
    program(tmp_path, FAKE.format(said=tmp_path / "said", status=0))
    done = run(script_parts()["workflow"][0], repository(tmp_path, new="sglang\n"), BASE_SHA="HEAD^")
    assert done.returncode == 2 and "no pinned SGLang version" in done.stderr


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("sglang==0.1.2", "0.1.2"),
        ("sglang[all]==0.1.2.post1 ; python_version > '3.8'", "0.1.2.post1"),
        ('    "sglang==0.1.2rc0",', "0.1.2rc0"),
        ("FROM lmsysorg/sglang:v0.1.2-cu126", "0.1.2"),
    ],
)
def test_pins_are_read_where_they_are_written(tmp_path: Path, line: str, version: str) -> None:
    program(tmp_path, FAKE.format(said=tmp_path / "said", status=0))
    done = run("bash ci/upgrade-gate.sh requirements.txt fleet.yaml HEAD^", repository(tmp_path, new=f"{line}\n"))
    assert done.returncode == 0, done.stderr
    assert f"--new {version} " in (tmp_path / "said").read_text()


def test_no_input_is_spliced_into_a_command() -> None:
    for step in load("action/action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    for step in load("github-workflow.yml")["jobs"]["gate"]["steps"]:
        assert "${{" not in step.get("run", "")
