"""``batch`` holds to the same rules and settings as ``check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mtp_trace.cli.app import cli
from mtp_trace.errors import InputError

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
ARGV = ["--model-path", str(DEMO / "model"), "--speculative-algorithm", "NEXTN"]
RULE = "radix-cache-no-buffer"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MTP_TRACE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(*options: str, lines: int = 1) -> Result:
    case = json.dumps({"id": "a", "argv": ARGV})
    words = ["batch", "--sglang", str(DEMO / "sglang"), "--gpu", "h200", *options]
    return CliRunner().invoke(cli, words, input=f"{case}\n" * lines)


def severities(result: Result) -> dict[str, str]:
    return {f["rule"]: f["severity"] for f in json.loads(result.stdout.splitlines()[-1])["findings"]}


def test_settings_hold(here: Path) -> None:
    assert severities(run())[RULE] == "error"
    (here / "mtp-trace.toml").write_text(f'[severity]\n{RULE} = "note"\n')
    assert severities(run(lines=2))[RULE] == "note"
    (here / "mtp-trace.toml").write_text(f'[disable]\n{RULE} = "known"\n')
    assert RULE not in severities(run())


def test_wrong_settings_are_told_before_the_first_case(here: Path) -> None:
    (here / "mtp-trace.toml").write_text("[disable]\nno-such-rule = 'x'\n")
    result = run()
    assert isinstance(result.exception, InputError) and "no-such-rule" in str(result.exception)
    assert result.stdout == ""


def test_rules_of_ones_own_speak(here: Path) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "mine.yaml").write_text(
        "schema: 1\nrules:\n  - id: our-launch\n    name: Ours\n    kind: launch\n    severity: note\n"
        "    match:\n      when: {algorithm: {given: true}}\n    message: '{algorithm}'\n    why: Because.\n"
    )
    assert severities(run("--rules", "mine"))["our-launch"] == "note"
