"""The flags of two trees: those that came, went or were renamed."""

from __future__ import annotations

from mtp_trace.report.compare_model import FactChange, FactMove, FactSide
from mtp_trace.rules.flags import Flag, FlagTable

KIND = "flag"


def flag_changes(old: FlagTable, new: FlagTable) -> list[FactChange]:
    """What became of the flags. One that went and whose successor came is a rename."""
    gone = [flag for flag in _once(old) if flag.name not in new.by_name]
    came = {flag.name: flag for flag in _once(new) if flag.name not in old.by_name}
    out = []
    for flag in gone:
        near = FlagTable(list(came.values())).nearest(flag.name, "") if came else None
        if near is not None and _follows(flag, near[0]):
            successor = came.pop(near[0].name)
            what = f"{flag.name} is now {successor.name}"
            out.append(FactChange(KIND, FactMove.CHANGED, what, _side(flag), _side(successor)))
        else:
            out.append(FactChange(KIND, FactMove.REMOVED, flag.name, old=_side(flag)))
    out += [FactChange(KIND, FactMove.ADDED, flag.name, new=_side(flag)) for flag in came.values()]
    for flag in _once(new):
        before = old.by_name.get(flag.name)
        if before is not None and before.choices and flag.choices and set(before.choices) != set(flag.choices):
            out.append(FactChange(KIND, FactMove.CHANGED, f"{flag.name} choices", _side(before), _side(flag)))
    return out


def _follows(gone: Flag, came: Flag) -> bool:
    """A successor takes values of the same sort, or says whose place it took."""
    return gone.name in came.help or gone.field == came.field or bool(set(gone.choices) & set(came.choices))


def _once(table: FlagTable) -> list[Flag]:
    return list({flag.name: flag for flag in reversed(table.flags)}.values())[::-1]


def _side(flag: Flag) -> FactSide:
    return FactSide(flag.file, flag.line, list(flag.choices) if flag.choices else flag.name)
