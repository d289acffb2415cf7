"""Launches judged on trees, each tree opened once, over the cores there are. Workers hand back plain report data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mtp_trace.compare.trees import TreeSpec
from mtp_trace.errors import InputError
from mtp_trace.report.model import Report, Verdict

if TYPE_CHECKING:
    from mtp_trace.verdict.session import Session


@dataclass(frozen=True)
class Case:
    """One launch: SGLang's own arguments, the environment, a GPU profile, the model where argv does not hold it."""

    id: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict, hash=False)
    gpu: str | None = None
    gpu_count: int | None = None
    model: str | None = None


@dataclass(frozen=True)
class _Refusal:
    """An InputError on its way out of a worker: the exception itself would lose its parts."""

    what: str
    where: str
    hint: str


def open_session(tree: TreeSpec) -> Session:
    """A session on a tree, with the forms kept on disk."""
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.session import Session

    return Session(tree.open(), DiskCache())


def judge_case(session: Session, case: Case) -> Report:
    """One case on an open session."""
    from mtp_trace.checkpoint.folder import ModelFolder

    gpu = session.gpus.find(case.gpu, case.gpu_count) if case.gpu else None
    model = ModelFolder.open(case.model) if case.model else None
    return session.check(list(case.argv), dict(case.env), gpu, model, case=case.id)


def judge_tree(tree: TreeSpec, cases: Sequence[Case], suggest: bool = False) -> list[Report]:
    """All cases on one tree; with ``suggest``, what does not run is given a re-traced suggestion where one is found."""
    from mtp_trace.compare.suggest import suggested

    session = open_session(tree)
    try:
        reports = [judge_case(session, case) for case in cases]
        if not suggest:
            return reports
        return [
            report if report.verdict is Verdict.ACTIVE else replace(report, suggestion=suggested(session, case, report))
            for case, report in zip(cases, reports)
        ]
    finally:
        session.tree.close()


def judge_trees(
    trees: Sequence[TreeSpec], cases: Sequence[Case], suggest: bool = False, workers: int | None = None
) -> list[list[Report]]:
    """For each tree the reports of all cases, in order.

    Raises InputError for the first tree, model or GPU that cannot be used.
    """
    count = min(len(trees), workers or cores())
    if count <= 1:
        return [judge_tree(tree, cases, suggest) for tree in trees]
    import multiprocessing

    # Spawned, not forked: the parent may hold threads, and a worker's recursion limit and stack are its own.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        futures = [pool.submit(_work, tree, tuple(cases), suggest) for tree in trees]
        try:
            return [_reports(future) for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _work(tree: TreeSpec, cases: tuple[Case, ...], suggest: bool) -> list[Report] | _Refusal:
    try:
        return judge_tree(tree, cases, suggest)
    except InputError as error:
        return _Refusal(error.what, error.where, error.hint)


def _reports(future: Future[list[Report] | _Refusal]) -> list[Report]:
    found = future.result()
    if isinstance(found, _Refusal):
        raise InputError(found.what, found.where, found.hint)
    return found
