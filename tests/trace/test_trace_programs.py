"""Every ``case_*`` function under ``programs/`` gives the tracer what it gives the real Python."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from trace_support import engine_of, real, traced

FOLDER = Path(__file__).parent / "programs"
CASES = [
    (path.stem, name)
    for path in sorted(FOLDER.glob("*.py"))
    for name in re.findall(r"^def (case_\w+)\(", path.read_text(), re.M)
]


@cache
def files_of(family: str) -> dict[str, str]:
    return {"app/__init__.py": "", "app/main.py": (FOLDER / f"{family}.py").read_text()}


@cache
def shared_engine(family: str) -> Any:
    return engine_of(files_of(family))


@pytest.mark.parametrize(("family", "name"), CASES, ids=lambda x: x.removeprefix("case_"))
def test_same_as_python(family: str, name: str) -> None:
    expected = real(files_of(family), name)
    engine = shared_engine(family)
    assert traced(engine, name) == expected
    # What the first run changed is undone: a second run on the same engine gives the same.
    assert traced(engine, name) == expected
