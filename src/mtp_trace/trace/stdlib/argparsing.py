"""argparse: the tree's flag table, parsed by the real argparse.

The tree registers its flags; types, actions and defaults may be functions and classes of the tree, which the real
parser is given through adapters. What the real parser refuses becomes ``SystemExit(2)`` with the refusal attached.
"""

from __future__ import annotations

import argparse
from typing import Any

from mtp_trace.trace import attrs, ops
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, exception, message_of, throw
from mtp_trace.trace.instances import callable_
from mtp_trace.trace.stdlib.tools import attribute_methods, constant, natives
from mtp_trace.trace.values import (
    Class,
    Instance,
    Native,
    Raised,
    TraceStop,
    Unknown,
    Value,
)


def _class(name: str, *bases: Class) -> Class:
    c = Class(name, bases or (OBJECT,))
    c.mro = [c, *(bases[0].mro if bases else [OBJECT])]
    return c


ACTION = _class("Action")
BUILTIN_ACTIONS: dict[str, Class] = {
    name: _class(name, ACTION)
    for name in (
        *("_StoreAction", "_StoreConstAction", "_StoreTrueAction", "_StoreFalseAction", "_AppendAction"),
        *("_AppendConstAction", "_CountAction", "_HelpAction", "_VersionAction", "BooleanOptionalAction"),
        "_ExtendAction",
    )
}
NAMESPACE = _class("Namespace")
GROUP = _class("_ArgumentGroup")
PARSER = _class("ArgumentParser", GROUP)
ARGUMENT_TYPE_ERROR = _class("ArgumentTypeError", EXCEPTIONS["Exception"])
ARGUMENT_ERROR = _class("ArgumentError", EXCEPTIONS["Exception"])
SUPPRESS = argparse.SUPPRESS


class Refused(Exception):
    """The real parser's ``error()``."""


class _Space:
    """The real parser's view of a traced Namespace."""

    def __init__(self, engine: Any, instance: Instance) -> None:
        object.__setattr__(self, "_engine", engine)
        object.__setattr__(self, "_instance", instance)

    def __getattr__(self, name: str) -> Any:
        table = object.__getattribute__(self, "_instance").attrs
        if name in table:
            return table[name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_engine").set_entry(
            object.__getattribute__(self, "_instance").attrs, name, value
        )

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_instance").attrs.pop(name, None)


_PARSER_TURNS = 100
"""Turns of a loop that take as long as making a parser."""


class _RealParser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Refused(message)

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise Refused(message or f"exit {status}")

    def print_help(self, file: Any = None) -> None:
        raise Refused("help was asked for")


def _type(engine: Any, kind: Value) -> Any:
    """A ``type=`` callable for the real parser."""
    if kind is None or kind in (str, int, float, bool):
        return kind
    if isinstance(kind, Unknown):
        return lambda text: kind.derive(f"{kind.key}({text!r})")
    if callable_(engine, kind) is False:
        throw("ValueError", f"{ops.short(kind)} is not callable")

    def convert(text: str) -> Value:
        try:
            return engine.call(kind, [text], {})
        except Raised as error:
            value = error.value
            if isinstance(value, Instance):
                if ARGUMENT_TYPE_ERROR in value.cls.mro:
                    raise argparse.ArgumentTypeError(message_of(value)) from None
                if EXCEPTIONS["TypeError"] in value.cls.mro or EXCEPTIONS["ValueError"] in value.cls.mro:
                    raise ValueError(message_of(value)) from None
            raise

    convert.__name__ = str(getattr(kind, "name", None) or getattr(kind, "__name__", "value"))
    return convert


def _choices(engine: Any, choices: Value) -> Any:
    if choices is None or isinstance(choices, Unknown):
        return None
    items = ops.iterate(engine, choices)
    return None if any(isinstance(x, Unknown) for x in items) else items


class _Adapter(argparse.Action):
    """A tree's Action class, called from the real parser."""

    def __init__(self, engine: Any, parser: Instance, instance: Instance, option_strings: Any, dest: str) -> None:
        table = instance.attrs
        super().__init__(option_strings, dest, nargs=table.get("nargs"), const=table.get("const"),
                         default=table.get("default"),
                         type=_type(engine, table.get("type")), choices=_choices(engine, table.get("choices")),
                         required=bool(table.get("required")), metavar=table.get("metavar"))  # fmt: skip
        self.engine, self.parser_value, self.instance = engine, parser, instance

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        space = object.__getattribute__(namespace, "_instance")
        try:
            self.engine.call(
                attrs.get(self.engine, self.instance, "__call__"), [self.parser_value, space, values, option_string], {}
            )
        except Raised as error:
            if isinstance(error.value, Instance) and ARGUMENT_ERROR in error.value.cls.mro:
                args = error.value.attrs.get("args", ())
                raise argparse.ArgumentError(None, str(args[-1]) if args else "") from None
            raise


