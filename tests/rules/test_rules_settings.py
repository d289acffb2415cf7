"""Settings and suppressions: what they say holds, and what is wrong in them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.errors import InputError, RuleError
from mtp_trace.report.model import Finding, Severity
from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.settings import find_settings, read_settings
from mtp_trace.rules.suppress import read_suppressions, without_suppressed


def test_the_nearest_settings_hold(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.mtp-trace]\n[tool.mtp-trace.disable]\noverlap-schedule = "known"\n'
        '[tool.mtp-trace.severity]\ndraft-class = "error"\n'
    )
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    pack = load_pack((), find_settings(inner))
    assert "overlap-schedule" not in {r.id for r in pack.active}
    rule = pack.get("draft-class")
    assert rule is not None and rule.severity is Severity.ERROR


def test_a_project_file_without_a_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "mtp-trace.toml").write_text('rules = ["mine"]\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_settings(inner).rules == (tmp_path / "mine",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rulez = []", "rulez: the key 'rulez' is not known"),
        ("rules = 'x'", "rules: a list of folders"),
        ("[disable]\ndraft-class = ''", "disable.draft-class: a reason is needed"),
        ("disable = 3", "disable: a table"),
        ("[severity]\ndraft-class = 'bad'", "severity.draft-class: 'bad' is no severity"),
        ("[severity", "not TOML"),
    ],
)
def test_wrong_settings_are_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mtp-trace.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_settings(path)
    assert words in str(caught.value)


def test_settings_about_no_rule_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mtp-trace.toml"
    path.write_text('[disable]\ndraft-clas = "x"\n')
    with pytest.raises(RuleError, match="draft-clas"):
        load_pack((), read_settings(path))


def test_comments_suppress_with_a_reason() -> None:
    pack = load_pack()
    text = "#!/bin/sh\n# mtp-trace: ignore[draft-class, overlap-schedule] known\npython -m x\n"
    found = read_suppressions(text, "run.sh", pack)
    assert [(s.rule, s.reason, s.where) for s in found] == [
        ("draft-class", "known", "run.sh:2"),
        ("overlap-schedule", "known", "run.sh:2"),
    ]
    kept, unused = without_suppressed([Finding("draft-class", Severity.NOTE, "t", "m")], found)
    assert kept == () and [s.rule for s in unused] == ["overlap-schedule"]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("# mtp-trace: ignore[draft-class]", "a reason is needed"),
        ("# mtp-trace: ignore draft-class", "not understood"),
        ("# mtp-trace: ignore[draft-clas] why", "no rule 'draft-clas'"),
    ],
)
def test_wrong_comments_are_told_with_their_line(comment: str, words: str) -> None:
    with pytest.raises(RuleError) as caught:
        read_suppressions(f"\n{comment}\n", "unit.service", load_pack())
    assert words in caught.value.what and caught.value.where == "unit.service:2"
