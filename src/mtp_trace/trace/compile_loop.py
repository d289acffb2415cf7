"""Compiles ``while`` and ``for``. A ``for`` that only searches passes over what it does not look for at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace.compile_gen import items_of, turns
from mtp_trace.trace.operands import unknown_key
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.signals import BREAK, RETURN
from mtp_trace.trace.values import MISSING, Frame, Value

Exec = Callable[[Frame], Any]

_PLAIN = frozenset({type(iter([])), type(reversed([])), type(iter(())), type(iter(range(0))), type(iter(""))})
"""Iterators that run no code of the tree and do not fail."""
_TABLES = frozenset({dict, set, frozenset})


class LoopCompiler:
    """Loops for ``Compiler``."""

    expr: Any
    block: Any
    store: Any

    def while_(self, node: Node, scope: Scope) -> Exec:
        """``while``: bounded."""
        test, body, otherwise = self.expr(node[3], scope), self.block(node[4], scope), self.block(node[5], scope)

        def run(f: Frame) -> Any:
            while f.engine.truth_at(test(f), f, node[3]):
                f.engine.turns(1, node, f)
                signal = body(f)
                if signal is BREAK:
                    return None
                if signal is RETURN:
                    return signal
            return otherwise(f)

        return run

    def for_(self, node: Node, scope: Scope) -> Exec:
        """``for``: over a finite, known collection."""
        store, source = self.store(node[3], scope), self.expr(node[4], scope)
        body, otherwise = self.block(node[5], scope), self.block(node[6], scope)
        search = Search.of(node, scope)
        apart = self.store(search.apart, scope) if search is not None and search.apart is not None else None

        def leave(f: Frame, item: Value) -> None:
            """Leaves the variables as the last item passed over would."""
            store(f, item)
            if apart is not None:
                apart(f, item)

        def run(f: Frame) -> Any:
            engine = f.engine
            items = items_of(f, source, node)
            plain = type(items) in _PLAIN
            if not plain:
                items = turns(f, items, node)
            passed: Value = MISSING
            limit = engine.budget.turns
            for item in items:
                if plain:
                    engine.loop_turns += 1
                    if engine.loop_turns > limit:
                        engine.turns(0, node, f)
                    if search is not None and search.passes(f.vars, item):
                        passed = item
                        continue
                    if passed is not MISSING:
                        leave(f, passed)
                        passed = MISSING
                f.node = node
                store(f, item)
                signal = body(f)
                if signal is BREAK:
                    return None
                if signal is RETURN:
                    return signal
            if search is not None and passed is not MISSING:
                leave(f, passed)
                f.node = search.test
            return otherwise(f)

        return run


class Search:
    """A loop that does nothing for an item by which ``a in b`` turns out one way, ``a`` and ``b`` plain variables:

    ``for a, x in items: if a not in text: continue; ...``, or ``for a in items: if name in a: ...`` and no more. The
    item may be taken apart by the first statement as well as by the loop's target.
    """

    __slots__ = ("_arity", "_container", "_item", "_passing", "apart", "test")

    def __init__(
        self, arity: int, item: int | str, container: int | str, passing: bool, apart: Node | None, test: Node
    ) -> None:
        self._arity, self._item, self._container, self._passing = arity, item, container, passing
        self.apart, self.test = apart, test

    @classmethod
    def of(cls, node: Node, scope: Scope) -> Search | None:
        """How a ``for`` searches; None where it does more with every item."""
        target, body = node[3], node[5]
        apart = _apart(target, body, scope)
        whole = scope.own_variable(target) if apart is not None else None
        if apart is not None:
            target, body = apart, body[1:]
        if not body or body[0][0] != "if":
            return None
        test, then, otherwise = body[0][3:6]
        if test[0] != "compare" or test[4] not in (["in"], ["not in"]):
            return None
        negated = test[4] == ["not in"]
        if [s[0] for s in then] == ["continue"]:
            passing = not negated
        elif len(body) == 1 and not otherwise:
            passing = negated
        else:
            return None
        several = target[0] in ("tuple", "list")
        names = [scope.own_variable(part) for part in (target[3] if several else [target])]
        item, container = scope.own_variable(test[3]), scope.own_variable(test[5][0])
        if None in names or item is None or container is None or len(set(names)) < len(names):
            return None
        if whole is not None and whole in (item, container):
            return None
        at = {name: i for i, name in enumerate(names) if name is not None}
        return cls(len(names) if several else 0, at.get(item, item), at.get(container, container), passing, apart, test)

    def passes(self, variables: dict[str, Value], value: Value) -> bool:
        """Whether it is certain that the loop does nothing for this item."""
        if not self._arity:
            value = (value,)
        elif type(value) is not tuple or len(value) != self._arity:
            return False
        item, container = self._item, self._container
        left = value[item] if type(item) is int else variables.get(item, MISSING)  # type: ignore[arg-type]
        if type(left) is not str:
            return False
        right = value[container] if type(container) is int else variables.get(container, MISSING)  # type: ignore[arg-type]
        if type(right) is str:
            return (left in right) is self._passing
        if type(right) not in _TABLES:
            return False
        if left in right:
            return self._passing
        return not self._passing and unknown_key(right) is None


def _apart(target: Node, body: list[Node], scope: Scope) -> Node | None:
    """The target of a first statement that does no more than take the item apart."""
    item = scope.own_variable(target)
    if item is None or not body or body[0][0] != "assign" or len(body[0][3]) != 1:
        return None
    inner, value = body[0][3][0], body[0][4]
    names = [scope.own_variable(part) for part in inner[3]] if inner[0] in ("tuple", "list") else [None]
    return inner if None not in names and item not in names and scope.own_variable(value) == item else None
