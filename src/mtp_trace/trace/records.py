"""Dataclass and Struct fields: how classes get them and how instances are filled."""

from __future__ import annotations

from typing import Any

from mtp_trace.syntax.form import Node, unparse
from mtp_trace.trace import ops
from mtp_trace.trace.errors import exception, missing_arguments, throw
from mtp_trace.trace.values import (
    MISSING,
    Class,
    Frame,
    Function,
    Instance,
    Native,
    Raised,
    Super,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
)

STRUCT_TRAIT = "struct"


class Annotation:
    """An annotation, evaluated when somebody asks for it (``get_type_hints``)."""

    __slots__ = ("_evaluate", "_frame", "form", "postponed", "value")

    def __init__(
        self, evaluate: Any, frame: Frame | None, form: Node | None, postponed: bool, value: Value = MISSING
    ) -> None:
        self._evaluate, self._frame, self.form, self.postponed = evaluate, frame, form, postponed
        self.value = value

    def resolved(self) -> Value:
        """The annotation as a value; Unknown where it names what is not there."""
        if self.value is MISSING and self._frame is not None:
            # What is made here is kept as long as the class, so it belongs to the shared state.
            with self._frame.engine.shared():
                try:
                    self.value = self._evaluate(self._frame)
                except (Raised, TraceStop):
                    self.value = Unknown(self.text(), f"the annotation {self.text()} cannot be evaluated")
                if isinstance(self.value, str):
                    self.value = self._frame.engine.evaluate_text(self.value, self._frame)
        return self.value

    def shown(self) -> Value:
        """What ``__annotations__`` holds: the value, or text where annotations are postponed or written as text."""
        if self.form is None:
            return self.value
        if self.postponed:
            return unparse(self.form)
        return self.form[3] if self.form[0] == "const" and isinstance(self.form[3], str) else self.resolved()

    def text(self) -> str:
        """The annotation as written."""
        return unparse(self.form) if self.form is not None else repr(self.value)

    def is_class_var(self, engine: Any) -> bool:
        """Whether it is ``ClassVar[...]``."""
        if self.form is None:
            return isinstance(self.value, TypingForm) and self.value.name == "ClassVar"
        text = self.text().strip("'\"")
        return text.split("[")[0].rpartition(".")[2] == "ClassVar"

    def is_init_var(self) -> bool:
        """Whether it is ``InitVar[...]``."""
        return self.form is not None and self.text().split("[")[0].rpartition(".")[2] == "InitVar"


def annotations_in(cls: Class) -> dict[str, Annotation]:
    """A class's own annotations, also those that its ``__annotations__`` was given by code."""
    made: dict[str, Annotation] = cls.traits.get("annotations", {})
    out: dict[str, Annotation] = {}
    for n, value in (cls.attrs.get("__annotations__") or {}).items():
        if isinstance(value, Annotation):
            out[n] = value
        elif n in made and made[n].shown() is value:
            out[n] = made[n]
        else:
            out[n] = Annotation(None, None, None, False, value)
    return out


class Field:
    """A record's field. ``default`` and ``factory`` are ``MISSING`` where not given."""

    __slots__ = (
        "annotation",
        "compare",
        "default",
        "factory",
        "init",
        "init_var",
        "kw_only",
        "metadata",
        "name",
        "repr",
    )

    def __init__(self, default: Value = MISSING, factory: Value = MISSING, init: bool = True, kw_only: bool = False,
                 metadata: Value = None, compare: bool = True, repr_: bool = True) -> None:  # fmt: skip
        self.default, self.factory, self.init, self.kw_only = default, factory, init, kw_only
        self.metadata = metadata if metadata is not None else {}
        self.compare, self.repr = compare, repr_
        self.name = ""
        self.annotation: Annotation = Annotation(None, None, None, False, None)
        self.init_var = False


