"""What the traced program sees when it looks at its own values: types, classes' tables, code objects."""

from __future__ import annotations

import functools
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.enumclasses import INT_ENUM, STR_ENUM
from mtp_trace.trace.errors import OBJECT, TYPE
from mtp_trace.trace.values import (
    BoundMethod,
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    Generator,
    Instance,
    Module,
    Native,
    Property,
    StaticMethod,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
)

_BUILTIN_MARKS = {Property: "property", StaticMethod: "staticmethod", ClassMethod: "classmethod"}


class Reflection:
    """The engine's answers about values, for natives."""

    builtins: dict[str, Value]
    classes: Any
    frames: list[Frame]
    call: Any
    truth: Any

    def sort(self, items: list[Value], key: Value, reverse: Value) -> list[Value]:
        """``sorted``, stable."""
        keyed = [(x if key is None else self.call(key, [x], {}), x) for x in items]
        if any(isinstance(ops.payload(k), Unknown) for k, _ in keyed):
            raise TraceStop("sorts by a key that is not known")

        def order(a: tuple[Value, Value], b: tuple[Value, Value]) -> int:
            if self.truth(ops.compare(self, "<", a[0], b[0])):
                return -1
            return 1 if self.truth(ops.compare(self, "<", b[0], a[0])) else 0

        return [x for _, x in sorted(keyed, key=functools.cmp_to_key(order), reverse=self.truth(reverse))]

    def instance_dict(self, obj: Instance, hidden: set[str]) -> dict[str, Value]:
        """``__dict__`` of a Struct: what is not one of its fields."""
        return {k: v for k, v in obj.attrs.items() if k not in hidden}

    def class_dict(self, cls: Class) -> dict[str, Value]:
        """``Class.__dict__``."""
        return {**cls.attrs, **cls.traits.get("all_members", {})}

    def subclasses(self, cls: Class) -> list[Value]:
        """``Class.__subclasses__()``."""
        return [c for c in self.classes.all if cls in c.bases]

    def enum_text(self, member: Instance) -> str:
        """``str(member)``: ``Class.NAME``, or the value for ``StrEnum`` and ``IntEnum``."""
        if any(c in (STR_ENUM, INT_ENUM) for c in member.cls.mro):
            return str(member.payload)
        return f"{member.cls.name}.{member.attrs.get('_name_')}"

    def code_object(self, fn: Function) -> Value:
        """``function.__code__``: the argument names and first line."""
        code = Instance(Class("code", (OBJECT,)))
        code.attrs.update({
            "co_varnames": tuple(p.name for p in fn.code.params), "co_argcount": len(fn.code.positional),
            "co_name": fn.name, "co_filename": fn.module.path, "co_firstlineno": fn.code.node[1],
        })  # fmt: skip
        return code

    def type_of(self, value: Value) -> Value:
        """``type(value)``."""
        if isinstance(value, Instance):
            return value.cls
        if isinstance(value, Class):
            return value.metaclass or TYPE
        if isinstance(value, Unknown):
            return value.derive(f"type({value.key})")
        if isinstance(value, type):
            return TYPE
        if type(value) in _BUILTIN_MARKS:
            return self.builtins[_BUILTIN_MARKS[type(value)]]
        if isinstance(value, (Function, Native, BoundMethod, Module, Generator, TypingForm)):
            return External(f"types.{type(value).__name__}")
        return type(value)

    def type_call(self, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``type(x)`` and ``type(name, bases, namespace)``."""
        if len(args) == 1:
            return self.type_of(args[0])
        frame = self.frames[-1]
        name, bases, namespace = args
        return self.classes.assemble(name, name, ops.iterate(self, bases), kwargs, None, dict(namespace), frame, None)
