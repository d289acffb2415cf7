"""Attribute access: the descriptor protocol, ``__getattr__``, modules, and the attributes of builtin types."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import generators
from mtp_trace.trace.attr_writes import delete as delete
from mtp_trace.trace.attr_writes import delete_plain as delete_plain
from mtp_trace.trace.attr_writes import set_ as set_
from mtp_trace.trace.attr_writes import set_plain as set_plain
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, exception, exception_detail, throw
from mtp_trace.trace.methods import host_attribute
from mtp_trace.trace.ops import type_name
from mtp_trace.trace.values import (
    MISSING,
    TREE_PREFIX,
    BoundMethod,
    CachedProperty,
    Class,
    ClassMethod,
    External,
    Function,
    Generator,
    Instance,
    Module,
    Native,
    Property,
    Raised,
    SlotDescriptor,
    StaticMethod,
    Super,
    TypingForm,
    Unknown,
    Value,
)


def get(engine: Any, obj: Value, name: str) -> Value:
    """``obj.name``; raises the traced AttributeError where there is none."""
    found = find(engine, obj, name)
    if found is MISSING:
        if isinstance(obj, Class) and obj.has_trait("enum"):
            throw("AttributeError", name)
        owner = f"type object '{obj.name}'" if isinstance(obj, Class) else f"'{type_name(obj)}' object"
        if isinstance(obj, Module):
            owner = f"module '{obj.name}'"
        error = exception("AttributeError", f"{owner} has no attribute '{name}'")
        error.attrs.update({"obj": obj, "name": name})
        raise Raised(error)
    return found


def find(engine: Any, obj: Value, name: str) -> Value:
    """``obj.name`` or ``MISSING``; an AttributeError raised by a property or ``__getattr__`` passes through."""
    if isinstance(obj, Instance):
        return _of_instance(engine, obj, name)
    if isinstance(obj, Module):
        return of_module(engine, obj, name)
    if isinstance(obj, Class):
        return _of_class(engine, obj, name)
    if isinstance(obj, Unknown):
        return engine.external_attribute(obj, name)
    if isinstance(obj, Super):
        return _of_super(engine, obj, name)
    if isinstance(obj, (Function, Native)):
        return _of_function(engine, obj, name)
    if isinstance(obj, BoundMethod):
        if name == "__self__":
            return obj.receiver
        if name == "__func__":
            return obj.function
        return find(engine, obj.function, name)
    if isinstance(obj, Property):
        return _of_property(obj, name)
    if isinstance(obj, TypingForm):
        return _of_typing(engine, obj, name)
    if isinstance(obj, Generator):
        return _of_generator(obj, name)
    return host_attribute(engine, obj, name)


def _of_generator(obj: Generator, name: str) -> Value:
    if name == "__iter__":
        return Native(name, lambda e, a, k: obj)
    if name == "__next__":
        return Native(name, lambda e, a, k: generators.advance(e, obj))
    if name == "send":
        return Native(name, lambda e, a, k: generators.send(e, obj, a[0]))
    if name == "throw":
        return Native(name, lambda e, a, k: generators.throw_into(e, obj, e.raised_as(a[0])))
    if name == "close":
        return Native(name, lambda e, a, k: generators.close(e, obj))
    return MISSING


def bind(engine: Any, raw: Value, receiver: Value, owner: Class) -> Value:
    """What a class attribute becomes when read through ``receiver`` (an instance, or None for the class itself)."""
    if isinstance(raw, (Function, Native)):
        return raw if receiver is None else BoundMethod(raw, receiver)
    if isinstance(raw, Property):
        return raw if receiver is None else engine.call(raw.getter, [receiver], {})
    if isinstance(raw, StaticMethod):
        return raw.function
    if isinstance(raw, ClassMethod):
        return BoundMethod(raw.function, owner)
    if isinstance(raw, CachedProperty):
        if receiver is None:
            return raw
        value = engine.call(raw.getter, [receiver], {})
        engine.set_entry(receiver.attrs, raw.name, value)
        return value
    if isinstance(raw, Instance):
        getter = raw.cls.lookup("__get__")
        if getter is not MISSING:
            return engine.call(getter, [raw, receiver, owner], {})
    return raw


def _is_data_descriptor(raw: Value) -> bool:
    return isinstance(raw, Property) or (isinstance(raw, Instance) and raw.cls.lookup("__set__") is not MISSING)


def _of_instance(engine: Any, obj: Instance, name: str) -> Value:
    custom = obj.cls.lookup("__getattribute__")
    if not isinstance(custom, Function):
        return instance_attribute(engine, obj, name)
    getter = obj.cls.lookup("__getattr__")
    if getter is MISSING:
        return engine.call(custom, [obj, name], {})
    return engine.with_attribute_fallback(
        lambda: engine.call(custom, [obj, name], {}), lambda: engine.call(getter, [obj, name], {})
    )


def instance_attribute(engine: Any, obj: Instance, name: str, fallback: bool = True) -> Value:
    """What ``object.__getattribute__`` finds, and then, if ``fallback``, the class's ``__getattr__``."""
    raw = obj.cls.lookup(name)
    if raw is not MISSING and not isinstance(raw, SlotDescriptor):
        if _is_data_descriptor(raw):
            return _guarded(engine, obj, name, raw, fallback)
        if name in obj.attrs:
            return obj.attrs[name]
        return _guarded(engine, obj, name, raw, fallback)
    elif name in obj.attrs:
        return obj.attrs[name]
    special = _instance_special(engine, obj, name)
    if special is not MISSING:
        return special
    if obj.cls.has_trait("enum") and (member := _enum_member(obj.cls, name)) is not MISSING:
        return member
    if obj.cls.host is not None:
        inner = host_attribute(engine, obj.payload, name)
        if inner is not MISSING:
            return inner
    if fallback:
        getter = obj.cls.lookup("__getattr__")
        if getter is not MISSING:
            return engine.call(getter, [obj, name], {})
    opaque = obj.cls.opaque_bases
    if opaque:
        return opaque[0].derive(f"{obj.cls.name}().{name}") if not name.startswith("__") else MISSING
    return MISSING