def _action_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    names = ("option_strings", "dest", "nargs", "const", "default", "type", "choices", "required", "help", "metavar")
    values = {"nargs": None, "const": None, "default": None, "type": None, "choices": None, "required": False,
              "help": None,
              "metavar": None, **dict(zip(names, a[1:])), **k}  # fmt: skip
    for name, value in values.items():
        e.set_entry(a[0].attrs, name, value)


def _preset(**fixed: Value) -> Any:
    def init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        _action_init(e, a, {**k, **fixed, "default": k.get("default", fixed.get("default"))})

    return init


def _store(value_of: Any) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        attrs.set_(e, a[2], a[0].attrs["dest"], value_of(a))

    return run


ACTION.attrs["__init__"] = Native("__init__", _action_init)
BUILTIN_ACTIONS["_StoreTrueAction"].attrs.update(
    natives(__init__=_preset(nargs=0, const=True, default=False), __call__=_store(lambda a: True)))
BUILTIN_ACTIONS["_StoreFalseAction"].attrs.update(
    natives(__init__=_preset(nargs=0, const=False, default=True), __call__=_store(lambda a: False)))
BUILTIN_ACTIONS["_StoreConstAction"].attrs.update(
    natives(__init__=_preset(nargs=0), __call__=_store(lambda a: a[0].attrs["const"]))
)
BUILTIN_ACTIONS["_StoreAction"].attrs.update(natives(__call__=_store(lambda a: a[3])))


