"""logging: loggers that note what SGLang would say."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import OBJECT
from mtp_trace.trace.stdlib.tools import constant, natives
from mtp_trace.trace.values import Class, Instance, Raised, Unknown, Value

LOGGER = Class("Logger", (OBJECT,))
LOGGER.mro = [LOGGER, OBJECT]
LEVELS = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30, "WARN": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}


def _say(level: str, skip: int = 1, named: bool = False) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        args = a[skip:]
        if not args:
            return None
        text = template = ops.payload(args[0])
        if len(args) > 1 and isinstance(template, str):
            values = args[1] if len(args) == 2 and isinstance(args[1], dict) else tuple(args[1:])
            try:
                text = ops.percent_text(e, template, values)
            except Raised:  # logging itself complains on stderr and goes on
                text = template
        e.log(_level_name(a[skip - 1]) if named else level, text)

    return run


LOGGER.attrs.update(natives(
    debug=_say("DEBUG"), info=_say("INFO"), warning=_say("WARNING"), warn=_say("WARNING"), error=_say("ERROR"),
    exception=_say("ERROR"), critical=_say("CRITICAL"), fatal=_say("CRITICAL"), log=_say("INFO", 2, True),
    isEnabledFor=lambda e, a, k: a[1] >= 20 if isinstance(a[1], int) else True, setLevel=constant(None),
    addHandler=constant(None), removeHandler=constant(None), addFilter=constant(None), getEffectiveLevel=constant(20),
    hasHandlers=constant(True),
    # transformers gives these to every logger.
    warning_once=_say("WARNING"), info_once=_say("INFO"), warning_advice=_say("WARNING"),
))  # fmt: skip


def _level_name(level: Value) -> Value:
    """A level's name by its number, and the other way round."""
    names = {number: name for name, number in LEVELS.items() if name not in ("FATAL", "WARN")}
    return LEVELS.get(level, names.get(level, f"Level {ops.short(level)}"))


def _logging(engine: Any) -> dict[str, Value]:
    known: dict[Any, Instance] = {}

    def get_logger(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        name = a[0] if a and not isinstance(a[0], Unknown) else "root"
        if name not in known:
            logger = known[name] = Instance(LOGGER)
            logger.attrs.update(
                {"name": name, "level": 20, "handlers": [], "propagate": True, "disabled": False, "filters": []}
            )
        return known[name]

    return {
        **LEVELS, "Logger": LOGGER, "root": get_logger(engine, [], {}),
        **natives(getLogger=get_logger, basicConfig=constant(None), getLevelName=lambda e, a, k: _level_name(a[0]),
                  addLevelName=constant(None), disable=constant(None), captureWarnings=constant(None),
                  debug=_say("DEBUG", 0), info=_say("INFO", 0), warning=_say("WARNING", 0), error=_say("ERROR", 0),
                  exception=_say("ERROR", 0), critical=_say("CRITICAL", 0), log=_say("INFO", 1, True)),
    }  # fmt: skip


MODULES = {"logging": _logging}
