from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mtp_trace.report

FILES = sorted(Path(mtp_trace.report.__file__).parent.glob("*.py"))
OWN = ("mtp_trace.report", "mtp_trace.errors")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_report_is_a_leaf_and_reads_no_files(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert all(not name.startswith("mtp_trace") or name.startswith(OWN) for name in names)
        if path.name != "baseline.py" and isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            assert name not in ("open", "read_text", "read_bytes", "write_text", "write_bytes")
