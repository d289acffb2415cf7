"""Puts stored tensors through the loaders of their own parameters, shapes and all: does one refuse what it is given?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mtp_trace.report.model import Failure
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import message_of
from mtp_trace.trace.ops import type_name
from mtp_trace.trace.values import Raised, TraceStop
from mtp_trace.verdict.weights_build import Answers, Parameter
from mtp_trace.verdict.weights_load import Handed

Shape = tuple[int, ...]
_MOST = 64  # tensors that are tried


def refused(
    engine: Engine, handed: Iterable[Handed], head: Mapping[str, Parameter], shapes: Mapping[str, Shape]
) -> Failure | None:
    """The error of the first of these tensors that its parameter's own loader refuses; ``shapes`` by tensor.

    A tensor whose way through the loader cannot be followed, or hangs on an open question, proves nothing.
    """
    known = [h for h in handed if h.tensor in shapes and h.param in head]
    for one in known[:_MOST]:
        first, asked = _tried(engine, one, head[one.param], shapes[one.tensor], False)
        if first is not None and (not asked or _tried(engine, one, head[one.param], shapes[one.tensor], True)[0]):
            return first
    return None


def _tried(engine: Engine, handed: Handed, into: Parameter, shape: Shape, answer: bool) -> tuple[Failure | None, bool]:
    """The loader's error, and whether it was asked anything that nobody knows."""
    with engine.apart():
        engine.plan = Answers(answer)
        engine.set_entry(engine.imports.load("torch").attrs["_shapes"], "followed", True)
        engine.set_entry(handed.source.attrs, "shape", shape)
        try:
            engine.call(handed.loader, list(handed.args), dict(handed.kwargs))
        except Raised as error:
            return _failure(error, handed, into, shape), bool(engine.decisions)
        except TraceStop:
            return None, True
    return None, False


def _failure(error: Raised, handed: Handed, into: Parameter, shape: Shape) -> Failure | None:
    site = error.site
    if site is None or site.model:
        return None
    said = message_of(error.value)
    room = f" {list(into.shape)}" if into.shape is not None else ""
    what = f"the checkpoint's {handed.tensor} {list(shape)} does not go into {handed.param}{room}"
    return Failure(type_name(error.value), f"{said}: {what}" if said else what, site.file, site.line, site.end_line)


def plain_shapes(
    handed: Iterable[Handed], parts: Mapping[str, int], plain: Mapping[str, Parameter]
) -> dict[str, Shape]:
    """The shapes that tensors have that no header describes, by the parameter that they would fill unquantized.

    ``parts`` says of how many equal pieces each parameter is made; one that is not in it is of unequal ones.
    """
    found: dict[str, Shape] = {}
    for one in handed:
        built = plain.get(one.param)
        count = parts.get(one.param)
        if built is None or built.shape is None or not count:
            continue
        shape = built.shape[1:] if len(built.shape) == 3 else built.shape
        if len(shape) == 2 and shape[0] % count == 0:
            found[one.tensor] = (shape[0] // count, shape[1])
    return found


def equal_parts(handed: Iterable[Handed]) -> dict[str, int]:
    """Of how many equal pieces parameters are made: one, or two where they are told apart by nothing more than that.

    Heads of attention are shared among queries, keys and values as each model likes: three pieces tell no size.
    """
    pieces: dict[str, set[tuple[str, ...]]] = {}
    for one in handed:
        pieces.setdefault(one.param, set()).add(_without_expert(one))
    return {param: len(told) for param, told in pieces.items() if len(told) <= 2}


def _without_expert(handed: Handed) -> tuple[str, ...]:
    named = {k: v for k, v in handed.kwargs.items() if k not in ("expert_id", "weight_name")}
    said = [*handed.args[2:], *named.values()]
    return tuple(str(value) for value in said if isinstance(value, (int, str)) and str(value) != handed.param)
