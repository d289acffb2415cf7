"""Suppressions inside launch files: a comment names a rule and says why it is not to speak.

``# mtp-trace: ignore[rule-id] reason`` holds for the launches of its file. Comments start with ``#`` in shell scripts,
units, Dockerfiles and YAML alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mtp_trace.errors import RuleError
from mtp_trace.report.listing_model import AuditEntry
from mtp_trace.report.model import Finding
from mtp_trace.rules.document import near_hint
from mtp_trace.rules.model import Pack, Suppression

_COMMENT = re.compile(r"#\s*mtp-trace:\s*(.*)")
_FORM = re.compile(r"ignore\[([\w-]+(?:\s*,\s*[\w-]+)*)\]\s*(.*)\Z")
_MAX_LINE = 2000


def read_suppressions(text: str, file: str, pack: Pack) -> list[Suppression]:
    """The suppressions of a file's text.

    Raises RuleError with file and line where the form is wrong, the reason is missing or the rule is not known.
    """
    found: list[Suppression] = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = _COMMENT.search(line[:_MAX_LINE])
        if comment is None:
            continue
        where = f"{file}:{number}"
        form = _FORM.match(comment.group(1).strip())
        if form is None:
            raise RuleError("the comment is not understood", where, "write: # mtp-trace: ignore[RULE] why")
        if not form.group(2).strip():
            raise RuleError("a reason is needed", where, "write: # mtp-trace: ignore[RULE] why")
        for rule in re.split(r"\s*,\s*", form.group(1)):
            if pack.get(rule) is None:
                raise RuleError(f"there is no rule {rule!r}", where, near_hint(rule, [r.id for r in pack.rules]))
            found.append(Suppression(rule, form.group(2).strip(), where))
    return found


def without_suppressed(
    findings: Iterable[Finding], suppressions: Sequence[Suppression]
) -> tuple[tuple[Finding, ...], tuple[Suppression, ...]]:
    """The findings that are left, and the suppressions that silenced none."""
    kept: list[Finding] = []
    used: set[str] = set()
    names = {s.rule for s in suppressions}
    for finding in findings:
        if finding.rule in names:
            used.add(finding.rule)
        else:
            kept.append(finding)
    return tuple(kept), tuple(s for s in suppressions if s.rule not in used)


def silenced(
    entries: Sequence[AuditEntry], text_of: Callable[[str], str | None], pack: Pack
) -> tuple[tuple[AuditEntry, ...], tuple[Suppression, ...]]:
    """The launches without what comments in their files silence, and the comments that silenced nothing in any launch.

    Raises RuleError with file and line for a wrong comment.
    """
    told = {file: read_suppressions(text_of(file) or "", file, pack) for file in dict.fromkeys(e.file for e in entries)}
    spoke = {(entry.file, finding.rule) for entry in entries for finding in entry.report.findings}
    kept = [_without(entry, told[entry.file]) for entry in entries]
    return tuple(kept), tuple(s for file, found in told.items() for s in found if (file, s.rule) not in spoke)


def _without(entry: AuditEntry, suppressions: Sequence[Suppression]) -> AuditEntry:
    findings, _ = without_suppressed(entry.report.findings, suppressions)
    return replace(entry, report=replace(entry.report, findings=findings))
