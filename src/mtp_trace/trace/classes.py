"""Builds classes: bases and MRO, enums, dataclasses, msgspec Structs, named tuples; and their instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import ops
from mtp_trace.trace.enumclasses import EnumBuilder
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, TYPE, throw
from mtp_trace.trace.places import site_of
from mtp_trace.trace.values import (
    MISSING,
    CachedProperty,
    Class,
    ClassMethod,
    Frame,
    Function,
    Instance,
    Native,
    Property,
    SlotDescriptor,
    StaticMethod,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
)

STRUCT = Class("Struct", (OBJECT,))
STRUCT.mro = [STRUCT, OBJECT]
STRUCT.traits["struct-base"] = True
NAMEDTUPLE = Class("NamedTuple", (OBJECT,))
NAMEDTUPLE.mro = [NAMEDTUPLE, OBJECT]
TYPEDDICT = Class("TypedDict", (OBJECT,))
TYPEDDICT.mro = [TYPEDDICT, OBJECT]
PROTOCOL = Class("Protocol", (OBJECT,))
PROTOCOL.mro = [PROTOCOL, OBJECT]


class ClassBuilder(EnumBuilder):
    """Makes ``Class`` values out of executed class bodies."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.all: list[Class] = []
        self._statements: list[tuple[str, str, Frame, Node]] = []

    def build(self, name: str, qualname: str, parents: list[Value], keywords: dict[str, Value], frame: Frame,
              body: Callable[[Frame], Any], node: Node) -> Value:  # fmt: skip
        """Runs a class statement."""
        frame.made = []
        body(frame)
        metaclass = keywords.pop("metaclass", None)
        self._statements.append((name, qualname, frame, node))
        try:
            made = self.create(metaclass, name, parents, frame.vars, keywords)
        finally:
            self._statements.pop()
        if isinstance(made, Class):
            for function in frame.made:
                function.owner = made
        return made

    def create(self, metaclass: Value, name: str, parents: list[Value], namespace: dict[str, Value],
               keywords: dict[str, Value]) -> Value:  # fmt: skip
        """What calling the metaclass comes to: its ``__new__``, then its ``__init__``."""
        metaclass = _most_derived(metaclass, parents)
        if metaclass is not None and not isinstance(metaclass, Class):
            if isinstance(metaclass, Unknown):
                return self.assemble(name, name, parents, keywords, None, namespace, self.engine.frames[-1], None)
            return self.engine.call(metaclass, [name, tuple(parents), namespace], keywords)
        hook = metaclass.lookup("__new__") if metaclass is not None else MISSING
        function = hook.function if isinstance(hook, StaticMethod) else hook
        if isinstance(function, Function):
            made = self.engine.call(function, [metaclass, name, tuple(parents), namespace], dict(keywords))
        else:
            made = self.type_new(metaclass, name, parents, namespace, keywords)
        if isinstance(made, Class) and made.metaclass is not None:
            init = made.metaclass.lookup("__init__")
            if isinstance(init, Function):
                self.engine.call(init, [made, name, tuple(parents), namespace], dict(keywords))
        return made

    def type_new(self, metaclass: Class | None, name: str, parents: list[Value], namespace: dict[str, Value],
                 keywords: dict[str, Value]) -> Value:  # fmt: skip
        """``type.__new__``; a class statement that is running says where the class stands."""
        metaclass = None if metaclass is TYPE else metaclass
        if self._statements and self._statements[-1][0] == name:
            _, qualname, frame, node = self._statements[-1]
            made = self.assemble(name, qualname, parents, keywords, metaclass, namespace, frame, node)
            for function in frame.made or ():
                function.owner = made
            return made
        return self.assemble(name, name, parents, keywords, metaclass, namespace, self.engine.frames[-1], None)

    def assemble(self, name: str, qualname: str, parents: list[Value], keywords: dict[str, Value],
                 metaclass: Class | None,
                 namespace: dict[str, Value], frame: Frame, node: Node | None) -> Class:  # fmt: skip
        """The class of a name, bases and a namespace (``class`` statement, ``type(...)``, ``defstruct``)."""
        cls = Class(name, tuple(parents), frame.module)
        cls.qualname, cls.keywords, cls.engine = qualname, keywords, self.engine
        cls.attrs = namespace
        if node is not None:
            cls.site = site_of(frame, node)
            if frame.made is not None:
                # Methods are called before the statement ends: by hooks of the metaclass and of the bases.
                for function in frame.made:
                    function.owner = cls
        self._inherit(cls, parents)
        if metaclass is not None:
            cls.metaclass = metaclass
        if "__eq__" in namespace and "__hash__" not in namespace:
            namespace["__hash__"] = None
        self._slots(cls, namespace)
        for key, value in list(namespace.items()):
            if isinstance(value, CachedProperty) and not value.name:
                value.name = key
            if isinstance(value, Instance) and (hook := value.cls.lookup("__set_name__")) is not MISSING:
                self.engine.call(hook, [value, cls, key], {})
        for key in ("__init_subclass__", "__class_getitem__"):
            if isinstance(namespace.get(key), Function):
                namespace[key] = ClassMethod(namespace[key])
        if NAMEDTUPLE in parents:
            self._named_tuple(cls)
        elif cls.has_trait("enum"):
            self._enum(cls, namespace)
        elif STRUCT in cls.mro:
            self.struct(cls, keywords)
        self.engine.touch(self.all)
        self.all.append(cls)
        self._init_subclass(cls, keywords)
        return cls

    def _slots(self, cls: Class, namespace: dict[str, Value]) -> None:
        """Which attributes an instance may have, where ``__slots__`` and those of all bases say so."""
        bases = [b for b in cls.mro[1:] if b is not OBJECT]
        given = namespace.get("__slots__")
        if STRUCT in cls.mro or given is None or isinstance(given, Unknown) or cls.opaque_bases or cls.host is not None:
            return
        if any(b.slots is None for b in bases):
            return
        names = (
            {given} if isinstance(given, str) else {n for n in ops.iterate(self.engine, given) if isinstance(n, str)}
        )
        if "__dict__" in names:
            return
        cls.slots = frozenset(names).union(*(b.slots for b in bases if b.slots is not None))
        for n in names:
            namespace.setdefault(n, SlotDescriptor(n))

    def _inherit(self, cls: Class, parents: list[Value]) -> None:
        bases: list[Class] = []
        for p in parents:
            if isinstance(p, Class):
                bases.append(p)
                cls.host = cls.host or p.host
                cls.metaclass = cls.metaclass or p.metaclass
            elif isinstance(p, type):
                if p is not object:
                    cls.host = cls.host or p
            elif isinstance(p, TypingForm) and p.args and isinstance(p.args[0], Class) and p.name == "Alias":
                bases.append(p.args[0])
            elif isinstance(p, TypingForm) and p.name.startswith("host:"):
                cls.host = cls.host or p.args[0]
            elif isinstance(p, TypingForm) and (mixin := self.engine.abstract_bases.get(p.name)) is not None:
                bases.append(mixin)
        cls.mro = _linearize(cls, bases or [OBJECT])
        cls.bases = tuple(b for b in parents if not isinstance(b, TypingForm)) or (OBJECT,)

    def _init_subclass(self, cls: Class, keywords: dict[str, Value]) -> None:
        for c in cls.mro[1:]:
            hook = c.attrs.get("__init_subclass__")
            if hook is not None:
                function = hook.function if isinstance(hook, ClassMethod) else hook
                if isinstance(function, Function):
                    self.engine.call(function, [cls], dict(keywords))
                return

    # --- records ---------------------------------------------------------------------------------------------------

    def _named_tuple(self, cls: Class) -> None:
        names = list(cls.attrs.get("__annotations__", {}))
        defaults = {n: cls.attrs.pop(n) for n in names if n in cls.attrs}
        self.named_tuple(cls, names, defaults)

    def named_tuple(self, cls: Class, names: list[str], defaults: dict[str, Value]) -> None:
        """Gives a class the fields, methods and construction of a named tuple."""
        cls.host = tuple
        cls.attrs["_fields"] = tuple(names)
        cls.attrs["__match_args__"] = tuple(names)
        cls.attrs["_field_defaults"] = defaults
        cls.traits["namedtuple"] = names
        for i, n in enumerate(names):
            getter = Native(n, lambda e, a, k, i=i: a[0].payload[i])  # type: ignore[misc]
            cls.attrs[n] = Property(getter, Native(n, lambda e, a, k: throw("AttributeError", "can't set attribute")))

        def make(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            values = dict(zip(names, args[1:]))
            values.update(kwargs)
            row = []
            for n in names:
                if n in values:
                    row.append(values[n])
                elif n in defaults:
                    row.append(defaults[n])
                else:
                    throw("TypeError", f"{cls.name}.__new__() missing 1 required positional argument: '{n}'")
            return Instance(args[0], tuple(row))

        def replace(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            return Instance(args[0].cls, tuple(kwargs.get(n, v) for n, v in zip(names, args[0].payload)))

        cls.attrs["__new__"] = StaticMethod(Native("__new__", make))
        cls.attrs["_asdict"] = Native("_asdict", lambda e, a, k: dict(zip(names, a[0].payload)))
        cls.attrs["_replace"] = Native("_replace", replace)
        cls.attrs["_make"] = ClassMethod(Native("_make", lambda e, a, k: Instance(a[0], tuple(ops.iterate(e, a[1])))))
        cls.attrs["__repr__"] = Native("__repr__", lambda e, a, k: f"{cls.name}(" + ", ".join(
            f"{n}={ops.to_repr(e, v)}" for n, v in zip(names, a[0].payload)) + ")")  # fmt: skip

    def struct(self, cls: Class, keywords: dict[str, Value]) -> None:
        """A msgspec Struct: fields by annotation, an ``__init__`` that fills them, ``__struct_fields__``."""
        from mtp_trace.trace.records import Field, add_methods, annotations_in, make_init

        fields: dict[str, Field] = {}
        for base in reversed(cls.mro[1:]):
            fields.update(base.traits.get("fields", {}))
        own_kw_only = keywords.get("kw_only", False)
        for n, annotation in annotations_in(cls).items():
            if annotation.is_class_var(self.engine):
                continue
            default = cls.attrs.pop(n, MISSING)
            field = default if isinstance(default, Field) else Field(default)
            if isinstance(default, (list, dict, set)):
                field = Field(MISSING, Native("copy", lambda e, a, k, d=default: type(d)(d)))  # type: ignore[misc]
            field.name, field.annotation, field.kw_only = n, annotation, bool(own_kw_only)
            fields[n] = field
            cls.attrs[n] = SlotDescriptor(n)
        # Fields that are given by position come first.
        fields = {n: f for kw_only in (False, True) for n, f in fields.items() if f.kw_only is kw_only}
        cls.traits["fields"] = fields
        cls.traits["struct"] = True
        cls.attrs["__struct_fields__"] = tuple(fields)
        cls.attrs["__match_args__"] = tuple(fields)
        inherited = {n for b in reversed(cls.mro[1:]) for n, v in b.keywords.items() if v is True}
        options = {n: keywords.get(n, n in inherited) for n in ("frozen", "order", "dict", "kw_only")}
        plain_bases = [b for b in cls.mro[1:] if b is not OBJECT and STRUCT not in b.mro and b.slots is None]
        if not options["dict"] and not plain_bases and not cls.opaque_bases:
            cls.slots = frozenset(fields)
        add_methods(cls, list(fields.values()), {"eq": keywords.get("eq", True), **options})
        cls.attrs["__init__"] = make_init(cls, list(fields.values()), "struct")


def _most_derived(metaclass: Value, parents: list[Value]) -> Value:
    """The metaclass given or inherited, whichever derives from the other."""
    for p in parents:
        own = p.metaclass if isinstance(p, Class) else None
        if own is not None and (metaclass is None or (isinstance(metaclass, Class) and metaclass in own.mro)):
            metaclass = own
    return metaclass


def _linearize(cls: Class, bases: list[Class]) -> list[Class]:
    sequences = [list(b.mro) for b in bases] + [list(bases)]
    out = [cls]
    while any(sequences):
        for s in sequences:
            if s and not any(s[0] in other[1:] for other in sequences):
                head = s[0]
                break
        else:
            names = ", ".join(b.name for b in bases)
            throw("TypeError", f"Cannot create a consistent method resolution\norder (MRO) for bases {names}")
        out.append(head)
        for s in sequences:
            if s and s[0] is head:
                del s[0]
    if OBJECT in out:
        out.remove(OBJECT)
    return [*out, OBJECT]


def construct(engine: Any, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``Cls(*args, **kwargs)``."""
    if cls is TYPE:
        return engine.type_call(args, kwargs)
    if TYPE in cls.mro and len(args) == 3:
        return engine.classes.create(cls, args[0], ops.iterate(engine, args[1]), dict(args[2]), kwargs)
    if cls.metaclass is not None:
        custom = cls.metaclass.lookup("__call__")
        if isinstance(custom, Function):
            return engine.call(custom, [cls, *args], kwargs)
    if cls.traits.get("members") and args:
        return engine.classes.enum_member(cls, args[0])
    if cls.has_trait("enum") and not cls.traits.get("members") and len(args) + len(kwargs) > 1:
        return engine.classes.enum_from_names(cls, args, kwargs)
    if TYPEDDICT in cls.mro:
        return {**(dict(args[0]) if args else {}), **kwargs}
    return instantiate(engine, cls, args, kwargs)


def instantiate(engine: Any, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``type.__call__``: ``__new__`` and then ``__init__``."""
    custom_new = cls.lookup("__new__")
    if custom_new is not MISSING and not (isinstance(custom_new, Native) and custom_new.attrs.get("object")):
        function = custom_new.function if isinstance(custom_new, StaticMethod) else custom_new
        obj = engine.call(function, [cls, *args], kwargs)
        if not isinstance(obj, Instance) or cls not in obj.cls.mro:
            return obj
    else:
        _refuse_abstract(cls)
        obj = bare(engine, cls, args, kwargs)
    init = cls.lookup("__init__")
    if isinstance(init, Native) and cls.host is None and (fill := init.attrs.get("fill")) and fill(obj, args, kwargs):
        return obj
    if init is not MISSING and not (isinstance(init, Native) and init.attrs.get("object")):
        engine.call(init, [obj, *args], kwargs)
    elif cls.host is not None and custom_new is MISSING:
        engine.fill_payload(obj, args, kwargs)
    elif (
        (args or kwargs)
        and custom_new is MISSING
        and not cls.opaque_bases
        and EXCEPTIONS["BaseException"] not in cls.mro
    ):
        throw("TypeError", f"{cls.name}() takes no arguments")
    return obj


def _refuse_abstract(cls: Class) -> None:
    """ABCs with abstract methods left cannot be instantiated."""
    if not any(c.traits.get("abc") or (c.metaclass is not None and c.metaclass.has_trait("abc")) for c in cls.mro):
        return
    missing = sorted({n for c in cls.mro for n, v in c.attrs.items() if _abstract(v) and _abstract(cls.lookup(n))})
    if missing:
        plural = "s" if len(missing) > 1 else ""
        throw(
            "TypeError",
            f"Can't instantiate abstract class {cls.name} with abstract method{plural} {', '.join(missing)}",
        )


def _abstract(value: Value) -> bool:
    inner = (
        value.getter
        if isinstance(value, Property)
        else value.function
        if isinstance(value, (ClassMethod, StaticMethod))
        else value
    )
    return isinstance(inner, Function) and inner.attrs.get("__isabstractmethod__") is True


def bare(engine: Any, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Instance:
    """``object.__new__(cls)``: exceptions keep their arguments, subclasses of builtins get an empty payload."""
    obj = Instance(cls)
    if EXCEPTIONS["BaseException"] in cls.mro:
        obj.attrs["args"] = tuple(args)
    if cls.host is not None:
        obj.payload = _empty(cls.host)
    return obj


def _empty(host: type) -> Value:
    if host in (str, int, float, list, dict, set, tuple, bytes, frozenset):
        return host()
    raise TraceStop(f"a subclass of {host.__name__} is not modelled")
