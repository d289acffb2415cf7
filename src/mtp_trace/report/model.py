"""The report's dataclasses, schema v1: keys are stable, added to and never renamed.

A leaf: it imports nothing of the project. ``docs/report-schema.md`` describes every key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

SCHEMA = 1


class Verdict(str, Enum):
    """What the launch comes to."""

    ACTIVE = "active"
    DEGRADED = "degraded"
    INACTIVE = "inactive"
    STARTUP_ERROR = "startup-error"
    DEPENDS = "depends"
    UNDETERMINED = "undetermined"


class Severity(str, Enum):
    """How much a finding matters, most first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Change:
    """One flag or environment change: ``kind`` is "flag" or "env"; ``new`` None removes it, "" is a bare switch."""

    kind: str
    name: str
    old: str | None
    new: str | None
    why: str = ""


@dataclass(frozen=True)
class Fix:
    """What to change, for a person (``text``) and for a program (``changes``)."""

    text: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing worth saying, at a place. ``file`` is relative to the tree's python root (as ``sglang/srt/...``)."""

    rule: str
    severity: Severity
    title: str
    message: str
    file: str | None = None
    line: int | None = None
    end_line: int | None = None
    snippet: str = ""
    fix: Fix | None = None
    related: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Place:
    """A secondary location of a finding."""

    file: str
    line: int
    end_line: int
    note: str = ""
    snippet: str = ""


@dataclass(frozen=True)
class Step:
    """One step of the activation path."""

    stage: str
    kind: str
    file: str
    line: int
    function: str
    text: str
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """The error that stops the launch (or, for ``undetermined``, the place where the trace stopped)."""

    type: str
    message: str
    file: str | None = None
    line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True)
class Option:
    """One answer to an open question, and the verdict it leads to."""

    value: str
    verdict: Verdict


@dataclass(frozen=True)
class Question:
    """What the verdict hangs on."""

    question: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class LogLine:
    """A line that SGLang itself would log."""

    level: str
    message: str
    file: str
    line: int


@dataclass(frozen=True)
class Assumption:
    """Something taken for granted, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class SglangInfo:
    """Which tree was read."""

    root: str
    version: str | None
    ref: str | None = None


@dataclass(frozen=True)
class ModelInfo:
    """Which model was read."""

    path: str
    architectures: tuple[str, ...] = ()
    model_type: str | None = None


@dataclass(frozen=True)
class LaunchInfo:
    """What was launched, as given."""

    argv: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    gpu: str | None = None


@dataclass(frozen=True)
class DraftInfo:
    """The draft model that the launch would load."""

    architecture: str | None
    cls: str | None = field(default=None, metadata={"name": "class"})
    file: str | None = None
    line: int | None = None
    num_nextn_predict_layers: int | None = None
    model_path: str | None = None


@dataclass(frozen=True)
class Suggestion:
    """A launch that was re-traced and found better."""

    argv: tuple[str, ...]
    env: dict[str, str]
    changes: tuple[Change, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Report:
    """One launch, judged. ``resolved`` maps a ServerArgs field to its value or to ``{"unknown": why}``.

    ``accepted`` is the reason for which a baseline takes the verdict as known; None where no baseline names it.
    """

    verdict: Verdict
    sglang: SglangInfo
    model: ModelInfo
    launch: LaunchInfo
    id: str | None = None
    stage: str | None = None
    resolved: dict[str, Any] = field(default_factory=dict)
    draft: DraftInfo | None = None
    worker: str | None = None
    error: Failure | None = None
    depends_on: tuple[Question, ...] = ()
    findings: tuple[Finding, ...] = ()
    path: tuple[Step, ...] = ()
    logs: tuple[LogLine, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    suggestion: Suggestion | None = None
    weights: dict[str, Any] | None = None
    accepted: str | None = None
    schema: int = SCHEMA
