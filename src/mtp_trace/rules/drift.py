"""Required rules that find no place in a tree: the tree has moved on, and answers that rest on them may be wrong."""

from __future__ import annotations

from mtp_trace.rules.model import REQUIRES, Pack, Rule
from mtp_trace.rules.order import places_of
from mtp_trace.rules.sites import Sites


def drift(pack: Pack, sites: Sites, *levels: str) -> list[Rule]:
    """The required rules without a site. ``any-of-kind``: one site of any such rule of the kind is enough.

    ``levels`` are the kinds of requirement looked at; all where none is given.
    """
    asked = levels or tuple(r for r in REQUIRES if r != "nothing")
    found: dict[str, bool] = {}
    for rule in pack.active:
        if rule.requires in asked and rule.match.site is not None:
            found[rule.id] = bool(places_of(sites, rule.match))
    kinds = {rule.kind for rule in pack.active if found.get(rule.id)}
    return [
        rule
        for rule in pack.active
        if found.get(rule.id) is False and (rule.requires != "any-of-kind" or rule.kind not in kinds)
    ]
