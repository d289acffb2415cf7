"""Writes ``docs/rules/ID.md`` and the table in ``docs/rules.md`` from the rules; ``--check`` only says what differs."""

from __future__ import annotations

import sys
from pathlib import Path

from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.pages import index_table, page

DOCS = Path(__file__).resolve().parents[2] / "docs"
START, END = "<!-- rules: made by tests/tools/rule_pages.py -->\n", "<!-- end of rules -->\n"


def wanted() -> dict[Path, str]:
    """Every file and what it should hold."""
    pack = load_pack()
    files = {DOCS / "rules" / f"{rule.id}.md": page(rule) for rule in pack.rules}
    index = DOCS / "rules.md"
    text = index.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    files[index] = f"{before}{START}{index_table(pack)}{END}{after}"
    return files


def differing() -> list[Path]:
    """Files that are missing, out of date or of no rule."""
    files = wanted()
    stale = [p for p in (DOCS / "rules").glob("*.md") if p not in files]
    return stale + [p for p, text in files.items() if not p.is_file() or p.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write, or check."""
    paths = differing()
    if "--check" in sys.argv:
        print("\n".join(str(p) for p in paths) or "up to date")
        return 1 if paths else 0
    files = wanted()
    for path in paths:
        if path in files:
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"{len(paths)} pages written or removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
