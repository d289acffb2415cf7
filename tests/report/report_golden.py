"""Compare text with a file in ``golden/``; with MTP_TRACE_UPDATE_GOLDEN=1 write the file instead."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Fail unless ``text`` is what ``golden/name`` holds."""
    path = GOLDEN / name
    if os.environ.get("MTP_TRACE_UPDATE_GOLDEN"):
        path.write_bytes(text.encode("utf-8"))
    assert path.exists(), f"no {path.name}: run once with MTP_TRACE_UPDATE_GOLDEN=1 and review it"
    assert text == path.read_bytes().decode("utf-8")
