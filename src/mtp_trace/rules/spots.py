"""Places in a module where something that a rule can name happens, with the conditions that lead there.

A spot is found by what the code does. A field is written by ``x.field = v``, ``x.field[0] = v``,
``setattr(x, "field", v)``, ``declare(..., field=v)``, ``declared["field"] = v`` and ``return {"field": v}`` alike, so
that one rule holds whichever of these a tree uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mtp_trace.syntax.form import Node, unparse

KINDS = ("write", "item", "raise", "call", "log", "return", "read", "condition", "class", "define", "bind")
_LOGGERS = {"warning", "info", "error", "debug", "warn", "warning_once", "info_once", "exception", "critical"}


@dataclass(frozen=True)
class Condition:
    """A condition around a spot. ``implied`` marks one that only says that an earlier arm was not taken."""

    node: Node = field(repr=False)
    taken: bool
    implied: bool = False

    @property
    def text(self) -> str:
        """In normal spelling, negated where the other arm leads here."""
        text = unparse(self.node)
        return (
            text if self.taken else text[4:] if text.startswith("not ") and self.node[0] == "not" else f"not ({text})"
        )


@dataclass(frozen=True)
class Spot:
    """One place. ``name`` is the field, callee, exception, class or function; ``value`` the node assigned or given."""

    kind: str
    file: str
    node: Node = field(repr=False)
    name: str = ""
    value: Node | None = field(default=None, repr=False)
    owner: str = ""
    spelling: str = ""
    message: str = ""
    function: str = ""
    cls: str = ""
    conditions: tuple[Condition, ...] = field(default=(), repr=False)
    block: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def line(self) -> int:
        """First line."""
        return int(self.node[1])

    @property
    def end_line(self) -> int:
        """Last line."""
        return int(self.node[2])

    @property
    def guard(self) -> str:
        """All conditions that are not merely implied, joined by ``and``; empty where none leads here."""
        texts = [c.text for c in self.conditions if not c.implied]
        return " and ".join(f"({t})" if len(texts) > 1 and " or " in t else t for t in texts)


@dataclass(frozen=True)
class _Here:
    file: str
    function: str = ""
    cls: str = ""
    conditions: tuple[Condition, ...] = ()
    block: tuple[Node, ...] = ()


def spots_of(file: str, form: list[Node]) -> list[Spot]:
    """Every spot of a module, in source order."""
    return list(_block(form, _Here(file)))


@dataclass(frozen=True)
class Unit:
    """A function, a class head or a statement outside of both: what a rule's words are looked for in."""

    file: str
    node: Node = field(repr=False)
    cls: str = ""
    block: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def first(self) -> int:
        """First line, decorators included."""
        decorators = self.node[6] if self.node[0] == "def" else self.node[7] if self.node[0] == "class" else []
        return min([int(self.node[1]), *(int(d[1]) for d in decorators)])

    @property
    def last(self) -> int:
        """Last line."""
        return int(self.node[2])

    def spots(self) -> list[Spot]:
        """The spots of the unit; a class head is one spot."""
        here = _Here(self.file, cls=self.cls, block=self.block)
        if self.node[0] == "class":
            return [_spot("class", self.node, here, name=self.node[3])]
        return list(_statement(self.node, here))


def units_of(file: str, form: list[Node], cls: str = "") -> Iterator[Unit]:
    """The units of a module, in source order."""
    block = tuple(form)
    for s in form:
        yield Unit(file, s, cls, block)
        if s[0] == "class":
            yield from units_of(file, s[6], s[3])


def neighbours_of(spot: Spot) -> Iterator[Spot]:
    """Spots of the statements beside one, in the same block; what functions and classes hold is left out."""
    here = _Here(spot.file, spot.function, spot.cls)
    for s in spot.block:
        if s is spot.node:
            continue
        if s[0] == "def":
            yield _spot("define", s, here, name=s[3])
        elif s[0] == "class":
            yield _spot("class", s, here, name=s[3])
        else:
            yield from _statement(s, here)


def statement_of(spot: Spot) -> Iterator[Spot]:
    """Spots of the statement that a spot is, itself among them; none where it is only a part of one."""
    if any(s is spot.node for s in spot.block):
        yield from _statement(spot.node, _Here(spot.file, spot.function, spot.cls))


def _block(statements: list[Node], here: _Here) -> Iterator[Spot]:
    here = replace(here, block=tuple(statements))
    for statement in statements:
        yield from _statement(statement, here)
        if statement[0] == "if" and _leaves(statement[4]) and not statement[5]:
            # What follows `if x: return` runs only where x does not hold.
            here = replace(here, conditions=(*here.conditions, Condition(statement[3], False, implied=True)))


