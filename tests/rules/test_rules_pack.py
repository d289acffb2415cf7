"""The shipped pack: every rule shown firing and silent, every page up to date, nothing to remark."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from mtp_trace.rules.lint import lint
from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.testing import run_tests, untested

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
PACK = load_pack()


def test_miniatures_hold() -> None:
    results = run_tests(PACK, ROOT / "fixtures" / "rules")
    assert [r.expectation for r in results if r.failed] == []
    assert untested(PACK, results) == []


def test_pages_are_up_to_date() -> None:
    import rule_pages

    assert rule_pages.differing() == []


@pytest.mark.parametrize("rule", PACK.rules, ids=lambda rule: rule.id)
def test_rules_are_complete(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule.example and rule.why and rule.name
    for text in (rule.message, rule.why, rule.name):
        assert not re.search(r"\b\d+\.\d+\.\d+\b|\w+\.py\b", text), "a rule names neither versions nor files"


def test_no_rule_loses_a_capture_or_its_place() -> None:
    assert [a for a in lint(PACK) if "fix" not in a.text] == []
