"""The activation path as a tree, and the deciding line of source with its neighbours."""

from __future__ import annotations

from mtp_trace.report.model import Place, Step
from mtp_trace.report.outcome import SourceLines, at
from mtp_trace.report.terminal_console import Page, joined, styled
from mtp_trace.report.textsafe import visible

_NEIGHBOURS = 2
_LONGEST_SPAN = 12


def add_path(page: Page, steps: tuple[Step, ...]) -> None:
    """The steps in order, grouped by stage, each with its place and function."""
    from rich.tree import Tree

    page.line()
    tree = Tree(styled("Activation path", "bold"), guide_style="dim")
    stage, branch = None, tree
    for step in steps:
        if step.stage != stage:
            stage = step.stage
            branch = tree.add(styled(stage, "bold"))
        where = " in ".join(part for part in (at(step.file, step.line), step.function) if part)
        label = joined((f"{step.kind}: ", "cyan"), (step.text, ""), (f"  {where}" if where else "", "dim"))
        node = branch.add(label)
        if step.note:
            node.add(styled(step.note, "italic"))
    page.add(tree)


def add_source(page: Page, place: Place, source_lines: SourceLines | None) -> None:
    """The lines of ``place`` marked, with two lines of context; the recorded snippet where the file cannot be had."""
    page.line()
    page.add(joined(("Deciding line  ", "bold"), (at(place.file, place.line), "bold cyan")))
    end = min(place.end_line, place.line + _LONGEST_SPAN - 1)
    first = max(place.line - _NEIGHBOURS, 1)
    lines = source_lines(place.file, first, end + _NEIGHBOURS) if source_lines else None
    if not lines:
        first, lines = place.line, place.snippet.splitlines()[:_LONGEST_SPAN]
    bar = "\u2502" if page.screen.unicode else "|"
    digits = len(str(first + len(lines)))
    for number, line in enumerate(lines, first):
        decides = place.line <= number <= end
        gutter = f"{'>' if decides else ' '} {number:>{digits}} {bar} "
        page.cropped(gutter, visible(line.rstrip("\n")), "bold red" if decides else "dim")
