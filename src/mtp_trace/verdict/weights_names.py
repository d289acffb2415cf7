"""A few tensor names that stand for all of a checkpoint's, so that a million names cost what a hundred do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBER = re.compile(r"[0-9]+")
_FEW = 6
_DIGITS = b"0123456789"
_CHUNK = 20_000


@dataclass(frozen=True)
class Sample:
    """One name to be followed, and the names that it stands for (itself among them)."""

    name: str
    stands_for: tuple[str, ...]


def samples(names: Iterable[str], layers: int | None, telling: tuple[str, ...], all_below: int = 400) -> list[Sample]:
    """Picks the names to follow, in the checkpoint's order.

    Names that differ in their numbers only are one kind. The first number of a name is its layer: of the target's
    layers the first, a middle and the last stand for the rest, and those from ``layers`` on (or that begin with the
    same digits, as a prefix without a dot would take them) stand for themselves. Of further numbers (experts) the first
    and the last do. Names that hold one of the ``telling`` words are followed one by one where a kind has fewer than
    ``all_below``.
    """
    groups: dict[bytes, list[str]] = {}
    every = iter(names)
    while chunk := list(itertools.islice(every, _CHUNK)):
        for kind, name in zip(_kinds(chunk), chunk):
            groups.setdefault(kind, []).append(name)
    words = [word.encode() for word in telling]
    out: list[Sample] = []
    for kind, members in groups.items():
        if len(members) == 1 or (len(members) < all_below and any(word in kind for word in words)):
            out.extend(Sample(name, (name,)) for name in members)
        else:
            out.extend(_of_kind(members, layers))
    return out


def _kinds(chunk: list[str]) -> list[bytes]:
    """The names without their digits; all at once, since a million separate substitutions take seconds."""
    found = "\n".join(chunk).encode("utf-8", "surrogatepass").translate(None, _DIGITS).split(b"\n")
    if len(found) == len(chunk):
        return found
    return [name.encode("utf-8", "surrogatepass").translate(None, _DIGITS) for name in chunk]


def numbers(name: str) -> tuple[int, ...]:
    """The numbers in a name, in order."""
    return tuple(map(int, _NUMBER.findall(name)))


def kind_of(name: str) -> str:
    """A name without its numbers."""
    return _NUMBER.sub("#", name)


def _of_kind(members: list[str], layers: int | None) -> list[Sample]:
    by_layer = _by_first_number(members)
    ordered = sorted(by_layer)
    own = set(ordered) if len(ordered) <= _FEW else {ordered[0], ordered[len(ordered) // 2], ordered[-1]}
    if layers is not None:
        own |= {n for n in ordered if n >= layers or str(n).startswith(str(layers))}
    middle = ordered[len(ordered) // 2] if ordered[len(ordered) // 2] in own else ordered[0]
    rest = [name for n in ordered if n not in own for name in by_layer[n]]
    out: list[Sample] = []
    for n in sorted(own):
        out.extend(_of_layer(by_layer[n], rest if n == middle else []))
    return out


def _by_first_number(members: list[str]) -> dict[int, list[str]]:
    """Names of one kind by their first number, which begins at one place in all of them and ends with one character."""
    first = _NUMBER.search(members[0])
    if first is None:
        return {0: members}
    start, behind = first.start(), members[0][first.end() : first.end() + 1]
    found: dict[str, list[str]] = {}
    for name in members:
        found.setdefault(name[start : name.find(behind, start)] if behind else name[start:], []).append(name)
    by_number: dict[int, list[str]] = {}
    for text, names in found.items():
        if text.isascii() and text.isdecimal():
            by_number.setdefault(int(text), []).extend(names)
        else:  # the same letters with a number elsewhere
            for name in names:
                by_number.setdefault(next(iter(numbers(name)), 0), []).append(name)
    return by_number


def _of_layer(here: list[str], others: list[str]) -> list[Sample]:
    """Two names of one layer, the first of them for all but the last and for ``others``."""
    ordered = sorted(here, key=numbers) if len(here) > 2 else here
    first, last = ordered[0], ordered[-1]
    if first == last:
        return [Sample(first, (first, *others))]
    return [Sample(first, (*ordered[:-1], *others)), Sample(last, (last,))]