def dataclass(engine: Any, cls: Class, options: dict[str, Value]) -> Class:
    """Applies ``@dataclass`` to a class."""
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        fields.update(base.traits.get("fields", {}))
    kw_only = bool(options.get("kw_only", False))
    for n, annotation in annotations_in(cls).items():
        if annotation.text().split("[")[0].rpartition(".")[2] == "KW_ONLY":
            kw_only = True
            continue
        if annotation.is_class_var(engine):
            continue
        default = cls.attrs.get(n, MISSING)
        if isinstance(default, Field):
            field = default
            if field.default is not MISSING:
                cls.attrs[n] = field.default
            else:
                cls.attrs.pop(n, None)
            field.kw_only = field.kw_only or kw_only
        else:
            field = Field(default, kw_only=kw_only)
        if isinstance(field.default, (list, dict, set)):
            kind = type(field.default)
            throw("ValueError", f"mutable default {kind} for field {n} is not allowed: use default_factory")
        field.name, field.annotation = n, annotation
        field.init_var = annotation.is_init_var()
        fields[n] = field
    cls.traits["fields"] = fields
    cls.traits["dataclass"] = True
    seen_default = False
    for f in fields.values():
        if f.init and not f.kw_only:
            optional = f.default is not MISSING or f.factory is not MISSING
            if seen_default and not optional and options.get("init", True):
                throw("TypeError", f"non-default argument {f.name!r} follows default argument")
            seen_default = seen_default or optional
    add_methods(cls, [f for f in fields.values() if not f.init_var], {"eq": True, **options})
    if options.get("init", True) and not isinstance(cls.attrs.get("__init__"), Function):
        cls.attrs["__init__"] = make_init(cls, list(fields.values()), "dataclass")
    cls.attrs.setdefault("__match_args__", tuple(f.name for f in fields.values() if f.init and not f.kw_only))
    return cls


