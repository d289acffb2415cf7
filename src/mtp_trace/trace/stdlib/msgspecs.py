"""msgspec: Structs, ``defstruct`` and ``msgspec.structs``."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops, records
from mtp_trace.trace.classes import STRUCT
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, TYPE
from mtp_trace.trace.records import Annotation, Field
from mtp_trace.trace.stdlib.recordclasses import shown
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import MISSING, Class, Instance, Unknown, Value

NODEFAULT = Instance(Class("NoDefaultType", (OBJECT,)))
UNSET = Instance(Class("UnsetType", (OBJECT,)))
STRUCT_META = Class("StructMeta", (TYPE,))
STRUCT_META.mro = [STRUCT_META, TYPE, OBJECT]


def _field(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    default = k.get("default", MISSING)
    factory = k.get("default_factory", MISSING)
    return Field(MISSING if default is NODEFAULT else default, MISSING if factory is NODEFAULT else factory)


def _defstruct(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    namespace = dict(k.pop("namespace", None) or {})
    bases = list(ops.iterate(e, k.pop("bases", None) or ())) or [STRUCT]
    module = k.pop("module", None)
    annotations: dict[str, Value] = {}
    for item in ops.iterate(e, a[1]):
        parts = [item] if isinstance(item, str) else ops.iterate(e, item)
        name = parts[0]
        annotations[name] = Annotation(None, None, None, False, parts[1] if len(parts) > 1 else None)
        if isinstance(parts[1] if len(parts) > 1 else None, Annotation):
            annotations[name] = parts[1]
        if len(parts) > 2:
            namespace[name] = parts[2]
    namespace["__annotations__"] = annotations
    frame = e.frames[-1]
    made = e.classes.assemble(a[0], a[0], bases, k, None, namespace, frame, None)
    if isinstance(made, Class) and module is not None:
        made.attrs["__module__"] = module
    return made


def _msgspec(engine: Any) -> dict[str, Value]:
    error = Class("MsgspecError", (EXCEPTIONS["Exception"],))
    error.mro = [error, *EXCEPTIONS["Exception"].mro]
    validation = Class("ValidationError", (error,))
    validation.mro = [validation, *error.mro]
    return {
        "Struct": STRUCT, "NODEFAULT": NODEFAULT, "UNSET": UNSET, "StructMeta": STRUCT_META, "MsgspecError": error,
        "ValidationError": validation, "DecodeError": validation,
        **natives(field=_field, defstruct=_defstruct,
                  convert=lambda e, a, k: Unknown("msgspec.convert(...)", "msgspec conversion is not modelled"),
                  to_builtins=lambda e, a, k: records.as_dict(e, a[0])),
    }  # fmt: skip


def _structs(engine: Any) -> dict[str, Value]:
    def fields(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls = a[0].cls if isinstance(a[0], Instance) else a[0]
        table = records.field_values(cls)
        owner = next(c for c in cls.mro if "fields" in c.traits)
        if "struct-shown" not in owner.traits:
            owner.traits["struct-shown"] = tuple(shown(f, NODEFAULT, True) for f in table.values())
        return owner.traits["struct-shown"]

    def force_setattr(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.set_entry(a[0].attrs, a[1], a[2])

    return natives(
        fields=fields, force_setattr=force_setattr, replace=lambda e, a, k: records.replace(e, a[0], k),
        asdict=lambda e, a, k: {n: a[0].attrs[n] for n in records.field_values(a[0]) if n in a[0].attrs},
        astuple=lambda e, a, k: tuple(a[0].attrs[n] for n in records.field_values(a[0]) if n in a[0].attrs),
    )  # fmt: skip


MODULES = {"msgspec": _msgspec, "msgspec.structs": _structs}
