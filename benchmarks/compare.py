"""Times mtp-trace against the real resolver, other matchers, and plain parses of the files that it read.

    python benchmarks/compare.py TREE [--model CONFIG] [--lab FOLDER] [--runs 3] [--json OUT] [--plot OUT.svg]

All contestants run one after another in this one process group, each in processes of its own; what is printed are the
medians of whole processes, their ratios to a check of a new launch on a tree that is known, and peak memory.

A check has four rows, which are not to be taken for each other:

- the same launch again: answered from disk, nothing is traced
- another launch, files known: traced; the files' program forms come from the cache
- cold, empty cache: as on a tree that was never seen, with the forms written
- cold, no cache: the same with --no-cache

The real resolver needs an environment from tests/oracle/prepare.sh under --lab (LAB), the matchers semgrep and ast-grep
installed; what is missing is passed over, saying so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from patterns import matchers
from plot import plot
from resolver import resolver

HERE = Path(__file__).resolve().parents[1]
LAUNCH = ["--speculative-algorithm", "NEXTN", "--tp-size", "8"]
BASE = "check: another launch, files known"
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
s.check(sys.argv[3:], {}, s.gpus.find("h200"), ModelFolder.open(sys.argv[2]))
engine = s._engines[0]
print(s.tree.root)
print("\\n".join(m.path for m in engine.imports.modules.values() if m.path.endswith(".py") and not m.model))
"""


class Contest:
    """Times whole processes, and keeps the median and the peak memory of each contestant."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        self.seconds: dict[str, float] = {}
        self.mib: dict[str, float] = {}

    def enter(
        self,
        name: str,
        command: list[str],
        env: dict[str, str] | None = None,
        before: Callable[[], object] = lambda: None,
    ) -> None:
        """``before`` runs ahead of each run, outside the time."""
        times, peaks = [], []
        for _ in range(self.runs):
            before()
            start = time.perf_counter()
            process = subprocess.Popen(
                command, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0  # it has been waited for
            times.append(time.perf_counter() - start)
            peaks.append(usage.ru_maxrss / 1024)
        self.seconds[name], self.mib[name] = statistics.median(times), max(peaks)
        print(f"{name:46s} {self.seconds[name]:8.2f} s   {self.mib[name]:6.0f} MiB", flush=True)


def checks(contest: Contest, tree: str, model: str, folder: Path) -> None:
    """The four rows of a check."""
    cache = folder / "cache"
    env = {"MTP_TRACE_CACHE": str(cache)}
    asked = ["--no-suggestion", "--sglang", tree, "--model", model, "--gpu", "h200", "--format", "json", "--", *LAUNCH]
    check = [sys.executable, "-m", "mtp_trace", "check"]

    def forget() -> None:
        shutil.rmtree(cache / "reports", ignore_errors=True)

    contest.enter("check: cold, no cache", [*check, "--no-cache", *asked], env)
    contest.enter("check: cold, empty cache", [*check, *asked], env, lambda: shutil.rmtree(cache, ignore_errors=True))
    contest.enter(BASE, [*check, *asked], env, forget)
    if not (cache / "reports").is_dir():
        raise SystemExit("no answer was kept, so the next row would be the last one again")
    contest.enter("check: the same launch again", [*check, *asked], env)


def main() -> None:
    """Runs the contest and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--model", default=str(HERE / "fixtures" / "configs" / "deepseek-v3"))
    parser.add_argument("--lab", type=Path, default=Path(os.environ.get("LAB", Path.home() / "mtp-trace-lab")))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    contest = Contest(given.runs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = subprocess.run(
            [sys.executable, "-c", TOUCHED, given.tree, given.model, *LAUNCH],
            capture_output=True,
            text=True,
            check=True,
        )
        root, *paths = done.stdout.split("\n")
        paths = [path for path in paths if path]
        (folder / "touched").write_text("\n".join(paths))
        checks(contest, given.tree, given.model, folder)
        files = [str(Path(root) / path) for path in paths]
        rivals: dict[str, list[str] | str] = matchers(files, folder) if Path(root).is_dir() else {
            "semgrep, ast-grep": "they read files, and this tree is an archive"
        }  # fmt: skip
        release = Path(given.tree).name
        rivals["the real resolver"] = resolver(given.lab, release, Path(given.model).resolve(), LAUNCH, folder)
        for rival, command in rivals.items():
            if isinstance(command, str):
                print(f"{rival}: skipped, {command}", file=sys.stderr)
            else:
                contest.enter(rival, command)
        for parser_name in ("ast", "libcst"):
            contest.enter(
                f"{parser_name}: parse of the {len(paths)} files read",
                [sys.executable, "-c", PARSE, given.tree, str(folder / "touched"), parser_name],
            )
    base = contest.seconds[BASE]
    print(f"\nin units of '{BASE}':")
    for row, seconds in contest.seconds.items():
        print(f"{row:46s} {seconds / base:8.2f} x")
    if given.json:
        result = {"tree": release, "files": len(paths), "runs": given.runs, "cores": os.cpu_count(),
                  "seconds": contest.seconds, "peak_mib": contest.mib}  # fmt: skip
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    if given.plot:
        given.plot.write_text(plot(f"One launch on {release}, whole processes (logarithmic)", contest.seconds))


if __name__ == "__main__":
    main()
