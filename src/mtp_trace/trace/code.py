"""A function's compiled form: argument binding and the run of its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from mtp_trace.syntax.form import Node
from mtp_trace.trace.compile_gen import yields
from mtp_trace.trace.errors import missing_arguments, throw
from mtp_trace.trace.generators import drive
from mtp_trace.trace.scope import Scope, function_scope
from mtp_trace.trace.values import Frame, Function, Generator, Unknown, Value


class Param:
    """One parameter."""

    __slots__ = ("annotation", "has_default", "kwonly", "name", "posonly")

    def __init__(self, name: str, annotation: Node | None, has_default: bool, kwonly: bool, posonly: bool) -> None:
        self.name, self.annotation, self.has_default = name, annotation, has_default
        self.kwonly, self.posonly = kwonly, posonly

    @staticmethod
    def list_of(params: Node) -> list[Param]:
        """Positional parameters, then keyword-only ones."""
        out = [Param(n, a, d is not None, False, i < params[0]) for i, (n, a, d) in enumerate(params[1])]
        return out + [Param(n, a, d is not None, True, False) for n, a, d in params[3]]


class Code:
    """Compiled lazily: a function that is never called costs its definition only."""

    __slots__ = ("_body", "_compiler", "_form", "_generator", "_outer", "_params", "_scope", "is_async", "kwarg",
                 "kwonly", "name", "names", "node", "params",
                 "positional", "simple", "vararg")  # fmt: skip

    def __init__(self, name: str, node: Node, params: Node, outer: Scope, body: list[Node], is_async: bool,
                 compiler: Any) -> None:  # fmt: skip
        self.name, self.node, self.params = name, node, Param.list_of(params)
        vararg, kwarg = params[2], params[4]
        self._params, self._outer = params, outer
        self.positional = [p for p in self.params if not p.kwonly]
        self.names = tuple(p.name for p in self.positional)
        self.kwonly = [p for p in self.params if p.kwonly]
        self.vararg: str | None = vararg[0] if vararg else None
        self.kwarg: str | None = kwarg[0] if kwarg else None
        self._scope: Scope | None = None
        self._generator: bool | None = None
        self._form, self._compiler = body, compiler
        self._body: Callable[[Frame], Any] | None = None
        self.is_async = is_async
        self.simple = not (self.kwonly or self.vararg or self.kwarg)

    @property
    def scope(self) -> Scope:
        """Its static scope, found at the first call."""
        if self._scope is None:
            self._scope = function_scope(self._outer, self._params, self._form)
        return self._scope

    @property
    def is_generator(self) -> bool:
        """Whether its body yields."""
        if self._generator is None:
            self._generator = yields(self._form)
        return self._generator

    @property
    def postponed(self) -> bool:
        """Whether annotations stay text in its module."""
        return bool(self._compiler.postponed)

    def invoke(self, engine: Any, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Runs the function. Raises the traced TypeError where the arguments do not fit."""
        frame = Frame(engine, fn.module, fn.qualname, fn.closure, self.bind(fn, args, kwargs))
        frame.cls = fn.owner
        if fn.owner is not None and self.positional:
            frame.first = frame.vars.get(self.positional[0].name)
        frame.node = self.node
        if self.is_async:
            return Unknown(f"{fn.qualname}()", "coroutines are not followed")
        body = self._body
        if body is None:
            compiler = self._compiler
            make = compiler.walk_block if self.is_generator else compiler.block
            body = self._body = make(self._form, self.scope)
        if self.is_generator:
            return Generator(drive(engine, frame, body(frame)), engine.is_shared())
        engine.enter(frame)
        depth = len(engine.guards)
        try:
            return frame.returned if body(frame) is not None else None
        finally:
            del engine.guards[depth:]
            engine.leave()

    def bind(self, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
        """Parameter values by name."""
        positional = self.positional
        n = len(positional)
        if self.simple and not kwargs and len(args) == n:
            return dict(zip(self.names, args))
        out: dict[str, Value] = {}
        for p, a in zip(positional, args):
            out[p.name] = a
        if len(args) > n:
            if self.vararg is None:
                self._too_many(fn, len(args))
            out[self.vararg] = tuple(args[n:])
        elif self.vararg is not None:
            out[self.vararg] = ()
        extra: dict[str, Value] = {}
        if kwargs:
            known = {p.name for p in self.params if not p.posonly}
            for k, v in kwargs.items():
                if k in known:
                    if k in out:
                        throw("TypeError", f"{fn.qualname}() got multiple values for argument '{k}'")
                    out[k] = v
                elif self.kwarg is not None:
                    extra[k] = v
                elif any(p.name == k for p in self.positional):
                    names = ", ".join(p.name for p in self.positional if p.posonly and p.name in kwargs)
                    throw("TypeError",
                          f"{fn.qualname}() got some positional-only arguments passed as keyword arguments: "
                          f"'{names}'")  # fmt: skip
                else:
                    throw("TypeError", f"{fn.qualname}() got an unexpected keyword argument '{k}'")
        if self.kwarg is not None:
            out[self.kwarg] = extra
        self._defaults(fn, out)
        return out

    def _defaults(self, fn: Function, out: dict[str, Value]) -> None:
        first = len(self.positional) - len(fn.defaults)
        missing: list[str] = []
        for i, p in enumerate(self.positional):
            if p.name not in out:
                if i >= first:
                    out[p.name] = fn.defaults[i - first]
                else:
                    missing.append(p.name)
        if missing:
            throw("TypeError", missing_arguments(fn.qualname, missing, "positional"))
        for p in self.kwonly:
            if p.name not in out:
                if p.name in fn.kwdefaults:
                    out[p.name] = fn.kwdefaults[p.name]
                else:
                    missing.append(p.name)
        if missing:
            throw("TypeError", missing_arguments(fn.qualname, missing, "keyword-only"))

    def _too_many(self, fn: Function, given: int) -> NoReturn:
        most = len(self.positional)
        least = most - len(fn.defaults)
        takes = f"from {least} to {most}" if least != most else str(most)
        plural = "" if most == 1 and least == most else "s"
        throw("TypeError", f"{fn.qualname}() takes {takes} positional argument{plural} but {given} "
              f"{'was' if given == 1 else 'were'} given")  # fmt: skip