def _guarded(engine: Any, obj: Instance, name: str, raw: Value, fallback: bool) -> Value:
    """Reads a descriptor; an AttributeError from a property falls back to ``__getattr__``, as in Python."""
    getter = obj.cls.lookup("__getattr__") if fallback and isinstance(raw, (Property, CachedProperty)) else MISSING
    if getter is MISSING:
        return bind(engine, raw, obj, obj.cls)
    return engine.with_attribute_fallback(
        lambda: bind(engine, raw, obj, obj.cls), lambda: engine.call(getter, [obj, name], {})
    )


def _instance_special(engine: Any, obj: Instance, name: str) -> Value:
    if name == "__class__":
        return obj.cls
    if name == "__dict__":
        if obj.cls.lookup("__struct_fields__") is not MISSING:
            names = obj.cls.lookup("__struct_fields__")
            return engine.instance_dict(obj, set(names))
        if obj.cls.slots is not None:
            return MISSING
        if EXCEPTIONS["BaseException"] in obj.cls.mro:
            return {k: v for k, v in obj.attrs.items() if k != "args" and not k.startswith("__")}
        return obj.attrs
    if name == "__doc__":
        return None
    if name == "__module__":
        return obj.cls.module.name if obj.cls.module else "builtins"
    if name in ("__setattr__", "__getattribute__", "__delattr__", "__init_subclass__", "__reduce__", "__init__",
                "__str__",
                "__repr__", "__eq__", "__hash__", "__ne__", "__dir__", "__sizeof__", "__format__"):  # fmt: skip
        raw = OBJECT_METHODS.get(name, MISSING)
        return MISSING if raw is MISSING else BoundMethod(raw, obj)
    if EXCEPTIONS["BaseException"] in obj.cls.mro:
        if name == "args":
            return obj.attrs.get("args", ())
        if name in ("__cause__", "__context__", "__traceback__"):
            return None
        if name == "__suppress_context__":
            return False
        found = exception_detail(obj, name)
        if found is not MISSING:
            return found
        if name == "with_traceback":
            return Native(name, lambda e, a, k: obj)
        if name == "add_note":
            return Native(name, lambda e, a, k: None)
    return MISSING


def of_module(engine: Any, module: Module, name: str) -> Value:
    """``module.name``: its globals, a submodule, or its own ``__getattr__``."""
    attrs = module.attrs
    if name in attrs:
        value = attrs[name]
        return engine.resolve(value, attrs, name)
    if name == "__dict__":
        return attrs
    if name == "__path__" and module.is_package:
        return [TREE_PREFIX + module.path.rsplit("/", 1)[0]]
    if name == "__spec__":
        return Unknown(f"{module.name}.__spec__", "import machinery is not modelled")
    getter = attrs.get("__getattr__")
    if isinstance(getter, Function):
        return engine.call(getter, [name], {})
    sub = engine.imports.submodule(module, name)
    if sub is not MISSING:
        return sub
    if name.startswith("__") or name in module.attrs.get("__absent__", ()) or engine.imports.lacks(module.name, name):
        return MISSING
    if module.model:
        return engine.external(f"{module.name}.{name}")
    return MISSING


