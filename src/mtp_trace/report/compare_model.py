"""What ``diff``, ``gate`` and ``matrix`` hand to the renderers: two trees, or many, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mtp_trace.report.model import Report, SglangInfo, Suggestion, Verdict


class FactMove(str, Enum):
    """What became of a fact between two trees."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Effect(str, Enum):
    """What an upgrade does to one deployment: ``changed`` is neither better nor worse, but not the same."""

    NONE = "none"
    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    CHANGED = "changed"


@dataclass(frozen=True)
class FactSide:
    """A fact as one tree states it; ``value`` is plain JSON data."""

    file: str
    line: int
    value: Any


@dataclass(frozen=True)
class FactChange:
    """One fact that differs; ``what`` names it, ``old`` is None where it was added and ``new`` where it was removed."""

    kind: str
    change: FactMove
    what: str
    old: FactSide | None = None
    new: FactSide | None = None


@dataclass(frozen=True)
class Diff:
    """Two trees and the facts in which they differ."""

    old: SglangInfo
    new: SglangInfo
    changes: tuple[FactChange, ...] = ()


@dataclass(frozen=True)
class Reason:
    """The line of the new tree (or, for a removal, of the old one) that makes the difference."""

    message: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class FlagMove:
    """A flag of a launch that the new tree does not take: ``to`` is its successor there, with its place."""

    flag: str
    to: str | None = None
    why: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Deployment:
    """One launch judged in both trees; ``commit`` is the change that brought the difference, where it was found."""

    id: str
    old: Report
    new: Report
    change: Effect
    reason: Reason | None = None
    commit: str | None = None
    suggestion: Suggestion | None = None
    flags: tuple[FlagMove, ...] = ()


@dataclass(frozen=True)
class Gate:
    """Every deployment of an upgrade."""

    old: SglangInfo
    new: SglangInfo
    deployments: tuple[Deployment, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One model in one release; ``draft`` is the draft's class or architecture."""

    model: str
    release: str
    verdict: Verdict
    stage: str | None = None
    draft: str | None = None
    note: str = ""


@dataclass(frozen=True)
class ModelRuns:
    """Where a model runs with ``flags``: ``first`` release and the ``spans`` of releases, each first and last.

    ``sooner`` is an earlier release that runs it once the launch is changed as ``sooner_with`` says.
    """

    model: str
    first: str | None
    flags: tuple[str, ...] = ()
    spans: tuple[tuple[str, str], ...] = ()
    sooner: str | None = None
    sooner_with: str = ""


@dataclass(frozen=True)
class Matrix:
    """Models against releases; ``sglang`` says where the releases came from."""

    cells: tuple[Cell, ...] = ()
    sglang: SglangInfo = field(default_factory=lambda: SglangInfo(root="", version=None))
    models: tuple[ModelRuns, ...] = ()
