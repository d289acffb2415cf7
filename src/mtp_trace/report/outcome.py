"""What a report comes to, in words: the headline, the deciding place, the verdict as a finding of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mtp_trace.report.model import Finding, Place, Report, Severity, Verdict
from mtp_trace.report.textsafe import clip, counted, one_line

# (file, first line, last line) -> those lines, or None where the file cannot be had. Renderers never read files.
SourceLines: TypeAlias = Callable[[str, int, int], list[str] | None]

HEADLINE_LIMIT = 200
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
_OPEN = (Verdict.DEPENDS, Verdict.UNDETERMINED)


def at(file: str | None, line: int | None) -> str:
    """``file:line`` on one line; only the file where no line is known, empty where no file is."""
    if not file:
        return ""
    return f"{one_line(file)}:{line}" if line else one_line(file)


def is_open(verdict: Verdict) -> bool:
    """Whether the verdict leaves the question open (``depends``, ``undetermined``): unknown is not failure."""
    return verdict in _OPEN


def by_severity(findings: tuple[Finding, ...]) -> list[Finding]:
    """Findings, the gravest first, else in the given order."""
    return sorted(findings, key=lambda finding: _RANK[finding.severity])


def headline(report: Report) -> str:
    """The whole report on one line: the verdict in capitals, then where and why; safe to show, of bounded length."""
    line = f"{report.verdict.value.upper()}  {_detail(report)}".rstrip()
    if report.accepted is not None:
        line += f"  (accepted: {one_line(report.accepted) or 'in the baseline'})"
    return clip(line, HEADLINE_LIMIT)


def draft_text(report: Report) -> str:
    """The draft, the worker and the speculation parameters in a few words; empty where none is known."""
    parts = []
    draft = report.draft
    if draft is not None and (draft.cls or draft.architecture):
        parts.append(f"draft {one_line(draft.cls or draft.architecture or '')}")
    if report.worker:
        parts.append(f"worker {one_line(report.worker)}")
    parameters = parameters_text(report)
    if parameters:
        parts.append(parameters)
    return ", ".join(parts)


def parameters_text(report: Report) -> str:
    """Steps, top-k and draft tokens in words; empty unless all three are known."""
    names = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")
    values = [report.resolved.get(name) for name in names]
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return ""
    steps, topk, tokens = values
    return f"{steps} steps, top-k {topk}, {tokens} draft tokens"


def head_text(report: Report) -> str:
    """What the draft's head takes, in words; empty where nobody weighed it."""
    weights = report.weights or {}
    params, size, here = (weights.get(key) for key in ("params", "bf16_bytes", "per_gpu_bytes"))
    if not isinstance(params, int) or not isinstance(size, int) or not isinstance(here, int) or not params:
        return ""
    wanted, share = weights.get("expected"), weights.get("gpu_memory_share")
    counted_tensors = f"{wanted:,} tensors, " if isinstance(wanted, int) else ""
    part = f" ({share:.1%} of its memory)" if isinstance(share, float) else ""
    return f"{counted_tensors}{params:,} parameters, {size:,} bytes in BF16; {here:,} bytes on a GPU{part}"


def open_text(report: Report, limit: int = 160) -> str:
    """The first question that the verdict hangs on, and how many more there are."""
    first = clip(one_line(report.depends_on[0].question), limit)
    more = len(report.depends_on) - 1
    return f"hangs on: {first}" + (f" (and {counted(more, 'question')} more)" if more else "")


def failure_text(report: Report) -> str:
    """The error as ``Type: message`` on one line; empty where there is none."""
    if report.error is None:
        return ""
    return ": ".join(part for part in (one_line(report.error.type), one_line(report.error.message)) if part)


def deciding_place(report: Report) -> Place | None:
    """The line of source on which the verdict turns: the error's, else the gravest finding's, else the last step's."""
    error = report.error
    if error is not None and error.file and error.line:
        return Place(error.file, error.line, max(error.end_line or 0, error.line), snippet=_snippet_at(report))
    for finding in by_severity(report.findings):
        if finding.file and finding.line and finding.severity is not Severity.NOTE:
            end = max(finding.end_line or 0, finding.line)
            return Place(finding.file, finding.line, end, snippet=finding.snippet)
    for step in reversed(report.path):
        if step.file and step.line:
            return Place(step.file, step.line, step.line, snippet=step.text)
    return None


def verdict_finding(report: Report) -> Finding | None:
    """The verdict as a finding (rule ``verdict/...``) for formats that know only findings; None for ``active``."""
    if report.verdict is Verdict.ACTIVE:
        return None
    place = deciding_place(report)
    return Finding(
        rule=f"verdict/{report.verdict.value}",
        severity=Severity.WARNING if is_open(report.verdict) else Severity.ERROR,
        title=VERDICT_TITLES[report.verdict],
        message=_detail(report) or VERDICT_TITLES[report.verdict],
        file=place.file if place else None,
        line=place.line if place else None,
        end_line=place.end_line if place else None,
    )


def verdict_is_told(report: Report) -> bool:
    """Whether a finding of error severity already stands at the deciding place: a second one there would be noise."""
    place = deciding_place(report)
    return place is not None and any(
        finding.severity is Severity.ERROR and (finding.file, finding.line) == (place.file, place.line)
        for finding in report.findings
    )


VERDICT_TITLES = {
    Verdict.ACTIVE: "Speculative decoding runs as asked",
    Verdict.DEGRADED: "Speculative decoding runs, but not as asked",
    Verdict.INACTIVE: "The server starts without speculative decoding",
    Verdict.STARTUP_ERROR: "The server does not start",
    Verdict.DEPENDS: "The verdict hangs on something that was not given",
    Verdict.UNDETERMINED: "The trace could not reach a verdict",
}


def _detail(report: Report) -> str:
    if report.verdict is Verdict.ACTIVE:
        return draft_text(report)
    if report.verdict is Verdict.DEPENDS and report.depends_on:
        asked = "; ".join(one_line(question.question) for question in report.depends_on)
        return f"on {counted(len(report.depends_on), 'question')}: {asked}"
    stage = f"at stage {one_line(report.stage)}" if report.stage else ""
    return ": ".join(part for part in (stage, failure_text(report) or _gravest_title(report)) if part)


def _gravest_title(report: Report) -> str:
    return next((one_line(finding.title) for finding in by_severity(report.findings)), "")


def _snippet_at(report: Report) -> str:
    error = report.error
    if error is None:
        return ""
    same = (f.snippet for f in report.findings if f.snippet and f.file == error.file and f.line == error.line)
    return next(same, "")
