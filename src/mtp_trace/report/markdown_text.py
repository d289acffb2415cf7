"""Text made safe inside GitHub-flavoured Markdown: it shows as written and cannot mark up, link, mention or embed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mtp_trace.report.textsafe import counted, one_line, visible

_SPECIAL = re.compile(r"[\\`*_\[\]|~$]|:(?=//)")
# What would start a list or a heading where the text comes first on its line.
_LEADING = re.compile(r"^(\d{0,9})([-+#.)])(?=[-+#\s]|$)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_REFERENCE = re.compile(r"@|#(?=\d)")
# A comment may have 65,536 characters; the tables above the details need some of them.
_ROOM = 45_000
_RUN = re.compile("`+")


def plain_text(text: str) -> str:
    """``text`` as words on one line."""
    escaped = _SPECIAL.sub(lambda match: "\\" + match.group(), _entities(one_line(text)))
    escaped = _LEADING.sub(r"\1\\\2", escaped)
    # Mentions and references are looked for after escapes are read; an empty comment breaks them up unseen.
    return _REFERENCE.sub(r"\g<0><!-- -->", escaped)


def code(text: str) -> str:
    """``text`` as a code span on one line, outside of tables."""
    words = one_line(text)
    if not words:
        return ""
    fence = "`" * (_longest_run(words) + 1)
    pad = " " if words[0] == "`" or words[-1] == "`" or words.strip() == "" else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def cell(text: str) -> str:
    """``text`` as a code span in a table's cell, where a bar needs a backslash even in code."""
    return code(text).replace("|", "\\|")


def fenced(lines: Iterable[str], language: str) -> str:
    """A code block, its fence longer than any run of backticks inside."""
    body = visible("\n".join(lines))
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def pipe_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are safe already."""
    lines = [f"| {' | '.join(headers)} |", f"|{' --- |' * len(headers)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def folded(summary: str, body: str) -> str:
    """A section that opens on a click; ``summary`` is plain text, ``body`` Markdown."""
    return f"<details><summary>{_entities(one_line(summary))}</summary>\n\n{body}\n\n</details>"


def fitting(parts: Sequence[str], noun: str) -> list[str]:
    """The first parts that a comment on GitHub has room for, and a line that says how many were left out."""
    kept: list[str] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > _ROOM:
            left = counted(len(parts) - len(kept), noun)
            return [*kept, f"{left} left out here for length; the other formats hold all."]
        kept.append(part)
    return kept


def document(parts: Iterable[str]) -> str:
    """Parts that are not empty, an empty line between them, a line break at the end."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _entities(text: str) -> str:
    return re.sub("[&<>]", lambda match: _ENTITIES[match.group()], text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)
