"""Known findings: written to a file once, filtered from later reports until they expire, listed once they are stale."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from mtp_trace.errors import InputError
from mtp_trace.report.fingerprint import fingerprints
from mtp_trace.report.model import Finding, Report
from mtp_trace.report.outcome import verdict_finding

VERSION = 1
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_TEXT_KEYS = ("fingerprint", "rule", "title", "file", "scope", "reason")


@dataclass(frozen=True)
class BaselineEntry:
    """One known finding. Only ``fingerprint`` is compared; the rest is for the person who reviews the file.

    ``expires`` is the last day on which the entry holds; None holds for ever.
    """

    fingerprint: str
    rule: str
    title: str = ""
    file: str = ""
    scope: str = ""
    reason: str = ""
    expires: date | None = None


@dataclass(frozen=True)
class Baseline:
    """The entries of one baseline file, in its order."""

    entries: tuple[BaselineEntry, ...] = ()


@dataclass(frozen=True)
class Applied:
    """What a baseline left: ``reports`` without known findings (and with accepted verdicts marked), in order.

    ``known`` counts what was filtered. ``stale`` entries match nothing any more; ``expired`` ones would have matched.
    """

    reports: tuple[Report, ...]
    known: int
    stale: tuple[BaselineEntry, ...]
    expired: tuple[BaselineEntry, ...]


def load_baseline(path: Path) -> Baseline:
    """Read a baseline file; ``InputError`` says what is wrong with it and where."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "write one first, or drop the option"
        raise InputError(f"the baseline cannot be read: {error}", str(path), hint) from error
    return parse_baseline(text, str(path))


def save_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline file; ``InputError`` where it cannot be written."""
    try:
        path.write_text(baseline_text(baseline), encoding="utf-8")
    except OSError as error:
        raise InputError(f"the baseline cannot be written: {error}", str(path)) from error


def baseline_text(baseline: Baseline) -> str:
    """A baseline as JSON, entries sorted so that two branches that add entries merge well."""
    entries = sorted(baseline.entries, key=lambda entry: (entry.scope, entry.file, entry.rule, entry.fingerprint))
    data = {
        "version": VERSION,
        "entries": [
            {
                **{key: getattr(entry, key) for key in _TEXT_KEYS},
                "expires": entry.expires.isoformat() if entry.expires else None,
            }
            for entry in entries
        ],
    }
    return json.dumps(data, indent=2) + "\n"


def parse_baseline(text: str, where: str = "baseline") -> Baseline:
    """Read a baseline from its text; ``InputError`` names ``where`` and the key."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", f"{where}:{error.lineno}:{error.colno}") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits; lists in lists without end
        raise InputError("the JSON holds a value that cannot be read (too long, or too deep)", where) from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise InputError(f"not a baseline of version {VERSION}", f"{where}: version", "write it anew")
    raw = data.get("entries")
    if not isinstance(raw, list):
        raise InputError("a list is needed", f"{where}: entries")
    entries = tuple(_entry(item, f"{where}: entries[{index}]") for index, item in enumerate(raw))
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.fingerprint in seen:
            raise InputError("the fingerprint stands twice", f"{where}: entries[{index}].fingerprint", "remove one")
        seen.add(entry.fingerprint)
    return Baseline(entries)


def make_baseline(
    reports: Sequence[tuple[str, Report]], previous: Baseline | None = None, reason: str = ""
) -> Baseline:
    """A baseline of all that ``(scope, report)`` pairs say now; what ``previous`` knew keeps its reason and expiry."""
    known = {entry.fingerprint: entry for entry in (previous or Baseline()).entries}
    entries: dict[str, BaselineEntry] = {}
    for scope, finding, fingerprint in _identified(reports):
        old = known.get(fingerprint)
        entries[fingerprint] = BaselineEntry(
            fingerprint=fingerprint,
            rule=finding.rule,
            title=finding.title,
            file=finding.file or "",
            scope=scope,
            reason=old.reason if old else reason,
            expires=old.expires if old else None,
        )
    return Baseline(tuple(entries.values()))


def apply_baseline(baseline: Baseline, reports: Sequence[tuple[str, Report]], today: date) -> Applied:
    """Filter what ``baseline`` knows from ``(scope, report)`` pairs; entries that end before ``today`` filter nothing.

    A verdict is a finding too (rule ``verdict/...``): a known one stays in the report, marked as accepted.
    """
    entries = {entry.fingerprint: entry for entry in baseline.entries}
    expired = {key for key, entry in entries.items() if entry.expires is not None and entry.expires < today}
    matched: set[str] = set()
    known = 0
    kept: list[list[Finding]] = [[] for _ in reports]
    accepted: list[str | None] = [None for _ in reports]
    for index, finding, fingerprint in _numbered(reports):
        entry = entries.get(fingerprint)
        if entry is not None:
            matched.add(fingerprint)
        is_verdict = finding.rule.startswith("verdict/")
        if entry is not None and fingerprint not in expired:
            known += 1
            if is_verdict:
                accepted[index] = entry.reason
        elif not is_verdict:
            kept[index].append(finding)
    return Applied(
        reports=tuple(
            replace(report, findings=tuple(kept[index]), accepted=accepted[index])
            for index, (_, report) in enumerate(reports)
        ),
        known=known,
        stale=tuple(entry for entry in baseline.entries if entry.fingerprint not in matched),
        expired=tuple(
            entry for entry in baseline.entries if entry.fingerprint in matched and entry.fingerprint in expired
        ),
    )


def _identified(reports: Sequence[tuple[str, Report]]) -> Iterable[tuple[str, Finding, str]]:
    for index, finding, fingerprint in _numbered(reports):
        yield reports[index][0], finding, fingerprint


def _numbered(reports: Sequence[tuple[str, Report]]) -> Iterable[tuple[int, Finding, str]]:
    """Every finding with its report's index and its identity, the verdict's own finding last."""
    listed: list[tuple[int, Finding]] = []
    for index, (_, report) in enumerate(reports):
        verdict = verdict_finding(report)
        listed += [(index, finding) for finding in (*report.findings, *([verdict] if verdict else []))]
    identities = fingerprints((reports[index][0], finding) for index, finding in listed)
    for (index, finding), fingerprint in zip(listed, identities):
        yield index, finding, fingerprint


def _entry(item: Any, where: str) -> BaselineEntry:
    if not isinstance(item, dict):
        raise InputError("an object is needed", where)
    texts: dict[str, str] = {}
    for key in _TEXT_KEYS:
        value = item.get(key, "")
        if not isinstance(value, str) or (key in ("fingerprint", "rule") and not value):
            raise InputError("a text is needed", f"{where}.{key}")
        texts[key] = value
    unknown = sorted(set(item) - {*_TEXT_KEYS, "expires"})
    if unknown:
        raise InputError("no such key", f"{where}.{unknown[0]}", f"use {', '.join(_TEXT_KEYS)} or expires")
    return BaselineEntry(**texts, expires=_day(item.get("expires"), f"{where}.expires"))


def _day(value: Any, where: str) -> date | None:
    if value is None:
        return None
    # The form is checked here, as newer Pythons read more forms than older ones.
    try:
        if not _DAY.match(value):
            raise ValueError(value)
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"not a date: {value!r}", where, "write it as YYYY-MM-DD") from error
