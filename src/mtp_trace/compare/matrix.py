"""Models against trees: a cell each, and for each model where it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mtp_trace.compare.judging import How, judge_trees
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.compare_model import Cell, Matrix, ModelRuns
from mtp_trace.report.model import Change, Report, SglangInfo, Verdict
from mtp_trace.report.outcome import at, by_severity, open_text
from mtp_trace.report.textsafe import clip, one_line
from mtp_trace.verdict.case import Case

_NOTE = 160
SUGGESTING = How(suggest=True)


def matrix(
    trees: Sequence[TreeSpec],
    models: Mapping[str, str],
    flags: Sequence[str],
    env: Mapping[str, str] | None = None,
    gpu: str | None = None,
    gpu_count: int | None = None,
    how: How = SUGGESTING,
    workers: int | None = None,
) -> Matrix:
    """Every model, launched with ``flags``, in every tree. ``models`` maps names to paths."""
    cases = [
        Case(name, ("--model-path", path, *flags), dict(env or {}), gpu, gpu_count) for name, path in models.items()
    ]
    rows = judge_trees(trees, cases, how, workers)
    return of_reports(trees, cases, rows, flags)


def of_reports(
    trees: Sequence[TreeSpec], cases: Sequence[Case], rows: Sequence[Sequence[Report]], flags: Sequence[str]
) -> Matrix:
    """The matrix of reports, a row for each tree."""
    cells = [
        _cell(case.id, tree.name, report) for i, case in enumerate(cases) for tree, report in _column(trees, rows, i)
    ]
    runs = [_runs(case.id, list(_column(trees, rows, i)), tuple(flags)) for i, case in enumerate(cases)]
    roots = dict.fromkeys(report.sglang.root for row in rows for report in row[:1])
    return Matrix(tuple(cells), SglangInfo(root=", ".join(roots), version=None), tuple(runs))


def _column(trees: Sequence[TreeSpec], rows: Sequence[Sequence[Report]], index: int) -> list[tuple[TreeSpec, Report]]:
    return [(tree, row[index]) for tree, row in zip(trees, rows)]


def _cell(model: str, release: str, report: Report) -> Cell:
    draft = report.draft and (report.draft.cls or report.draft.architecture)
    return Cell(model, release, report.verdict, report.stage, draft or None, _note(report))


def _note(report: Report) -> str:
    if report.verdict is Verdict.ACTIVE:
        return ""
    parts = []
    if report.error is not None:
        place = at(report.error.file, report.error.line)
        text = clip(one_line(report.error.message or report.error.type), _NOTE)
        parts.append(f"{text} ({place})" if place else text)
    elif report.depends_on:
        parts.append(open_text(report))
    else:
        worst = next(iter(by_severity(report.findings)), None)
        parts += [one_line(worst.title)] if worst is not None else []
    if report.suggestion is not None:
        parts.append(f"runs with {changes_text(report.suggestion.changes)}")
    return "; ".join(parts)


def changes_text(changes: Sequence[Change]) -> str:
    """Changes in a few words: ``--flag value``, ``NAME=value``, ``no --flag``."""
    words = []
    for change in changes:
        if change.new is None:
            words.append(f"no {change.name}")
        elif change.kind == "env":
            words.append(f"{change.name}={change.new}")
        else:
            words.append(f"{change.name} {change.new}".rstrip())
    return ", ".join(one_line(word) for word in words)


def _runs(model: str, column: list[tuple[TreeSpec, Report]], flags: tuple[str, ...]) -> ModelRuns:
    spans: list[tuple[str, str]] = []
    open_span = False
    for tree, report in column:
        runs = report.verdict is Verdict.ACTIVE
        if runs and open_span:
            spans[-1] = (spans[-1][0], tree.name)
        elif runs:
            spans.append((tree.name, tree.name))
        open_span = runs
    first = spans[0][0] if spans else None
    for tree, report in column:
        if tree.name == first:
            break
        if report.suggestion is not None:
            text = changes_text(report.suggestion.changes)
            return ModelRuns(model, first, flags, tuple(spans), tree.name, text)
    return ModelRuns(model, first, flags, tuple(spans))
