"""``mtp-trace audit`` on launch files, against the bundled miniature tree."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mtp_trace.cli.audit import audit
from mtp_trace.errors import RuleError

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
SERVER = "python -m sglang.launch_server --model-path /models/mini"
EXTRA = "--mamba-scheduler-strategy extra_buffer"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a script and audits it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))

    def call(text: str, *options: str, mapped: bool = True, gpu: bool = True) -> Result:
        Path("run.sh").write_text(text)
        words = ["--sglang", str(DEMO / "sglang"), "--no-cache", *options, "run.sh"]
        words += ["--model-map", f"/models/mini={DEMO / 'model'}"] if mapped else []
        words += ["--gpu", "h200"] if gpu else []
        return CliRunner().invoke(audit, words)

    return call


def reports(result: Result) -> list[dict[str, Any]]:
    """The launches of the JSON form."""
    launches: list[dict[str, Any]] = json.loads(result.stdout)["launches"]
    return launches


def test_each_launch_stands_at_its_own_line(run: Any) -> None:
    text = f"#!/bin/bash\n{SERVER} --speculative-algorithm NEXTN {EXTRA}\n\n{SERVER} --speculative-algorithm NEXTN\n"
    result = run(text, "--format", "json")
    first, second = reports(result)
    assert (first["file"], first["line"], first["report"]["verdict"]) == ("run.sh", 2, "active")
    assert (second["line"], second["report"]["verdict"]) == (4, "startup-error")
    # What is suggested keeps the file's own words, the model's path there among them.
    suggested = second["report"]["suggestion"]["argv"]
    assert suggested[:2] == ["--model-path", "/models/mini"] and suggested[-2:] == EXTRA.split()
    assert result.exit_code == 1


def test_all_active_is_0(run: Any) -> None:
    result = run(f"{SERVER} --speculative-algorithm NEXTN {EXTRA}\n")
    assert result.exit_code == 0 and "1 launch: 1 active" in result.stdout


def test_a_model_that_is_not_here_is_open_and_says_what_to_give(run: Any) -> None:
    result = run(f"{SERVER} --speculative-algorithm NEXTN\n", "--format", "json", mapped=False)
    (entry,) = reports(result)
    assert entry["report"]["verdict"] == "undetermined"
    assert "--model-map /models/mini=PATH" in entry["report"]["error"]["message"]
    assert result.exit_code == 3


def test_an_unknown_model_can_be_mapped_by_its_variable(run: Any) -> None:
    text = f"python -m sglang.launch_server --model-path $MODEL --speculative-algorithm NEXTN {EXTRA}\n"
    (entry,) = reports(run(text, "--format", "json"))
    assert entry["report"]["verdict"] == "undetermined" and entry["unresolved"] == ["MODEL"]
    (entry,) = reports(run(text, "--format", "json", "--model-map", "${MODEL}=" + str(DEMO / "model")))
    assert entry["report"]["verdict"] == "active"


def test_an_unknown_word_that_decides_nothing_does_not_stop_the_answer(run: Any) -> None:
    text = f"{SERVER} --speculative-algorithm NEXTN {EXTRA} --tp-size $TP\n"
    (entry,) = reports(run(text, "--format", "json"))
    assert entry["report"]["verdict"] == "active" and entry["unresolved"] == ["TP"]
    assert entry["report"]["launch"]["argv"][-1] == "${TP}"
    assert any("${TP}" in a["what"] for a in entry["report"]["assumptions"])


def test_an_unknown_word_that_decides_is_asked_for(run: Any) -> None:
    text = f"{SERVER} --speculative-algorithm NEXTN --mamba-scheduler-strategy $HOW\n"
    result = run(text, "--format", "json")
    (entry,) = reports(result)
    (question,) = entry["report"]["depends_on"]
    assert "${HOW}" in question["question"] and "--mamba-scheduler-strategy" in question["question"]
    assert {o["value"]: o["verdict"] for o in question["options"]}["extra_buffer"] == "active"
    assert entry["report"]["verdict"] == "depends" and result.exit_code == 3


def test_the_gpu_is_taken_from_the_manifest(run: Any, tmp_path: Path) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "mini"},
        "spec": {
            "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H200"},
            "containers": [
                {"name": "server", "command": f"{SERVER} --speculative-algorithm NEXTN {EXTRA}".split()},
            ],
        },
    }
    Path("pod.yaml").write_text(json.dumps(manifest, indent=1))
    words = ["--sglang", str(DEMO / "sglang"), "--no-cache", "--format", "json", "--model-map"]
    result = CliRunner().invoke(audit, [*words, f"/models/mini={DEMO / 'model'}", "pod.yaml"])
    (entry,) = reports(result)
    assert entry["report"]["launch"]["gpu"] == "h200" and entry["source"] == "kubernetes"


def test_nothing_found_is_2(run: Any) -> None:
    result = run("echo hello\n")
    assert result.exit_code == 2 and "no server launch was found" in result.stderr


def test_a_baseline_accepts_what_is_known_until_it_changes(run: Any) -> None:
    text = f"{SERVER} --speculative-algorithm NEXTN\n"
    assert run(text, "--write-baseline", "known.json").exit_code == 1
    assert run("\n\n" + text, "--baseline", "known.json").exit_code == 0
    other = run(f"{SERVER} --tp-size 2\n", "--baseline", "known.json")
    assert other.exit_code == 1 and "matches nothing any more" in other.stderr


@pytest.mark.parametrize("form", ["terminal", "json", "sarif", "junit", "github", "markdown"])
def test_every_format(run: Any, form: str) -> None:
    result = run(f"{SERVER} --speculative-algorithm NEXTN\n", "--format", form, "--output", "out.txt")
    assert result.exit_code == 1 and result.stdout == ""
    text = Path("out.txt").read_text()
    assert "run.sh" in text and text.endswith("\n")
    assert "\x1b" not in text


def test_quiet_is_the_sum_alone_and_never_fails_where_told(run: Any) -> None:
    result = run(f"{SERVER} --speculative-algorithm NEXTN\n", "--quiet", "--fail-on", "never")
    assert result.exit_code == 0 and result.stdout.strip() == "1 launch: 1 startup-error"


def test_the_built_command_is_plain_under_no_color(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "run.sh").write_text(f"{SERVER} --speculative-algorithm NEXTN\n")
    code = "from mtp_trace.cli.app import run; run()"
    words = ["audit", "--sglang", str(DEMO / "sglang"), "--gpu", "h200", "--no-cache", "run.sh"]
    made = subprocess.run(
        [sys.executable, "-c", code, *words, "--model-map", f"/models/mini={DEMO / 'model'}"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 1 and b"\x1b" not in made.stdout and b"STARTUP-ERROR" in made.stdout


SILENCE = "# mtp-trace: ignore[radix-cache-no-buffer] moved next week\n"


def rules_of(result: Result) -> list[list[str]]:
    return [[f["rule"] for f in launch["report"]["findings"]] for launch in reports(result)]


def test_a_comment_silences_a_rule_in_its_file(run: Any) -> None:
    text = f"{SERVER} --speculative-algorithm NEXTN\n"
    (spoken,) = rules_of(run(text, "--format", "json"))
    assert "radix-cache-no-buffer" in spoken
    silent = run(SILENCE + text, "--format", "json")
    assert rules_of(silent) == [[rule for rule in spoken if rule != "radix-cache-no-buffer"]]
    # What the launch comes to is no finding: it stays.
    assert silent.exit_code == 1 and "silences nothing" not in silent.stderr


def test_a_comment_that_silences_nothing_is_told(run: Any) -> None:
    result = run(f"{SILENCE}{SERVER} --speculative-algorithm NEXTN {EXTRA}\n")
    assert result.exit_code == 0
    assert "run.sh:1: the comment silences nothing: radix-cache-no-buffer does not speak here" in result.stderr
    assert "silences" not in run(f"{SILENCE}{SERVER} --speculative-algorithm NEXTN {EXTRA}\n", "--quiet").stderr


def test_a_wrong_comment_is_refused_at_its_line(run: Any) -> None:
    result = run(f"#!/bin/sh\n# mtp-trace: ignore[radix-cache-no-buffer]\n{SERVER}\n")
    assert isinstance(result.exception, RuleError)
    assert (result.exception.what, result.exception.where) == ("a reason is needed", "run.sh:2")
