"""Which places of a tree a site clause names, and what is captured there."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from mtp_trace.rules.captures import capture
from mtp_trace.rules.model import SiteClause, SiteMatch, ValueTest
from mtp_trace.rules.regex import SafeRegex
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.spots import Spot, descend, neighbours_of
from mtp_trace.rules.yamlfile import shipped
from mtp_trace.syntax.form import Node, unparse


@dataclass(frozen=True)
class Found:
    """A place that matched, with its captures by name."""

    file: str
    line: int
    end_line: int
    captures: dict[str, Any] = field(default_factory=dict, compare=False)


def find_sites(sites: Sites, match: SiteMatch) -> list[Found]:
    """Every place that matches, by file and line; one line matches once for each distinct set of captures."""
    found = list(_known(sites.base, match, None))
    for path in sites.extra:
        found += _known(sites.base, match, path)
    return sorted(found, key=lambda f: (f.file, f.line)) if sites.extra else found


def _known(sites: Sites, match: SiteMatch, path: str | None) -> list[Found]:
    """What is found in the files always looked at, or in one more, worked out once."""
    known = sites.remembered.get((id(match), path))
    if known is None:
        # The match is kept too, so that its id stays its own.
        known = sites.remembered[id(match), path] = (match, _find(sites if path is None else sites.only(path), match))
    return known[1]


def _find(sites: Sites, match: SiteMatch) -> list[Found]:
    found: list[Found] = []
    seen: set[Any] = set()
    kinds = {k for clause in match.any_of for k in clause.kinds}
    for spot in sites.spots(match.words, match.file_words):
        if spot.kind not in kinds:
            continue
        for clause in match.any_of:
            captures = fits(clause, spot)
            if captures is None:
                continue
            for item in match.captures:
                captures[item.name] = capture(item, spot, sites.constants)
            key = (spot.file, spot.line, repr(sorted(captures.items())))
            if key not in seen:
                seen.add(key)
                found.append(Found(spot.file, spot.line, spot.end_line, {**_own(spot), **captures}))
            break
    return sorted(found, key=lambda f: (f.file, f.line))


def fits(clause: SiteClause, spot: Spot) -> dict[str, Any] | None:
    """The captures of the clause's named groups where it fits the spot, else None."""
    if spot.kind not in clause.kinds:
        return None
    captures: dict[str, Any] = {}
    for regex, text in ((clause.name, spot.name), (clause.cls, spot.cls), (clause.owner, spot.owner)):
        if regex is not None:
            # A name is matched whole; a condition, which is a text, anywhere.
            found = regex.search(text) if text is spot.name and spot.kind == "condition" else regex.full(text)
            if found is None:
                return None
            captures.update(found.groupdict())
    if clause.function is not None and clause.function.full(spot.function) is None:
        return None
    if clause.message is not None:
        found = clause.message.search(spot.message)
        if found is None:
            return None
        captures.update(found.groupdict())
    if clause.spelling is not None:
        if spot.spelling not in clause.spelling:
            return None
    elif spot.spelling == "keyword" and spot.owner not in _declaring():
        # A keyword of any other call is only a write where the rule says so.
        return None
    if clause.value is not None and not _value_fits(clause.value, spot, captures):
        return None
    return captures if _guards_fit(clause, spot, captures) and _neighbours_fit(clause, spot) else None


@functools.cache
def _declaring() -> frozenset[str]:
    return frozenset(shipped("scope.yaml")["declares"])


def _value_fits(test: ValueTest, spot: Spot, captures: dict[str, Any]) -> bool:
    node = spot.value
    if node is None:
        return False
    if test.constant is not None and not _is_constant(node, test.constant):
        return False
    if test.text is not None:
        found = test.text.search(unparse(node))
        if found is None:
            return False
        captures.update(found.groupdict())
    if test.numbers is not None:
        items = node[3] if node[0] in ("tuple", "list") else []
        if len(items) != test.numbers or not all(i[0] == "const" and type(i[3]) is int for i in items):
            return False
    if test.texts is not None:
        has = any(n[0] == "const" and isinstance(n[3], str) for n in descend(node))
        if has is not test.texts:
            return False
    if test.reads is not None and not _reads(test.reads, node):
        return False
    if test.avoids is not None and _reads(test.avoids, node):
        return False
    return test.calls is None or any(n[0] == "call" and test.calls.full(unparse(n[3])) for n in descend(node))


def _is_constant(node: Node, allowed: tuple[Any, ...]) -> bool:
    return node[0] == "const" and any(node[3] == c and type(node[3]) is type(c) for c in allowed)


def _reads(names: SafeRegex, node: Node) -> bool:
    return any(
        n[0] in ("attr", "name") and names.full(n[4 if n[0] == "attr" else 3]) is not None for n in descend(node)
    )


def _guards_fit(clause: SiteClause, spot: Spot, captures: dict[str, Any]) -> bool:
    texts = [c.text for c in spot.conditions if clause.guard_implied or not c.implied]
    for regex in clause.guard:
        found = next((m for t in texts if (m := regex.search(t)) is not None), None)
        if found is None:
            return False
        captures.update(found.groupdict())
    return not any(regex.search(t) for regex in clause.unless_guard for t in texts)


def _neighbours_fit(clause: SiteClause, spot: Spot) -> bool:
    if clause.exported and not _exported(spot, clause.exported):
        return False
    for wanted, part in ((True, clause.beside), (False, clause.without)):
        if part is not None and any(fits(part, s) is not None for s in neighbours_of(spot)) is not wanted:
            return False
    return True


def _exported(spot: Spot, listing: str) -> bool:
    """Whether a module-level list of that name holds the spot's name."""
    for s in spot.block:
        if s[0] == "assign" and any(t[0] == "name" and t[3] == listing for t in s[3]):
            return any(n[0] == "name" and n[3] == spot.name for n in descend(s[4]))
    return False


def _own(spot: Spot) -> dict[str, Any]:
    condition = spot.conditions[-1].text if spot.conditions else ""
    shown = unparse(spot.value) if spot.value is not None else ""
    return {
        "file": spot.file,
        "line": spot.line,
        "end_line": spot.end_line,
        "function": spot.function,
        "cls": spot.cls,
        "guard": spot.guard,
        "field": spot.name,
        "name": spot.name,
        "value": shown,
        "message": " ".join(spot.message.split()),
        "type": spot.name if spot.kind == "raise" else "",
        "condition": condition,
    }
