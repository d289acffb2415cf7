"""Generators: the frame of one is only on the stack while it runs, and values come when they are asked for."""

from __future__ import annotations

from collections.abc import Generator as HostGenerator
from typing import Any

from mtp_trace.trace.errors import EXCEPTIONS, exception, throw
from mtp_trace.trace.values import MISSING, Frame, Generator, Instance, Raised, Unknown, Value

Steps = HostGenerator[Value, Value, Any]
"""A body compiled by ``compile_gen``: gives what is yielded, takes what is sent, returns the statement's signal."""


def drive(engine: Any, frame: Frame, steps: Steps) -> HostGenerator[Value, Value, Value]:
    """Runs a generator's body from one ``yield`` to the next; the conditions that hold in it come and go with it."""
    own: list[Any] = []
    sent: Value = None
    error: Raised | None = None
    while True:
        engine.resume(frame)
        base = frame.guard_base = len(engine.guards)
        engine.guards.extend(own)
        try:
            if error is not None:
                thrown, error = error, None
                value = steps.throw(thrown)
            else:
                value = steps.send(sent)
        except StopIteration:
            return frame.returned
        except Raised as raised:
            if is_a(raised.value, "StopIteration"):
                raise Raised(exception("RuntimeError", "generator raised StopIteration")) from None
            raise
        finally:
            own = engine.guards[base:]
            del engine.guards[base:]
            engine.leave()
        sent = None
        try:
            sent = yield value
        except Raised as raised:
            error = raised


def is_a(value: Value, name: str) -> bool:
    """Whether a value is an exception of a builtin class."""
    return isinstance(value, Instance) and EXCEPTIONS[name] in value.cls.mro


def advance(engine: Any, generator: Generator) -> Value:
    """``next(generator)``; raises the traced StopIteration, with the value that the generator returned, at its end."""
    item = generator.take(engine)
    if item is MISSING:
        throw("StopIteration", *(() if generator.result is None else (generator.result,)))
    return item


def send(engine: Any, generator: Generator, value: Value) -> Value:
    """``generator.send(value)``."""
    return _step(generator, lambda source: source.send(value))


def throw_into(engine: Any, generator: Generator, error: Raised) -> Value:
    """``generator.throw(error)``."""
    return _step(generator, lambda source: source.throw(error))


def _step(generator: Generator, step: Any) -> Value:
    if not hasattr(generator.source, "send"):
        throw("AttributeError", "this iterator takes no values")
    try:
        return step(generator.source)
    except StopIteration as stop:
        throw("StopIteration", *(() if stop.value is None else (stop.value,)))
    except TypeError:
        throw("TypeError", "can't send non-None value to a just-started generator")


def close(engine: Any, generator: Generator) -> None:
    """``generator.close()``: ``finally`` clauses run."""
    if not hasattr(generator.source, "throw"):
        return
    try:
        generator.source.throw(Raised(exception("GeneratorExit")))
    except StopIteration:
        return
    except Raised as raised:
        if not is_a(raised.value, "GeneratorExit"):
            raise
        return
    throw("RuntimeError", "generator ignored GeneratorExit")


def enter_manager(engine: Any, generator: Generator) -> Value:
    """``__enter__`` of a ``@contextmanager`` function's result: up to its ``yield``."""
    item = generator.take(engine)
    if item is MISSING:
        throw("RuntimeError", "generator didn't yield")
    return item


def exit_manager(engine: Any, generator: Generator, value: Value) -> bool:
    """``__exit__``: goes on after the ``yield``, with the body's exception raised there if there is one."""
    if value is None:
        if generator.take(engine) is not MISSING:
            throw("RuntimeError", "generator didn't stop")
        return False
    if isinstance(value, Unknown):
        return False
    try:
        generator.source.throw(engine.raised_as(value))  # type: ignore[attr-defined]
    except StopIteration:
        return True
    except Raised as raised:
        if raised.value is value:
            return False
        raise
    throw("RuntimeError", "generator didn't stop after throw()")
