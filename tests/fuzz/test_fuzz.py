"""A short run of the fuzzer over every surface, and every input that once went wrong. ``run.py`` is for long ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_surfaces import SURFACES
from run import CORPUS, attempt, made

# What traces a launch for each of its inputs takes a hundred times as long as what only reads a file.
FEW, MANY = 40, 300
DEAR = ("arguments", "sources")
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("surface", SURFACES)
def test_some_inputs(surface: str, tmp_path: Path) -> None:
    for number in range(FEW if surface in DEAR else MANY):
        wrong = attempt(surface, made(surface, 2026, number), tmp_path)
        assert not wrong, f"input {number}: {wrong}"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_inputs_that_went_wrong_once(path: Path, tmp_path: Path) -> None:
    assert attempt(path.parent.name, path.read_bytes(), tmp_path) == ""


def test_an_input_is_the_same_whenever_it_is_made() -> None:
    for surface in SURFACES:
        first = [made(surface, 3, number) for number in range(20)]
        assert first == [made(surface, 3, number) for number in range(20)]
