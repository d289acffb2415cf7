"""Advice about rules that load but could be better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mtp_trace.report.model import Severity
from mtp_trace.rules.message import placeholders
from mtp_trace.rules.model import Pack, Rule

_SHORT_WORD = 3


@dataclass(frozen=True)
class Advice:
    """One remark on a rule, at its place."""

    rule: str
    where: str
    text: str


def lint(rules: Pack) -> list[Advice]:
    """Remarks on every rule, in order."""
    return [Advice(r.id, f"{r.file}:{r.line}", text) for r in rules.rules for text in _remarks(r)]


def _remarks(rule: Rule) -> Iterator[str]:
    texts = [rule.message, *([rule.fix.text] if rule.fix else []), *(rule.scan or {}).values()]
    used = {name.split(".")[0] for text in texts for name in placeholders(text)}
    used |= {path.split(".")[0] for path, _ in rule.match.site_where}
    if rule.match.site is not None:
        for word in rule.match.site.words:
            if all(len(part.strip()) < _SHORT_WORD for part in word.split("|")):
                yield f"the word {word!r} stands in nearly every file, so the search is slow: add a longer one"
        for capture in rule.match.site.captures:
            if capture.name not in used:
                yield f"the capture {capture.name!r} is used nowhere"
        if rule.match.launch and not rule.match.no_site and not used & {"file", "line"}:
            yield "the message does not say where: use {file} and {line}"
    if rule.severity is Severity.ERROR and rule.fix is None:
        yield "an error without a fix: say what to do"
    if not rule.example:
        yield "there is no example"
    if not rule.match.launch and rule.scan is None:
        yield "the rule speaks about no launch and is part of no scan"
