"""What a parser refuses, and what the rules make of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mtp_trace.cli.app import cli
from mtp_trace.rules.flags import Flag, FlagTable
from mtp_trace.rules.refused import refused_facts

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
TABLE = FlagTable([Flag("--backend", "backend", "tree.py", 7, 8, ("--be",), ("triton", "fa3"))])


def said(*argv: str) -> str:
    """What this Python's own parser says: the words changed over its versions."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--backend", "--be", choices=["triton", "fa3"])
    with pytest.raises(argparse.ArgumentError) as caught:
        parser.parse_args(argv)
    return str(caught.value)


def facts(message: str) -> dict[str, Any]:
    return refused_facts(message, lambda: TABLE)


@pytest.mark.parametrize(("value", "near"), [("tritn", "triton"), ("FA3", "fa3"), ("other", None), ("", None)])
def test_a_value_that_is_no_choice(value: str, near: str | None) -> None:
    found = facts(said("--backend", value))
    assert found["wrong_flag"] == "--backend" and found["refused_value"] == value
    assert (found["choices"], found.get("near_choice")) == (["triton", "fa3"], near)
    assert found["wrong_flag_at"] == "tree.py:7"


def test_choices_without_quotes() -> None:
    found = facts("argument --backend/--be: invalid choice: 'tritn' (choose from triton, fa3)")
    assert (found["choices"], found["near_choice"]) == (["triton", "fa3"], "triton")


def test_an_unknown_flag_and_another_message() -> None:
    assert facts("unrecognized arguments: --backends fa3")["unknown_flag"] == "--backends"
    assert facts("argument --tp: invalid int value: 'x'") == {} == facts("")


@pytest.mark.parametrize(("value", "rule"), [("EGALE", "refused-value"), ("LOOKAHEAD", "refused-value-unknown")])
def test_check_says_which_value_is_near(value: str, rule: str) -> None:
    words = ["check", "--sglang", str(DEMO / "sglang"), "--model", str(DEMO / "model"), "--gpu", "h200", "--no-cache"]
    words += ["--no-suggestion", "--format", "json", "--", "--speculative-algorithm", value]
    report = json.loads(CliRunner().invoke(cli, words).stdout)
    (found,) = [f for f in report["findings"] if f["rule"].startswith("refused-value")]
    assert found["rule"] == rule and "server_args.py:" in found["message"] and "NGRAM" in found["fix"]["text"]
    changes = [(c["name"], c["new"]) for c in found["fix"]["changes"]]
    assert changes == ([("--speculative-algorithm", "EAGLE")] if rule == "refused-value" else [])
