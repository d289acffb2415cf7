"""Times mtp-trace against plain parses of the files that it read, and against the real resolver where one is at hand.

    python benchmarks/compare.py RELEASE_OR_TREE [--model CONFIG] [--resolver "COMMAND"] [--runs 3] [--json OUT]

All contestants run one after another in this one process group, each in a process of its own; what is printed are the
medians, their ratios to a warm check, and peak memory. ``--resolver`` is a command that resolves the same launch with
the real release (its environment is yours to build; without it that line is skipped, and says so).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PARSE = """
import sys, time
from mtp_trace.source import open_tree
tree = open_tree(sys.argv[1])
texts = [tree.read(p).decode() for p in open(sys.argv[2]).read().split()]
start = time.perf_counter()
if sys.argv[3] == "libcst":
    import libcst
    for t in texts: libcst.parse_module(t)
else:
    import ast
    for t in texts: ast.parse(t)
print(time.perf_counter() - start)
"""
TOUCHED = """
import sys
from mtp_trace.source import open_tree
from mtp_trace.verdict.session import Session
from mtp_trace.checkpoint.folder import ModelFolder
s = Session(open_tree(sys.argv[1]))
s.check(["--speculative-algorithm", "NEXTN", "--tp-size", "8"], {}, s.gpus.find("h200"), ModelFolder.open(sys.argv[2]))
engine = s._engines[0]
print("\\n".join(m.path for m in engine.imports.modules.values() if m.path.endswith(".py") and not m.model))
"""


def timed(command: list[str], runs: int, env: dict[str, str] | None = None) -> float:
    """Median wall seconds of a whole process."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(
            command,
            env={**os.environ, **(env or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Runs the contest and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--model", default=str(HERE / "fixtures" / "configs" / "deepseek-v3"))
    parser.add_argument("--resolver")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    check = [
        sys.executable,
        "-m",
        "mtp_trace",
        "check",
        "--no-suggestion",
        "--sglang",
        given.tree,
        "--model",
        given.model,
        "--gpu",
        "h200",
        "--format",
        "json",
        "--",
        "--speculative-algorithm",
        "NEXTN",
        "--tp-size",
        "8",
    ]
    rows: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        touched = Path(folder) / "touched"
        touched.write_bytes(
            subprocess.run(
                [sys.executable, "-c", TOUCHED, given.tree, given.model], capture_output=True, check=True
            ).stdout
        )
        subprocess.run(check, stdout=subprocess.DEVNULL, check=False)
        rows["check, warm"] = timed(check, given.runs)
        rows["check, cold (no cache)"] = timed([*check[:4], "--no-cache", *check[4:]], given.runs)
        for name in ("ast", "libcst"):
            done = subprocess.run(
                [sys.executable, "-c", PARSE, given.tree, str(touched), name],
                capture_output=True,
                text=True,
                check=True,
            )
            rows[f"{name} parse of the {len(touched.read_text().split())} files read"] = float(done.stdout)
    if given.resolver:
        rows["the real resolver"] = timed(shlex.split(given.resolver), given.runs)
    else:
        print("the real resolver: skipped, no --resolver was given", file=sys.stderr)
    base = rows["check, warm"]
    for name, seconds in rows.items():
        print(f"{name:48s} {seconds:8.2f} s   {seconds / base:6.2f} x")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of a child: {peak:.0f} MiB")
    if given.json:
        given.json.write_text(json.dumps({"seconds": rows, "peak_mib": peak}, indent=1))


if __name__ == "__main__":
    main()
