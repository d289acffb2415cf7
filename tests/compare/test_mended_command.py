"""``check --also``: the other tree is judged by the same rules, and looked at as closely."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from checkpoint.make import make_checkpoint
from click.testing import CliRunner
from weights.kinds import KINDS

from mtp_trace.cli.app import cli
from mtp_trace.source import SourceTree

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


def fix_of(tmp_path: Path, when: str, tree: str, model: Path, also: str, *launch: str) -> str:
    """What the fix of a rule of our own says, which holds where ``when`` does."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "ours.yaml").write_text(
        "schema: 1\nrules:\n- id: ours\n  name: ours\n  kind: launch\n  severity: error\n"
        f"  match: {{when: {{{when}}}}}\n  message: not here\n  why: we say so\n"
    )
    words = ["--sglang", tree, "--model", str(model), "--also", also, "--rules", str(tmp_path / "rules")]
    more = ["--gpu", "h200", "--no-suggestion", "--no-cache", "--format", "json", "--", "--speculative-algorithm"]
    result = CliRunner().invoke(cli, ["check", *words, *more, "NEXTN", *launch])
    report = json.loads(result.stdout)
    assert report["verdict"] == "active"
    return str(next(f for f in report["findings"] if f["rule"] == "ours")["fix"]["text"])


def test_a_rule_of_ones_own_is_asked_of_the_other_tree(tmp_path: Path) -> None:
    tree = str(DEMO / "sglang")
    launch = ("--mamba-scheduler-strategy", "extra_buffer")
    said = fix_of(tmp_path, "algorithm: {given: true}", tree, DEMO / "model", tree, *launch)
    assert said.startswith("Not mended in ")


@pytest.mark.releases
def test_a_configuration_alone_is_weighed_on_both_sides(release: Callable[[str], SourceTree], tmp_path: Path) -> None:
    """Both releases build Qwen3.5's head, and say what it takes, without any tensor to read."""
    old, new = release("0.5.9"), release("0.5.18")
    assert old is not new
    model = make_checkpoint(tmp_path / "model", {}, index=False, **KINDS["qwen3.5-moe"].config)
    said = fix_of(tmp_path, "version: 0.5.9", "0.5.9", model, "0.5.18")
    assert said.startswith("Mended in 0.5.18")