def add_methods(cls: Class, fields: list[Field], options: dict[str, Value]) -> None:
    """The generated ``__eq__``, ``__repr__``, ``__hash__``, ordering and, if frozen, the refusal to be written."""
    compared = [f.name for f in fields if f.compare]
    own = cls.attrs

    def comparing(sign: str) -> Native:
        def run(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            if not (isinstance(args[1], Instance) and args[1].cls is args[0].cls):
                return NotImplemented
            left, right = (tuple(x.attrs.get(n, MISSING) for n in compared) for x in args[:2])
            return ops.compare(engine, sign, left, right)

        return Native(sign, run)

    def show(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        parts = [(f.name, ops.to_repr(engine, args[0].attrs.get(f.name))) for f in fields if f.repr]
        text = ", ".join(f"{n}={v if isinstance(v, str) else f'<{v.key}>'}" for n, v in parts)
        unknown = next((v for _, v in parts if isinstance(v, Unknown)), None)
        shown = f"{args[0].cls.qualname}({text})"
        return shown if unknown is None else unknown.derive(shown)

    if options.get("repr", True) and "__repr__" not in own:
        own["__repr__"] = Native("__repr__", show)
    hashed = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    if options.get("eq"):
        own.setdefault("__eq__", comparing("=="))
        if (options.get("frozen") and not hashed) or options.get("unsafe_hash"):
            own["__hash__"] = Native("__hash__", lambda e, a, k: hash(tuple(a[0].attrs.get(n) for n in compared)))
        elif not hashed:
            own["__hash__"] = None
    if options.get("order"):
        for method, sign in (("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">=")):
            own.setdefault(method, comparing(sign))
    if options.get("frozen") and STRUCT_TRAIT in cls.traits:

        def refuse(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            throw("AttributeError", f"immutable type: '{args[0].cls.name}'")

        own["__setattr__"] = own["__delattr__"] = Native("__setattr__", refuse)
    elif options.get("frozen"):
        names = frozenset(f.name for f in fields)
        own["__setattr__"] = _refusing(cls, names, "assign to", "__setattr__")
        own["__delattr__"] = _refusing(cls, names, "delete", "__delattr__")


def _refusing(cls: Class, names: frozenset[str], what: str, method: str) -> Native:
    def run(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        obj, name = args[:2]
        if obj.cls is cls or name in names:
            error = exception("AttributeError", f"cannot {what} field {name!r}")
            error.cls = engine.imports.load("dataclasses").attrs["FrozenInstanceError"]
            raise Raised(error)
        return engine.call(engine.getattr(Super(cls, obj), method), args[1:], {})

    return Native(method, run)


def make_init(cls: Class, fields: list[Field], kind: str) -> Native:
    """The generated ``__init__``: same arguments, same errors; then ``__post_init__``."""
    taken = [f for f in fields if f.init]
    positional = [f for f in taken if not f.kw_only]

    known = frozenset(f.name for f in taken)
    required = [f.name for f in taken if f.default is MISSING and f.factory is MISSING]
    # Where every field is an argument or has a plain default, and none is for __post_init__ alone, in their order.
    uniform = all(f.init or f.default is not MISSING for f in fields)
    uniform = uniform and not any(f.init_var or f.factory is not MISSING for f in fields)
    template = {f.name: f.default for f in fields}

    def arguments(values: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
        if len(values) > len(positional):
            throw(
                "TypeError",
                _too_many(cls, positional, len(values) + 1)
                if kind == "dataclass"
                else "Extra positional arguments provided",
            )
        given: dict[str, Value] = {f.name: v for f, v in zip(positional, values)}
        for k, v in kwargs.items():
            if k not in known:
                throw("TypeError", f"{cls.name}.__init__() got an unexpected keyword argument '{k}'"
                      if kind == "dataclass" else f"Unexpected keyword argument '{k}'")  # fmt: skip
            if k in given:
                throw("TypeError", f"{cls.name}.__init__() got multiple values for argument '{k}'"
                      if kind == "dataclass" else f"Argument '{k}' given by name and position")  # fmt: skip
            given[k] = v
        if kind == "dataclass":
            _missing(cls, taken, given)
        return given

    def init(engine: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        obj, given = args[0], arguments(args[1:], kwargs)
        init_vars: list[Value] = []
        # A dataclass assigns its fields; a Struct, and a frozen dataclass, put them there.
        custom = obj.cls.lookup("__setattr__") if kind == "dataclass" else MISSING
        if not isinstance(custom, Function):
            custom = MISSING
        for f in fields:
            if f.name in given:
                value = given[f.name]
            elif f.factory is not MISSING:
                value = engine.call(f.factory, [], {})
            elif f.default is not MISSING:
                value = f.default
            elif f.init:
                throw("TypeError", f"Missing required argument '{f.name}'")
            else:
                continue
            if f.init_var:
                init_vars.append(value)
                continue
            if custom is not MISSING:
                # What a generated __init__ fills in is where the object starts from, not a write to it.
                outer, engine.filling = engine.filling, obj
                try:
                    engine.call(custom, [obj, f.name, value], {})
                finally:
                    engine.filling = outer
            else:
                engine.set_entry(obj.attrs, f.name, value)
        hook = obj.cls.lookup("__post_init__")
        if hook is not MISSING:
            engine.call(hook, [obj, *init_vars], {})
        return None

    def fill(obj: Instance, values: list[Value], kwargs: dict[str, Value]) -> bool:
        """Fills an object that nothing else holds yet; False where only ``init`` can."""
        if not uniform or (kind == "dataclass" and isinstance(obj.cls.lookup("__setattr__"), Function)):
            return False
        if obj.cls.lookup("__post_init__") is not MISSING:
            return False
        given = arguments(values, kwargs)
        if any(name not in given for name in required):
            return False
        obj.attrs.update(template)
        obj.attrs.update(given)
        return True

    made = Native("__init__", init)
    made.attrs["fill"] = fill
    return made


def _too_many(cls: Class, positional: list[Field], given: int) -> str:
    most = len(positional) + 1
    least = 1 + sum(f.default is MISSING and f.factory is MISSING for f in positional)
    takes = f"from {least} to {most}" if least != most else str(most)
    plural = "" if most == 1 else "s"
    return f"{cls.name}.__init__() takes {takes} positional argument{plural} but {given} were given"


def _missing(cls: Class, fields: list[Field], given: dict[str, Value]) -> None:
    absent = [f for f in fields if f.name not in given and f.default is MISSING and f.factory is MISSING]
    for kind, kw_only in (("positional", False), ("keyword-only", True)):
        names = [f.name for f in absent if f.kw_only is kw_only]
        if names:
            throw("TypeError", missing_arguments(f"{cls.name}.__init__", names, kind))


def field_values(obj: Value) -> dict[str, Field]:
    """The fields of a record class or instance, by name."""
    cls = obj.cls if isinstance(obj, Instance) else obj
    for c in cls.mro if isinstance(cls, Class) else ():
        if "fields" in c.traits:
            return c.traits["fields"]  # type: ignore[no-any-return]
    throw("TypeError", "must be called with a dataclass type or instance")


def as_dict(engine: Any, value: Value) -> Value:
    """``dataclasses.asdict``."""
    if isinstance(value, Instance) and "fields" in {t for c in value.cls.mro for t in c.traits}:
        return {n: as_dict(engine, value.attrs.get(n)) for n in field_values(value) if n in value.attrs}
    if isinstance(value, (list, tuple)):
        return type(value)(as_dict(engine, v) for v in value)
    if isinstance(value, dict):
        return {as_dict(engine, k): as_dict(engine, v) for k, v in value.items()}
    return value


def replace(engine: Any, obj: Instance, changes: dict[str, Value]) -> Value:
    """``dataclasses.replace``: through the class, so that ``__post_init__`` runs again."""
    fields = field_values(obj)
    for n in changes:
        if n in fields and not fields[n].init:
            throw("ValueError", f"field {n} is declared with init=False, it cannot be specified with replace()")
    values = {n: obj.attrs[n] for n, f in fields.items() if f.init and n in obj.attrs}
    values.update(changes)
    return engine.call(obj.cls, [], values)
