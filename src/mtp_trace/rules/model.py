"""A rule in memory: what it matches, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtp_trace.report.model import Severity
from mtp_trace.rules.regex import SafeRegex

SCHEMA = 1
"""The newest rule schema that this program reads."""

KINDS = (
    "architecture-remap",
    "algorithm-rewrite",
    "draft-path-auto-set",
    "draft-parameters",
    "guard",
    "draft-class",
    "env-switch",
    "backend-guard",
    "scheduler-strategy",
    "overlap",
    "override",
    "state-update",
    "checkpoint",
    "launch",
)
"""What a rule is about; the kind of the facts that ``scan`` makes of its sites."""

REQUIRES = ("nothing", "site", "any-of-kind", "tree-site")


@dataclass(frozen=True)
class Condition:
    """A test on one value. Every part that is given must hold."""

    equals: tuple[Any, ...] | None = None
    none_of: tuple[Any, ...] | None = None
    matches: SafeRegex | None = None
    lacks: SafeRegex | None = None
    given: bool | None = None
    above: float | None = None
    below: float | None = None
    contains: str | None = None
    near: str | None = None
    same: str | None = None
    differs: str | None = None
    divides: str | None = None
    indivisible: str | None = None


@dataclass(frozen=True)
class ValueTest:
    """A test on an assigned or returned expression."""

    text: SafeRegex | None = None
    texts: bool | None = None
    numbers: int | None = None
    reads: SafeRegex | None = None
    avoids: SafeRegex | None = None
    calls: SafeRegex | None = None
    constant: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class SiteClause:
    """One way in which a place may look. ``kinds`` names the spot kinds, ``name`` the field, callee, class, ..."""

    kinds: tuple[str, ...]
    name: SafeRegex | None = None
    message: SafeRegex | None = None
    value: ValueTest | None = None
    owner: SafeRegex | None = None
    spelling: tuple[str, ...] | None = None
    guard: tuple[SafeRegex, ...] = ()
    unless_guard: tuple[SafeRegex, ...] = ()
    guard_implied: bool = False
    function: SafeRegex | None = None
    cls: SafeRegex | None = None
    exported: str = ""
    beside: SiteClause | None = None
    without: SiteClause | None = None


@dataclass(frozen=True)
class Capture:
    """A value taken from a site: ``how`` is the extractor, ``what`` its argument, ``fields`` those of ``numbers``."""

    name: str
    how: str
    what: SafeRegex | None = None
    fields: tuple[SafeRegex, ...] = ()


@dataclass(frozen=True)
class SiteMatch:
    """Places in a tree: any of the clauses, in files that hold all the words."""

    words: tuple[str, ...]
    any_of: tuple[SiteClause, ...]
    captures: tuple[Capture, ...] = ()
    file_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class EventClause:
    """Something that happened in a traced launch."""

    kinds: tuple[str, ...]
    name: SafeRegex | None = None
    value: Condition | None = None
    text: SafeRegex | None = None
    guard: SafeRegex | None = None
    function: SafeRegex | None = None
    stage: tuple[str, ...] | None = None
    pick: str = "last"


@dataclass(frozen=True)
class When:
    """What must hold of the launch: paths (``resolved.page_size``, ``config.num_hidden_layers``) and their tests."""

    tests: tuple[tuple[str, Condition], ...] = ()


@dataclass(frozen=True)
class Further:
    """A further place that a rule shows. ``file`` is the path of a fact that names the only file looked at."""

    name: str
    part: EventClause | SiteMatch
    where: tuple[tuple[str, Condition], ...] = ()
    file: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Match:
    """When a rule speaks about a launch. All parts that are given must hold."""

    when: When = When()
    event: EventClause | None = None
    no_event: EventClause | None = None
    site: SiteMatch | None = None
    no_site: bool = False
    before: SiteMatch | None = None
    site_where: tuple[tuple[str, Condition], ...] = ()
    also: tuple[Further, ...] = ()
    silent_if: tuple[str, ...] = ()
    at: str = ""
    launch: bool = True
    each: bool = False


@dataclass(frozen=True)
class ChangeSpec:
    """A change of a fix: a flag (or the first of ``fields`` that the tree has a flag for) or a variable."""

    kind: str
    name: str = ""
    fields: tuple[str, ...] = ()
    to: str | None = None
    why: str = ""


@dataclass(frozen=True)
class FixSpec:
    """What to change, in words and for a program."""

    text: str
    changes: tuple[ChangeSpec, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One rule. ``file`` and ``line`` say where it was read."""

    id: str
    name: str
    kind: str
    severity: Severity
    message: str
    why: str
    match: Match
    fix: FixSpec | None = None
    requires: str = "nothing"
    references: tuple[str, ...] = ()
    since_schema: int = 1
    scan: dict[str, str] | None = None
    general: bool = False
    example: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Suppression:
    """A rule that is not to speak, and why."""

    rule: str
    reason: str
    where: str = ""


@dataclass(frozen=True)
class Settings:
    """What a project says of the rules: more folders, rules switched off, other severities."""

    rules: tuple[Path, ...] = ()
    disabled: tuple[Suppression, ...] = ()
    severity: dict[str, Severity] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True)
class Pack:
    """The rules in force, by id, in order."""

    rules: tuple[Rule, ...]
    settings: Settings = Settings()

    def get(self, rule_id: str) -> Rule | None:
        """One rule."""
        return next((r for r in self.rules if r.id == rule_id), None)

    @property
    def active(self) -> tuple[Rule, ...]:
        """The rules that are not switched off."""
        off = {s.rule for s in self.settings.disabled}
        return tuple(r for r in self.rules if r.id not in off)
