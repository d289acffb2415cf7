"""Which names a function, class body or comprehension binds, found once when it is compiled."""

from __future__ import annotations

from collections.abc import Iterator

from mtp_trace.syntax.form import Node, child_blocks


class Scope:
    """A static scope. ``kind`` is "module", "class", "function" or "comp"."""

    __slots__ = ("class_name", "explicit_globals", "kind", "names", "nonlocals", "parent", "walrus")

    def __init__(self, kind: str, parent: Scope | None, names: set[str], explicit_globals: set[str] | None = None,
                 nonlocals: set[str] | None = None) -> None:  # fmt: skip
        self.kind, self.parent, self.names = kind, parent, names
        self.explicit_globals = explicit_globals or set()
        self.nonlocals = nonlocals or set()
        self.class_name: str | None = parent.class_name if parent is not None else None
        # Whether the module may hold ``:=`` at all: most hold none, and looking for one walks every expression.
        self.walrus: bool = parent.walrus if parent is not None else True

    def private(self, name: str) -> str:
        """``__name`` as it is spelled outside of the class that it stands in."""
        if self.class_name is None or not name.startswith("__") or name.endswith("__"):
            return name
        owner = self.class_name.lstrip("_")
        return f"_{owner}{name}" if owner else name

    def resolve(self, name: str) -> int | None:
        """How many function frames up the name lives (0 here); None: it is global (or builtin)."""
        if self.kind == "module":
            return None
        if name in self.explicit_globals:
            return None
        if name in self.names:
            return 0
        hops = 0
        scope: Scope | None = self
        while scope is not None:
            if scope.kind in ("function", "comp") and scope is not self and name in scope.names:
                return hops
            if scope.kind in ("function", "comp") and scope is not self and name in scope.explicit_globals:
                return None
            # A class body's frame holds no names for the functions inside it, but is itself one step from its parent.
            parent = scope.parent
            while parent is not None and parent.kind == "class":
                parent = parent.parent
            if parent is None or parent.kind == "module":
                return None
            hops += 1
            scope = parent
        return None

    def own_variable(self, node: Node) -> str | None:
        """The name that a node stands for where it is a variable of the running function; None for anything else."""
        if node[0] != "name" or self.kind not in ("function", "comp") or node[3] in self.nonlocals:
            return None
        name: str = node[3]
        return name if self.resolve(name) == 0 else None

    def owner_of_walrus(self) -> Scope:
        """The scope that ``:=`` inside a comprehension binds in."""
        scope = self
        while scope.kind == "comp" and scope.parent is not None:
            scope = scope.parent
        return scope


def function_scope(parent: Scope, params: Node, body: list[Node]) -> Scope:
    """The scope of a function or lambda."""
    names: set[str] = {p[0] for p in params[1]} | {p[0] for p in params[3]}
    names |= {p[0] for p in (params[2], params[4]) if p}
    explicit: set[str] = set()
    nonlocals: set[str] = set()
    collect(body, names, explicit, nonlocals, parent.walrus)
    return Scope("function", parent, names - explicit - nonlocals, explicit, nonlocals)


def class_scope(parent: Scope, name: str, body: list[Node]) -> Scope:
    """The scope of a class body."""
    names: set[str] = set()
    explicit: set[str] = set()
    nonlocals: set[str] = set()
    collect(body, names, explicit, nonlocals, parent.walrus)
    scope = Scope("class", parent, names - explicit - nonlocals, explicit, nonlocals)
    scope.class_name = name
    return scope


def collect(body: list[Node], names: set[str], explicit: set[str], nonlocals: set[str], walrus: bool = True) -> None:
    """Adds what the statements bind in their own scope (nested functions and classes bind their name only).

    ``walrus`` False: no expression holds ``:=``.
    """
    for s in body:
        op = s[0]
        if op == "assign":
            for t in s[3]:
                names.update(target_names(t))
        elif op in ("annassign", "augassign", "for"):
            names.update(target_names(s[3]))
        elif op in ("def", "class", "typealias"):
            names.add(s[3])
        elif op == "import":
            names.update(alias or dotted.split(".")[0] for dotted, alias in s[3])
        elif op == "from":
            names.update(alias or name for name, alias in s[5])
        elif op == "with":
            for _, target in s[3]:
                if target:
                    names.update(target_names(target))
        elif op == "global":
            explicit.update(s[3])
        elif op == "nonlocal":
            nonlocals.update(s[3])
        elif op == "del":
            for t in s[3]:
                names.update(target_names(t))
        elif op == "try":
            names.update(h[3] for h in s[4] if h[3])
        elif op == "match":
            for pattern, _, _ in s[4]:
                names.update(_pattern_names(pattern))
        if op not in ("def", "class"):
            for block in child_blocks(s):
                collect(block, names, explicit, nonlocals, walrus)
            if walrus:
                _walruses(s, names)


def target_names(target: Node) -> Iterator[str]:
    """Names that an assignment target binds."""
    op = target[0]
    if op == "name":
        yield target[3]
    elif op in ("tuple", "list"):
        for t in target[3]:
            yield from target_names(t)
    elif op == "star":
        yield from target_names(target[3])


def _pattern_names(pattern: Node) -> Iterator[str]:
    op = pattern[0]
    if op in ("starred",):
        if pattern[1]:
            yield pattern[1]
    elif op == "as":
        if pattern[2]:
            yield pattern[2]
        if pattern[1]:
            yield from _pattern_names(pattern[1])
    elif op in ("sequence", "alternatives"):
        for p in pattern[1]:
            yield from _pattern_names(p)
    elif op == "mapping":
        for _, p in pattern[1]:
            yield from _pattern_names(p)
        if pattern[2]:
            yield pattern[2]
    elif op == "class":
        for p in pattern[2]:
            yield from _pattern_names(p)
        for _, p in pattern[3]:
            yield from _pattern_names(p)


_BLOCKS = {"if": (4, 5), "while": (4, 5), "for": (5, 6), "with": (4,), "try": (3, 4, 5, 6), "match": (4,)}


def _walruses(node: object, names: set[str]) -> None:
    if not isinstance(node, list) or not node:
        return
    if node[0] == "walrus":
        names.add(node[3])
    skip = _BLOCKS.get(node[0], ()) if isinstance(node[0], str) else ()
    if node[0] == "lambda":
        return
    for i, child in enumerate(node):
        if isinstance(child, list) and i not in skip:
            _walruses(child, names)
