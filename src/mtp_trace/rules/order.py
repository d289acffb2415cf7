"""What of a tree's code runs before a place in it, read from who calls whom and in which order the calls stand.

Only names that surely mean a function are followed: ``self.step()`` in its own class, and names that the module or the
function defines or imports, whether they are called or handed on (``run(step)``, ``STEPS = [first, second]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mtp_trace.rules.match_site import Found, find_sites
from mtp_trace.rules.model import Match
from mtp_trace.rules.sites import Sites
from mtp_trace.syntax.form import Node

_DEPTH = 16
_At = tuple[int, int]
"""A line, and which name of its function stands there."""


@dataclass(frozen=True)
class Body:
    """A function, or a module-level value that names some."""

    file: str
    first: int
    last: int
    name: str = ""
    cls: str = ""
    node: Node = field(default_factory=list, repr=False, compare=False)


class References:
    """The bodies of a tree's files, and which of them each names."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._bodies: dict[str, list[Body]] = {}
        self._refers: dict[Body, list[tuple[_At, Body]]] = {}

    @classmethod
    def of(cls, sites: Sites) -> References:
        """Those of a tree, kept with its sites."""
        known: References = sites.base.remembered.setdefault(cls, cls(sites.base))
        return known

    def bodies(self, file: str) -> list[Body]:
        """A file's functions and module-level values, in their order."""
        known = self._bodies.get(file)
        if known is None:
            known = self._bodies[file] = list(_bodies(file, self._sites.form(file) or []))
        return known

    def named_in(self, body: Body) -> list[tuple[_At, Body]]:
        """The bodies that a body names, with where."""
        known = self._refers.get(body)
        if known is None:
            found = (
                ((line, i), self._meant(body, owner, name))
                for i, (line, owner, name) in enumerate(_names(body.node), 1)
            )
            known = self._refers[body] = [(at, target) for at, target in found if target is not None]
        return known

    def _meant(self, body: Body, owner: str, name: str) -> Body | None:
        if owner:
            same = (b for b in self.bodies(body.file) if b.cls == body.cls and b.name == name)
            return next(same, None) if owner in ("self", "cls") and body.cls else None
        constants = self._sites.constants
        function = f"{body.cls}.{body.name}" if body.cls else body.name
        found = constants.imported(name, body.file, function) or constants.lookup(name, body.file)
        if found is None:
            return None
        node, file = found
        return next((b for b in self.bodies(file) if b.first <= node[1] <= b.last and not b.cls), None)


class Order:
    """The order of a tree's code around one place."""

    def __init__(self, sites: Sites, file: str, line: int) -> None:
        self._sites = sites
        self._place = (file, line)
        references = References.of(sites)
        self._bodies_of, self._references = references.bodies, references.named_in
        self._limits: dict[Body, _At] = {}
        self._earlier: set[Body] = set()
        around = next((b for b in self._bodies_of(file) if b.first <= line <= b.last), None)
        if around is not None:
            self._climb(around, (line, 0))
        for body, limit in self._limits.items():
            for at, target in self._references(body):
                if at < limit:
                    self._descend(target)

    def before(self, file: str, line: int, end_line: int) -> bool:
        """Whether the lines run before the place, in a way that leads there, and do not hold it themselves."""
        body = next((b for b in self._bodies_of(file) if b.first <= line <= b.last), None)
        if body is None or (file == self._place[0] and line <= self._place[1] <= end_line):
            return False
        return body in self._earlier or (line, 0) < self._limits.get(body, (0, 0))

    def _climb(self, body: Body, at: _At) -> None:
        """Notes how far each body has come when the place is reached, up through all that lead there."""
        todo = [(body, at, 0)]
        while todo:
            body, at, depth = todo.pop()
            if at <= self._limits.get(body, (0, 0)) or depth > _DEPTH:
                continue
            self._limits[body] = at
            for caller in self._naming(body.name):
                calls = [where for where, target in self._references(caller) if target == body]
                if calls and caller != body:
                    todo.append((caller, max(calls), depth + 1))

    def _descend(self, body: Body) -> None:
        todo = [body]
        while todo:
            body = todo.pop()
            if body not in self._earlier and body not in self._limits:
                self._earlier.add(body)
                todo += [target for _, target in self._references(body)]

    def _naming(self, name: str) -> Iterator[Body]:
        for path in self._sites.holding([name]):
            lines = self._sites.text(path).split(b"\n")
            for body in self._bodies_of(path):
                if any(name.encode() in text for text in lines[body.first - 1 : body.last]):
                    yield body

    @classmethod
    def around(cls, sites: Sites, file: str, line: int) -> Order:
        """The order around a place, worked out once for a tree."""
        key = (cls, sites.extra, file, line)
        known: Order | None = sites.base.remembered.get(key)
        if known is None:
            known = sites.base.remembered[key] = cls(sites, file, line)
        return known


def places_of(sites: Sites, match: Match) -> list[Found]:
    """The sites of a match; where it asks for those that run before others, only they."""
    return earlier(sites, match, find_sites(sites, match.site)) if match.site is not None else []


def earlier(sites: Sites, match: Match, found: list[Found]) -> list[Found]:
    """Those of the places that run before one that ``match.before`` finds, which they name as ``before``."""
    if match.before is None or not found:
        return found
    later = [(f"{f.file}:{f.line}", Order.around(sites, f.file, f.line)) for f in find_sites(sites, match.before)]
    kept: list[Found] = []
    for place in found:
        at = next((where for where, order in later if order.before(place.file, place.line, place.end_line)), None)
        if at is not None:
            kept.append(replace(place, captures={**place.captures, "before": at}))
    return kept


def _bodies(file: str, form: list[Node], cls: str = "") -> Iterator[Body]:
    for s in form:
        if s[0] == "def":
            yield Body(file, s[1], s[2], s[3], cls, s)
        elif s[0] == "class" and not cls:
            yield from _bodies(file, s[6], s[3])
        elif s[0] == "assign" and s[3][0][0] == "name" and not cls:
            yield Body(file, s[1], s[2], s[3][0][3], cls, s)


def _names(node: Node) -> Iterator[tuple[int, str, str]]:
    """(line, owner, name) of names and of attributes of names, anywhere inside, as they stand in the source."""
    stack = [node]
    while stack:
        n = stack.pop()
        if len(n) > 3 and n[0] == "name" and isinstance(n[3], str):
            yield n[1], "", n[3]
        elif len(n) > 4 and n[0] == "attr" and isinstance(n[3], list) and n[3][:1] == ["name"]:
            yield n[1], n[3][3], n[4]
        else:
            stack += [part for part in reversed(n) if isinstance(part, list)]
