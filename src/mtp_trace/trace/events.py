"""What a trace records: fields written, calls, raises, log lines, what is read of environment and config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mtp_trace.syntax.form import Node, unparse
from mtp_trace.trace.values import Raised, Site, Value


@dataclass(frozen=True)
class Guard:
    """A condition that held where something happened."""

    site: Site
    node: Node
    taken: bool

    @property
    def text(self) -> str:
        """The condition in normal spelling, negated where its other arm ran."""
        text = unparse(self.node)
        return text if self.taken else f"not ({text})"


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    ``kind``: "write" (name: field, value, record: class), "call" (name: function, value: (args, kwargs)), "raise"
    (name: exception class, value: the exception), "log" (name: level, value: text), "env" (name: variable, value: text
    or None), "config" (name: key, value), "outside" (name: dotted path).
    """

    kind: str
    site: Site
    name: str
    value: Value
    guards: tuple[Guard, ...] = ()
    record: str = ""


class Recorder:
    """Collects events in order, bounded."""

    LIMIT = 5_000
    """A launch of a release stays under a thousand."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.records: frozenset[str] = frozenset()
        self.watched: dict[str, bool] = {}
        self.items: frozenset[str] = frozenset()
        self.handled: list[Raised] = []

    def clear(self) -> None:
        """Forgets the last launch."""
        self.events.clear()
        self.handled.clear()

    def add(self, event: Event) -> None:
        """Keeps an event (the oldest ones matter as much as the newest; past the bound nothing more is kept)."""
        if not self.full:
            self.events.append(event)

    @property
    def full(self) -> bool:
        """Whether the bound is reached."""
        return len(self.events) >= self.LIMIT

    def caught(self, error: Raised) -> None:
        """An exception that the tree handled itself."""
        self.handled.append(error)

    def outside(self, path: str, engine: Any) -> None:
        """A call that left the tree and has no model."""
        site = engine.here()
        if site is not None:
            self.add(Event("outside", site, path, None))
