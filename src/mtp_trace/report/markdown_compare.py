"""Markdown of the comparisons: two trees' facts, an upgrade's deployments, models against releases."""

from __future__ import annotations

from mtp_trace.report.compare_model import Cell, Deployment, Diff, Effect, FactSide, Gate, Matrix
from mtp_trace.report.facttext import value_text
from mtp_trace.report.markdown import headline_text, suggestion_part
from mtp_trace.report.markdown_text import cell, code, document, fitting, folded, pipe_table, plain_text
from mtp_trace.report.model import SglangInfo
from mtp_trace.report.outcome import at
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


def diff_markdown(diff: Diff) -> str:
    """A table of the facts that differ."""
    rows = [
        (change.change.value, plain_text(change.kind), plain_text(change.what), _side(change.old), _side(change.new))
        for change in diff.changes
    ]
    table = pipe_table(("change", "kind", "what", "old", "new"), rows) if rows else ""
    return document([f"## mtp-trace diff: {plain_text(diff_tally(diff))}", _trees(diff.old, diff.new), table])


def gate_markdown(gate: Gate) -> str:
    """A table of the deployments, then each that changes in full, folded away."""
    rows = [
        (
            effect_text(deployment.change),
            plain_text(deployment.id),
            deployment.old.verdict.value,
            deployment.new.verdict.value,
            _reason(deployment),
        )
        for deployment in gate.deployments
    ]
    table = pipe_table(("change", "deployment", "old", "new", "reason"), rows) if rows else ""
    details = [_deployment(deployment) for deployment in gate.deployments if deployment.change is not Effect.NONE]
    heading = f"## mtp-trace gate: {plain_text(gate_tally(gate))}"
    return document([heading, _trees(gate.old, gate.new), table, *fitting(details, "deployment")])


def matrix_markdown(matrix: Matrix) -> str:
    """Releases down, models across."""
    models, releases, cells = matrix_axes(matrix)
    rows = [(plain_text(release), *(_cell(cells.get((model, release))) for model in models)) for release in releases]
    table = pipe_table(("release", *map(plain_text, models)), rows) if rows else ""
    runs = [f"- {plain_text(item.model)}: {plain_text(runs_text(item))}" for item in matrix.models]
    head = f"Launched with {code(' '.join(matrix.models[0].flags))}" if matrix.models and matrix.models[0].flags else ""
    return document([f"## mtp-trace matrix: {plain_text(matrix_tally(matrix))}", head, "\n".join(runs), table])


def _trees(old: SglangInfo, new: SglangInfo) -> str:
    return f"{code(tree_name(old))} to {code(tree_name(new))}"


def _side(side: FactSide | None) -> str:
    return f"{cell(value_text(side.value))} at {cell(at(side.file, side.line))}" if side else ""


def _reason(deployment: Deployment) -> str:
    reason = deployment.reason
    if reason is None:
        return ""
    return plain_text(reason.message) + (f" at {cell(at(reason.file, reason.line))}" if reason.file else "")


def _deployment(deployment: Deployment) -> str:
    parts = [
        f"- old: {headline_text(deployment.old)}\n- new: {headline_text(deployment.new)}",
        "\n".join(f"- {plain_text(move_text(move))} {code(at(move.file, move.line))}" for move in deployment.flags),
        f"Brought by {code(deployment.commit)}" if deployment.commit else "",
        suggestion_part(deployment.new, deployment.suggestion) if deployment.suggestion else "",
    ]
    return folded(f"{deployment.id} ({effect_text(deployment.change)})", document(parts).rstrip("\n"))


def _cell(found: Cell | None) -> str:
    if found is None:
        return ""
    return found.verdict.value + (f" ({plain_text(found.note)})" if found.note else "")
