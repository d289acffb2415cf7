"""The bundled miniature, opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.source import open_tree
from mtp_trace.verdict.session import Session

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


@pytest.fixture(scope="session")
def session() -> Session:
    """The miniature tree."""
    return Session(open_tree(str(DEMO / "sglang")))
