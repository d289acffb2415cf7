"""Attribute assignment and deletion: the descriptor protocol, slots, modules and classes."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace.errors import throw
from mtp_trace.trace.operands import type_name
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    Class,
    External,
    Function,
    Instance,
    Module,
    Native,
    Property,
    Super,
    Unknown,
    Value,
)


def set_(engine: Any, obj: Value, name: str, value: Value) -> None:
    """``obj.name = value``, through properties, ``__set__`` and ``__setattr__``."""
    if isinstance(obj, Instance):
        custom = obj.cls.lookup("__setattr__")
        if isinstance(custom, (Function, Native)):
            engine.call(custom, [obj, name, value], {})
            return
        set_plain(engine, obj, name, value)
    elif isinstance(obj, (Module, Class)):
        if isinstance(obj, Class) and obj.metaclass is not None:
            custom = obj.metaclass.lookup("__setattr__")
            if isinstance(custom, Function):
                engine.call(custom, [obj, name, value], {})
                return
        if isinstance(obj, Class) and name in obj.traits.get("all_members", ()):
            throw("AttributeError", f"cannot reassign member {name!r}")
        engine.set_entry(obj.attrs, name, value)
        engine.on_attribute_set(obj, name, value)
    elif isinstance(obj, (Function, Native)):
        if name in ("__name__", "__qualname__") and isinstance(value, str):
            engine.note_slot(obj, "name")
            obj.name = value if name == "__name__" else obj.name
        engine.set_entry(obj.attrs, name, value)
    elif isinstance(obj, BoundMethod):
        set_(engine, obj.function, name, value)
    elif isinstance(obj, (Unknown, External)):
        engine.outside_write(obj, name, value)
    elif isinstance(obj, Super):
        set_plain(engine, obj.receiver, name, value)
    else:
        throw("AttributeError", f"'{type_name(obj)}' object has no attribute '{name}'")


def set_plain(engine: Any, obj: Instance, name: str, value: Value) -> None:
    """What ``object.__setattr__`` does."""
    raw = obj.cls.lookup(name)
    if isinstance(raw, Property):
        if raw.setter is None:
            throw("AttributeError", f"property '{name}' of '{obj.cls.qualname}' object has no setter")
        engine.call(raw.setter, [obj, value], {})
        return
    if isinstance(raw, Instance):
        setter = raw.cls.lookup("__set__")
        if setter is not MISSING:
            engine.call(setter, [raw, obj, value], {})
            return
    if name == "__class__" and isinstance(value, Class):
        engine.note_slot(obj, "cls")
        obj.cls = value
        return
    slots = obj.cls.slots
    if slots is not None and name not in slots:
        throw("AttributeError", f"'{obj.cls.name}' object has no attribute '{name}'")
    engine.set_entry(obj.attrs, name, value)
    engine.on_attribute_set(obj, name, value)


def delete(engine: Any, obj: Value, name: str) -> None:
    """``del obj.name``."""
    if isinstance(obj, Instance):
        custom = obj.cls.lookup("__delattr__")
        if isinstance(custom, (Function, Native)):
            engine.call(custom, [obj, name], {})
            return
    delete_plain(engine, obj, name)


def delete_plain(engine: Any, obj: Value, name: str) -> None:
    """What ``object.__delattr__`` does."""
    raw = obj.cls.lookup(name) if isinstance(obj, Instance) else MISSING
    if isinstance(raw, Property):
        if raw.deleter is None:
            throw("AttributeError", f"property '{name}' of '{type_name(obj)}' object has no deleter")
        engine.call(raw.deleter, [obj], {})
        return
    if isinstance(raw, Instance) and (remover := raw.cls.lookup("__delete__")) is not MISSING:
        engine.call(remover, [raw, obj], {})
        return
    attrs = getattr(obj, "attrs", None)
    if isinstance(attrs, dict) and name in attrs:
        engine.touch(attrs)
        del attrs[name]
        return
    if not isinstance(obj, Unknown):
        owner = f"type object '{obj.name}'" if isinstance(obj, Class) else f"'{type_name(obj)}' object"
        throw("AttributeError", f"{owner} has no attribute '{name}'" if isinstance(obj, (Instance, Class)) else name)
