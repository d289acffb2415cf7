"""What a flag has to do with speculation in a tree: where it is read, and which conditions and writes it shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mtp_trace.errors import InputError
from mtp_trace.rules.flags import Flag, FlagTable
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.spots import Spot
from mtp_trace.syntax.form import unparse

_SPECULATION = re.compile(r"specul|spec_alg|spec_v\d|eagle|nextn|mtp|draft", re.I)
MAX_PLACES = 60


@dataclass(frozen=True)
class FlagPlace:
    """One place where the flag and speculation meet, or where the flag is read: ``how`` says which."""

    how: str
    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class FlagFacts:
    """A flag, the places where it meets speculation, and how often it is read elsewhere."""

    flag: Flag
    meets: tuple[FlagPlace, ...]
    reads: tuple[FlagPlace, ...]

    @property
    def interacts(self) -> bool:
        """Whether the flag and speculation meet anywhere."""
        return bool(self.meets)


def flag_facts(sites: Sites, name: str) -> FlagFacts:
    """The facts of a flag.  Raises InputError naming near flags where the tree has no such flag."""
    table = FlagTable.of(sites)
    spelled = name if name.startswith("-") else "--" + name.replace("_", "-")
    flag = table.by_name.get(spelled)
    if flag is None:
        near = table.nearest(spelled)
        hint = f"the nearest is {near[0].name} ({near[1]})" if near else ""
        raise InputError(f"this tree has no flag {spelled}", "explain-flag", hint)
    meets: dict[tuple[str, int], FlagPlace] = {}
    reads: dict[tuple[str, int], FlagPlace] = {}
    about = bool(_SPECULATION.search(flag.field))
    for spot in sites.spots([flag.field]):
        place = _meeting(spot, flag.field, about)
        if place is not None:
            meets.setdefault((place.file, place.line), place)
        elif spot.kind == "read" and spot.name == flag.field:
            reads.setdefault((spot.file, spot.line), _place("read", spot, f"{spot.owner}.{spot.name}"))
    rest = [p for key, p in reads.items() if key not in meets]
    return FlagFacts(flag, tuple(meets.values())[:MAX_PLACES], tuple(rest)[:MAX_PLACES])


def _meeting(spot: Spot, field: str, about: bool) -> FlagPlace | None:
    names = re.compile(rf"\b{re.escape(field)}\b")
    if spot.kind == "read" and spot.name == field and (about or _SPECULATION.search(f"{spot.cls} {spot.function}")):
        return _place("read by speculation's own code", spot, f"{spot.owner}.{spot.name}")
    if spot.kind == "condition" and names.search(spot.name) and _SPECULATION.search(names.sub("", spot.name)):
        return _place("a condition on both", spot, spot.name)
    if spot.kind == "raise" and names.search(" ".join(_texts(spot))) and _spoken(spot, names):
        return _place("a check of both", spot, spot.message or spot.guard)
    if spot.kind in ("write", "item") and spot.spelling != "keyword" and spot.value is not None:
        shown = f"{spot.name} = {unparse(spot.value)}"
        if spot.name == field and (
            _SPECULATION.search(f"{spot.function} {shown.partition('=')[2]}") or _guarded(spot, None)
        ):
            return _place("written for speculation", spot, shown)
        if _SPECULATION.search(spot.name) and (names.search(shown.partition("=")[2]) or _guarded(spot, names)):
            return _place("decides a field of speculation", spot, shown)
    return None


def _texts(spot: Spot) -> Iterator[str]:
    yield from (c.text for c in spot.conditions)
    yield spot.message


def _spoken(spot: Spot, names: re.Pattern[str]) -> bool:
    """Whether a check speaks of speculation apart from the flag's own name."""
    return any(_SPECULATION.search(names.sub("", text)) for text in _texts(spot))


def _guarded(spot: Spot, names: re.Pattern[str] | None) -> bool:
    pattern = names if names is not None else _SPECULATION
    return any(pattern.search(c.text) for c in spot.conditions if not c.implied)


def _place(how: str, spot: Spot, text: str) -> FlagPlace:
    return FlagPlace(how, spot.file, spot.line, spot.function, " ".join(text.split()))
