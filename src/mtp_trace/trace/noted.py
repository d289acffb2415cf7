"""A table that notes what the shared state took from it: worlds that agree there can share that state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mtp_trace.trace.values import Value


class Noted(dict[str, Value]):
    """A dict that is only read; ``asked`` are the keys that were asked for while ``noting`` said so."""

    __slots__ = ("_noting", "asked")

    def __init__(self, content: Mapping[str, Value], noting: Callable[[], bool]) -> None:
        super().__init__(content)
        self._noting = noting
        self.asked: set[str] = set()

    def _note(self, *keys: Any) -> None:
        if self._noting():
            self.asked.update(keys)

    def __getitem__(self, key: str) -> Value:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """See ``dict``."""
        self._note(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        self._note(*super().keys())
        return super().__iter__()

    def items(self) -> Any:
        """See ``dict``."""
        self._note(*super().keys())
        return super().items()

    def values(self) -> Any:
        """See ``dict``."""
        self._note(*super().keys())
        return super().values()

    def copy(self) -> dict[str, Value]:
        """See ``dict``."""
        self._note(*super().keys())
        return super().copy()