def _subject(test: Node) -> str:
    """What a comparison asks about: that `if x == a` failed adds nothing to `elif x == b`."""
    return unparse(test[3]) if test[0] == "compare" else ""


def _leaves(body: list[Node]) -> bool:
    return bool(body) and body[-1][0] in ("return", "raise", "continue", "break")


def _statement(s: Node, here: _Here) -> Iterator[Spot]:
    op = s[0]
    if op == "def":
        yield _spot("define", s, here, name=s[3])
        name = f"{here.cls}.{s[3]}" if here.cls and not here.function else s[3]
        yield from _block(s[5], replace(here, function=name, conditions=()))
    elif op == "class":
        yield _spot("class", s, here, name=s[3])
        yield from _block(s[6], replace(here, cls=s[3], function="", conditions=()))
    elif op == "if":
        yield _spot("condition", s, here, name=unparse(s[3]), value=s[3])
        yield from _expressions(s[3], s, here)
        yield from _block(s[4], replace(here, conditions=(*here.conditions, Condition(s[3], True))))
        chained = len(s[5]) == 1 and s[5][0][0] == "if" and _subject(s[3]) == _subject(s[5][0][3]) != ""
        yield from _block(s[5], replace(here, conditions=(*here.conditions, Condition(s[3], False, implied=chained))))
    elif op in ("for", "while"):
        yield from _expressions(s[4] if op == "for" else s[3], s, here)
        for body in (s[5], s[6]) if op == "for" else (s[4], s[5]):
            yield from _block(body, here)
    elif op == "try":
        for body in (s[3], *(h[4] for h in s[4]), s[5], s[6]):
            yield from _block(body, here)
    elif op == "with":
        for context, _ in s[3]:
            yield from _expressions(context, s, here)
        yield from _block(s[4], here)
    elif op == "match":
        for _, _, body in s[4]:
            yield from _block(body, here)
    elif op in ("assign", "annassign", "augassign"):
        yield from _assignment(s, here)
    elif op == "raise":
        error = s[3]
        if error is not None:
            called = error[0] == "call"
            name = _last(error[3] if called else error)
            text = message_text(error[4][0]) if called and error[4] else ""
            yield _spot("raise", s, here, name=name, message=text, value=error)
            yield from _expressions(error, s, here)
    elif op == "assert":
        text = message_text(s[4]) if s[4] else unparse(s[3])
        failed = replace(here, conditions=(*here.conditions, Condition(s[3], False)))
        yield _spot("raise", s, failed, name="AssertionError", message=text, value=s[3])
        yield from _expressions(s[3], s, here)
    elif op == "return":
        yield _spot("return", s, here, value=s[3])
        if s[3] is not None:
            yield from _entries(s[3], s, here)
            yield from _expressions(s[3], s, here)
    elif op == "expr":
        yield from _expressions(s[3], s, here)


def _assignment(s: Node, here: _Here) -> Iterator[Spot]:
    if s[0] == "assign":
        targets, value = s[3], s[4]
    else:
        targets, value = [s[3]], s[5]
    for target in targets:
        if target[0] in ("tuple", "list"):
            same = value is not None and value[0] in ("tuple", "list") and len(value[3]) == len(target[3])
            for i, part in enumerate(target[3]):
                yield from _target(part, value[3][i] if same else value, s, here)
        else:
            yield from _target(target, value, s, here)
    if value is not None:
        yield from _entries(value, s, here)
        yield from _expressions(value, s, here)


def _target(target: Node, value: Node | None, s: Node, here: _Here) -> Iterator[Spot]:
    if target[0] == "attr":
        yield _spot("write", s, here, name=target[4], value=value, owner=unparse(target[3]), spelling="attribute")
    elif target[0] == "index" and target[3][0] == "attr" and target[4][0] != "slice":
        owner = unparse(target[3][3])
        yield _spot("item", s, here, name=target[3][4], value=value, owner=owner, spelling="item")
    elif target[0] == "index" and target[4][0] == "const" and isinstance(target[4][3], str):
        yield _spot("write", s, here, name=target[4][3], value=value, owner=unparse(target[3]), spelling="key")
    elif target[0] == "name":
        yield _spot("bind", s, here, name=target[3], value=value)


def _entries(value: Node, s: Node, here: _Here) -> Iterator[Spot]:
    """The fields of a dictionary that is returned or assigned inside a function."""
    if value[0] == "dict" and here.function:
        for key, item in value[3]:
            if key is not None and key[0] == "const" and isinstance(key[3], str):
                yield _spot("write", s, here, name=key[3], value=item, spelling="key")


