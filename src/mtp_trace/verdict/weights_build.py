"""Builds a draft class as its tree does, without torch: parameters by name, with shape and dtype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mtp_trace.report.model import Failure
from mtp_trace.trace import attrs
from mtp_trace.trace.classes import bare
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import OBJECT, message_of
from mtp_trace.trace.ops import type_name
from mtp_trace.trace.places import site_of
from mtp_trace.trace.values import MISSING, Class, Function, Instance, Native, Raised, Site, TraceStop, Unknown, Value
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_rules import WeightRules


class Refused(Exception):
    """The tree itself refuses the checkpoint's quantization, or dies of it as it builds the class (``building``).

    ``asked``: a question was answered on the way that nobody knows the answer of.
    """

    def __init__(self, failure: Failure, building: bool, asked: bool) -> None:
        super().__init__(failure.message)
        self.failure, self.building, self.asked = failure, building, asked

    @property
    def why(self) -> str:
        """What there is to say where it may be no more than the tracer's own failure."""
        f = self.failure
        return f"the class cannot be built: {f.type} at {f.file}:{f.line}: {f.message}"


@dataclass(frozen=True)
class Parameter:
    """A parameter as it is built; ``shape`` and ``dtype`` None where they are not known."""

    name: str
    shape: tuple[int, ...] | None
    dtype: str | None


@dataclass
class Built:
    """A model object and its parameters by name.

    ``quantization`` is the config that the loader hands to the class; ``places`` has the lines that each parameter was
    made under, innermost first.
    """

    model: Instance
    params: dict[str, Instance]
    quantization: Value
    places: dict[str, tuple[Site, ...]] = field(default_factory=dict)

    def described(self) -> dict[str, Parameter]:
        """The parameters in plain data."""
        return {name: Parameter(name, shape_of(value), dtype_of(value)) for name, value in self.params.items()}


class Answers(dict[str, bool]):
    """Answers to open questions while a class is built and fed: all one way, but stored shapes are taken to fit."""

    def __init__(self, default: bool) -> None:
        super().__init__()
        self.default = default

    def get(self, key: str, default: Any = None) -> Any:
        """The answer to a question."""
        if "tensor.shape" in key or "stored." in key:
            single = " == <Size" in key  # nothing says that a stored tensor is a single number
            return not single and (" == " in key or " <= " in key)
        if " is <" in key:  # what nobody told us is no object of the tree's own
            return False
        return self.default


