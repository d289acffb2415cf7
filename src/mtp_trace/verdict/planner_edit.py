"""Flags set in and taken from a launch's arguments, with everything else left as the user wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mtp_trace.report.model import Change
from mtp_trace.rules.flags import Flag, FlagTable

_NUMBER = re.compile(r"-\d+(\.\d+)?$")


class Arguments:
    """A launch's arguments, one group for each flag with its values."""

    def __init__(self, argv: Iterable[str], table: FlagTable) -> None:
        self._table = table
        self._groups: list[list[str]] = []
        for word in argv:
            if not self._groups or (word.startswith("-") and not _NUMBER.match(word)):
                self._groups.append([word])
            else:
                self._groups[-1].append(word)

    @property
    def argv(self) -> tuple[str, ...]:
        """The words."""
        return tuple(word for group in self._groups for word in group)

    def names(self) -> list[str]:
        """Every flag as it is written."""
        return [_name(group) for group in self._groups if group[0].startswith("-")]

    def field(self, name: str) -> str:
        """The field behind a flag; by its spelling where the tree does not know it."""
        flag = self._table.by_name.get(name)
        return flag.field if flag is not None else name.lstrip("-").replace("-", "_")

    def value(self, name: str) -> str | None:
        """The value of a flag under any of its names, empty for a switch; None where it is not given."""
        field = self.field(name)
        found = [g for g in self._groups if g[0].startswith("-") and self.field(_name(g)) == field]
        if not found:
            return None
        first, sign, joined = found[-1][0].partition("=")
        return joined if sign and first else " ".join(found[-1][1:])

    def given(self, field: str) -> str | None:
        """The flag, as it is written, that gives a field."""
        return next((name for name in reversed(self.names()) if self.field(name) == field), None)

    def change(self, name: str, new: str | None) -> None:
        """Sets a flag (``""`` for a switch), or takes it away (None)."""
        field = self.field(name)
        at = [i for i, g in enumerate(self._groups) if g[0].startswith("-") and self.field(_name(g)) == field]
        if new is None:
            self._groups = [g for i, g in enumerate(self._groups) if i not in at]
            return
        written = _name(self._groups[at[-1]]) if at else name
        if at and "=" in self._groups[at[-1]][0] and new:
            group = [f"{written}={new}"]
        else:
            group = [written, new] if new else [written]
        if at:
            self._groups[at[-1]] = group
            self._groups = [g for i, g in enumerate(self._groups) if i not in at[:-1]]
        else:
            self._groups.append(group)


def applied(argv: Sequence[str], env: Mapping[str, str], changes: Iterable[Change], table: FlagTable) -> tuple[
    tuple[str, ...], dict[str, str]
]:  # fmt: skip
    """A launch with changes made."""
    arguments, variables = Arguments(argv, table), dict(env)
    for change in changes:
        if change.kind == "flag":
            arguments.change(change.name, change.new)
        elif change.new is None:
            variables.pop(change.name, None)
        else:
            variables[change.name] = change.new
    return arguments.argv, variables


def merged(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes with those of one name made one, and those that come to nothing left out."""
    out: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.kind, change.name)
        old = out[key].old if key in out else change.old
        out[key] = Change(change.kind, change.name, old, change.new, change.why)
    return tuple(change for change in out.values() if change.old != change.new)


def takes(flag: Flag, value: str) -> bool:
    """Whether a flag's choices, where it has any, hold a value."""
    return not flag.choices or value in flag.choices


def _name(group: list[str]) -> str:
    return group[0].partition("=")[0]
