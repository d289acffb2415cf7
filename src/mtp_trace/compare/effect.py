"""What an upgrade does to one launch: better, worse, different or nothing, and the line that makes the difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from mtp_trace.report.compare_model import Effect, Reason
from mtp_trace.report.model import Report, Verdict
from mtp_trace.report.outcome import by_severity, failure_text, is_open, open_text
from mtp_trace.rules.yamlfile import shipped

_RANK = {Verdict.ACTIVE: 3, Verdict.DEGRADED: 2, Verdict.INACTIVE: 1, Verdict.STARTUP_ERROR: 0}
_ABSENT = object()


@dataclass(frozen=True)
class Fields:
    """The resolved fields that are compared."""

    parameters: tuple[str, ...]
    switches: dict[str, str]
    noted: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """What became of a launch; ``fields`` are the resolved fields that differ, the deciding ones first."""

    effect: Effect
    reason: Reason | None = None
    fields: tuple[str, ...] = field(default=())


@cache
def compared_fields() -> Fields:
    """The fields of ``rules/compare.yaml``."""
    data = shipped("compare.yaml")
    return Fields(tuple(data["draft-parameters"]), dict(data["switches"]), tuple(data["noted"]))


def difference(old: Report, new: Report) -> Difference:
    """What the new tree does differently for the same launch."""
    if old.verdict is not new.verdict:
        return Difference(_by_verdict(old.verdict, new.verdict), _verdict_reason(old, new))
    if new.verdict is Verdict.STARTUP_ERROR:
        if (old.stage, _wording(old)) == (new.stage, _wording(new)):
            return Difference(Effect.NONE)
        return Difference(Effect.CHANGED, _verdict_reason(old, new))
    if new.verdict is Verdict.UNDETERMINED:
        return Difference(Effect.NONE)
    if is_open(new.verdict):
        same = [q.question for q in old.depends_on] == [q.question for q in new.depends_on]
        return Difference(Effect.NONE if same else Effect.CHANGED, None if same else _verdict_reason(old, new))
    return _by_fields(old, new)


def _by_verdict(old: Verdict, new: Verdict) -> Effect:
    if is_open(old) or is_open(new):
        return Effect.CHANGED
    return Effect.REGRESSION if _RANK[new] < _RANK[old] else Effect.IMPROVEMENT


def _by_fields(old: Report, new: Report) -> Difference:
    known = compared_fields()
    parameters = [name for name in known.parameters if _differs(old, new, name)]
    off = [name for name in known.switches if _differs(old, new, name) and new.resolved[name] is True]
    back_on = [name for name in known.switches if _differs(old, new, name) and new.resolved[name] is False]
    noted = [name for name in known.noted if _differs(old, new, name)]
    fields = (*parameters, *off, *back_on, *noted)
    if parameters or off:
        return Difference(Effect.REGRESSION, _field_reason(old, new, parameters or off), fields)
    if _draft(old) != _draft(new):
        return Difference(Effect.CHANGED, _draft_reason(old, new), fields)
    if back_on:
        return Difference(Effect.IMPROVEMENT, _field_reason(old, new, back_on), fields)
    if noted:
        return Difference(Effect.CHANGED, _field_reason(old, new, noted), fields)
    return Difference(Effect.NONE)


def _differs(old: Report, new: Report, name: str) -> bool:
    """Whether both know the field, and not as the same value."""
    before, after = old.resolved.get(name, _ABSENT), new.resolved.get(name, _ABSENT)
    if before is _ABSENT or after is _ABSENT or isinstance(before, dict) or isinstance(after, dict):
        return False
    return bool(before != after)


def _draft(report: Report) -> object:
    return report.draft.architecture if report.draft is not None else None


def _wording(report: Report) -> str:
    return failure_text(report)


def _verdict_reason(old: Report, new: Report) -> Reason | None:
    if new.error is not None:
        return Reason(failure_text(new), new.error.file, new.error.line)
    if new.verdict is Verdict.ACTIVE and old.error is not None:
        return _mended(old, new)
    if new.depends_on:
        return Reason(open_text(new))
    for finding in by_severity(new.findings):
        return Reason(finding.message or finding.title, finding.file, finding.line)
    if new.verdict is Verdict.ACTIVE and new.draft is not None:
        name = new.draft.cls or new.draft.architecture
        return Reason(f"the draft is {name} now", new.draft.file, new.draft.line)
    return None


def _mended(old: Report, new: Report) -> Reason:
    """Where the new tree goes another way: its first write of a field that the old one never or otherwise wrote."""
    before = {step.text for step in old.path}
    assert old.error is not None
    gone = f"no longer stopped by {failure_text(old)!r}"
    names = {step.text.partition(" = ")[0] for step in old.path if " = " in step.text}
    for step in new.path:
        name = step.text.partition(" = ")[0]
        if name in names and step.text not in before and step.kind != "raise":
            return Reason(f"{gone}: {step.text}", step.file, step.line)
    return Reason(gone, old.error.file, old.error.line)


def _field_reason(old: Report, new: Report, names: Iterable[str]) -> Reason:
    names = list(names)
    was = ", ".join(_shown(old.resolved[name]) for name in names)
    now = ", ".join(_shown(new.resolved[name]) for name in names)
    known = compared_fields()
    if all(name in known.parameters for name in names):
        names = list(known.parameters)
        was = ", ".join(_shown(old.resolved.get(name)) for name in names)
        now = ", ".join(_shown(new.resolved.get(name)) for name in names)
        text = f"the draft parameters ({', '.join(names)}) are ({now}), not ({was})"
    elif all(name in known.switches for name in names):
        what = " and ".join(known.switches[name] for name in names)
        text = f"{what} {'is' if len(names) == 1 else 'are'} switched {'off' if new.resolved[names[0]] else 'on'}"
    else:
        text = f"{', '.join(names)}: {now}, not {was}"
    for step in reversed(new.path):
        if step.text.partition(" = ")[0] in names:
            return Reason(text, step.file, step.line)
    return Reason(text)


def _draft_reason(old: Report, new: Report) -> Reason:
    text = f"the draft is {_draft(new)}, not {_draft(old)}"
    return Reason(text, new.draft.file if new.draft else None, new.draft.line if new.draft else None)


def _shown(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
