"""The small data forms that say how one attribute of a configuration object follows from others.

``rules/models/transformers/README.md`` lists them. The generator of the table checks every form against real instances
with this very function, so both sides mean the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Opaque(Exception):
    """The value cannot be told from the form; the text says why."""


MAX_ENTRIES = 100_000
"""How long a list may become: a hundred times the layers of the deepest model there is."""

Look = Callable[[str], Any]
"""Gives the value of another attribute of the object (dotted for one of a config inside it), or raises Opaque."""


def evaluate(form: dict[str, Any], look: Look) -> Any:
    """The value that a form gives, or Opaque where it needs a value that is missing or of another kind."""
    try:
        return _evaluate(form, look)
    except (TypeError, ValueError, ZeroDivisionError, KeyError) as error:
        raise Opaque(f"{form} cannot be evaluated: {error}") from None


def _evaluate(form: dict[str, Any], look: Look) -> Any:
    if "value" in form:
        return form["value"]
    if "copy" in form:
        return _given(form["copy"], look)
    for name, compute in _ARITHMETIC.items():
        if name in form:
            left, right = (_operand(item, look) for item in form[name])
            return compute(left, right)
    if "len" in form:
        return len(look(form["len"]))
    if "chars" in form:
        return [form["map"][letter] for letter in look(form["chars"])]
    if "spell" in form:
        return "".join(form["map"][item] for item in look(form["spell"]))
    if "times" in form:
        return _list(form, look)
    raise Opaque(f"no such form: {form}")


def _list(form: dict[str, Any], look: Look) -> list[Any]:
    """The forms of a list with one entry a layer."""
    times = _operand(form["times"], look)
    if times > MAX_ENTRIES:
        raise Opaque(f"{form['times']} is more than {MAX_ENTRIES}: no model has as many layers")
    if "repeat" in form:
        return [form["repeat"]] * times
    if "every" in form:
        step = _operand(form["every"], look)
        at = _operand(form["at"], look) if "at" in form else step - 1
        return [form["hit"] if index % step == at else form["miss"] for index in range(times)]
    guard = form.get("guard")
    first = times if guard is not None and not look(guard) else _operand(form["first"], look)
    return [form["head"] if index < first else form["tail"] for index in range(times)]


def _operand(item: int | str | list[Any], look: Look) -> int:
    """A literal, an attribute's name, or [name, value where it was not given]."""
    if isinstance(item, int):
        return item
    value = _given(item, look)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Opaque(f"{item} is no number")
    return value


def _given(item: str | list[Any], look: Look) -> Any:
    """The value of an attribute; of [name, other] the other where there is no such attribute."""
    if isinstance(item, str):
        return look(item)
    try:
        return look(item[0])
    except Opaque:
        return item[1]


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "div": lambda left, right: left // right,
    "ceildiv": lambda left, right: -(-left // right),
    "mul": lambda left, right: left * right,
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
}
