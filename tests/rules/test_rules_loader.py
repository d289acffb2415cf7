"""Rule files: what is right loads, what is wrong is refused with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.errors import RuleError
from mtp_trace.rules.loader import load_folder, load_pack

GOOD = """\
schema: 1
rules:
  - id: my-rule
    name: A rule
    kind: guard
    severity: note
    match:
      site:
        words: [page_size]
        write: page_size
    message: '{file}:{line} {value}'
    why: Because.
"""

# What is replaced in the good file, by what, and what the error says (its place, then its words).
BROKEN = [
    ("severity: note", "severty: note", ":3: rules[0]", "'severity' is missing"),
    ("severity: note", "severity: fatal", ":6: rules[0].severity", "'fatal' is not known"),
    ("kind: guard", "kind: gard", ":5: rules[0].kind", "'gard' is not known"),
    ("kind: guard", "kind: guard\n    colour: red", ":6: rules[0].colour", "'colour' is not known here"),
    ("schema: 1", "schema: 9", ":1: schema", "schema 9 is not known"),
    ("words: [page_size]", "words: [page_size]\n        words: [x]", ":10: rules[0].match.site.words", "stands twice"),
    ("write: page_size", "write: '(a+)+'", ":10: rules[0].match.site.write", "repeats a repetition"),
    ("write: page_size", "write: '['", ":10: rules[0].match.site.write", "the regular expression is wrong"),
    ("write: page_size", "write: x\n        call: y", ":9: rules[0].match.site", "exactly one of"),
    ("write: page_size", "spelling: [item]", ":9: rules[0].match.site", "exactly one of"),
    ("{value}'", "{valeu}'", ":11: rules[0].message", "{valeu} is never filled"),
    ("{value}'", "{value'", ":11: rules[0].message", "a single '{'"),
    ("why: Because.", "why: 7", ":12: rules[0].why", "a text is needed, not 7"),
    ("id: my-rule", "id: My Rule", ":3: rules[0].id", "is no id"),
    ("site:", "when: {verdikt: active}\n      site:", ":8: rules[0].match.when.verdikt", "no fact 'verdikt'"),
    ("site:", "when: {resolved: 1}\n      site:", ":8: rules[0].match.when.resolved", "needs a key"),
    ("site:", "when: &a {verdict: active}\n      site:", ":8: rules[0].match.when", "anchors and aliases"),
    ("name: A rule", "name: !!python/object:os.system A", ":4: rules[0].name", "is not read"),
    ("name: A rule", "name: 'A rule", "", "the file is not YAML"),
    ("rules:", "rules: []\nmore:", ":3: more", "'more' is not known here"),
]


@pytest.mark.parametrize(("old", "new", "place", "words"), BROKEN)
def test_a_wrong_file_is_refused_at_its_place(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    assert old in GOOD
    path = tmp_path / "broken.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(RuleError) as caught:
        load_folder(tmp_path)
    assert caught.value.where.startswith(f"{path}{place}")
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 3000, "nest"),
        (b"a: " * 10 + b"\n", "not YAML"),
        (b"x" * 1_000_001, "over the limit"),
        (b"- 1\n", "a mapping is needed"),
        (b"schema: 1\nrules: []\n", "the list is empty"),
        (b"schema: 1\nrules: []\n---\nschema: 1\n", "more than one document"),
    ],
)
def test_what_is_no_rule_file_is_told_so(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "a.yaml").write_bytes(data)
    with pytest.raises(RuleError) as caught:
        load_folder(tmp_path)
    assert words in str(caught.value)


def test_near_keys_are_offered(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD.replace("severity", "severty"))
    with pytest.raises(RuleError) as caught:
        load_folder(tmp_path)
    assert "did you mean 'severty' as 'severity'?" in caught.value.hint


def test_an_id_that_is_taken_is_told_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD)
    with pytest.raises(RuleError) as caught:
        load_folder(tmp_path)
    assert "b.yaml:3" in caught.value.where and "a.yaml:3" in caught.value.hint


def test_a_later_folder_replaces_a_rule(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD.replace("my-rule", "overlap-schedule"))
    pack = load_pack([tmp_path])
    assert [r.name for r in pack.rules if r.id == "overlap-schedule"] == ["A rule"]
    assert len(pack.rules) == len(load_pack().rules)


def test_missing_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such folder"):
        load_pack([tmp_path / "nowhere"])
    with pytest.raises(RuleError, match="no rule file"):
        load_pack([tmp_path])