class Builder:
    """Builds classes of one engine's tree."""

    def __init__(self, engine: Engine, rules: WeightRules) -> None:
        self.engine, self.rules = engine, rules

    def build(self, found: DraftClass, config: Value, server_args: Value, plain: bool = False) -> Built:
        """Makes the class's instance, ``plain`` without quantization.  Raises what the tracer does."""
        engine = self.engine
        cls = attrs.maybe(engine, engine.imports.load(found.file.removesuffix(".py").replace("/", ".")), found.name)
        if not isinstance(cls, Class):
            raise TraceStop(f"{found.name} cannot be read as a class")
        self._prepare(config, server_args)
        module, _, lookup = self.rules.class_lookup.partition(":")
        engine.set_entry(engine.imports.load(module).attrs, lookup, Native(lookup, lambda e, a, k: (cls, found.name)))
        load_config = engine.call(self._find(self.rules.load_config), [], {})
        quantization = None if plain else self._said(self.rules.quantization, [config, load_config], False)
        made = self._listen()
        model = self._said(self.rules.build, [config, load_config, quantization], True)
        if not isinstance(model, Instance):
            raise TraceStop(f"what {found.name} builds is not known")
        params = parameters(engine, model)
        places = {name: made[id(value)] for name, value in params.items() if id(value) in made}
        return Built(model, params, quantization, places)

    def _listen(self) -> dict[int, tuple[Site, ...]]:
        """Notes where in the tree each parameter is made, from now on."""
        made: dict[int, tuple[Site, ...]] = {}

        def note(engine: Engine, args: list[Value], kwargs: dict[str, Value]) -> None:
            frames = [f for f in reversed(engine.frames) if f.node is not None and not f.module.model]
            made[id(args[0])] = tuple(site_of(f, f.node) for f in frames if f.node is not None)

        self.engine.set_entry(self.engine.imports.load("torch.nn.parameter").attrs, "_made", Native("_made", note))
        return made

    def _said(self, step: str, args: list[Value], building: bool) -> Value:
        """Calls a step of the tree.  Raises Refused for an error that is the tree's own."""
        engine = self.engine
        seen = len(engine.recorder.events)
        try:
            return engine.call(self._find(step), args, {})
        except Raised as error:
            said = any(e.kind == "raise" and e.value is error.value for e in engine.recorder.events[seen:])
            kind = type_name(error.value)
            if error.site is None or error.site.model or not (said or kind == "AttributeError"):
                raise
            place = error.site.file, error.site.line, error.site.end_line
            raise Refused(Failure(kind, message_of(error.value), *place), building, bool(engine.decisions)) from error

    def begin(self, found: DraftClass, config: Value, server_args: Value) -> tuple[Instance, Raised | None]:
        """Makes as much of the class's instance as its ``__init__`` comes to, and what it raised."""
        engine = self.engine
        cls = attrs.maybe(engine, engine.imports.load(found.file.removesuffix(".py").replace("/", ".")), found.name)
        if not isinstance(cls, Class):
            raise TraceStop(f"{found.name} cannot be read as a class")
        model = bare(engine, cls, [], {})
        depth = len(engine.frames)
        try:
            self._prepare(config, server_args)
            hf_config = attrs.maybe(engine, config, "hf_config")
            engine.call(cls.lookup("__init__"), [model], {"config": hf_config, "quant_config": None})
        except Raised as error:
            del engine.frames[depth:]
            return model, error
        return model, None

    def _prepare(self, config: Value, server_args: Value) -> None:
        engine, rules = self.engine, self.rules
        group = _one_process()
        if engine.imports.locate(rules.group_module) is not None:
            module = engine.imports.load(rules.group_module)
            for name in rules.groups:
                if name in module.attrs:
                    engine.set_entry(module.attrs, name, group)
        for path, values in rules.globals.items():
            if engine.imports.locate(path) is None:
                continue
            module = engine.imports.load(path)
            for name, value in values.items():
                if name in module.attrs:
                    engine.set_entry(module.attrs, name, value)
        for table in rules.tables:
            entries = self._maybe(table["at"])
            if isinstance(entries, dict):
                for name, value in {**table["values"], **dict.fromkeys(table["groups"], group)}.items():
                    engine.set_entry(entries, name, value)
        bound = {"server_args": server_args, "dtype": attrs.maybe(engine, config, rules.dtype_field)}
        for step in rules.setup:
            target = self._maybe(step.target)
            if target is not MISSING:
                args = [bound.get(a[1:]) if isinstance(a, str) and a.startswith("$") else a for a in step.args]
                if isinstance(target, Function):
                    args = args[
                        : len(target.code.positional)
                    ]  # some releases hand it over, later ones have it published
                engine.call(target, args, dict(step.kwargs))

    def _maybe(self, path: str) -> Value:
        module, _, name = path.partition(":")
        if self.engine.imports.locate(module) is None:
            return MISSING
        found = self.engine.imports.load(module)
        for part in name.split("."):
            found = attrs.maybe(self.engine, found, part) if found is not MISSING else MISSING
        return found

    def _find(self, path: str) -> Value:
        found = self._maybe(path)
        if found is MISSING:
            raise TraceStop(f"{path} is not in the tree")
        return found


def _one_process() -> Instance:
    """A process group of one."""
    cls = Class("ProcessGroup", (OBJECT,))
    cls.mro = [cls, OBJECT]
    group = Instance(cls)
    group.attrs.update(
        world_size=1,
        rank_in_group=0,
        rank=0,
        local_rank=0,
        is_first_rank=True,
        is_last_rank=True,
        first_rank=0,
        last_rank=0,
        ranks=[0],
    )
    for name in ("cpu_group", "device_group", "device", "unique_name"):
        group.attrs[name] = Unknown(f"group.{name}", "only a running server has it")
    return group


def parameters(engine: Engine, model: Instance) -> dict[str, Instance]:
    """The model's parameters by name, as its own ``named_parameters`` lists them."""
    listed = engine.call(engine.getattr(model, "named_parameters"), [], {})
    return {name: value for name, value in _pairs(listed) if isinstance(name, str) and isinstance(value, Instance)}


def _pairs(listed: Value) -> Iterator[tuple[Value, Value]]:
    if not isinstance(listed, list):
        raise TraceStop("the model's parameters are not known")
    for item in listed:
        if isinstance(item, tuple) and len(item) == 2:
            yield item


def shape_of(value: Instance) -> tuple[int, ...] | None:
    """A tensor's shape, where all of it is known."""
    shape = value.attrs.get("shape")
    if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape):
        return shape
    return None


def dtype_of(value: Instance) -> str | None:
    """The name of a tensor's dtype."""
    kind = value.attrs.get("dtype")
    name = kind.attrs.get("name") if isinstance(kind, Instance) else None
    return name if isinstance(name, str) else None
