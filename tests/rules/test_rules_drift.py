"""A tree that has moved on: ``check`` and ``scan`` name the required rules that find nothing in it, and end with 3."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mtp_trace.cli.app import cli

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
LAUNCH = ("--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer")
SAID = "the rule architecture-remap must find a place in any tree and finds none"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO / "sglang", tmp_path / "tree"))


def moved_on(tree: Path) -> None:
    """The remap in a spelling that no rule knows."""
    path = tree / "sglang" / "srt" / "configs" / "model_config.py"
    text = path.read_text()
    assert "architectures[0] = " in text
    path.write_text(text.replace("architectures[0] = ", "architectures.insert(0, ").replace('MTP"\n', 'MTP")\n')
                    .replace('NextN"\n', 'NextN")\n'))  # fmt: skip


def check(tree: Path, *options: str) -> Result:
    words = ["check", "--sglang", str(tree), "--model", str(DEMO / "model"), "--gpu", "h200", "--no-cache", *options]
    return CliRunner().invoke(cli, [*words, "--", *LAUNCH])


def test_a_tree_that_all_required_rules_know_ends_as_the_launch_does(tree: Path) -> None:
    result = check(tree)
    assert (result.exit_code, result.stderr) == (0, "")


def test_check_ends_with_3_and_names_the_rule(tree: Path) -> None:
    moved_on(tree)
    result = check(tree)
    assert result.exit_code == 3
    assert SAID in result.stderr
    # The launch was followed all the same.
    assert result.stdout.startswith("ACTIVE")


@pytest.mark.parametrize("form", ["json", "sarif", "markdown"])
def test_what_is_printed_is_whole_whatever_is_said_beside_it(tree: Path, form: str) -> None:
    before = check(tree, "--format", form)
    moved_on(tree)
    after = check(tree, "--format", form)
    assert (before.exit_code, after.exit_code) == (0, 3)
    assert SAID in after.stderr and SAID not in after.stdout and after.stdout


def test_scan_says_the_same(tree: Path) -> None:
    moved_on(tree)
    result = CliRunner().invoke(cli, ["scan", "--sglang", str(tree), "--no-cache"])
    assert result.exit_code == 3 and SAID in result.stderr


def test_a_rule_that_is_switched_off_is_not_required(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved_on(tree)
    (tmp_path / "mtp-trace.toml").write_text('[disable]\narchitecture-remap = "our own remap"\n')
    monkeypatch.chdir(tmp_path)
    assert check(tree).exit_code == 0


def test_a_required_rule_of_ones_own_counts_too(tree: Path, tmp_path: Path, write_rule: Callable[[Path], None]) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    write_rule(folder / "mine.yaml")
    result = check(tree, "--rules", str(folder))
    assert result.exit_code == 3 and "the rule our-switch must find a place" in result.stderr


@pytest.fixture
def write_rule() -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(
            "schema: 1\nrules:\n  - id: our-switch\n    name: Our switch\n    kind: guard\n    severity: note\n"
            "    requires: site\n    match:\n      site: {words: [our_switch], write: our_switch}\n"
            "    message: '{file}:{line}'\n    why: We patch it in.\n"
        )

    return write
