"""inspect, types, traceback: looking at functions and frames."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace.errors import OBJECT, throw
from mtp_trace.trace.stdlib.tools import attribute_methods, constant, natives, unknown
from mtp_trace.trace.values import (
    BoundMethod,
    Class,
    External,
    Function,
    Instance,
    Module,
    Native,
    TypingForm,
    Unknown,
    Value,
)

SIGNATURE = Class("Signature", (OBJECT,))
SIGNATURE.mro = [SIGNATURE, OBJECT]
PARAMETER = Class("Parameter", (OBJECT,))
PARAMETER.mro = [PARAMETER, OBJECT]
EMPTY = Class("_empty", (OBJECT,))
EMPTY.mro = [EMPTY, OBJECT]
_KIND = Class("_ParameterKind", (OBJECT,))
_KIND.mro = [_KIND, OBJECT]
for _at, _kind in enumerate(
    ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")
):
    PARAMETER.attrs[_kind] = Instance(_KIND)
    PARAMETER.attrs[_kind].attrs.update({"name": _kind, "value": _at})
PARAMETER.attrs["empty"] = EMPTY


def _signature(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    target, skip = a[0], 0
    while True:
        if isinstance(target, BoundMethod):
            target, skip = target.function, 1
        elif isinstance(target, Class):
            init = target.lookup("__init__")
            if isinstance(init, Native) and "fields" in target.traits:
                return _of_fields(target)
            target, skip = init, 1
        elif isinstance(target, (Native, Function)) and "__wrapped__" in target.attrs:
            target = target.attrs["__wrapped__"]
        else:
            break
    if not isinstance(target, Function):
        return Unknown("signature()", "the signature of a built-in is not known")
    rows: dict[str, Value] = {}
    code = target.code
    first = len(code.positional) - len(target.defaults)
    for i, p in enumerate(code.positional):
        default = target.defaults[i - first] if i >= first else EMPTY
        if i >= skip:
            rows[p.name] = _parameter(p.name, "POSITIONAL_ONLY" if p.posonly else "POSITIONAL_OR_KEYWORD", default)
    if code.vararg:
        rows[code.vararg] = _parameter(code.vararg, "VAR_POSITIONAL", EMPTY)
    for p in code.kwonly:
        rows[p.name] = _parameter(p.name, "KEYWORD_ONLY", target.kwdefaults.get(p.name, EMPTY))
    if code.kwarg:
        rows[code.kwarg] = _parameter(code.kwarg, "VAR_KEYWORD", EMPTY)
    made = Instance(SIGNATURE)
    made.attrs.update({"parameters": rows, "return_annotation": EMPTY})
    return made


def _of_fields(cls: Class) -> Value:
    made = Instance(SIGNATURE)
    made.attrs["parameters"] = {n: _parameter(n, "POSITIONAL_OR_KEYWORD", EMPTY) for n in cls.traits["fields"]}
    return made


def _parameter(name: str, kind: str, default: Value) -> Instance:
    made = Instance(PARAMETER)
    made.attrs.update({"name": name, "kind": PARAMETER.attrs[kind], "default": default, "annotation": EMPTY})
    return made


def _inspect(engine: Any) -> dict[str, Value]:
    def members(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        names = e.builtin("dir")(e, [a[0]], {})
        pairs = [(n, e.getattr(a[0], n)) for n in names]
        return [p for p in pairs if len(a) < 2 or e.truth(e.call(a[1], [p[1]], {}))]

    return {
        "Signature": SIGNATURE, "Parameter": PARAMETER, "_empty": EMPTY,
        **natives(
            signature=_signature, getmembers=members,
            isclass=lambda e, a, k: isinstance(a[0], (Class, type)),
            isfunction=lambda e, a, k: isinstance(a[0], Function),
            ismethod=lambda e, a, k: isinstance(a[0], BoundMethod),
            ismodule=lambda e, a, k: isinstance(a[0], Module),
            isabstract=constant(False), iscoroutinefunction=lambda e, a, k: isinstance(a[0],
                                                                                       Function) and a[0].code.is_async,
            isgenerator=constant(False), isroutine=lambda e, a, k: isinstance(a[0], (Function, BoundMethod, Native)),
            getsource=unknown("getsource()", "source is not read as text"), getdoc=constant(None),
            currentframe=unknown("currentframe()", "frames are not objects here"), stack=unknown("stack()", "frames"),
            getfile=lambda e, a, k: a[0].module.path if isinstance(a[0], Function) else Unknown("getfile()",
                                                                                                "a file name"),
            unwrap=lambda e, a, k: a[0], getattr_static=lambda e, a, k: e.builtin("getattr")(e, a, k),
            cleandoc=lambda e, a, k: a[0], getmodule=lambda e, a, k: Unknown("getmodule()", "a module"),
        ),
    }  # fmt: skip


def _types(engine: Any) -> dict[str, Value]:
    space = Class("SimpleNamespace", (OBJECT,))
    space.mro = [space, OBJECT]

    def fill(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        for name, value in k.items():
            e.set_entry(a[0].attrs, name, value)

    space.attrs["__init__"] = Native("__init__", fill)
    space.attrs.update(attribute_methods("namespace"))
    proxy = Class("mappingproxy", (OBJECT,))
    proxy.mro = [proxy, OBJECT]
    proxy.host = dict
    for method, what in (("__setitem__", "assignment"), ("__delitem__", "deletion")):
        text = f"'mappingproxy' object does not support item {what}"
        proxy.attrs[method] = Native(method, lambda e, a, k, text=text: throw("TypeError", text))  # type: ignore[misc]

    def module_type(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        made = Module(a[0], "<made>")
        made.ready = True
        return made

    return {
        "SimpleNamespace": space, "UnionType": TypingForm("Union"), "NoneType": type(None),
        "ModuleType": Native("types.ModuleType", module_type),
        **{n: External(f"types.{n}") for n in ("FunctionType", "GeneratorType", "LambdaType", "BuiltinFunctionType")},
        "MethodType": Native("types.MethodType", lambda e, a, k: BoundMethod(a[0], a[1])),
        **natives(MappingProxyType=lambda e, a, k: Instance(proxy, a[0]) if isinstance(a[0], dict) else a[0],
                  new_class=lambda e, a, k: e.type_call([a[0], a[1] if len(a) > 1 else (), {}], {})),
    }  # fmt: skip


def _traceback(engine: Any) -> dict[str, Value]:
    return natives(format_exc=constant("Traceback"), print_exc=constant(None), format_exception=constant([]),
                   print_stack=constant(None), extract_stack=constant([]))  # fmt: skip


MODULES = {"inspect": _inspect, "types": _types, "traceback": _traceback}
