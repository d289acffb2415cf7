"""A miniature SGLang in variants, as folders and as a git history."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "fixtures" / "demo"
MODEL = DEMO / "model"
ARGS = "sglang/srt/server_args.py"
MODEL_CONFIG = "sglang/srt/configs/model_config.py"
NEXTN = ("--speculative-algorithm", "NEXTN", "--tp-size", "8")
GUARD = 'self.mamba_scheduler_strategy == "no_buffer" and not self.disable_radix_cache'
LAX = f"self.page_size > 1 and {GUARD}"

Edit = Callable[[str], str]


def replaced(old: str, new: str) -> Edit:
    """An edit that must find its text."""

    def edit(text: str) -> str:
        assert old in text, old
        return text.replace(old, new)

    return edit


def tree(folder: Path, edits: Mapping[str, Edit] | None = None) -> Path:
    """The miniature in a folder, with edits by file."""
    shutil.copytree(DEMO / "sglang", folder)
    for name, edit in (edits or {}).items():
        path = folder / name
        path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def lax(folder: Path) -> Path:
    """The miniature before its guard applied to small pages: the hybrid model runs."""
    return tree(folder, {ARGS: replaced(GUARD, LAX)})


def history(folder: Path, commits: int, guard_at: int) -> Path:
    """A repository in which commit number ``guard_at`` (from 1) brings the guard; each commit changes that file."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    base = {p.relative_to(DEMO / "sglang").as_posix(): p.read_bytes() for p in sorted((DEMO / "sglang").rglob("*.py"))}
    text = base[ARGS].decode()
    stream: list[bytes] = []
    for number in range(commits + 1):
        body = text if number >= guard_at else replaced(GUARD, LAX)(text)
        files = {**(base if number == 0 else {}), ARGS: f"# revision {number}\n{body}".encode()}
        subject = "Begin" if number == 0 else "Refuse small pages too" if number == guard_at else f"Tidy up {number}"
        stream.append(f"commit refs/heads/main\ncommitter A <a@example.org> {1_700_000_000 + number} +0000\n".encode())
        stream.append(f"data {len(subject)}\n{subject}\n".encode())
        for name, data in files.items():
            stream.append(f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n")
        if number == 0:
            stream.append(b"\nreset refs/tags/v1\nfrom refs/heads/main\n\n")
    stream.append(b"\nreset refs/tags/v2\nfrom refs/heads/main\n\n")
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=b"".join(stream), check=True)
    return folder


def commit_at(folder: Path, number: int, commits: int) -> str:
    """The hash of a commit by its number."""
    said = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", f"main~{commits - number}"], check=True, capture_output=True, text=True
    )
    return said.stdout.strip()
