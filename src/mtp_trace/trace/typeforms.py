"""Annotations and typing constructs as values."""

from __future__ import annotations

from typing import Any

from mtp_trace.syntax.form import Node, unparse
from mtp_trace.trace.errors import TYPE, throw
from mtp_trace.trace.records import Annotation, annotations_in
from mtp_trace.trace.values import (
    MISSING,
    Class,
    ClassMethod,
    Frame,
    Function,
    Instance,
    Module,
    Raised,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
)


class TypeForms:
    """What the engine does about annotations."""

    imports: Any
    builtins: dict[str, Value]
    classes: Any

    def annotation(self, evaluate: Any, frame: Frame, form: Node, postponed: bool) -> Annotation:
        """Keeps an annotation of a class or module body."""
        return Annotation(evaluate, frame, form, postponed)

    def annotations_of(self, cls: Class) -> Value:
        """``cls.__annotations__``: values, or text where annotations are postponed."""
        table = cls.attrs.setdefault("__annotations__", {})
        cls.traits.setdefault("annotations", {}).update({n: a for n, a in table.items() if isinstance(a, Annotation)})
        for n, a in list(table.items()):
            if isinstance(a, Annotation):
                table[n] = a.shown()
        return table

    def function_annotations(self, fn: Function, evaluated: bool = True) -> dict[str, Value]:
        """A function's annotations, evaluated in its module; as ``__annotations__`` shows them if not ``evaluated``."""
        nodes = {p.name: p.annotation for p in fn.code.params if p.annotation is not None}
        returns = fn.code.node[7] if fn.code.node[0] == "def" else None
        if returns is not None:
            nodes["return"] = returns
        if evaluated:
            return {n: self.evaluate(node, fn) for n, node in nodes.items()}
        as_text = fn.code.postponed
        return {n: unparse(node) if as_text else node[3] if _is_text(node) else self.evaluate(node, fn)
                for n, node in nodes.items()}  # fmt: skip

    def evaluate(self, node: Node, fn: Function) -> Value:
        """An annotation expression in a function's module; Unknown where it names what is not there."""
        from mtp_trace.trace.compile_stmt import Compiler
        from mtp_trace.trace.scope import Scope

        frame = Frame(self, fn.module, fn.qualname, fn.closure, fn.module.attrs)
        frame.node = node
        try:
            value = Compiler(self.builtins).expr(node, Scope("module", None, set()))(frame)
        except (Raised, TraceStop):
            text = unparse(node)
            return Unknown(text, f"the annotation {text} cannot be evaluated")
        return self.evaluate_text(value, frame) if isinstance(value, str) else value

    def evaluate_text(self, text: str, frame: Frame) -> Value:
        """A string annotation, evaluated where it stands."""
        from mtp_trace.syntax.lower_ast import lower_module
        from mtp_trace.trace.compile_stmt import Compiler
        from mtp_trace.trace.scope import Scope

        try:
            form = lower_module(f"({text})")
            if len(form) != 1 or form[0][0] != "expr":
                return text
            value = Compiler(self.builtins).expr(form[0][3], Scope("module", None, set()))(frame)
        except (Raised, TraceStop, SyntaxError, ValueError, RecursionError):
            return Unknown(text, f"the annotation {text} cannot be evaluated")
        return self.forward(value, frame)

    def forward(self, value: Value, frame: Frame) -> Value:
        """A typing construct with the texts inside it evaluated."""
        if not isinstance(value, TypingForm) or value.name == "Literal" or not value.args:
            return value
        count = 1 if value.name == "Annotated" else len(value.args)
        inner = [
            self.evaluate_text(a, frame) if isinstance(a, str) else self.forward(a, frame) for a in value.args[:count]
        ]
        return TypingForm(value.name, (*inner, *value.args[count:]))

    def hints_of(self, obj: Value, include_extras: bool) -> dict[str, Value]:
        """``typing.get_type_hints``."""
        out: dict[str, Value] = {}
        if isinstance(obj, Class):
            for c in reversed(obj.mro):
                for name, annotation in annotations_in(c).items():
                    value = annotation.resolved()
                    if c.module is not None and isinstance(value, (str, TypingForm)):
                        frame = Frame(self, c.module, c.qualname, None, c.module.attrs)
                        value = (
                            self.evaluate_text(value, frame) if isinstance(value, str) else self.forward(value, frame)
                        )
                    out[name] = value if include_extras else _strip(value)
        elif isinstance(obj, Function):
            out = self.function_annotations(obj)
        elif isinstance(obj, Module):
            for name, annotation in (obj.attrs.get("__annotations__") or {}).items():
                out[name] = annotation.resolved() if isinstance(annotation, Annotation) else annotation
        elif isinstance(obj, Instance):
            return self.hints_of(obj.cls, include_extras)
        return {k: type(None) if v is None else v for k, v in out.items()}

    def subscript_type(self, kind: Value, key: Value) -> Value:
        """``List[int]``, ``Enum["NAME"]``, ``Annotated[T, ...]``."""
        if isinstance(kind, Class):
            for c in kind.mro:
                members = c.traits.get("all_members")
                if members is not None:
                    if isinstance(key, Unknown):
                        return key.derive(f"{kind.name}[{key.key}]")
                    if key in members:
                        return members[key]
                    throw("KeyError", key)
            if kind.metaclass is not None and (method := kind.metaclass.lookup("__getitem__")) is not MISSING:
                return self.call(method, [kind, key], {})  # type: ignore[attr-defined]
            getter = kind.lookup("__class_getitem__")
            if isinstance(getter, ClassMethod):
                return self.call(getter.function, [kind, key], {})  # type: ignore[attr-defined]
            return TypingForm("Alias", (kind, *(key if isinstance(key, tuple) else (key,))))
        args = key if isinstance(key, tuple) else (key,)
        if isinstance(kind, type):
            return TypingForm(f"host:{kind.__name__}", (kind, *args))
        if kind.name == "Optional":
            return TypingForm("Union", (key, type(None)))
        if kind.name == "Union":
            return (
                TypingForm("Union", tuple(type(None) if a is None else a for a in args)) if len(args) > 1 else args[0]
            )
        if kind.name in _HOSTS and not kind.args:
            return TypingForm(f"host:{_HOSTS[kind.name].__name__}", (_HOSTS[kind.name], *args))
        if kind.name == "Annotated" and isinstance(args[0], TypingForm) and args[0].name == "Annotated":
            return TypingForm("Annotated", (*args[0].args, *args[1:]))
        return TypingForm(kind.name, args)

    def typing_origin(self, form: TypingForm) -> Value:
        """``typing.get_origin``."""
        if form.name.startswith("host:") or form.name == "Alias":
            if not form.args:
                return None
            return TYPE if form.args[0] is type else form.args[0]
        return TypingForm(form.name) if form.args else None

    def typing_args(self, form: TypingForm) -> tuple[Value, ...]:
        """``typing.get_args``."""
        return form.args[1:] if form.name.startswith("host:") or form.name == "Alias" else form.args

    def call_form(self, form: TypingForm, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``list[int](...)``, ``Generic[T](...)``: the call of what is subscripted."""
        if form.name.startswith("host:") or form.name == "Alias":
            return self.call(form.args[0], args, kwargs)  # type: ignore[attr-defined]
        if form.name in _HOSTS:
            return self.call(_HOSTS[form.name], args, kwargs)  # type: ignore[attr-defined]
        if form.name == "NewType" and args:
            return args[0]
        throw("TypeError", f"Type {form.name} cannot be instantiated")


_HOSTS: dict[str, type] = {
    "List": list, "Dict": dict, "Tuple": tuple, "Set": set, "FrozenSet": frozenset, "Type": type, "DefaultDict": dict,
    "OrderedDict": dict, "Deque": list,
}  # fmt: skip


def _is_text(node: Node) -> bool:
    return bool(node[0] == "const" and isinstance(node[3], str))


def _strip(value: Value) -> Value:
    if isinstance(value, TypingForm):
        if value.name == "Annotated":
            return _strip(value.args[0])
        return TypingForm(value.name, tuple(_strip(a) for a in value.args))
    return value
