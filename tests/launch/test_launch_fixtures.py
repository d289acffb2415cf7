"""Every launch file under fixtures/launch against the table beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtp_trace.launch.discover import find_launches
from mtp_trace.launch.model import Launch

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "launch"
KINDS = ["shell", "systemd", "docker", "compose", "kubernetes", "config"]


def as_entry(launch: Launch) -> dict[str, Any]:
    """The launch as ``expected.json`` writes it: what is empty or absent is left out."""
    entry: dict[str, Any] = {
        "file": launch.file,
        "line": launch.line,
        "source": launch.source,
        "name": launch.name,
        "entry": launch.entry,
        "argv": list(launch.argv),
        "env": launch.env,
        "unresolved": list(launch.unresolved),
    }
    if launch.gpu:
        entry["gpu"] = launch.gpu
    if launch.gpu_count:
        entry["gpu_count"] = launch.gpu_count
    if launch.conditions:
        entry["conditions"] = list(launch.conditions)
    return entry


@pytest.mark.parametrize("kind", KINDS)
def test_folder_gives_what_its_table_says(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES / kind)
    expected = json.loads(Path("expected.json").read_text(encoding="utf-8"))
    launches, notes = find_launches([Path(".")])
    assert [as_entry(launch) for launch in launches] == expected["launches"]
    assert [str(note) for note in notes] == expected["notes"]


@pytest.mark.parametrize("kind", KINDS)
def test_unresolved_places_hold_what_is_not_known(kind: str) -> None:
    launches, _ = find_launches([FIXTURES / kind])
    assert launches
    for launch in launches:
        assert all(0 <= index < len(launch.argv) for index in launch.unresolved_at)
        open_words = [word for word in launch.argv if word.startswith(("${", "{{", "$(", "%"))]
        assert all(launch.argv.index(word) in launch.unresolved_at or "NOT_A" in word for word in open_words)
        assert bool(launch.unresolved_at) <= bool(launch.unresolved)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_ten_files(kind: str) -> None:
    files = [path for path in (FIXTURES / kind).rglob("*") if path.is_file() and path.name != "expected.json"]
    assert len(files) >= 10


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_ten_files_with_a_launch(kind: str) -> None:
    expected = json.loads((FIXTURES / kind / "expected.json").read_text(encoding="utf-8"))
    assert len({launch["file"] for launch in expected["launches"]}) >= 10


def test_line_is_where_the_command_stands() -> None:
    for kind in KINDS:
        for launch in find_launches([FIXTURES / kind])[0]:
            lines = Path(launch.file).read_text(encoding="utf-8").split("\n")
            shown = lines[launch.line - 1].strip()
            assert shown and not shown.startswith("#"), f"{launch.file}:{launch.line}"


def test_files_without_a_launch_give_none() -> None:
    without = ["no_launch.sh", "no-launch.yaml", "Dockerfile.build-only", "Dockerfile.router", "router.service"]
    without += ["timer-check.service", "vllm.yaml", "training.yaml", "nested.yaml", "values.yaml", "empty.yaml"]
    found = {Path(launch.file).name for kind in KINDS for launch in find_launches([FIXTURES / kind])[0]}
    assert not found & set(without)
