"""enum."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.enumclasses import ENUM, FLAG, INT_ENUM, INT_FLAG, STR_ENUM, Auto
from mtp_trace.trace.errors import OBJECT, TYPE, throw
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import Class, Instance, Native, Property, Value

ENUM_META = Class("EnumMeta", (TYPE,))
ENUM_META.mro = [ENUM_META, TYPE, OBJECT]


def _value(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return a[0].attrs.get("_value_")


def _fixed(name: str) -> Native:
    return Native(name, lambda e, a, k: throw("AttributeError", f"<enum 'Enum'> cannot set attribute {name!r}"))


ENUM.attrs["value"] = Property(Native("value", _value), _fixed("value"))
ENUM.attrs["name"] = Property(Native("name", lambda e, a, k: a[0].attrs.get("_name_")), _fixed("name"))


def _bits(sign: str) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        left, right = (x.attrs["_value_"] if isinstance(x, Instance) else x for x in a[:2])
        return e.classes.flag(a[0].cls, ops.binary(e, sign, left, right))

    return run


def _holds(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return (a[0].attrs["_value_"] & a[1].attrs["_value_"]) == a[1].attrs["_value_"]


FLAG.attrs.update(natives(
    __or__=_bits("|"), __and__=_bits("&"), __xor__=_bits("^"), __bool__=lambda e, a, k: bool(a[0].attrs["_value_"]),
    __invert__=lambda e, a, k: e.classes.flag(a[0].cls,
                                              sum(m.attrs["_value_"] for m in a[0].cls.traits["members"].values()
                                                            if not m.attrs["_value_"] & a[0].attrs["_value_"])),
    __contains__=_holds,
))  # fmt: skip


def _enum(engine: Any) -> dict[str, Value]:
    return {
        "Enum": ENUM, "IntEnum": INT_ENUM, "StrEnum": STR_ENUM, "Flag": FLAG, "IntFlag": INT_FLAG,
        "EnumMeta": ENUM_META,
        "EnumType": ENUM_META,
        **natives(auto=lambda e, a, k: Auto(), unique=lambda e, a, k: a[0], member=lambda e, a, k: a[0],
                  verify=lambda e, a, k: Native("verify", lambda e, b, kk: b[0])),
    }  # fmt: skip


MODULES = {"enum": _enum}
