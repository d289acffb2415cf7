"""Programs made wrong: statements dropped, swapped, doubled and moved, names and constants exchanged."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from typing import Any

_CONSTANTS: list[Any] = [None, True, False, 0, 1, -1, "", "x", "EAGLE", "NEXTN", (), 10**30, 1.5]
_COMPARISONS = [ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Lt, ast.GtE]


def mutated(chance: random.Random, text: str) -> str:
    """A program with one to three changes; now and then one that no longer parses."""
    if chance.random() < 0.1:
        return _torn(chance, text)
    tree = ast.parse(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        chance.choice(_CHANGES)(chance, tree)
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, AttributeError, RecursionError):  # a tree that stands for no program
        return _torn(chance, text)


def _torn(chance: random.Random, text: str) -> str:
    first, second = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    second = min(second, first + chance.choice((1, 5, 80)))
    return chance.choice(
        (
            text[:first],
            text[:first] + text[second:],
            text[:first] + chance.choice("\0\t()[]:'\"\\=é\ufeff") + text[first:],
        )
    )


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _drop(chance: random.Random, tree: ast.Module) -> None:
    block = chance.choice(list(_blocks(tree)) or [[ast.Pass()]])
    del block[chance.randrange(len(block))]
    if not block:
        block.append(ast.Pass())


def _swap(chance: random.Random, tree: ast.Module) -> None:
    block = chance.choice([b for b in _blocks(tree) if len(b) > 1] or [[ast.Pass()]])
    first, second = chance.randrange(len(block)), chance.randrange(len(block))
    block[first], block[second] = block[second], block[first]


def _move(chance: random.Random, tree: ast.Module) -> None:
    """A statement doubled somewhere else. Never into what it holds, which would have no end."""
    blocks = list(_blocks(tree)) or [[ast.Pass()]]
    statement = chance.choice(chance.choice(blocks))
    held = {id(block) for block in _blocks(statement)}
    target = chance.choice([b for b in blocks if id(b) not in held] or blocks[:1])
    if id(target) not in held:
        target.insert(chance.randrange(len(target) + 1), statement)


def _rename(chance: random.Random, tree: ast.Module) -> None:
    found = [
        (node, field)
        for node in ast.walk(tree)
        for field in ("id", "attr", "arg", "name", "module")
        if isinstance(getattr(node, field, None), str)
    ]
    if not found:
        return
    node, field = chance.choice(found)
    old = getattr(node, field)
    new = chance.choice([getattr(n, f) for n, f in found if f == field] + [old + "_x"])
    for other, at in found if chance.random() < 0.3 else [(node, field)]:
        if getattr(other, at) == old:
            setattr(other, at, new)


def _constant(chance: random.Random, tree: ast.Module) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    if found:
        node = chance.choice(found)
        node.value = chance.choice([*_CONSTANTS, *(n.value for n in found)])


def _condition(chance: random.Random, tree: ast.Module) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.IfExp, ast.Compare, ast.BoolOp))]
    if not found:
        return
    node = chance.choice(found)
    if isinstance(node, ast.Compare):
        node.ops[chance.randrange(len(node.ops))] = chance.choice(_COMPARISONS)()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)


def _call(chance: random.Random, tree: ast.Module) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and (node.args or node.keywords)]
    if not found:
        return
    node = chance.choice(found)
    given: list[Any] = chance.choice([part for part in (node.args, node.keywords) if part])
    if chance.random() < 0.5:
        del given[chance.randrange(len(given))]
    else:
        given.append(chance.choice(given))


def _wrap(chance: random.Random, tree: ast.Module) -> None:
    """A statement put under something that changes when, whether or how often it runs."""
    block = chance.choice(list(_blocks(tree)) or [[ast.Pass()]])
    at = chance.randrange(len(block))
    text = chance.choice(_WRAPPERS)
    wrapper = ast.parse(text).body[0]
    inner = next(b for b in _blocks(wrapper) if isinstance(b[0], ast.Pass))
    inner[0] = block[at]
    block[at] = wrapper


_WRAPPERS = [
    "while True:\n    pass",
    "for x in range(10**9):\n    pass",
    "try:\n    pass\nexcept Exception:\n    x = 1",
    "try:\n    x = y\nfinally:\n    pass",
    "with x as y:\n    pass",
    "def x(self):\n    pass",
    "class X:\n    pass",
    "if __debug__:\n    pass",
    "async def x():\n    pass",
]
_CHANGES = [_drop, _drop, _swap, _swap, _move, _rename, _rename, _rename, _constant, _condition, _call, _wrap]
