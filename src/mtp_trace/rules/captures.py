"""What a rule takes from a place: a value's texts, the names that a guard compares with, what else is set there."""

from __future__ import annotations

from typing import Any

from mtp_trace.rules.constants import Constants
from mtp_trace.rules.model import Capture
from mtp_trace.rules.regex import SafeRegex
from mtp_trace.rules.spots import Spot, descend, neighbours_of, spots_of, statement_of
from mtp_trace.syntax.form import Node, unparse


def capture(item: Capture, spot: Spot, constants: Constants) -> Any:
    """The value of one capture at a spot; empty where there is none."""
    if item.how == "texts":
        return _texts(spot, constants)
    if item.how == "text":
        return unparse(spot.value) if spot.value is not None else ""
    if item.how == "numbers":
        return _numbers(spot, item.fields)
    assert item.what is not None
    if item.how == "compared":
        return compared(spot, item.what, constants)
    if item.how == "guard":
        return next((c.text for c in reversed(spot.conditions) if item.what.search(c.text)), "")
    if item.how == "sets":
        return _sets(spot, item.what)
    nodes = [c.node for c in spot.conditions] + ([spot.value] if spot.value is not None else [])
    return list(dict.fromkeys(n for node in nodes for n in _read_names(node) if item.what.full(n)))


def _numbers(spot: Spot, fields: tuple[SafeRegex, ...]) -> list[int]:
    """The numbers of a tuple; where the spot writes a field, those that the fields get there, one for each."""
    if spot.kind not in ("write", "item"):
        return [n[3] for n in spot.value[3]] if spot.value is not None and spot.value[0] in ("tuple", "list") else []
    written: dict[str, int] = {}
    for other in (*statement_of(spot), *neighbours_of(spot)):
        if other.kind == "write" and not other.conditions and other.value is not None and _is_number(other.value):
            written.setdefault(other.name, other.value[3])
    found = [next((n for name, n in written.items() if field.full(name)), None) for field in fields]
    return [n for n in found if n is not None] if None not in found else []


def _is_number(node: Node) -> bool:
    return node[0] == "const" and type(node[3]) is int


def _texts(spot: Spot, constants: Constants) -> list[str]:
    if spot.value is None:
        return []
    found = constants.texts(spot.value, spot.file)
    if found is not None:
        return found
    if spot.value[0] == "call":
        return _returned(spot, constants)
    return []


def _returned(spot: Spot, constants: Constants) -> list[str]:
    """Constant texts that a called method returns, where a guard says of which class its object is."""
    assert spot.value is not None
    function = spot.value[3]
    if function[0] == "name":
        found = constants.lookup(function[3], spot.file) or _local_import(function[3], spot, constants)
        return _returns(found[0][5], found[1], constants) if found and found[0][0] == "def" else []
    if function[0] != "attr":
        return []
    owner = unparse(function[3])
    for condition in spot.conditions:
        for node in descend(condition.node) if condition.taken else ():
            if (
                node[0] == "call"
                and unparse(node[3]) == "isinstance"
                and len(node[4]) == 2
                and unparse(node[4][0]) == owner
            ):
                name = unparse(node[4][1])
                known = constants.lookup(name, spot.file) or _local_import(name, spot, constants)
                if known and known[0][0] == "class":
                    body: list[Node] = next((s[5] for s in known[0][6] if s[0] == "def" and s[3] == function[4]), [])
                    return _returns(body, known[1], constants)
    return []


def _local_import(name: str, spot: Spot, constants: Constants) -> tuple[Node, str] | None:
    return constants.imported(name, spot.file, spot.function)


def _returns(body: list[Node], file: str, constants: Constants) -> list[str]:
    out: list[str] = []
    for s in spots_of(file, body):
        if s.kind == "return" and s.value is not None:
            out += constants.texts(s.value, file) or []
    return out


def compared(spot: Spot, subject: SafeRegex, constants: Constants) -> list[str]:
    """What something may be equal to where the spot runs, by the conditions around it; empty: none says."""
    allowed: list[str] | None = None
    refused: list[str] = []
    for condition in spot.conditions:
        found = _allowed(condition.node, subject, spot.file, constants)
        if found is None:
            continue
        if not condition.taken:
            refused += found
        elif allowed is None:
            allowed = found
        else:
            allowed = [t for t in allowed if t in found]
    return [t for t in dict.fromkeys(allowed or []) if t not in refused]


def _allowed(node: Node, subject: SafeRegex, file: str, constants: Constants) -> list[str] | None:
    """What a condition restricts the subject to; None where it does not."""
    op = node[0]
    if op == "and":
        out: list[str] | None = None
        for part in node[3]:
            found = _allowed(part, subject, file, constants)
            if found is not None:
                out = found if out is None else [t for t in out if t in found]
        return out
    if op == "or":
        parts = [_allowed(p, subject, file, constants) for p in node[3]]
        return None if any(p is None for p in parts) else [t for p in parts if p for t in p]
    if op == "compare" and len(node[4]) == 1 and node[4][0] in ("==", "in"):
        left, right = node[3], node[5][0]
        if subject.search(unparse(left)):
            return constants.texts(right, file)
        if node[4][0] in ("==", "in") and subject.search(unparse(right)):
            return constants.texts(left, file)
    return None


def _sets(spot: Spot, names: SafeRegex) -> dict[str, str]:
    """Fields that the statements beside the spot write, with the text of their values."""
    out: dict[str, str] = {}
    for other in neighbours_of(spot):
        if (
            other.kind == "write"
            and other.spelling == "attribute"
            and other.name != spot.name
            and names.full(other.name)
        ):
            if other.conditions:
                continue  # only under a further condition
            out[f"{other.owner}.{other.name}"] = unparse(other.value) if other.value is not None else ""
    return out


def _read_names(node: Node) -> list[str]:
    out = []
    for n in descend(node):
        if n[0] == "attr":
            out.append(str(n[4]))
        elif n[0] == "call" and unparse(n[3]) == "getattr" and len(n[4]) > 1 and n[4][1][0] == "const":
            out.append(str(n[4][1][3]))
    return out
