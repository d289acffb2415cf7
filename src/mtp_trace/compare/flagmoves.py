"""Flags of a launch that the new tree does not take, and what it takes instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mtp_trace.compare.edit import flags_in, given
from mtp_trace.report.compare_model import FlagMove
from mtp_trace.report.model import Change
from mtp_trace.rules.flags import FlagTable
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.yamlfile import shipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mtp_trace.verdict.session import Session


def flag_table(session: Session) -> FlagTable:
    """The flags that a session's tree registers."""
    return FlagTable.of(Sites(session.programs, shipped("scope.yaml")["launch"]))


def moves(argv: Sequence[str], old: FlagTable, new: FlagTable) -> tuple[FlagMove, ...]:
    """The launch's flags that the old tree took and the new one does not, each with the successor."""
    found = []
    for flag in flags_in(argv):
        if _takes(new, flag) or not _takes(old, flag):
            continue
        near = new.nearest(flag, given(argv, flag) or "")
        if near is None:
            found.append(FlagMove(flag))
        else:
            found.append(FlagMove(flag, near[0].name, near[1], near[0].file, near[0].line))
    return tuple(found)


def as_changes(argv: Sequence[str], found: Sequence[FlagMove]) -> tuple[Change, ...]:
    """The moves as changes of the launch: out with the old flag, in with its successor and the same value."""
    changes: list[Change] = []
    for move in found:
        value = given(argv, move.flag)
        changes.append(Change("flag", move.flag, value, None, "this tree does not take it"))
        if move.to is not None:
            changes.append(Change("flag", move.to, None, value or "", move.why))
    return tuple(changes)


def pinned(table: FlagTable, fields: Sequence[str], values: dict[str, object]) -> tuple[Change, ...]:
    """Flags that hold fields at the values that they had; () where a field has no flag or no plain value."""
    changes = []
    for name in fields:
        flag, value = table.flag_of(name), values.get(name)
        if flag is None or value is None or isinstance(value, (bool, dict)):
            return ()
        changes.append(Change("flag", flag.name, None, str(value), "keeps what the old tree chose"))
    return tuple(changes)


def _takes(table: FlagTable, flag: str) -> bool:
    """Whether argparse would take it: by name, or as the beginning of one name only."""
    if flag in table.by_name:
        return True
    return len({known.field for name, known in table.by_name.items() if name.startswith(flag)}) == 1
