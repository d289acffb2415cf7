"""A few tensor names that stand for all of a checkpoint's, so that a million names cost what a hundred do."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[0-9]+")
_LEADING = re.compile(r"^[0-9]+", re.MULTILINE)
_LONGEST = 1000  # digits that are read of a number
_PIECE = 12
_FEW = 6
_HEAD_LAYERS = 64  # far more than any head has; what is numbered beyond them is no head's layers
_SORTED = 2000
_DIGITS = b"0123456789"
_CHUNK = 20_000


class _Others:
    """Names of layers that are not followed; listed only when asked for, which for a target's is never."""

    def __init__(self, members: list[str], followed: list[bool]) -> None:
        self._members, self._followed = members, followed

    def __iter__(self) -> Iterator[str]:
        return itertools.compress(self._members, map(operator.not_, self._followed))


@dataclass(frozen=True)
class Sample:
    """One name to be followed; it stands for ``own`` (itself among them) and for ``others``."""

    name: str
    own: Sequence[str]
    others: Iterable[str] = ()

    @property
    def stands_for(self) -> tuple[str, ...]:
        """All names that it stands for."""
        return (*self.own, *self.others)


def samples(names: Iterable[str], layers: int | None, telling: tuple[str, ...], all_below: int = 400) -> list[Sample]:
    """Picks the names to follow, in the checkpoint's order.

    Names that differ in their numbers only are one kind. The first number of a name is its layer: of the target's
    layers the first, a middle and the last stand for the rest, and those from ``layers`` on (the first 64 and the last)
    stand for themselves. Of further numbers (experts) the first and the last do. Names that hold one of the ``telling``
    words are followed one by one where a kind has fewer than ``all_below``.
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
    return tuple(int(digits[:_LONGEST]) for digits in _NUMBER.findall(name))


def kind_of(name: str) -> str:
    """A name without its numbers."""
    return _NUMBER.sub("#", name)


def _of_kind(members: list[str], layers: int | None) -> list[Sample]:
    firsts = _first_numbers(members)
    ordered = sorted(set(firsts))
    own = set(ordered) if len(ordered) <= _FEW else {ordered[0], ordered[len(ordered) // 2], ordered[-1]}
    if layers is not None:
        behind = [n for n in ordered if n >= layers]
        own |= {*behind[:_HEAD_LAYERS], *behind[-1:]}
    middle = ordered[len(ordered) // 2] if ordered[len(ordered) // 2] in own else ordered[0]
    by_layer: dict[int, list[str]] = {n: [] for n in ordered if n in own}
    inside = list(map(own.__contains__, firsts))
    for n, name in zip(itertools.compress(firsts, inside), itertools.compress(members, inside)):
        by_layer[n].append(name)
    rest = _Others(members, inside)
    out: list[Sample] = []
    for n, here in by_layer.items():
        out.extend(_of_layer(here, rest if n == middle else ()))
    return out


def _first_numbers(members: list[str]) -> list[int]:
    """The first number of each name of one kind: of a million names all at once, where they begin alike."""
    first = _NUMBER.search(members[0])
    if first is None:
        return [0] * len(members)
    start, front = first.start(), members[0][: first.start()]
    pieces = list(map(operator.itemgetter(slice(start, start + _PIECE)), members))
    distinct = list(dict.fromkeys(pieces))
    text = "\n".join(distinct)
    found = _LEADING.findall(text)
    one_each = len(found) == len(distinct) == text.count("\n") + 1
    # A number as long as a piece may go on behind it.
    if one_each and max(map(len, found)) < _PIECE and all(map(operator.methodcaller("startswith", front), members)):
        return list(map(dict(zip(distinct, map(int, found))).__getitem__, pieces))
    return [next(iter(numbers(name)), 0) for name in members]


def _of_layer(here: list[str], others: Iterable[str]) -> list[Sample]:
    """Two names of one layer, the first of them for all but the last and for ``others``."""
    if len(here) <= _SORTED and len(numbers(here[0])) > 2:
        ordered = sorted(here, key=numbers)
    else:  # of two names alike but for one number, the longer has the higher one
        ordered = sorted(sorted(here), key=len)
    first, last = ordered[0], ordered[-1]
    if first == last:
        return [Sample(first, (first,), others)]
    return [Sample(first, ordered[:-1], others), Sample(last, (last,))]
