"""What the rules say about one launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mtp_trace.report.model import Change, Finding, Fix, Place
from mtp_trace.rules.condition import holds
from mtp_trace.rules.context import ABSENT, Context
from mtp_trace.rules.flags import FlagTable
from mtp_trace.rules.match_event import find_events
from mtp_trace.rules.match_site import Found, find_sites
from mtp_trace.rules.message import fill
from mtp_trace.rules.model import ChangeSpec, Condition, Further, Match, Pack, Rule, SiteMatch
from mtp_trace.rules.order import earlier

MAX_EACH = 8
Tests = tuple[tuple[str, Condition], ...]


def findings_for(pack: Pack, context: Context) -> tuple[Finding, ...]:
    """The findings of every rule in force, graver ones first, else in the order of the rules."""
    order = {"error": 0, "warning": 1, "note": 2}
    found: list[Finding] = []
    for rule in sorted((r for r in pack.active if r.match.launch), key=lambda r: r.general):
        known = {(f.file, f.line) for f in found if f.file is not None}
        found += [f for f in _findings(rule, context) if not rule.general or (f.file, f.line) not in known]
    spoke = {f.rule for f in found}
    silent = {r.id for r in pack.active if spoke & set(r.match.silent_if)}
    found = [f for f in found if f.rule not in silent]
    return tuple(sorted(found, key=lambda f: order[f.severity.value]))


def _findings(rule: Rule, context: Context) -> Iterator[Finding]:
    match = rule.match
    if not all(holds(test, context.fact(path), context.fact) for path, test in match.when.tests):
        return
    if match.no_event is not None and find_events(context, match.no_event):
        return
    also = _also(match, context)
    if also is None:
        return
    for place in _places(match, context, also):
        place = place or also.get(match.at)
        yield _finding(rule, context, place, also)


def _also(match: Match, context: Context) -> dict[str, Found] | None:
    """The further places that the rule names; None where one of them is not there."""
    out: dict[str, Found] = {}
    for further in match.also:
        found = _first(further, context)
        if found is not None:
            out[further.name] = found
        elif not further.optional:
            return None
    return out


def _first(further: Further, context: Context) -> Found | None:
    part = further.part
    if isinstance(part, SiteMatch):
        return next(_further_sites(further, part, context), None)
    found = find_events(context, part)
    return (found[0] if part.pick == "first" else found[-1]) if found else None


def _further_sites(further: Further, part: SiteMatch, context: Context) -> Iterator[Found]:
    sites = context.sites
    if further.file:
        file = context.fact(further.file)
        if not isinstance(file, str):
            return
        sites = sites.plus([file])
    for found in find_sites(sites, part):
        if (not further.file or found.file == file) and _holds_at(further.where, found, context, {}):
            yield found


def _places(match: Match, context: Context, also: dict[str, Found]) -> list[Found | None]:
    """Where the rule speaks: at its events, at its sites, or at no place."""
    events: list[Found] | None = None
    if match.event is not None:
        events = find_events(context, match.event)
        if not events:
            return []
    if match.site is None:
        if events is None:
            return [None]
        return _picked(match, events)
    sites = [s for s in find_sites(context.sites, match.site) if _where(match, s, context, also)]
    sites = earlier(context.sites, match, sites)
    if match.no_site:
        return [] if sites else (_picked(match, events) if events else [None])
    if not sites:
        return []
    if events is not None:
        there = [s for s in sites if any(_overlap(s, e) for e in events)]
        if not there:
            # What only applies the declarations of others is no place to show: the one that declares this value is.
            values = {repr(e.captures.get("value")) for e in events}
            same = [s for s in sites if s.captures.get("value") in values]
            return [same[0]] if len(same) == 1 else _picked(match, events)
        return [*(there if match.each else there[:1])]
    return list(sites[:MAX_EACH] if match.each else sites[:1])


def _overlap(one: Found, other: Found) -> bool:
    return one.file == other.file and one.line <= other.end_line and other.line <= one.end_line


def _picked(match: Match, events: list[Found]) -> list[Found | None]:
    assert match.event is not None
    if match.each:
        return [*list(dict.fromkeys(events))[:MAX_EACH]]
    return [events[0] if match.event.pick == "first" else events[-1]]


def _where(match: Match, site: Found, context: Context, also: dict[str, Found]) -> bool:
    return _holds_at(match.site_where, site, context, also)


def _holds_at(tests: Tests, site: Found, context: Context, also: dict[str, Found]) -> bool:
    def look_up(path: str) -> Any:
        return value_of(path, site, context, also)

    return all(holds(test, look_up(path), look_up) for path, test in tests)


def value_of(path: str, place: Found | None, context: Context | None, also: dict[str, Found]) -> Any:
    """A placeholder's value: a capture, a part of a further place, or a fact of the launch."""
    if place is not None and path in place.captures:
        return place.captures[path]
    alias, _, rest = path.partition(".")
    if rest.isdigit() and place is not None and alias in place.captures:
        items = place.captures[alias]
        return items[int(rest)] if isinstance(items, list) and int(rest) < len(items) else None
    if alias in also:
        return also[alias].captures.get(rest, "")
    return context.fact(path) if context is not None else ABSENT


def _finding(rule: Rule, context: Context, place: Found | None, also: dict[str, Found]) -> Finding:
    def look_up(path: str) -> Any:
        found = value_of(path, place, context, also)
        return "(absent)" if found is ABSENT else found

    related = tuple(
        Place(f.file, f.line, f.end_line, name.replace("-", " "), context.sites.snippet(f.file, f.line, f.end_line))
        for name, f in also.items()
        if f is not place
    )
    fix = None
    if rule.fix is not None:
        changes = [c for spec in rule.fix.changes if (c := _change(spec, look_up, context)) is not None]
        fix = Fix(fill(rule.fix.text, look_up), tuple(changes))
    snippet = context.sites.snippet(place.file, place.line, place.end_line) if place is not None else ""
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        title=rule.name,
        message=" ".join(fill(rule.message, look_up).split()),
        file=place.file if place else None,
        line=place.line if place else None,
        end_line=place.end_line if place else None,
        snippet=snippet,
        fix=fix,
        related=related,
    )


def _change(spec: ChangeSpec, look_up: Any, context: Context) -> Change | None:
    """A change in this tree's own names; None where the tree has no such flag."""
    to = fill(spec.to, look_up) if spec.to else spec.to
    why = fill(spec.why, look_up)
    if spec.kind == "env":
        old = context.fact(f"env.{spec.name}")
        return Change("env", spec.name, None if old is ABSENT else str(old), to, why)
    name = fill(spec.name, look_up) if spec.name else ""
    if spec.fields:
        table = FlagTable.of(context.sites)
        flag = next((f for field in spec.fields if (f := table.flag_of(field)) is not None), None)
        if flag is None:
            return None
        name = flag.name
        if to and flag.choices and to not in flag.choices:
            return None
    if name in ("none", "(absent)", "(not known)", ""):
        return None
    old = context.fact("flags." + name.lstrip("-").replace("-", "_"))
    return Change("flag", name, None if old is ABSENT else str(old), to, why)
