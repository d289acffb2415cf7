"""What a launch changes in the state that launches share, written down so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mtp_trace.trace.values import MISSING, Value

_MANY_CHANGES = 100_000


class Journal:
    """The shared state's side of the engine.

    While a launch is recorded, every change to a table, container or object is noted first; what a module's top level
    does while it is imported belongs to the shared state and is not.
    """

    guards: list[Any]

    def __init__(self) -> None:
        self._journal: list[tuple[Any, Any, Any]] = []
        self._touched: dict[int, Any] = {}
        self._recording = False
        self._import_depth = 0
        self._importing = False

    def set_entry(self, table: dict[Any, Value], key: Any, value: Value) -> None:
        """``table[key] = value``, undone at rollback."""
        if self._recording and not self._import_depth:
            self._journal.append((table, key, table.get(key, MISSING)))
        table[key] = value

    def note_slot(self, obj: Any, name: str) -> None:
        """Remembers what an object of the tracer's own holds (an instance's class) before it is replaced."""
        if self._recording and not self._import_depth:
            self._journal.append((_Slot(obj), name, getattr(obj, name)))

    def touch(self, container: Any) -> None:
        """Remembers a container's content before it changes in place."""
        if self._recording and not self._import_depth and id(container) not in self._touched:
            self._touched[id(container)] = container
            old = list(container) if isinstance(container, (list, bytearray)) else container.copy()
            self._journal.append((container, _WHOLE, old))

    @contextmanager
    def importing(self, name: str) -> Iterator[None]:
        """While a module's top level runs: what it changes belongs to the shared state."""
        self._import_depth += 1
        guards, self.guards = self.guards, []
        before = self._whole_contents() if self._recording and not self._importing else []
        outer, self._importing = self._importing, True
        try:
            yield
        finally:
            self._importing = outer
            self.guards = guards
            self._import_depth -= 1
            for container, kept, old in before:
                _carry(container, kept, old)

    def _whole_contents(self) -> list[tuple[Any, Any, Any]]:
        """Containers that the launch has changed, what rollback gives back, and what they hold now."""
        if len(self._journal) > _MANY_CHANGES:
            return []
        return [(c, kept, c.copy()) for c, key, kept in self._journal if key is _WHOLE]

    @contextmanager
    def shared(self) -> Iterator[None]:
        """While something is made that outlives the launch."""
        self._import_depth += 1
        try:
            yield
        finally:
            self._import_depth -= 1

    def is_shared(self) -> bool:
        """Whether what is made now outlives the launch."""
        return not self._recording or self._import_depth > 0

    def _undo(self, start: int) -> None:
        for container, key, old in reversed(self._journal[start:]):
            if key is _WHOLE:
                if isinstance(container, (list, bytearray)):
                    container[:] = old
                else:
                    container.clear()
                    container.update(old)
            elif old is MISSING:
                container.pop(key, None)
            else:
                container[key] = old
        del self._journal[start:]


def _carry(container: Any, kept: Any, before: Any) -> None:
    """What an import added to a container that the launch had changed stays when the launch's changes are undone."""
    if isinstance(container, dict):
        kept.update({k: v for k, v in container.items() if k not in before or before[k] is not v})
        for k in before:
            if k not in container:
                kept.pop(k, None)
    elif isinstance(container, set):
        kept |= container - before
        kept -= before - container
    elif len(container) > len(before) and all(x is y for x, y in zip(container, before)):
        kept.extend(container[len(before) :])


class _Slot:
    """An object whose attribute is put back like an entry of a table."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._obj, name, value)


class _Whole:
    """Marks a journal entry that holds a container's whole content."""


_WHOLE = _Whole()
