"""Comparisons for a person at a terminal: two trees' facts, an upgrade's deployments, models against releases."""

from __future__ import annotations

from mtp_trace.report.compare_model import Deployment, Diff, Effect, FactChange, FactMove, FactSide, Gate, Matrix
from mtp_trace.report.facttext import value_text
from mtp_trace.report.model import Verdict
from mtp_trace.report.outcome import at, headline
from mtp_trace.report.tally import (
    diff_tally,
    effect_text,
    gate_tally,
    matrix_axes,
    matrix_tally,
    move_text,
    runs_text,
    tree_name,
)
from mtp_trace.report.terminal import VERDICT_STYLES, add_launch_diff
from mtp_trace.report.terminal_console import Page, Screen, joined, styled, table
from mtp_trace.report.textsafe import one_line

_MOVES = {FactMove.ADDED: ("+", "green"), FactMove.REMOVED: ("-", "red"), FactMove.CHANGED: ("~", "yellow")}
_EFFECTS = {Effect.REGRESSION: "bold red", Effect.IMPROVEMENT: "green", Effect.CHANGED: "yellow", Effect.NONE: "dim"}


def render_diff(diff: Diff, screen: Screen, quiet: bool = False) -> str:
    """Every fact that differs; ``quiet`` leaves only the sum."""
    page = Page(screen)
    names = f"  {tree_name(diff.old)} to {tree_name(diff.new)}"
    page.add(joined((diff_tally(diff), "bold"), (names, "dim")))
    if diff.changes and not quiet:
        page.line()
    for change in () if quiet else diff.changes:
        _add_change(page, change)
    return page.text()


def render_gate(gate: Gate, screen: Screen, quiet: bool = False) -> str:
    """Every deployment; those that stay as they are on one line. ``quiet`` leaves only the sum."""
    page = Page(screen)
    names = f"  {tree_name(gate.old)} to {tree_name(gate.new)}"
    page.add(joined((gate_tally(gate), "bold"), (names, "dim")))
    for deployment in () if quiet else gate.deployments:
        _add_deployment(page, deployment)
    return page.text()


def render_matrix(matrix: Matrix, screen: Screen, quiet: bool = False) -> str:
    """Releases down, models across, as many tables as the width needs; ``quiet`` leaves only the sum."""
    page = Page(screen)
    page.line(matrix_tally(matrix), "bold")
    if quiet:
        return page.text()
    models, releases, cells = matrix_axes(matrix)
    first = max((len(release) for release in releases), default=0)
    for group in _fitting(models, page.screen.width - first - 2):
        grid = table("release", *group)
        for release in releases:
            found = [cells.get((model, release)) for model in group]
            words = [styled(c.verdict.value, VERDICT_STYLES[c.verdict]) if c else styled("") for c in found]
            grid.add_row(styled(release), *words)
        page.line()
        page.add(grid)
    if matrix.models:
        page.heading(f"Where it runs with {one_line(' '.join(matrix.models[0].flags))}")
    for runs in matrix.models:
        page.add(joined((f"{runs.model}: ", "cyan"), (runs_text(runs), "")))
    notes = [cell for cell in matrix.cells if cell.note]
    if notes:
        page.heading("Notes")
    for cell in notes:
        page.add(joined((f"{cell.model} {cell.release}: ", "cyan"), (cell.note, "")))
    return page.text()


def _add_change(page: Page, change: FactChange) -> None:
    sign, style = _MOVES[change.change]
    page.add(joined((f"{sign} ", style), (f"{change.kind} ", "dim"), (change.what, "bold")))
    for label, side in (("old", change.old), ("new", change.new)):
        if side is not None:
            page.indented(f"{label}: {_side(side)}")


def _side(side: FactSide) -> str:
    return f"{value_text(side.value)}  {at(side.file, side.line)}"


def _add_deployment(page: Page, deployment: Deployment) -> None:
    old, new = deployment.old, deployment.new
    page.line()
    page.add(
        joined(
            (effect_text(deployment.change), _EFFECTS[deployment.change]),
            (f"  {deployment.id}  ", "bold"),
            (old.verdict.value, VERDICT_STYLES[old.verdict]),
            (" to ", "dim"),
            (new.verdict.value, VERDICT_STYLES[new.verdict]),
        )
    )
    if deployment.change is Effect.NONE:
        if new.verdict is not Verdict.ACTIVE:
            with page.inset():
                page.line(f"both: {headline(new)}")
        return
    with page.inset():
        page.line(f"old: {headline(old)}")
        page.line(f"new: {headline(new)}")
        reason = deployment.reason
        if reason is not None:
            page.line(f"reason: {reason.message}  {at(reason.file, reason.line)}")
        for move in deployment.flags:
            page.line(f"flag: {move_text(move)}  {at(move.file, move.line)}".rstrip())
        if deployment.commit:
            page.line(f"commit: {deployment.commit}")
        if deployment.suggestion is not None:
            add_launch_diff(page, new, deployment.suggestion)


def _fitting(models: list[str], width: int) -> list[list[str]]:
    """The models in groups whose columns fit side by side; one that fits nowhere stands alone."""
    groups: list[list[str]] = []
    used = 0
    for model in models:
        need = max(len(model), len("startup-error")) + 2
        if not groups or used + need > width:
            groups.append([])
            used = 0
        groups[-1].append(model)
        used += need
    return groups
