"""typing and typing_extensions."""

from __future__ import annotations

import typing
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.classes import NAMEDTUPLE, PROTOCOL, TYPEDDICT
from mtp_trace.trace.errors import OBJECT
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import Class, Native, StaticMethod, TypingForm, Value

_EXTENSIONS = ("Self", "TypeAlias", "Never", "LiteralString", "Required", "NotRequired", "Unpack", "ParamSpec",
               "Concatenate",
               "TypeVarTuple", "TypeGuard", "Annotated", "Literal", "Final", "ClassVar", "ReadOnly")  # fmt: skip


def _typing(engine: Any) -> dict[str, Value]:
    def runtime_checkable(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        a[0].traits["runtime-checkable"] = True
        return a[0]

    def named_tuple(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls = Class(a[1], (OBJECT,), e.frames[-1].module if e.frames else None)
        cls.mro = [cls, OBJECT]
        fields = ops.iterate(e, a[2]) if len(a) > 2 else list(k.items())
        e.classes.named_tuple(cls, [ops.iterate(e, f)[0] for f in fields], {})
        return cls

    NAMEDTUPLE.attrs["__new__"] = StaticMethod(Native("__new__", named_tuple))
    table: dict[str, Value] = {n: TypingForm(n) for n in [*typing.__all__, *_EXTENSIONS]}
    table.update(natives(
        cast=lambda e, a, k: a[1], overload=lambda e, a, k: a[0], final=lambda e, a, k: a[0],
        no_type_check=lambda e, a, k: a[0], override=lambda e, a, k: a[0], runtime_checkable=runtime_checkable,
        get_type_hints=lambda e, a, k: e.hints_of(a[0], bool(k.get("include_extras"))),
        get_origin=lambda e, a, k: e.typing_origin(a[0]) if isinstance(a[0], TypingForm) else None,
        get_args=lambda e, a, k: e.typing_args(a[0]) if isinstance(a[0], TypingForm) else (),
        TypeVar=lambda e, a, k: TypingForm("TypeVar"), ParamSpec=lambda e, a, k: TypingForm("ParamSpec"),
        NewType=lambda e, a, k: Native("NewType", lambda e, b, kk: b[0]), assert_never=lambda e, a, k: None,
        deprecated=lambda e, a, k: Native("deprecated", lambda e, b, kk: b[0]),
        TypeVarTuple=lambda e, a, k: TypingForm("TypeVarTuple"), reveal_type=lambda e, a, k: a[0],
    ))  # fmt: skip
    table.update({"TYPE_CHECKING": False, "NamedTuple": NAMEDTUPLE, "TypedDict": TYPEDDICT, "Protocol": PROTOCOL,
                  "Generic": TypingForm("Generic")})  # fmt: skip
    return table


MODULES = {"typing": _typing, "typing_extensions": _typing}
