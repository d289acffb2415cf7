"""What to give in place of an attention backend that is not made: candidates, each of them to be traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mtp_trace.report.model import Change, Fix
from mtp_trace.rules.flags import FlagTable
from mtp_trace.verdict.backends import Refusal
from mtp_trace.verdict.planner_edit import Arguments, takes
from mtp_trace.verdict.planner_message import advice


def other_backends(refused: Refusal, argv: Sequence[str], main: str, table: FlagTable) -> Iterator[Change]:
    """Changes of the flag at fault: first to what the refusal itself tells to take, then to what the tree chooses."""
    arguments = Arguments(argv, table)
    given = arguments.given(refused.field)
    flag = table.by_name.get(given) if given is not None else table.flag_of(refused.field)
    if flag is None:
        return
    name = given or flag.name
    old = arguments.value(name)
    told = {table.flag_of(field) for field in (refused.field, main)}
    for mention in advice(refused.error.message):
        value = mention.value
        if value is None or value == refused.backend or mention.away or not takes(flag, value):
            continue
        if table.by_name.get(mention.name) in told:
            yield Change("flag", name, old, value, "the refusal names it")
    if given is not None:
        yield Change("flag", name, old, None, "the tree then chooses one itself")


def fix_of(change: Change) -> Fix:
    """The fix that a change makes."""
    way = f"Leave {change.name} out" if change.new is None else f"Start with {change.name} {change.new}"
    return Fix(f"{way}: this launch comes to the same verdict then, and the backend is not refused.", (change,))
