"""A rule's further places: where they are looked for, which of several is shown, whether they must be there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtp_trace.errors import RuleError
from mtp_trace.report.model import Finding
from mtp_trace.rules.context import Context
from mtp_trace.rules.findings import findings_for
from mtp_trace.rules.loader import load_folder
from mtp_trace.rules.model import Pack
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.testing import MemoryPrograms

RULE = """\
schema: 1
rules:
  - id: mine
    name: Mine
    kind: guard
    severity: note
    match:
      when: {verdict: active}
      also:
        there:
          WORDS
          any:
            - raise: .*
          capture:
            text: {guard: size}
      at: there
    message: It stands there.
    why: Because.
"""
TREE = {
    "launch.py": "def a(size):\n    assert size == 1\n",
    "model.py": "def a(size):\n    assert size == 2\n    assert size == 3\n",
}


def told(tmp_path: Path, words: str, **facts: Any) -> list[Finding]:
    (tmp_path / "a.yaml").write_text(RULE.replace("WORDS", words.replace("\n", "\n          ")))
    sites = Sites(MemoryPrograms(TREE), ["launch.py"])
    context = Context(sites, {"verdict": "active", **facts})
    return list(findings_for(Pack(tuple(load_folder(tmp_path).values())), context))


def places(found: list[Finding]) -> list[tuple[str | None, int | None]]:
    return [(f.file, f.line) for f in found]


def test_without_more_it_is_looked_for_in_what_takes_part(tmp_path: Path) -> None:
    assert places(told(tmp_path, "words: [size]")) == [("launch.py", 2)]


def test_a_file_that_a_fact_names_is_looked_at_alone(tmp_path: Path) -> None:
    assert places(told(tmp_path, "words: [size]\nfile: $target_file", target_file="model.py")) == [("model.py", 2)]
    assert told(tmp_path, "words: [size]\nfile: $target_file", target_file=None) == []


def test_tests_choose_among_several(tmp_path: Path) -> None:
    words = "words: [size]\nfile: $target_file\nwhere: {text: {matches: '== 3'}}"
    assert places(told(tmp_path, words, target_file="model.py")) == [("model.py", 3)]


def test_an_optional_place_does_not_silence_the_rule(tmp_path: Path) -> None:
    assert told(tmp_path, "words: [nowhere]") == []
    assert places(told(tmp_path, "words: [nowhere]\noptional: true")) == [(None, None)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("words: [size]\nfile: model.py", "'model.py' is no fact of the launch"),
        ("words: [size]\nfile: $modelfile", "is no fact of the launch"),
        ("words: [size]\nwhere: {txet: a}", "{txet} is never filled"),
        ("words: [size]\noptional: perhaps", "true or false"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, words: str, said: str) -> None:
    with pytest.raises(RuleError) as caught:
        told(tmp_path, words)
    assert said in caught.value.what and "a.yaml:" in caught.value.where
