"""``isinstance`` and ``issubclass`` on abstract values."""

from __future__ import annotations

import collections.abc
import types
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import OBJECT, TYPE, throw
from mtp_trace.trace.values import (
    MISSING,
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
    StaticMethod,
    TypingForm,
    Unknown,
    Value,
)

_ABSTRACT: dict[str, tuple[type, tuple[str, ...]]] = {
    "Iterable": (collections.abc.Iterable, ("__iter__",)),
    "Iterator": (collections.abc.Iterator, ("__next__",)),
    "Sized": (collections.abc.Sized, ("__len__",)),
    "Container": (collections.abc.Container, ("__contains__",)),
    "Collection": (collections.abc.Collection, ("__len__", "__iter__", "__contains__")),
    "Sequence": (collections.abc.Sequence, ("__sequence__",)),
    "MutableSequence": (collections.abc.MutableSequence, ("__sequence__",)),
    "Mapping": (collections.abc.Mapping, ("__mapping__",)),
    "MutableMapping": (collections.abc.MutableMapping, ("__mapping__",)),
    "Set": (collections.abc.Set, ("__set__",)),
    "MutableSet": (collections.abc.MutableSet, ("__set__",)),
    "Hashable": (collections.abc.Hashable, ("__hash__",)),
    "List": (list, ("__list__",)),
    "Dict": (dict, ("__dict_type__",)),
    "Tuple": (tuple, ("__tuple__",)),
    "FrozenSet": (frozenset, ("__frozenset__",)),
    "Type": (type, ("__type__",)),
    "Number": (int, ("__number__",)),
    "KeysView": (type({}.keys()), ("__keys_view__",)),
    "ValuesView": (type({}.values()), ("__values_view__",)),
    "ItemsView": (type({}.items()), ("__items_view__",)),
    "Generator": (types.GeneratorType, ("send",)),
}
_OBJECT_KINDS: dict[str, tuple[type, ...]] = {
    "types.Function": (Function,),
    "types.FunctionType": (Function,),
    "types.LambdaType": (Function,),
    "types.MethodType": (BoundMethod,),
    "types.BuiltinFunctionType": (Native,),
    "types.ModuleType": (Module,),
    "types.GeneratorType": (Generator,),
    "property": (Property,),
    "functools.cached_property": (CachedProperty,),
    "staticmethod": (StaticMethod,),
    "classmethod": (ClassMethod,),
}


def isinstance_(engine: Any, value: Value, kind: Value) -> Value:
    """True, False or Unknown."""
    if isinstance(kind, (tuple, list)):
        return _any(isinstance_(engine, value, k) for k in kind)
    if isinstance(kind, TypingForm):
        return _form(engine, value, kind)
    if isinstance(value, External) and isinstance(kind, (type, Class)):
        return value.derive(f"isinstance({value.key}, {ops.short(kind)})")
    if isinstance(value, Unknown):
        return value.derive(f"isinstance({value.key}, {ops.short(kind)})")
    if isinstance(kind, type):
        return _host(value, kind)
    if isinstance(kind, Class):
        return _class(engine, value, kind)
    if isinstance(kind, External):
        return _external(value, kind)
    if isinstance(kind, Native):
        return isinstance(value, _OBJECT_KINDS.get(kind.name, ()))
    if isinstance(kind, Unknown):
        return kind.derive(f"isinstance({ops.short(value)}, {kind.key})")
    throw("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union")


def _any(answers: Any) -> Value:
    unknown: Value = False
    for a in answers:
        if a is True:
            return True
        if isinstance(a, Unknown):
            unknown = a
    return unknown


def _host(value: Value, kind: type) -> Value:
    if kind is object:
        return True
    if isinstance(value, Instance):
        return value.cls.host is not None and issubclass(value.cls.host, kind)
    if kind is type:
        return isinstance(value, (type, Class))
    if isinstance(value, (Class, Function, Native, Module, BoundMethod, TypingForm, Generator, Property)):
        return kind is types.FunctionType and isinstance(value, Function)
    return isinstance(value, kind)


