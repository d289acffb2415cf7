"""Breaks a text's lines in other places without changing what it says."""

from __future__ import annotations

import io
import random
import tokenize

_BREAKS = ("\n", " \n ", "\n\n", " # c\n  ", "\\\n", "\n# c\n\n")
_QUIET = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT)


def reflow(text: str, seed: int) -> str:
    """The text with line ends, comments and continuations put in wherever its tokens allow it."""
    dice = random.Random(seed)
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    depth, previous, last = 0, (1, 0), ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            continue
        gap = _between(lines, previous, token.start)
        # LibCST fails where a line ends after a comprehension's async.
        if token.type not in _QUIET and last != "async" and not gap.endswith("\\\n"):
            if depth and dice.random() < 0.4:
                gap += dice.choice(_BREAKS)
            elif not depth and _mid_line(lines, previous, token.start) and dice.random() < 0.2:
                gap += "\\\n"
        out += [gap, token.string]
        previous, last = token.end, token.string
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
    return "".join(out)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] > len(lines):
        return ""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    rest = lines[end[0] - 1][: end[1]] if end[0] <= len(lines) else ""
    return lines[start[0] - 1][start[1] :] + "".join(lines[start[0] : end[0] - 1]) + rest


def _mid_line(lines: list[str], previous: tuple[int, int], start: tuple[int, int]) -> bool:
    return previous[0] == start[0] <= len(lines) and bool(lines[start[0] - 1][: start[1]].strip())
