"""The flags that a tree takes, read from its own registrations, and the nearest one to a flag that it refuses."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

from mtp_trace.rules.sites import Sites
from mtp_trace.rules.spots import Spot, descend
from mtp_trace.syntax.form import Node, unparse

_REGISTER = "add_argument"
_ANNOTATIONS = (": A[", ": Annotated[")


@dataclass(frozen=True)
class Flag:
    """One flag: ``name`` with its dashes, other spellings, the field behind it, its choices, its place."""

    name: str
    field: str
    file: str
    line: int
    end_line: int
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    help: str = ""
    deprecated: bool = False


class FlagTable:
    """Every flag of a tree by spelling and by field."""

    _known: weakref.WeakKeyDictionary[Sites, FlagTable] = weakref.WeakKeyDictionary()

    def __init__(self, flags: list[Flag]) -> None:
        self.flags = flags
        self.by_name = {n: f for f in reversed(flags) for n in (f.name, *f.aliases)}
        self.by_field = {f.field: f for f in reversed(flags) if not f.deprecated}

    @classmethod
    def of(cls, sites: Sites) -> FlagTable:
        """The table of a tree, made once."""
        sites = sites.base
        table = cls._known.get(sites)
        if table is None:
            table = cls._known[sites] = cls(_collect(sites))
        return table

    def flag_of(self, field: str) -> Flag | None:
        """The flag that sets a field."""
        return self.by_field.get(field)

    def nearest(self, flag: str, value: str = "") -> tuple[Flag, str] | None:
        """The flag that most likely took the place of one that is gone, and why it is thought so."""
        words = set(flag.lstrip("-").replace("_", "-").split("-"))
        best: tuple[float, Flag, str] | None = None
        for known in self.flags:
            if known.deprecated:
                continue
            own = set(known.name.lstrip("-").split("-"))
            shared = words & own
            score = len(shared) / len(words | own)
            why = f"both speak of {', '.join(w for w in known.name.lstrip('-').split('-') if w in shared)}"
            if value and value in known.choices:
                score += 0.4
                why += f", and it takes {value}"
            if flag in known.help:
                score += 1.0
                why = f"its help names {flag}"
            if best is None or score > best[0]:
                best = (score, known, why)
        return (best[1], best[2]) if best is not None and best[0] >= 0.5 else None


def _collect(sites: Sites) -> list[Flag]:
    flags: list[Flag] = []
    for spot in sites.spots([_REGISTER]):
        if spot.kind == "call" and spot.name == _REGISTER:
            flags += _registered(spot, sites)
    for mark in _ANNOTATIONS:
        for spot in sites.spots([mark]):
            if spot.kind == "bind" and spot.cls and not spot.function and spot.node[0] == "annassign":
                flags += _annotated(spot, sites)
    return flags


def _registered(spot: Spot, sites: Sites) -> list[Flag]:
    names = [a[3] for a in spot.node[4] if a[0] == "const" and isinstance(a[3], str) and a[3].startswith("--")]
    if not names:
        return []
    keywords = {k: v for k, v in spot.node[5] if k}
    dest = keywords.get("dest")
    field = dest[3] if dest is not None and dest[0] == "const" else names[0][2:].replace("-", "_")
    action = unparse(keywords["action"]) if "action" in keywords else ""
    return [
        Flag(
            names[0],
            str(field),
            spot.file,
            spot.line,
            spot.end_line,
            tuple(names[1:]),
            _choices(keywords, spot, sites),
            _text(keywords.get("help")),
            "Deprecated" in action,
        )
    ]


def _annotated(spot: Spot, sites: Sites) -> list[Flag]:
    """A field whose annotation carries what the tree makes a flag of: ``name: A[type, "help"]``."""
    annotation = spot.node[4]
    if annotation[0] != "index" or annotation[4][0] != "tuple":
        return []
    keywords: dict[str, Node] = {}
    text = ""
    for part in annotation[4][3][1:]:
        if part[0] == "call":
            keywords.update({k: v for k, v in part[5] if k})
        elif part[0] in ("const", "bin", "fstring") and not text:
            text = _text(part)
    if (no_cli := keywords.get("no_cli")) is not None and no_cli[3] is True:
        return []
    given = keywords.get("flag") or keywords.get("name")
    name = str(given[3]) if given is not None and given[0] == "const" else "--" + spot.name.replace("_", "-")
    aliases = keywords.get("aliases")
    other = sites.constants.texts(aliases, spot.file) if aliases is not None else None
    return [
        Flag(
            name,
            spot.name,
            spot.file,
            spot.line,
            spot.end_line,
            tuple(other or ()),
            _choices(keywords, spot, sites),
            text or _text(keywords.get("help")),
        )
    ]


def _choices(keywords: dict[str, Node], spot: Spot, sites: Sites) -> tuple[str, ...]:
    node = keywords.get("choices")
    return tuple(sites.constants.texts(node, spot.file) or ()) if node is not None else ()


def _text(node: Node | None) -> str:
    if node is None:
        return ""
    return "".join(n[3] for n in descend(node) if n[0] == "const" and isinstance(n[3], str))
