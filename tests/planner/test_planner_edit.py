"""Flags set and taken away, everything else as it was."""

from __future__ import annotations

import pytest

from mtp_trace.report.model import Change
from mtp_trace.rules.flags import Flag, FlagTable
from mtp_trace.verdict.planner_edit import Arguments, applied, merged

TABLE = FlagTable(
    [
        Flag("--tp-size", "tp_size", "a.py", 1, 1, ("--tp",)),
        Flag("--strategy", "strategy", "a.py", 2, 2, (), ("auto", "extra")),
        Flag("--switch", "switch", "a.py", 3, 3),
    ]
)

EDITS = [
    (("--tp", "4"), "--tp-size", "8", ("--tp", "8")),
    (("--tp=4", "--switch"), "--tp-size", "8", ("--tp=8", "--switch")),
    (("--tp", "2", "--switch", "--tp-size", "4"), "--tp-size", "8", ("--switch", "--tp-size", "8")),
    (("--switch",), "--strategy", "extra", ("--switch", "--strategy", "extra")),
    (("--switch", "--tp", "4"), "--switch", None, ("--tp", "4")),
    (("--tp", "-1", "--switch"), "--tp", None, ("--switch",)),
    (("--gone", "a", "b", "--tp", "4"), "--gone", None, ("--tp", "4")),
    ((), "--switch", "", ("--switch",)),
    (("word", "--tp", "4"), "--tp", None, ("word",)),
]


@pytest.mark.parametrize(("argv", "name", "new", "expected"), EDITS)
def test_change(argv: tuple[str, ...], name: str, new: str | None, expected: tuple[str, ...]) -> None:
    arguments = Arguments(argv, TABLE)
    arguments.change(name, new)
    assert arguments.argv == expected


def test_values_are_found_under_any_name_and_the_last_counts() -> None:
    arguments = Arguments(("--tp", "4", "--switch", "--tp-size=8"), TABLE)
    assert arguments.value("--tp") == "8"
    assert arguments.value("--switch") == ""
    assert arguments.value("--strategy") is None
    assert arguments.given("tp_size") == "--tp-size"


def test_applied_changes_flags_and_environment() -> None:
    changes = [Change("flag", "--switch", None, ""), Change("env", "A", None, "1"), Change("env", "B", "2", None)]
    assert applied(("--tp", "4"), {"B": "2"}, changes, TABLE) == (("--tp", "4", "--switch"), {"A": "1"})


def test_merged_keeps_the_first_old_value_and_the_last_new_one() -> None:
    first, second = Change("flag", "--strategy", None, "auto"), Change("flag", "--strategy", "auto", "extra", "why")
    assert merged([first, second]) == (Change("flag", "--strategy", None, "extra", "why"),)
    assert merged([Change("env", "A", None, "1"), Change("env", "A", "1", None)]) == ()