def _expressions(node: Node, s: Node, here: _Here) -> Iterator[Spot]:
    """Calls and reads inside an expression, outermost first."""
    stack = [node]
    while stack:
        n = stack.pop()
        op = n[0]
        if op == "call":
            yield from _call(n, s, here)
            stack += [v for _, v in reversed(n[5])] + n[4][::-1] + [n[3]]
        elif op == "attr":
            yield _spot("read", n, here, name=n[4], owner=unparse(n[3]))
            stack.append(n[3])
        elif op == "ifexp":
            yield _spot("condition", n, here, name=unparse(n[3]), value=n[3])
            stack += [n[5], n[4], n[3]]
        else:
            stack += list(children(n))[::-1]


def _call(n: Node, s: Node, here: _Here) -> Iterator[Spot]:
    name = _last(n[3])
    owner = unparse(n[3][3]) if n[3][0] == "attr" else ""
    first = n[4][0] if n[4] else None
    yield _spot("call", n, here, name=name, owner=owner, value=first)
    if name in _LOGGERS and owner and first is not None:
        yield _spot("log", n, here, name=name, message=message_text(first), value=first)
    if (
        name in ("getattr", "setattr", "hasattr")
        and len(n[4]) > 1
        and n[4][1][0] == "const"
        and isinstance(n[4][1][3], str)
    ):
        if name == "setattr" and len(n[4]) > 2:
            yield _spot("write", n, here, name=n[4][1][3], value=n[4][2], owner=unparse(n[4][0]), spelling="attribute")
        elif name == "getattr":
            yield _spot("read", n, here, name=n[4][1][3], owner=unparse(n[4][0]))
    for keyword, value in n[5]:
        if keyword is not None:
            yield _spot("write", value, here, name=keyword, value=value, owner=name, spelling="keyword")


def _spot(
    kind: str,
    node: Node,
    here: _Here,
    *,
    name: str = "",
    value: Node | None = None,
    owner: str = "",
    spelling: str = "",
    message: str = "",
) -> Spot:
    return Spot(
        kind,
        here.file,
        node,
        name,
        value,
        owner,
        spelling,
        message,
        here.function,
        here.cls,
        here.conditions,
        here.block,
    )


def _last(node: Node) -> str:
    return str(
        node[4] if node[0] == "attr" else node[3] if node[0] == "name" else _last(node[3]) if node[0] == "call" else ""
    )


def children(node: Node) -> Iterator[Node]:
    """Expressions directly inside an expression."""
    op = node[0]
    if op in ("attr", "star", "await", "yield", "yieldfrom", "not"):
        parts = [node[3]]
    elif op == "index":
        parts = [node[3], node[4]]
    elif op in ("bin",):
        parts = [node[4], node[5]]
    elif op in ("unary", "walrus", "lambda"):
        parts = [node[4]]
    elif op in ("and", "or", "tuple", "list", "set"):
        parts = node[3]
    elif op == "compare":
        parts = [node[3], *node[5]]
    elif op == "ifexp":
        parts = node[3:6]
    elif op == "call":
        parts = [node[3], *node[4], *(v for _, v in node[5])]
    elif op == "dict":
        parts = [x for pair in node[3] for x in pair]
    elif op == "comp":
        parts = [*node[4], *(x for target, iterable, conditions, _ in node[5] for x in (iterable, *conditions))]
    elif op == "fstring":
        parts = [p[3] for p in node[3] if not isinstance(p, str)]
    elif op == "slice":
        parts = node[3:6]
    else:
        parts = []
    for part in parts:
        if part is not None:
            yield part


def descend(node: Node) -> Iterator[Node]:
    """An expression and everything inside it."""
    stack = [node]
    while stack:
        n = stack.pop()
        yield n
        stack += list(children(n))[::-1]


def message_text(node: Node) -> str:
    """The text that an expression comes to, with ``{expression}`` where it is not constant."""
    op = node[0]
    if op == "const":
        return str(node[3])
    if op == "fstring":
        return "".join(p if isinstance(p, str) else "{" + unparse(p[3]) + "}" for p in node[3])
    if op == "bin" and node[3] == "+":
        return message_text(node[4]) + message_text(node[5])
    if op == "bin" and node[3] == "%":
        return message_text(node[4])
    if op == "call" and node[3][0] == "attr" and node[3][4] == "format":
        return message_text(node[3][3])
    return "{" + unparse(node) + "}"