def _append(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    old = a[2].attrs.get(a[0].attrs["dest"])
    attrs.set_(e, a[2], a[0].attrs["dest"], [*(old or []), a[3]])


BUILTIN_ACTIONS["_AppendAction"].attrs.update(natives(__call__=_append))


def _add_argument(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    group, names = a[0], [ops.payload(n) for n in a[1:]]
    holder = group.attrs["_real"]
    options = dict(k)
    options.pop("help", None)
    action = options.pop("action", None)
    if isinstance(action, str):
        options["action"] = action
    options = {n: ops.payload(v) if n in ("dest", "metavar", "nargs") else v for n, v in options.items()}
    if isinstance(options.get("nargs"), Unknown):
        raise TraceStop(f"a flag's nargs is {options['nargs'].key}, which is not known")
    if action is not None and not isinstance(action, str):
        return _add_custom(e, group, holder, names, action, options)
    if "type" in options:
        options["type"] = _type(e, options["type"])
    if "choices" in options:
        options["choices"] = _choices(e, options["choices"])
    try:
        real = holder.add_argument(*names, **options)
    except argparse.ArgumentError as error:
        throw("ValueError", str(error))
    except (TypeError, ValueError) as error:
        throw("ValueError", str(error))
    return _shown(e, real, k)


def _add_custom(
    e: Any, group: Instance, holder: Any, names: list[str], action: Value, options: dict[str, Value]
) -> Value:
    if action is BUILTIN_ACTIONS["BooleanOptionalAction"]:
        options.pop("type", None)
        real = holder.add_argument(*names, action=argparse.BooleanOptionalAction, **options)
        return _shown(e, real, options)
    parser = group.attrs.get("_parser", group)
    made: list[Instance] = []

    def build(option_strings: Any, dest: str, **given: Any) -> argparse.Action:
        instance = e.call(action, [], {"option_strings": list(option_strings), "dest": dest, **given})
        if not isinstance(instance, Instance):
            raise TraceStop(f"the action of {names[0]} is not known")
        made.append(instance)
        return _Adapter(e, parser, instance, option_strings, dest)

    try:
        holder.add_argument(*names, action=build, **options)
    except (argparse.ArgumentError, TypeError, ValueError) as error:
        throw("ValueError", str(error))
    return made[0]


def _shown(e: Any, real: argparse.Action, given: dict[str, Value]) -> Instance:
    """A builtin action as the tree may look at it (``parser._actions``)."""
    known = getattr(real, "_traced", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    if isinstance(real, _Adapter):
        return real.instance
    made = Instance(BUILTIN_ACTIONS.get(type(real).__name__, ACTION))
    made.attrs.update({
        "option_strings": list(real.option_strings), "dest": real.dest, "nargs": real.nargs, "const": real.const,
        "default": real.default, "type": given.get("type", real.type), "choices": real.choices,
        "required": real.required,
        "help": given.get("help"), "metavar": real.metavar,
    })  # fmt: skip
    real._traced = made  # type: ignore[attr-defined]
    return made


def _parser_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    e.turns(_PARSER_TURNS)
    real = _RealParser(prog="sglang", add_help=k.get("add_help", True) is not False,
                       allow_abbrev=k.get("allow_abbrev", True) is not False)  # fmt: skip
    a[0].attrs.update({"_real": real, "prog": k.get("prog", "sglang"), "description": None})


def _group(method: str) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        parent = a[0].attrs["_real"]
        made = Instance(GROUP)
        options = {"required": bool(k.get("required"))} if method == "add_mutually_exclusive_group" else {}
        made.attrs.update({"_real": getattr(parent, method)(**options), "_parser": a[0].attrs.get("_parser", a[0])})
        return made

    return run


def _parse(known_only: bool) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        real = a[0].attrs["_real"]
        argv = a[1] if len(a) > 1 else k.get("args")
        if argv is None:
            argv = e.imports.load("sys").attrs["argv"][1:]
        given = a[2] if len(a) > 2 else k.get("namespace")
        words = [ops.payload(x) for x in ops.iterate(e, argv)]
        if any(isinstance(w, Unknown) for w in words):
            raise TraceStop("parses arguments of which one is not known")
        space = given if isinstance(given, Instance) else Instance(NAMESPACE)
        try:
            _, rest = real.parse_known_args(words, _Space(e, space))
            if rest and not known_only:
                raise Refused(f"unrecognized arguments: {' '.join(rest)}")
        except Refused as refusal:
            raise _exit(e, str(refusal)) from None
        return (space, rest) if known_only else space

    return run


def _exit(e: Any, message: str) -> Raised:
    value = exception("SystemExit", 2)
    value.attrs["refusal"] = message
    return Raised(value, e.here())


def _error(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    raise _exit(e, str(a[1]))


def _actions(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return [_shown(e, real, {}) for real in a[0].attrs["_real"]._actions]


def _default_of(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return a[0].attrs["_real"].get_default(a[1])


def _set_defaults(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    a[0].attrs["_real"].set_defaults(**k)


def _option_strings(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return {name: _shown(e, real, {}) for name, real in a[0].attrs["_real"]._option_string_actions.items()}


GROUP.attrs.update(natives(add_argument=_add_argument, add_argument_group=_group("add_argument_group"),
                           add_mutually_exclusive_group=_group("add_mutually_exclusive_group")))  # fmt: skip
PARSER.attrs.update(natives(__init__=_parser_init, parse_args=_parse(False), parse_known_args=_parse(True),
                            error=_error,
                            get_default=_default_of, set_defaults=_set_defaults, format_help=constant("usage: sglang"),
                            print_help=constant(None), format_usage=constant("usage: sglang"),
                            print_usage=constant(None),
                            exit=lambda e, a, k: throw("SystemExit", *a[1:2])))  # fmt: skip
NAMESPACE.attrs["__init__"] = Native(
    "__init__", lambda e, a, k: [e.set_entry(a[0].attrs, n, v) for n, v in k.items()] and None
)
NAMESPACE.attrs.update(attribute_methods("Namespace"))
NAMESPACE.attrs["__contains__"] = Native("__contains__", lambda e, a, k: a[1] in a[0].attrs)


def _argparse(engine: Any) -> dict[str, Value]:
    from mtp_trace.trace.values import Property

    PARSER.attrs["_actions"] = Property(Native("_actions", _actions))
    PARSER.attrs["_option_string_actions"] = Property(Native("_option_string_actions", _option_strings))
    formatter = _class("HelpFormatter")
    return {
        "ArgumentParser": PARSER, "Namespace": NAMESPACE, "Action": ACTION, "ArgumentTypeError": ARGUMENT_TYPE_ERROR,
        "ArgumentError": ARGUMENT_ERROR, "SUPPRESS": SUPPRESS, "_ArgumentGroup": GROUP, "REMAINDER": "...",
        "OPTIONAL": "?",
        "ZERO_OR_MORE": "*", "ONE_OR_MORE": "+", "HelpFormatter": formatter, "RawTextHelpFormatter": formatter,
        "ArgumentDefaultsHelpFormatter": formatter, "RawDescriptionHelpFormatter": formatter, **BUILTIN_ACTIONS,
    }  # fmt: skip


MODULES = {"argparse": _argparse}
