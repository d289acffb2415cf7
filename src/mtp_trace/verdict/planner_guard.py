"""What the condition behind an error reads: fields, the texts and numbers that they are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mtp_trace.report.model import Failure
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.spots import Spot, descend, units_of
from mtp_trace.syntax.form import Node, child_blocks

_LARGEST_HELPER = 25


@dataclass
class GuardFacts:
    """What stands in the conditions around one place, the nearest first.

    ``absent`` are names that are read as ``not x.name``: given, they would make the condition fail.
    """

    names: dict[str, None] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    texts: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)


def guard_facts(error: Failure | None, sites: Sites) -> GuardFacts:
    """The facts of the conditions that lead to an error's line; empty where it has no place in the tree."""
    facts = GuardFacts()
    if error is None or not error.file or not error.line:
        return facts
    form = sites.form(error.file)
    for spot in _spots(error, form or []):
        for condition in reversed(spot.conditions):
            _read(condition.node, error.file, form or [], sites, facts, helpers=True)
    return facts


def _spots(error: Failure, form: list[Node]) -> Iterator[Spot]:
    assert error.file is not None and error.line is not None
    for unit in units_of(error.file, form):
        if unit.node[0] != "class" and unit.first <= error.line <= unit.last:
            spots = [s for s in unit.spots() if s.kind == "raise" and s.line <= error.line <= s.end_line]
            yield from spots[:1]


def _read(node: Node, file: str, form: list[Node], sites: Sites, facts: GuardFacts, helpers: bool) -> None:
    for part in descend(node):
        if part[0] == "attr":
            facts.names[part[4]] = None
        elif part[0] == "name":
            facts.names[part[3]] = None
            _texts(part, file, sites, facts)
        elif part[0] == "const" and isinstance(part[3], str):
            facts.texts[part[3]] = None
        elif part[0] == "not" and part[3][0] == "attr":
            facts.absent.add(part[3][4])
        elif part[0] == "compare":
            _compared(part, facts)
        elif part[0] == "call" and part[3][0] == "attr" and helpers:
            for statement in _helper(part[3][4], file, form):
                for value in _values(statement):
                    _read(value, file, form, sites, facts, helpers=False)


def _texts(node: Node, file: str, sites: Sites, facts: GuardFacts) -> None:
    found = sites.constants.texts(node, file)
    facts.texts.update(dict.fromkeys(found or ()))


def _compared(node: Node, facts: GuardFacts) -> None:
    left = node[3]
    name = left[4] if left[0] == "attr" else left[3] if left[0] == "name" else ""
    for right in node[5]:
        if name and right[0] == "const" and isinstance(right[3], int) and not isinstance(right[3], bool):
            facts.numbers.setdefault(name, []).append(right[3])


def _helper(name: str, file: str, form: list[Node]) -> list[Node]:
    """The body of a short method of the same file."""
    for unit in units_of(file, form):
        if unit.node[0] == "def" and unit.node[3] == name and unit.last - unit.first <= _LARGEST_HELPER:
            body: list[Node] = unit.node[5]
            return body
    return []


def _values(statement: Node) -> Iterator[Node]:
    if (statement[0] == "return" and statement[3] is not None) or statement[0] == "if":
        yield statement[3]
    for block in child_blocks(statement):
        for inner in block:
            yield from _values(inner)
