"""Every fact of a tree that the rules name, for ``scan``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mtp_trace.report.listing_model import Fact, Scan
from mtp_trace.report.model import SglangInfo
from mtp_trace.rules.findings import value_of
from mtp_trace.rules.match_site import Found
from mtp_trace.rules.message import fill
from mtp_trace.rules.model import Pack, Rule
from mtp_trace.rules.order import places_of
from mtp_trace.rules.sites import Sites
from mtp_trace.syntax.quiet import collector_paused

_WHOLE = re.compile(r"\{([^{}]+)\}\Z")


def scan(pack: Pack, sites: Sites, sglang: SglangInfo) -> Scan:
    """The facts of all rules with a ``scan`` part, in order of file and line."""
    with collector_paused():
        facts = _facts(pack, sites)
    return Scan(sglang, tuple(sorted(facts, key=lambda f: (f.file, f.line, f.kind, f.rule))))


def _facts(pack: Pack, sites: Sites) -> list[Fact]:
    facts = [fact for rule in pack.active if not rule.general for fact in facts_of(rule, sites)]
    known = {(f.file, f.line) for f in facts}
    for rule in pack.active:
        if rule.general:
            facts += [f for f in facts_of(rule, sites) if (f.file, f.line) not in known]
    return facts


def facts_of(rule: Rule, sites: Sites) -> Sequence[Fact]:
    """The facts of one rule."""
    if rule.scan is None or rule.match.site is None:
        return ()
    return [_fact(rule, rule.scan, place, sites) for place in places_of(sites, rule.match)]


def _fact(rule: Rule, spec: dict[str, str], place: Found, sites: Sites) -> Fact:
    details: dict[str, Any] = {}
    for key, text in spec.items():
        value = _value(text, place)
        outer, _, inner = key.partition(".")
        if inner:
            details.setdefault(outer, {})[inner] = value
        else:
            details[outer] = value
    kind = str(details.pop("kind", rule.kind))
    return Fact(
        kind,
        rule.id,
        place.file,
        place.line,
        place.end_line,
        sites.snippet(place.file, place.line, place.end_line),
        details,
    )


def _value(text: str, place: Found) -> Any:
    """A single placeholder gives its value as it is (one text of a list of one as that text)."""
    whole = _WHOLE.match(text)
    if whole is None:
        return fill(text, lambda name: value_of(name, place, None, {}))
    return value_of(whole.group(1), place, None, {})
