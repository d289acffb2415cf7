"""The real resolver: a release's own start-up code on one launch, in an environment that prepare.sh makes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ORACLE = Path(__file__).resolve().parents[1] / "tests" / "oracle"


def resolver(lab: Path, release: str, model: Path, arguments: list[str], folder: Path) -> list[str] | str:
    """The command that imports a release and resolves a launch, or why there is none."""
    tree = lab / "trees" / release
    if not tree.is_dir():
        return f"there is no {tree}: LAB={lab} tests/oracle/prepare.sh {release} makes it"
    pinned = subprocess.run([str(ORACLE / "pinned.sh"), str(tree)], capture_output=True, text=True, check=True)
    version = pinned.stdout.strip()
    python = lab / ("env4" if version.startswith("4.") else "env5") / "bin" / "python"
    if not os.access(python, os.X_OK):
        return f"there is no {python}: LAB={lab} tests/oracle/prepare.sh {release} makes it"
    cases = folder / "cases.jsonl"
    argv = ["--model-path", f"{{configs}}/{model.name}", *arguments]
    cases.write_text(json.dumps({"id": "benchmark", "argv": argv, "env": {}}) + "\n")
    return [
        "env", f"PYTHONPATH={lab / 'transformers' / version}", str(python), str(ORACLE / "record.py"),
        "--tree", str(tree), "--gpu", str(ORACLE / "platforms" / "h200.json"),
        "--configs", str(model.parent), "--cases", str(cases),
    ]  # fmt: skip
