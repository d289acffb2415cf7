"""Required rules that find no place in a tree: the tree has moved on, and answers that rest on them may be wrong."""

from __future__ import annotations

from mtp_trace.rules.match_site import find_sites
from mtp_trace.rules.model import Pack, Rule
from mtp_trace.rules.sites import Sites


def drift(pack: Pack, sites: Sites) -> list[Rule]:
    """The required rules without a site. ``any-of-kind``: one site of any such rule of the kind is enough."""
    missing: list[Rule] = []
    found: dict[str, bool] = {
        rule.id: bool(find_sites(sites, rule.match.site))
        for rule in pack.active
        if rule.requires != "nothing" and rule.match.site is not None
    }
    kinds = {rule.kind for rule in pack.active if found.get(rule.id)}
    for rule in pack.active:
        if rule.id in found and not found[rule.id] and (rule.requires == "site" or rule.kind not in kinds):
            missing.append(rule)
    return missing
