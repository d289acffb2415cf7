"""A few tensor names that stand for all of a checkpoint's, so that a million names cost what a hundred do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBER = re.compile(r"\d+")
_FEW = 6


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
    every = list(names)
    # All at once: a million separate substitutions take seconds.
    kinds = "\n".join(every).encode("utf-8", "surrogatepass").translate(None, b"0123456789").split(b"\n")
    if len(kinds) != len(every):
        kinds = [name.encode("utf-8", "surrogatepass").translate(None, b"0123456789") for name in every]
    groups: dict[bytes, list[str]] = {}
    for kind, name in zip(kinds, every):
        groups.setdefault(kind, []).append(name)
    words = [word.encode() for word in telling]
    out: list[Sample] = []
    for kind, members in groups.items():
        if len(members) == 1 or (len(members) < all_below and any(word in kind for word in words)):
            out.extend(Sample(name, (name,)) for name in members)
        else:
            out.extend(_of_kind(members, layers))
    return out


def numbers(name: str) -> tuple[int, ...]:
    """The numbers in a name, in order."""
    return tuple(map(int, _NUMBER.findall(name)))


def kind_of(name: str) -> str:
    """A name without its numbers."""
    return _NUMBER.sub("#", name)


def _of_kind(members: list[str], layers: int | None) -> list[Sample]:
    by_layer: dict[int, list[str]] = {}
    for name in members:
        found = _NUMBER.search(name)
        by_layer.setdefault(int(found.group()) if found else 0, []).append(name)
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


def _of_layer(here: list[str], others: list[str]) -> list[Sample]:
    """Two names of one layer, the first of them for all but the last and for ``others``."""
    ordered = sorted(here, key=numbers) if len(here) > 2 else here
    first, last = ordered[0], ordered[-1]
    if first == last:
        return [Sample(first, (first, *others))]
    return [Sample(first, (*ordered[:-1], *others)), Sample(last, (last,))]
