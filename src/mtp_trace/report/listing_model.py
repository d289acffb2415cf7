"""What ``audit`` and ``scan`` hand to the renderers: launches found in files, facts found in a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mtp_trace.report.model import Report, SglangInfo


@dataclass(frozen=True)
class AuditEntry:
    """One launch found in a file, judged. ``file`` is relative to the audited root, ``line`` starts at 1.

    ``source`` is ``shell``, ``systemd``, ``dockerfile``, ``compose``, ``kubernetes`` or ``config``; ``unresolved``
    names the variables and words of the command that nobody gave a value.
    """

    file: str
    line: int
    source: str
    name: str
    report: Report
    argv: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    unresolved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """Every launch of one audit, in the order found."""

    sglang: SglangInfo
    launches: tuple[AuditEntry, ...] = ()


@dataclass(frozen=True)
class Fact:
    """One thing that a tree says about speculation; ``details`` holds the keys of its kind (``from``, ``to``, ...)."""

    kind: str
    rule: str
    file: str
    line: int
    end_line: int
    snippet: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scan:
    """Every fact of one tree, in order of file and line."""

    sglang: SglangInfo
    facts: tuple[Fact, ...] = ()
