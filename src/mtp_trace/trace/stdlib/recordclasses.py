"""dataclasses."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops, records
from mtp_trace.trace.errors import OBJECT
from mtp_trace.trace.records import Annotation, Field
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import MISSING, Class, Instance, Native, TypingForm, Value

FIELD = Class("Field", (OBJECT,))
FIELD.mro = [FIELD, OBJECT]
ABSENT = Instance(Class("_MISSING_TYPE", (OBJECT,)))
"""``dataclasses.MISSING``."""


def shown(field: Field, absent: Value, resolve: bool = False) -> Instance:
    """A field as ``fields()`` gives it; ``resolve`` evaluates a type that is written as text."""
    made = Instance(FIELD)
    made.attrs.update({
        "name": field.name, "type": field.annotation.resolved() if resolve else field.annotation.shown(),
        "init": field.init, "kw_only": field.kw_only,
        "default": absent if field.default is MISSING else field.default, "metadata": field.metadata,
        "default_factory": absent if field.factory is MISSING else field.factory, "repr": field.repr,
        "compare": field.compare, "encode_name": field.name,
        "required": field.default is MISSING and field.factory is MISSING,
    })  # fmt: skip
    return made


def _dataclasses(engine: Any) -> dict[str, Value]:
    def dataclass(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if a and isinstance(a[0], Class):
            return records.dataclass(e, a[0], k)
        return Native("dataclass", lambda e, b, kk: records.dataclass(e, b[0], k))

    def field(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        return Field(k.get("default", MISSING), k.get("default_factory", MISSING), k.get("init", True),
                     bool(k.get("kw_only", False)), k.get("metadata"), k.get("compare", True) is not False,
                     k.get("repr", True) is not False)  # fmt: skip

    def make_dataclass(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        namespace = dict(k.pop("namespace", None) or {})
        annotations: dict[str, Value] = {}
        for item in ops.iterate(e, a[1]):
            name, *rest = [item] if isinstance(item, str) else ops.iterate(e, item)
            annotations[name] = Annotation(None, None, None, False, rest[0] if rest else TypingForm("Any"))
            if len(rest) > 1:
                namespace[name] = rest[1]
        namespace["__annotations__"] = annotations
        bases = ops.iterate(e, k.pop("bases", ()))
        made = e.classes.create(None, a[0], bases, namespace, {})
        return records.dataclass(e, made, k)

    def fields(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        table = records.field_values(a[0])
        cls = a[0].cls if isinstance(a[0], Instance) else a[0]
        owner = next(c for c in cls.mro if "fields" in c.traits)
        if "shown" not in owner.traits:
            owner.traits["shown"] = tuple(shown(f, ABSENT) for f in table.values() if not f.init_var)
        return owner.traits["shown"]

    def is_dataclass(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        cls = a[0].cls if isinstance(a[0], Instance) else a[0]
        return isinstance(cls, Class) and cls.has_trait("dataclass")

    frozen = Class("FrozenInstanceError", (engine.builtins["AttributeError"],))
    frozen.mro = [frozen, *engine.builtins["AttributeError"].mro]
    return {
        **natives(dataclass=dataclass, field=field, fields=fields, is_dataclass=is_dataclass,
                  make_dataclass=make_dataclass, asdict=lambda e, a, k: records.as_dict(e, a[0]), replace=lambda e, a,
                  k: records.replace(e, a[0], k),
                  astuple=lambda e, a, k: tuple(records.as_dict(e, a[0]).values())),
        "MISSING": ABSENT, "Field": FIELD, "InitVar": TypingForm("InitVar"), "KW_ONLY": TypingForm("KW_ONLY"),
        "FrozenInstanceError": frozen,
    }  # fmt: skip


MODULES = {"dataclasses": _dataclasses}
