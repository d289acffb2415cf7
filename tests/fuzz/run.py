"""Fuzzes the tool's entry points.

    python tests/fuzz/run.py [--surface NAME]... [--inputs 10000 | --seconds 60] [--seed 1] [--save FOLDER]

An input is made from the seed, the surface's name and its number, so ``--seed S --first N --inputs 1`` is one again.
Inputs run in forks of this process, so that a hang, a crash of the interpreter or a lack of memory is a failure of that
input and not the end of the run. Failing inputs are written to ``--save``; exit status 1 says that there are some.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz_limit import Hung, limit
from fuzz_surfaces import EXPECTED, SURFACES

CORPUS = Path(__file__).resolve().parent / "corpus"
SECONDS = 20
CHUNK = 500
MEMORY = 4 << 30


def made(surface: str, seed: int, number: int) -> bytes:
    """An input: the same one whenever it is asked for."""
    return SURFACES[surface].make(random.Random(f"{seed}/{surface}/{number}"))


def attempt(surface: str, data: bytes, folder: Path) -> str:
    """What is wrong with how an input was taken; "" where nothing is."""
    try:
        with limit(SECONDS):
            SURFACES[surface].take(data, folder)
    except EXPECTED:
        return ""
    except Hung as error:
        return f"hang: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever else comes out is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).split("\n")[0][:300]
        return f"{type(error).__name__}: {said} ({Path(place.filename).name}:{place.lineno})"
    return ""


def chunk(surface: str, seed: int, numbers: range, until: float) -> Iterator[tuple[int, str]]:
    """Inputs in one fork: the number of each and what was wrong; it ends with the fork."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(surface, seed, numbers, until, write)
    os.close(write)
    with os.fdopen(read, encoding="utf-8", errors="replace") as pipe:
        for line in pipe:
            number, _, wrong = line.rstrip("\n").partition(" ")
            yield int(number), wrong
    status = os.waitpid(child, 0)[1]
    if status:
        yield -1, f"the process ended with status {status}"


def _child(surface: str, seed: int, numbers: range, until: float, write: int) -> None:
    code = 0
    try:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            for number in numbers:
                if time.monotonic() > until:
                    break
                wrong = attempt(surface, made(surface, seed, number), Path(folder))
                os.write(write, f"{number} {wrong}\n".encode("utf-8", "replace"))
                if wrong.startswith("hang"):
                    break  # its thread may still run
    except BaseException:  # a fork must not go on as if it were the driver
        traceback.print_exc()
        code = 1
    os._exit(code)


def fuzz(surface: str, seed: int, numbers: range, until: float, save: Path | None) -> tuple[int, Counter[str]]:
    """Runs inputs; how many were taken, and the failures by what was wrong."""
    taken, wrongs, at = 0, Counter[str](), numbers.start
    while at < numbers.stop and time.monotonic() < until:
        begun = at
        for number, wrong in chunk(surface, seed, range(at, min(at + CHUNK, numbers.stop)), until):
            number = at if number < 0 else number  # a fork that died did so on the input after the last answer
            at, taken = number + 1, taken + 1
            if wrong:
                if wrongs[wrong] == 0:
                    print(f"{surface} {number}: {wrong}", flush=True)
                    if save is not None:
                        save.mkdir(parents=True, exist_ok=True)
                        (save / f"{surface}-{seed}-{number}").write_bytes(made(surface, seed, number))
                wrongs[wrong] += 1
        if at == begun:
            break
    return taken, wrongs


def main() -> None:
    """Runs the surfaces that were asked for and says how many inputs went through."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surface", action="append", choices=sorted(SURFACES))
    parser.add_argument("--inputs", type=int, default=10_000, help="in all, shared out over the surfaces")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="in all; unlimited inputs then")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    names = given.surface or list(SURFACES)
    parts = sum(SURFACES[name].share for name in names)
    failed = total = 0
    for name in names:
        part = SURFACES[name].share / parts
        count = max(1, round(given.inputs * part)) if given.seconds == float("inf") else sys.maxsize >> 1
        start = time.monotonic()
        taken, wrongs = fuzz(
            name, given.seed, range(given.first, given.first + count), start + given.seconds * part, given.save
        )
        took = time.monotonic() - start
        bad = sum(wrongs.values())
        failed, total = failed + bad, total + taken
        print(f"{name:10s} {taken:8d} inputs {took:8.1f} s {bad:6d} failures of {len(wrongs)} kinds", flush=True)
    print(f"{'all':10s} {total:8d} inputs, {failed} failures")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
