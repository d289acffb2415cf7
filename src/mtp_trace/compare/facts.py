"""Facts of two trees, matched by what they are. Where a fact stands never counts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from mtp_trace.compare.condition import function_name, normal_condition, normal_message
from mtp_trace.report.compare_model import FactChange, FactMove, FactSide
from mtp_trace.report.facttext import value_text
from mtp_trace.report.listing_model import Fact
from mtp_trace.rules.yamlfile import shipped


@dataclass(frozen=True)
class Shape:
    """What names a fact of one kind (``key``) and what it says (``value``); ``each`` is the list that is split."""

    key: tuple[str, ...]
    value: tuple[str, ...]
    each: str | None = None


@dataclass(frozen=True)
class _Item:
    """One fact, a list split: its normal form for comparing, its own words for showing."""

    kind: str
    what: str
    key: str
    value: str
    side: FactSide


def changes(old: Iterable[Fact], new: Iterable[Fact]) -> tuple[FactChange, ...]:
    """What appeared, vanished or changed, in order of kind and name."""
    before, after = _by_key(old), _by_key(new)
    found: list[FactChange] = []
    for key in sorted({*before, *after}):
        found += _compared(before.get(key, []), after.get(key, []))
    return tuple(sorted(found, key=lambda change: (change.kind, change.what, change.change.value)))


def _by_key(facts: Iterable[Fact]) -> dict[tuple[str, str], list[_Item]]:
    out: dict[tuple[str, str], list[_Item]] = defaultdict(list)
    for fact in facts:
        for item in _items(fact):
            out[item.kind, item.key].append(item)
    return out


def _compared(old: list[_Item], new: list[_Item]) -> list[FactChange]:
    """The same name on both sides: what says the same is paired off, the rest with what says nearly so."""
    rest = list(new)
    left = []
    for item in old:
        same = next((other for other in rest if other.value == item.value), None)
        if same is not None:
            rest.remove(same)
        else:
            left.append(item)
    if old and new and not (left and rest):
        # The same fact, said once more or once less: nothing that it says is new or gone if its twin says it too.
        left = [item for item in left if item.value not in {other.value for other in new}]
        rest = [item for item in rest if item.value not in {other.value for other in old}]
    left, rest = _distinct(left), _distinct(rest)
    out = []
    for item in left:
        near = max(rest, key=lambda other: SequenceMatcher(None, item.value, other.value).ratio(), default=None)
        if near is None:
            out.append(FactChange(item.kind, FactMove.REMOVED, item.what, old=item.side))
        else:
            rest.remove(near)
            out.append(FactChange(item.kind, FactMove.CHANGED, item.what, item.side, near.side))
    return out + [FactChange(item.kind, FactMove.ADDED, item.what, new=item.side) for item in rest]


def _distinct(items: list[_Item]) -> list[_Item]:
    return list({item.value: item for item in reversed(items)}.values())[::-1]


def _items(fact: Fact) -> list[_Item]:
    shape = _shapes().get(fact.kind) or Shape(("rule",), tuple(sorted(fact.details)))
    details = {"rule": fact.rule, **fact.details}
    split = details.get(shape.each) if shape.each else None
    parts: Sequence[Any] = split if isinstance(split, (list, tuple)) and split else [split]
    return [_item(fact, shape, details if shape.each is None else {**details, shape.each: part}) for part in parts]


def _item(fact: Fact, shape: Shape, details: dict[str, Any]) -> _Item:
    key = {name: _normal(name, details[name]) for name in shape.key if details.get(name) not in (None, "", [])}
    told = {name: details[name] for name in shape.value if name in details}
    value = {name: _normal(name, item) for name, item in told.items()}
    names = [value_text(details[name]) for name in shape.key if details.get(name) not in (None, "", [])]
    shown = next(iter(told.values())) if len(told) == 1 else told
    side = FactSide(fact.file, fact.line, shown)
    return _Item(fact.kind, ": ".join(names) or fact.rule, _text(key), _text(value), side)


def _normal(name: str, value: Any) -> Any:
    """A detail as it is compared."""
    told = _told()
    if isinstance(value, dict):
        return {str(key): _normal(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return sorted((_normal(name, item) for item in value), key=_text)
    if not isinstance(value, str):
        return value
    if name in told["conditions"]:
        return normal_condition(value)
    if name in told["messages"]:
        return normal_message(value)
    if name in told["functions"]:
        return _assignment(value) if "=" in value else function_name(value)
    return value


def _assignment(text: str) -> str:
    """``field=value`` with the value's local names numbered."""
    name, _, value = text.partition("=")
    return f"{function_name(name)}={normal_condition(value)}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


@cache
def _shapes() -> dict[str, Shape]:
    return {
        kind: Shape(tuple(data["key"]), tuple(data["value"]), data.get("each"))
        for kind, data in shipped("facts.yaml")["kinds"].items()
    }


@cache
def _told() -> dict[str, frozenset[str]]:
    data = shipped("facts.yaml")
    return {name: frozenset(data[name]) for name in ("conditions", "messages", "functions")}
