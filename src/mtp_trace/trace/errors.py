"""The traced program's own exceptions: the builtin exception classes as ``Class`` values, and how to raise them."""

from __future__ import annotations

import builtins
from typing import NoReturn

from mtp_trace.trace.values import MISSING, Class, Instance, Raised, Value

OBJECT = Class("object")
TYPE = Class("type", (OBJECT,))
TYPE.mro = [TYPE, OBJECT]


def _build() -> dict[str, Class]:
    classes: dict[type, Class] = {object: OBJECT}

    def of(host: type) -> Class:
        if host not in classes:
            c = Class(host.__name__, tuple(of(b) for b in host.__bases__))
            c.mro = [c, *(of(b) for b in host.__mro__[1:])]
            c.traits["exception"] = True
            classes[host] = c
        return classes[host]

    out = {}
    for name, item in vars(builtins).items():
        if isinstance(item, type) and issubclass(item, BaseException):
            out[name] = of(item)
    return out


EXCEPTIONS: dict[str, Class] = _build()


def exception(name: str, *args: Value) -> Instance:
    """An instance of a builtin exception class."""
    value = Instance(EXCEPTIONS[name])
    value.attrs["args"] = tuple(args)
    return value


def throw(name: str, *args: Value) -> NoReturn:
    """Raises a builtin exception of the traced program; the call site is filled in on the way up."""
    raise Raised(exception(name, *args))


def missing_arguments(function: str, names: list[str], kind: str) -> str:
    """The message of the TypeError for arguments that a call leaves out."""
    shown = [f"'{n}'" for n in names]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])}{',' if len(shown) > 2 else ''} and {shown[-1]}"
    return f"{function}() missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {listed}"


def throw_host(error: BaseException) -> NoReturn:
    """Turns an exception that a real builtin raised on known arguments into the traced program's own."""
    name = type(error).__name__
    if name not in EXCEPTIONS:
        name = next((b.__name__ for b in type(error).__mro__ if b.__name__ in EXCEPTIONS), "Exception")
    raise Raised(exception(name, *(a for a in error.args if isinstance(a, (str, int, float, bytes, type(None))))))


def _host_text(value: Instance, args: tuple[Value, ...]) -> str | None:
    """The text of an OS or Unicode error, which is more than its arguments; None for all others."""
    kind = next((c.name for c in value.cls.mro if EXCEPTIONS.get(c.name) is c), "")
    host = getattr(builtins, kind, Exception)
    if len(args) < 2 or not issubclass(host, (OSError, UnicodeError)):
        return None
    try:
        return str(host(*args))
    except (TypeError, ValueError):
        return None


def message_of(value: Value) -> str:
    """What ``str(exception)`` would give, with unknown parts marked."""
    if not isinstance(value, Instance):
        return str(value)
    args = value.attrs.get("args", MISSING)
    if args is MISSING or not isinstance(args, tuple) or not args:
        return ""
    told = _host_text(value, args)
    if told is not None:
        return told
    if len(args) == 1:
        if value.cls.is_subclass(EXCEPTIONS["KeyError"]):
            return repr(args[0])
        return text_of(args[0])
    return "(" + ", ".join(repr(a) if isinstance(a, str) else text_of(a) for a in args) + ")"


_DETAILS: dict[str, tuple[str, ...]] = {
    "OSError": ("errno", "strerror", "filename"),
    "SystemExit": ("code",),
    "StopIteration": ("value",),
    "ImportError": ("name", "path", "msg"),
    "AttributeError": ("name", "obj"),
    "NameError": ("name",),
    "UnicodeDecodeError": ("encoding", "object", "start", "end", "reason"),
    "UnicodeEncodeError": ("encoding", "object", "start", "end", "reason"),
    "SyntaxError": ("msg", "filename", "lineno", "offset", "text"),
}
"""What the builtin exceptions keep beside their arguments."""


def exception_detail(value: Instance, name: str) -> Value:
    """An attribute that a builtin exception makes of its arguments, or ``MISSING``."""
    for c in value.cls.mro:
        names = _DETAILS.get(c.name, ()) if EXCEPTIONS.get(c.name) is c else ()
        if name not in names:
            continue
        args = value.attrs.get("args", ())
        if c.name in ("SystemExit", "StopIteration"):
            return None if not args else args[0] if len(args) == 1 or c.name == "StopIteration" else args
        if c.name in ("ImportError", "AttributeError", "NameError"):
            return args[0] if name == "msg" and args else None
        at = names.index(name)
        return args[at] if len(args) > max(1, at) else args[0] if name == "msg" and args else None
    return MISSING


def text_of(value: Value) -> str:
    """A value as text for people; unknown values show as ``<unknown ...>``."""
    return value if isinstance(value, str) else str(value.payload) if _has_payload(value) else str(value)


def _has_payload(value: Value) -> bool:
    return isinstance(value, Instance) and value.payload is not None
