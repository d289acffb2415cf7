"""Standard-library modules that the tracer answers itself: one file an area, each a table of builders by module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.trace.stdlib import (
    argparsing,
    collecting,
    enums,
    functional,
    importing,
    inspecting,
    logs,
    msgspecs,
    pure,
    recordclasses,
    system,
    text,
    typings,
)
from mtp_trace.trace.values import Value

Builder = Callable[[Any], dict[str, Value]]


def native_modules() -> dict[str, Builder]:
    """Builders of all modules answered natively, by dotted name."""
    out: dict[str, Builder] = {}
    for area in (argparsing, collecting, enums, functional, importing, inspecting, logs, msgspecs, pure, recordclasses,
                 system, text, typings):  # fmt: skip
        out.update(area.MODULES)
    return out
