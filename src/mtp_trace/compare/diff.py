"""Two trees and what changed of their activation facts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from mtp_trace.compare.facts import changes
from mtp_trace.compare.flagfacts import flag_changes
from mtp_trace.compare.judging import cores
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.errors import InputError
from mtp_trace.report.compare_model import Diff
from mtp_trace.report.listing_model import Fact
from mtp_trace.report.model import SglangInfo
from mtp_trace.rules.flags import Flag, FlagTable


@dataclass(frozen=True)
class Scanned:
    """What one tree says: its facts and its flags, in plain data."""

    sglang: SglangInfo
    facts: tuple[Fact, ...]
    flags: tuple[Flag, ...] = ()


Scanner = Callable[[TreeSpec], Scanned]


def scan_tree(tree: TreeSpec) -> Scanned:
    """The facts of a tree by the shipped rules."""
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.scan import scan
    from mtp_trace.rules.sites import Sites
    from mtp_trace.rules.yamlfile import shipped
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.programs import TreePrograms
    from mtp_trace.verdict.session import deep

    source = tree.open()
    try:
        info = SglangInfo(source.root, source.version, source.ref)
        programs = TreePrograms(source, DiskCache())
        scope = shipped("scope.yaml")
        found = deep(lambda: scan(load_pack(), Sites(programs, scope["tree"]), info))
        table = deep(lambda: FlagTable.of(Sites(programs, scope["launch"])))
        return Scanned(info, found.facts, tuple(table.flags))
    finally:
        source.close()


def diff(old: TreeSpec, new: TreeSpec, scanner: Scanner = scan_tree, workers: int | None = None) -> Diff:
    """What appeared, vanished or changed between two trees, by kind and name."""
    if scanner is scan_tree and (workers or cores()) > 1:
        before, after = _both(old, new)
    else:
        before, after = scanner(old), scanner(new)
    flags = flag_changes(FlagTable(list(before.flags)), FlagTable(list(after.flags)))
    return Diff(before.sglang, after.sglang, (*changes(before.facts, after.facts), *flags))


def _both(old: TreeSpec, new: TreeSpec) -> tuple[Scanned, Scanned]:
    import multiprocessing

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        first, second = pool.submit(_work, old), pool.submit(_work, new)
        return _scanned(first.result()), _scanned(second.result())


def _work(tree: TreeSpec) -> Scanned | tuple[str, str, str]:
    try:
        return scan_tree(tree)
    except InputError as error:
        return error.what, error.where, error.hint


def _scanned(found: Scanned | tuple[str, str, str]) -> Scanned:
    if isinstance(found, tuple):
        raise InputError(*found)
    return found
