"""Which events of a traced launch an event clause names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mtp_trace.rules.condition import holds
from mtp_trace.rules.context import Context
from mtp_trace.rules.match_site import Found
from mtp_trace.rules.model import EventClause

if TYPE_CHECKING:
    from mtp_trace.trace.events import Event


@dataclass(frozen=True)
class _Part:
    """An event, or one keyword of a declaring call."""

    kind: str
    name: str
    value: Any


def find_events(context: Context, clause: EventClause) -> list[Found]:
    """Every event that the clause names, in order."""
    found: list[Found] = []
    for stage, event in context.events:
        if clause.stage is not None and stage not in clause.stage:
            continue
        for part in _parts(event):
            captures = _fits(clause, event, part, context)
            if captures is not None:
                found.append(Found(event.site.file, event.site.line, event.site.end_line, captures))
    return found


def _parts(event: Event) -> Iterator[_Part]:
    if event.kind == "call":
        yield _Part("call", event.name, None)
        for keyword, value in event.value[1].items():
            yield _Part("write", keyword, value)
    else:
        yield _Part(event.kind, event.name, event.value)


def _fits(clause: EventClause, event: Event, part: _Part, context: Context) -> dict[str, Any] | None:
    if part.kind not in clause.kinds or (part.kind == "call" and clause.kinds != ("call",)):
        return None
    captures: dict[str, Any] = {}
    if clause.name is not None:
        match = clause.name.full(part.name)
        if match is None:
            return None
        captures.update(match.groupdict())
    value = part.value if part.kind == "log" else context.plain(part.value) if part.kind != "raise" else part.name
    text = _text(part, context)
    if clause.text is not None:
        match = clause.text.search(text)
        if match is None:
            return None
        captures.update(match.groupdict())
    if clause.value is not None and not holds(clause.value, value, context.fact):
        return None
    if clause.guard is not None and not any(clause.guard.search(g.text) for g in event.guards):
        return None
    if clause.function is not None and clause.function.full(event.site.function) is None:
        return None
    guard = event.guards[-1].text if event.guards else ""
    own = {
        "file": event.site.file,
        "line": event.site.line,
        "end_line": event.site.end_line,
        "function": event.site.function,
        "cls": "",
        "guard": guard,
        "condition": guard,
        "field": part.name,
        "name": part.name,
        "value": value,
        "message": text,
        "type": part.name if part.kind == "raise" else "",
    }
    return {**own, **captures}


def _text(part: _Part, context: Context) -> str:
    if part.kind == "log":
        return str(part.value)
    if part.kind == "raise":
        from mtp_trace.trace.errors import message_of

        return message_of(part.value)
    return ""