def _class(engine: Any, value: Value, kind: Class) -> Value:
    if kind is OBJECT:
        return True
    if kind is TYPE:
        return isinstance(value, (type, Class))
    if kind.metaclass is not None:
        check = kind.metaclass.lookup("__instancecheck__")
        if isinstance(check, Function):
            return engine.call(check, [kind, value], {})
    if kind.traits.get("runtime-checkable"):
        names = [n for n in kind.attrs if not n.startswith("__")] + list(kind.attrs.get("__annotations__", {}))
        return all(engine.catches_attribute_error(lambda n=n: engine.getattr(value, n)) for n in names)
    if isinstance(value, Instance):
        return kind in value.cls.mro
    if isinstance(value, Class):
        return value.metaclass is not None and kind in value.metaclass.mro
    return False


def _external(value: Value, kind: External) -> Value:
    if kind.path in _OBJECT_KINDS:
        return isinstance(value, _OBJECT_KINDS[kind.path])
    if isinstance(value, Instance):
        opaque = value.cls.opaque_bases
        if any(isinstance(b, External) and b.path == kind.path for b in opaque):
            return True
        return opaque[0].derive(f"isinstance({value.cls.name}(), {kind.key})") if opaque else False
    # Builtin data, functions and modules are no instances of another package's class.
    return False


def _form(engine: Any, value: Value, form: TypingForm) -> Value:
    if form.name in ("Union", "Optional"):
        return _any(isinstance_(engine, value, a) for a in form.args)
    if form.name in ("Any", "Generic"):
        return True
    if form.name == "Callable":
        return callable_(engine, value)
    if form.name in _ABSTRACT:
        host, methods = _ABSTRACT[form.name]
        if isinstance(value, Unknown):
            return value.derive(f"isinstance({value.key}, {form.name})")
        if isinstance(value, Instance):
            if value.cls.host is not None and issubclass(value.cls.host, host):
                return True
            if all(value.cls.lookup(m) is not MISSING for m in methods):
                return True
            return any(c.traits.get("abc") and c.name == form.name and c.module is None for c in value.cls.mro)
        if form.name in ("Iterable", "Iterator", "Generator") and isinstance(value, Generator):
            return True
        return _host(value, host)
    if form.name == "Alias" and form.args:
        return isinstance_(engine, value, form.args[0])
    return Unknown(f"isinstance({ops.short(value)}, {form!r})", f"{form!r} is not modelled in isinstance")


def callable_(engine: Any, value: Value) -> Value:
    """``callable(value)``."""
    if isinstance(value, (Function, Native, BoundMethod, Class, type, StaticMethod, ClassMethod)):
        return True
    if isinstance(value, Unknown):
        return value.derive(f"callable({value.key})")
    if isinstance(value, Instance):
        return value.cls.lookup("__call__") is not MISSING
    return isinstance(value, TypingForm)


def issubclass_(engine: Any, cls: Value, kind: Value) -> Value:
    """True, False or Unknown."""
    if isinstance(kind, (tuple, list)):
        return _any(issubclass_(engine, cls, k) for k in kind)
    if isinstance(cls, Unknown) or isinstance(kind, Unknown):
        if isinstance(cls, External) and isinstance(kind, External) and cls.path == kind.path:
            return True
        if isinstance(cls, Class) and isinstance(kind, External):
            if any(isinstance(b, External) and b.path == kind.path for b in cls.opaque_bases):
                return True
            if not cls.opaque_bases:
                return False
        if isinstance(cls, type) and isinstance(kind, External):
            return False
        u = cls if isinstance(cls, Unknown) else kind
        return u.derive(f"issubclass({ops.short(cls)}, {ops.short(kind)})")
    if isinstance(cls, Class):
        if isinstance(kind, type):
            return kind is object or (cls.host is not None and issubclass(cls.host, kind))
        if isinstance(kind, Class):
            return kind in cls.mro or kind is OBJECT
        return False
    if isinstance(cls, type):
        if isinstance(kind, type):
            return issubclass(cls, kind)
        if isinstance(kind, TypingForm) and kind.name in _ABSTRACT:
            return issubclass(cls, _ABSTRACT[kind.name][0])
        return kind is OBJECT
    if isinstance(cls, TypingForm):
        return False
    throw("TypeError", "issubclass() arg 1 must be a class")