def _of_class(engine: Any, cls: Class, name: str) -> Value:
    meta = cls.metaclass
    if meta is not None:
        raw = meta.lookup(name)
        if raw is not MISSING and _is_data_descriptor(raw):
            return bind(engine, raw, cls, meta)
    if cls.has_trait("enum"):
        member = _enum_member(cls, name)
        if member is not MISSING:
            return member
    raw = cls.lookup(name)
    if raw is not MISSING:
        if name == "__annotations__":
            return engine.annotations_of(cls)
        return bind(engine, raw, None, cls)
    special = _class_special(engine, cls, name)
    if special is not MISSING:
        return special
    if meta is not None:
        raw = meta.lookup(name)
        if raw is not MISSING:
            return bind(engine, raw, cls, meta)
        getter = meta.lookup("__getattr__")
        if getter is not MISSING:
            return engine.call(getter, [cls, name], {})
    if cls.host is not None and (found := host_attribute(engine, cls.host, name)) is not MISSING:
        return found
    raw = OBJECT_METHODS.get(name, MISSING)
    if raw is not MISSING:
        return raw
    opaque = cls.opaque_bases
    if opaque and not name.startswith("__"):
        return engine.external_attribute(opaque[0], name)
    return MISSING


def _enum_member(cls: Class, name: str) -> Value:
    for c in cls.mro:
        members = c.traits.get("all_members")
        if members and name in members:
            return members[name]
    return MISSING


def _class_special(engine: Any, cls: Class, name: str) -> Value:
    if name == "__name__":
        return cls.name
    if name == "__qualname__":
        return cls.qualname
    if name == "__module__":
        return cls.module.name if cls.module else "builtins"
    if name == "__mro__":
        return tuple(cls.mro)
    if name == "__bases__":
        return cls.bases
    if name == "__base__":
        return cls.bases[0] if cls.bases else OBJECT
    if name == "__dict__":
        return engine.class_dict(cls)
    if name == "__doc__":
        return None
    if name == "__members__" and cls.has_trait("enum"):
        return dict(cls.traits.get("all_members", {}))
    if name == "__annotations__":
        return engine.annotations_of(cls)
    if name == "__class__":
        return cls.metaclass or engine.TYPE
    if name == "__dataclass_fields__" and cls.has_trait("dataclass"):
        return dict(next(c.traits["fields"] for c in cls.mro if "fields" in c.traits))
    if name == "mro":
        return Native("mro", lambda e, a, k: list(cls.mro))
    if name == "__subclasses__":
        return Native(name, lambda e, a, k: e.subclasses(cls))
    return MISSING


def _of_super(engine: Any, proxy: Super, name: str) -> Value:
    receiver = proxy.receiver
    if isinstance(receiver, Class) and proxy.after not in receiver.mro and receiver.metaclass is not None:
        return _of_meta_super(engine, proxy, name)
    cls = receiver if isinstance(receiver, Class) else receiver.cls
    mro = cls.mro
    start = mro.index(proxy.after) + 1 if proxy.after in mro else 1
    for c in mro[start:]:
        if name in c.attrs:
            raw = c.attrs[name]
            if isinstance(receiver, Class) and not isinstance(raw, (ClassMethod, StaticMethod)):
                return raw
            return bind(engine, raw, receiver, cls)
    if cls.host is not None and isinstance(receiver, Instance):
        if name == "__init__":
            return Native("__init__", lambda e, a, k: e.fill_payload(receiver, a, k))
        if name == "__setattr__":
            return BoundMethod(OBJECT_METHODS["__setattr__"], receiver)
        inner = host_attribute(engine, receiver.payload, name)
        if inner is not MISSING:
            return inner
    if cls.host is not None and isinstance(receiver, Class) and name == "__new__":
        return host_attribute(engine, cls.host, name)
    for c in mro[start - 1 :]:
        for b in c.bases:
            if isinstance(b, Unknown):
                if name == "__init__":
                    return Native("__init__", lambda e, a, k: None)
                if name in ("__init_subclass__", "__post_init__"):
                    return Native(name, lambda e, a, k: None)
                if name == "__new__":
                    return OBJECT_METHODS["__new__"]
                if name == "__setattr__":
                    return BoundMethod(OBJECT_METHODS["__setattr__"], receiver)
                return engine.external_attribute(b, name)
    raw = OBJECT_METHODS.get(name, MISSING)
    if raw is MISSING:
        throw("AttributeError", f"'super' object has no attribute '{name}'")
    return raw if name == "__new__" else BoundMethod(raw, receiver)


