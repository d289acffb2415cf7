"""Launches judged on trees, each tree opened once, over the cores there are. Workers hand back plain report data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mtp_trace.compare.trees import TreeSpec
from mtp_trace.errors import InputError
from mtp_trace.report.model import Report, Verdict
from mtp_trace.verdict.case import Case

if TYPE_CHECKING:
    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.gpu import Gpu
    from mtp_trace.source import SourceTree
    from mtp_trace.verdict.session import Session


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
    gpu, model = equipment(session, case)
    return session.check(list(case.argv), dict(case.env), gpu, model, case=case.id)


def equipment(session: Session, case: Case) -> tuple[Gpu | None, ModelFolder | None]:
    """The GPU and the model folder that a case names."""
    from mtp_trace.checkpoint.folder import ModelFolder

    gpu = session.gpus.find(case.gpu, case.gpu_count) if case.gpu else None
    return gpu, ModelFolder.open(case.model) if case.model else None


@dataclass(frozen=True)
class How:
    """How cases are judged.

    ``suggest``: what does not run is given a re-traced suggestion where one is found. ``remember``: reports of an
    earlier run are taken where nothing changed, and kept.
    """

    suggest: bool = False
    remember: bool = False


def judge_tree(tree: TreeSpec, cases: Sequence[Case], how: How = How()) -> list[Report]:
    """All cases on one tree, which is opened once and parsed only if something has to be traced."""
    source = tree.open()
    try:
        if not how.remember:
            return list(_traced(source, cases, how))
        from mtp_trace.verdict.remembered import Answer, Remembered

        store = Remembered(source, str(how.suggest))
        known = [store.get(case) for case in cases]
        fresh = _traced(source, [case for case, answer in zip(cases, known) if answer is None], how)
        reports = []
        for case, answer in zip(cases, known):
            if answer is None:
                answer = Answer(next(fresh))
                store.put(case, answer)
            reports.append(answer.report)
        return reports
    finally:
        source.close()


def _traced(source: SourceTree, cases: Sequence[Case], how: How) -> Iterator[Report]:
    from mtp_trace.compare.suggest import suggested
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.session import Session

    session = Session(source, DiskCache()) if cases else None
    for case in cases:
        assert session is not None
        report = judge_case(session, case)
        if how.suggest and report.verdict is not Verdict.ACTIVE:
            report = replace(report, suggestion=suggested(session, case, report))
        yield report


def judge_trees(
    trees: Sequence[TreeSpec], cases: Sequence[Case], how: How = How(), workers: int | None = None
) -> list[list[Report]]:
    """For each tree the reports of all cases, in order.

    Raises InputError for the first tree, model or GPU that cannot be used.
    """
    count = min(len(trees), workers or cores())
    if count <= 1:
        return [judge_tree(tree, cases, how) for tree in trees]
    import multiprocessing

    # Spawned, not forked: the parent may hold threads, and a worker's recursion limit and stack are its own.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        futures = [pool.submit(_work, tree, tuple(cases), how) for tree in trees]
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


def _work(tree: TreeSpec, cases: tuple[Case, ...], how: How) -> list[Report] | _Refusal:
    try:
        return judge_tree(tree, cases, how)
    except InputError as error:
        return _Refusal(error.what, error.where, error.hint)


def _reports(future: Future[list[Report] | _Refusal]) -> list[Report]:
    found = future.result()
    if isinstance(found, _Refusal):
        raise InputError(found.what, found.where, found.hint)
    return found
