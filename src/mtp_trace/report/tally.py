"""The one-line sums that stand above lists: how many launches came to which verdict, how many facts of which kind."""

from __future__ import annotations

from collections.abc import Iterable

from mtp_trace.report.compare_model import Cell, Diff, Effect, FactMove, FlagMove, Gate, Matrix, ModelRuns
from mtp_trace.report.listing_model import Audit, Scan
from mtp_trace.report.model import SglangInfo, Verdict
from mtp_trace.report.textsafe import counted, one_line


def audit_tally(audit: Audit) -> str:
    """``3 launches: 2 startup-error, 1 active``."""
    verdicts = [entry.report.verdict.value for entry in audit.launches]
    return _sum("launch", verdicts, _worst_first())


def scan_tally(scan: Scan) -> str:
    """``5 facts: 2 guard, 3 override``."""
    kinds = [one_line(fact.kind) for fact in scan.facts]
    return _sum("fact", kinds, sorted(set(kinds)))


def diff_tally(diff: Diff) -> str:
    """``3 changes: 1 added, 2 removed``."""
    return _sum("change", [change.change.value for change in diff.changes], [move.value for move in FactMove])


def gate_tally(gate: Gate) -> str:
    """``4 deployments: 1 regression, 3 none`` with "unchanged" for none."""
    order = (Effect.REGRESSION, Effect.CHANGED, Effect.IMPROVEMENT, Effect.NONE)
    return _sum("deployment", [effect_text(d.change) for d in gate.deployments], [effect_text(e) for e in order])


def matrix_tally(matrix: Matrix) -> str:
    """``6 cells: 1 startup-error, 5 active``."""
    return _sum("cell", [cell.verdict.value for cell in matrix.cells], _worst_first())


def runs_text(runs: ModelRuns) -> str:
    """Where a model runs: ``from 1.0: 1.0 to 1.2, 1.4``, and what an earlier release needs."""
    spans = ", ".join(a if a == b else f"{a} to {b}" for a, b in runs.spans)
    text = f"runs first in {runs.first} ({spans})" if runs.first is not None else "runs in none of these"
    return one_line(text + (f"; in {runs.sooner} with {runs.sooner_with}" if runs.sooner else ""))


def move_text(move: FlagMove) -> str:
    """A flag's move in words."""
    if move.to is None:
        return one_line(f"{move.flag} is no flag there any more")
    return one_line(f"{move.flag} is now {move.to}" + (f" ({move.why})" if move.why else ""))


def effect_text(effect: Effect) -> str:
    """An effect as a word that stands alone: ``none`` reads as "unchanged"."""
    return "unchanged" if effect is Effect.NONE else effect.value


def _worst_first() -> list[str]:
    order = (
        Verdict.STARTUP_ERROR,
        Verdict.INACTIVE,
        Verdict.DEGRADED,
        Verdict.UNDETERMINED,
        Verdict.DEPENDS,
        Verdict.ACTIVE,
    )
    return [verdict.value for verdict in order]


def _sum(noun: str, words: list[str], order: Iterable[str]) -> str:
    parts = [f"{words.count(word)} {word}" for word in order if word in words]
    return counted(len(words), noun) + (": " + ", ".join(parts) if parts else "")


def tree_name(info: SglangInfo) -> str:
    """A tree in a word: its version and ref, or its root where neither is known."""
    return " ".join(one_line(part) for part in (info.version, info.ref) if part) or one_line(info.root)


def matrix_axes(matrix: Matrix) -> tuple[list[str], list[str], dict[tuple[str, str], Cell]]:
    """The models and the releases, each in order of first appearance, and the cells by ``(model, release)``."""
    models = list(dict.fromkeys(cell.model for cell in matrix.cells))
    releases = list(dict.fromkeys(cell.release for cell in matrix.cells))
    return models, releases, {(cell.model, cell.release): cell for cell in matrix.cells}
