"""Enums: members out of a class body, ``auto()``, lookups by value, flags."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import attrs, ops
from mtp_trace.trace.errors import OBJECT, throw
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    CachedProperty,
    Class,
    ClassMethod,
    Function,
    Instance,
    Native,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

ENUM = Class("Enum", (OBJECT,))
ENUM.mro = [ENUM, OBJECT]
ENUM.traits["enum"] = True
FLAG = Class("Flag", (ENUM,))
FLAG.mro = [FLAG, ENUM, OBJECT]
FLAG.traits["flag"] = True


def _mixin(name: str, host: type, base: Class) -> Class:
    c = Class(name, (base,))
    c.mro = [c, *base.mro]
    c.host = host
    return c


STR_ENUM = _mixin("StrEnum", str, ENUM)
INT_ENUM = _mixin("IntEnum", int, ENUM)
INT_FLAG = _mixin("IntFlag", int, FLAG)


class Auto:
    """``enum.auto()``."""


class EnumBody(dict[str, Any]):
    """The namespace of an enum's class statement: ``auto()`` has its value as soon as it has a name."""

    def __init__(self, engine: Any, parents: list[Class]) -> None:
        super().__init__()
        self._engine, self._parents = engine, parents
        self._values: list[Value] = []

    def __setitem__(self, key: str, value: Value) -> None:
        if not key.startswith("_"):
            if isinstance(value, Auto):
                value = self._next(key)
            elif isinstance(value, tuple) and any(isinstance(x, Auto) for x in value):
                value = tuple(self._next(key) if isinstance(x, Auto) else x for x in value)
            if not isinstance(value, _NOT_MEMBERS):
                self._values.append(value)
        super().__setitem__(key, value)

    def _next(self, key: str) -> Value:
        generate = self.get("_generate_next_value_", MISSING)
        for parent in self._parents:
            if generate is MISSING:
                generate = parent.lookup("_generate_next_value_")
        if generate is not MISSING:
            function = generate.function if isinstance(generate, StaticMethod) else generate
            return self._engine.call(function, [key, 1, len(self._values), list(self._values)], {})
        if any(c is STR_ENUM for p in self._parents for c in p.mro):
            return key.lower()
        numbers = [v for v in map(ops.payload, self._values) if isinstance(v, int)]
        if any("flag" in c.traits for p in self._parents for c in p.mro):
            return 1 << max((n.bit_length() for n in numbers), default=0)
        return max(numbers, default=0) + 1


_NOT_MEMBERS = (Function, Native, Property, StaticMethod, ClassMethod, CachedProperty, Class, BoundMethod)


class EnumBuilder:
    """The part of ``ClassBuilder`` that makes enums."""

    engine: Any
    create: Any

    def body(self, parents: list[Value]) -> dict[str, Value]:
        """The namespace that a class body runs in."""
        enums = [p for p in parents if isinstance(p, Class) and p.has_trait("enum")]
        return EnumBody(self.engine, enums) if enums else {}

    def _enum(self, cls: Class, namespace: dict[str, Value]) -> None:
        taken = next((c for c in cls.mro[1:] if c.traits.get("members")), None)
        if taken is not None:
            throw("TypeError", f"<enum {cls.name!r}> cannot extend <enum {taken.name!r}>")
        members: dict[str, Value] = {}
        every: dict[str, Value] = {}
        custom_new = next((c.attrs["__new__"] for c in cls.mro if "__new__" in c.attrs), None)
        init = cls.lookup("__init__")
        ignored = namespace.get("_ignore_", ())
        for key, value in list(namespace.items()):
            if key.startswith("_") and not key.endswith("_") and key.startswith(f"_{cls.name}__"):
                continue
            if (
                (key.startswith("__") and key.endswith("__"))
                or (key.startswith("_") and key.endswith("_"))
                or key in ignored
            ):
                continue
            if isinstance(value, _NOT_MEMBERS):
                continue
            if isinstance(value, Instance) and value.cls.lookup("__get__") is not MISSING:
                continue
            if isinstance(value, Instance) and value.cls.name == "nonmember":
                continue
            existing = next(
                (m for m in members.values() if m.attrs["_value_"] == value and not isinstance(value, Unknown)), None
            )
            if existing is not None:
                every[key] = existing
                del namespace[key]
                continue
            member = Instance(cls)
            if isinstance(custom_new, (Function, StaticMethod)):
                args = list(value) if isinstance(value, tuple) else [value]
                member = self.engine.call(custom_new, [cls, *args], {})
                member.attrs.setdefault("_value_", value)
            else:
                member.attrs["_value_"] = value
            member.attrs["_name_"] = key
            member.attrs["_order_"] = len(members)
            if cls.host is not None and member.payload is None:
                member.payload = self._payload(cls.host, value)
                if "_value_" in member.attrs and custom_new is None:
                    member.attrs["_value_"] = member.payload
            if isinstance(init, Function):
                args = list(value) if isinstance(value, tuple) else [value]
                self.engine.call(init, [member, *args], {})
            number = member.attrs["_value_"]
            flag = any("flag" in c.traits for c in cls.mro) and isinstance(number, int)
            if not flag or (number > 0 and number & (number - 1) == 0):
                members[key] = member
            every[key] = member
            del namespace[key]
        cls.traits["members"] = members
        cls.traits["all_members"] = every

    def _payload(self, host: type, value: Value) -> Value:
        args = list(value) if isinstance(value, tuple) else [value]
        if isinstance(value, Unknown):
            return value
        return self.engine.construct_host(host, args, {})

    def enum_member(self, cls: Class, value: Value) -> Value:
        """``Cls(value)``."""
        members = cls.traits.get("members", {})
        if isinstance(value, Instance) and value.cls is cls:
            return value
        if isinstance(value, Unknown):
            return value.derive(f"{cls.name}({value.key})")
        for m in members.values():
            if self.engine.truth(ops.equal(self.engine, m.attrs["_value_"], value)):
                return m
        missing = cls.lookup("_missing_")
        if missing is not MISSING:
            found = self.engine.call(attrs.bind(self.engine, missing, None, cls), [value], {})
            if found is not None:
                return found
        if any("flag" in c.traits for c in cls.mro) and isinstance(value, int):
            return self.flag(cls, value)
        throw("ValueError", f"{ops.to_repr(self.engine, value)} is not a valid {cls.qualname}")

    def enum_from_names(self, base: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``Enum("Name", "A B")``."""
        name, names = args[0], args[1] if len(args) > 1 else kwargs.get("names")
        start = kwargs.get("start", 1)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        body = self.body([base])
        if isinstance(names, dict):
            pairs = list(names.items())
        else:
            flag = any("flag" in c.traits for c in base.mro)
            rows = ops.iterate(self.engine, names)
            pairs = [x if isinstance(x, tuple) else (x, 1 << i if flag else start + i) for i, x in enumerate(rows)]
        for key, value in pairs:
            body[key] = value
        return self.create(None, name, [base], body, {})

    def flag(self, cls: Class, value: int) -> Value:
        """A combination of flag members."""
        for m in cls.traits.get("all_members", {}).values():
            if m.attrs["_value_"] == value:
                return m
        member = Instance(cls, value if cls.host is not None else None)
        member.attrs.update({"_value_": value, "_name_": None})
        return member