def _of_meta_super(engine: Any, proxy: Super, name: str) -> Value:
    """``super()`` in a method of a metaclass: the receiver is a class as an instance of it."""
    cls: Class = proxy.receiver
    meta = cls.metaclass
    assert meta is not None
    mro = meta.mro
    for c in mro[mro.index(proxy.after) + 1 if proxy.after in mro else 1 :]:
        if name in c.attrs:
            return bind(engine, c.attrs[name], cls, meta)
    if name in TYPE_METHODS:
        return BoundMethod(TYPE_METHODS[name], cls)
    throw("AttributeError", f"'super' object has no attribute '{name}'")


OBJECT_METHODS: dict[str, Value] = {}
"""Methods of ``object`` itself: found last, never through an MRO (filled by ``trace.builtins``)."""

TYPE_METHODS: dict[str, Value] = {}
"""Methods of ``type`` itself, for metaclasses (filled by ``trace.classes``)."""


def _of_function(engine: Any, function: Function | Native, name: str) -> Value:
    if name in function.attrs:
        return function.attrs[name]
    if name == "__name__":
        return function.name
    if name == "__qualname__":
        return getattr(function, "qualname", function.name)
    if name == "__module__":
        return function.module.name if isinstance(function, Function) else "builtins"
    if name == "__doc__":
        return None
    if name == "__dict__":
        return function.attrs
    if name == "__wrapped__":
        return MISSING
    if isinstance(function, Function):
        if name == "__defaults__":
            return tuple(function.defaults) or None
        if name == "__kwdefaults__":
            return function.kwdefaults or None
        if name == "__annotations__":
            return engine.function_annotations(function, evaluated=False)
        if name == "__get__":
            return Native(name, lambda e, a, k: function if a[0] is None else BoundMethod(function, a[0]))
        if name == "__code__":
            return engine.code_object(function)
        if name == "__globals__":
            return function.module.attrs
    if name == "__call__":
        return function
    return MISSING


def _of_property(obj: Property, name: str) -> Value:
    if name == "setter":
        return Native("setter", lambda e, a, k: Property(obj.getter, a[0], obj.deleter))
    if name == "getter":
        return Native("getter", lambda e, a, k: Property(a[0], obj.setter, obj.deleter))
    if name == "deleter":
        return Native("deleter", lambda e, a, k: Property(obj.getter, obj.setter, a[0]))
    if name in ("fget", "fset", "fdel"):
        return {"fget": obj.getter, "fset": obj.setter, "fdel": obj.deleter}[name]
    return None if name == "__doc__" else MISSING


def _of_typing(engine: Any, form: TypingForm, name: str) -> Value:
    if name == "__args__":
        return form.args
    if name == "__origin__":
        return engine.typing_origin(form)
    if name == "__metadata__" and form.name == "Annotated":
        return form.args[1:]
    if name in ("__name__", "_name"):
        return form.name
    return MISSING


def maybe(engine: Any, obj: Value, name: str) -> Value:
    """``getattr(obj, name)``, ``MISSING`` where it raises AttributeError."""
    found: Value = MISSING
    try:
        found = find(engine, obj, name)
    except Raised as error:
        if not (isinstance(error.value, Instance) and EXCEPTIONS["AttributeError"] in error.value.cls.mro):
            raise
    return found


def has(engine: Any, obj: Value, name: str) -> Value:
    """``hasattr(obj, name)``: True, False or Unknown."""
    if isinstance(obj, External):
        return engine.assume_there(f"{obj.path}.{name}")
    if isinstance(obj, Unknown):
        return obj.derive(f"hasattr({obj.key}, {name!r})")
    if isinstance(obj, Module) and obj.model:
        found = of_module(engine, obj, name)
        if isinstance(found, External) and name not in obj.attrs:
            return engine.assume_there(found.path)
        return found is not MISSING
    return engine.catches_attribute_error(lambda: find(engine, obj, name))
