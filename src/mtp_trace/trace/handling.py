"""Exceptions on their way: who catches them, ``with`` blocks that swallow them, lookups that make answers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.trace import attrs, ops
from mtp_trace.trace.compile_try import matches
from mtp_trace.trace.errors import EXCEPTIONS, throw
from mtp_trace.trace.events import Recorder
from mtp_trace.trace.values import MISSING, Class, Frame, Instance, Native, Raised, Site, Unknown, Value


class Handling:
    """The engine's side of ``try`` and ``with``."""

    frames: list[Frame]
    recorder: Recorder
    call: Callable[[Value, list[Value], dict[str, Value]], Value]
    truth: Callable[[Value], bool]

    def matches(self, value: Value, kind: Value, frame: Frame, handler: Any) -> bool:
        """Whether ``except kind`` catches."""
        caught = matches(self, value, kind)
        return caught if isinstance(caught, bool) else self.truth(caught)

    def handled(self, frame: Frame) -> Raised | None:
        """The exception being handled where a bare ``raise`` stands."""
        f: Frame | None = frame
        while f is not None:
            if f.exception is not None:
                return f.exception
            f = f.parent
        return next((f.exception for f in reversed(self.frames) if f.exception is not None), None)

    def on_caught(self, error: Raised) -> None:
        """An exception was handled."""
        self.remember(error)
        self.recorder.caught(error)

    def catches_attribute_error(self, probe: Callable[[], Value]) -> Value:
        """``hasattr``: whether a lookup gives a value."""
        depth = len(self.frames)
        try:
            return probe() is not MISSING
        except Raised as e:
            if isinstance(e.value, Instance) and EXCEPTIONS["AttributeError"] in e.value.cls.mro:
                del self.frames[depth:]
                return False
            raise

    def with_attribute_fallback(self, probe: Callable[[], Value], fallback: Callable[[], Value]) -> Value:
        """A lookup whose AttributeError means: ask ``__getattr__``."""
        try:
            return probe()
        except Raised as e:
            if isinstance(e.value, Instance) and EXCEPTIONS["AttributeError"] in e.value.cls.mro:
                return fallback()
            raise

    def enter_with(self, manager: Value) -> tuple[Value, Value]:
        """``manager.__enter__()`` and the bound ``__exit__`` (None: nothing is to be called)."""
        if isinstance(manager, Unknown):
            return manager.derive(f"{manager.key}.__enter__()"), None
        enter, leave = self.special(manager, "__enter__"), self.special(manager, "__exit__")
        if enter is MISSING or leave is MISSING:
            if isinstance(manager, Instance) and manager.cls.opaque_bases:
                return manager, None
            kind = ops.type_name(manager)
            throw("TypeError", f"'{kind}' object does not support the context manager protocol")
        return self.call(enter, [], {}), leave

    def leave_with(self, leave: Value, error: Raised | None) -> bool:
        """``__exit__``; whether it swallows the exception."""
        if leave is None:
            return False
        if error is None:
            self.call(leave, [None, None, None], {})
            return False
        self.remember(error)
        kind = error.value.cls if isinstance(error.value, Instance) else error.value
        swallowed = self.truth(self.call(leave, [kind, error.value, error.value], {}))
        if swallowed:
            self.on_caught(error)
        return swallowed

    def special(self, obj: Value, name: str) -> Value:
        """A method that the language looks up on the type (``__enter__``), bound; or ``MISSING``."""
        if isinstance(obj, Instance):
            raw = obj.cls.lookup(name)
            if raw is MISSING:
                return obj.attrs.get(name, MISSING) if isinstance(obj.attrs.get(name), Native) else MISSING
            return attrs.bind(self, raw, obj, obj.cls)
        return attrs.maybe(self, obj, name)

    def remember(self, error: Raised) -> None:
        """Keeps with an exception where it was raised first, for when it is raised again."""
        if isinstance(error.value, Instance) and error.site is not None:
            error.value.attrs.setdefault("__traceback__", error.site)

    def raised_as(self, value: Value) -> Raised:
        """An exception on its way (again)."""
        if isinstance(value, Class):
            value = self.call(value, [], {})
        site = value.attrs.get("__traceback__") if isinstance(value, Instance) else None
        return Raised(value, site if isinstance(site, Site) else None)
