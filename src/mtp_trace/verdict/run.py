"""One launch through the stages on one engine: what was bound, what was resolved, where it stopped."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from mtp_trace.trace import attrs
from mtp_trace.trace.classes import instantiate
from mtp_trace.trace.engine import ConstructionReached, Engine
from mtp_trace.trace.errors import OBJECT, message_of
from mtp_trace.trace.events import Event
from mtp_trace.trace.values import MISSING, Class, External, Instance, Native, Raised, Site, TraceStop, Unknown, Value
from mtp_trace.verdict.entry import Entrypoints, Stage, Step


@dataclass
class Outcome:
    """What one way through the stages came to.

    ``stage`` is where it stopped (None: it went through). ``raised`` is the tree's own error, ``stop`` the tracer's;
    ``missing`` names an entry point that the tree does not have.
    """

    stage: str | None = None
    raised: Raised | None = None
    stop: TraceStop | None = None
    missing: str | None = None
    bound: dict[str, Value] = field(default_factory=dict)
    resolved: dict[str, Value] = field(default_factory=dict)
    target: dict[str, Value] = field(default_factory=dict)
    draft: dict[str, Value] = field(default_factory=dict)
    worker: Value = None
    events: list[tuple[str, Event]] = field(default_factory=list)
    guards_passed: bool = True
    assumptions: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Outcome:
        """One that can go on apart from this one."""
        made = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (dict, list)):
                setattr(made, name, value.copy())
        return made


class Absent(Exception):
    """The tree does not have a step's target."""


class StageRunner:
    """Runs the stages for one launch."""

    def __init__(self, engine: Engine, entry: Entrypoints) -> None:
        self.engine, self.entry = engine, entry
        engine.recorder.records = entry.records
        engine.recorder.watched = dict.fromkeys(entry.calls, True)
        engine.recorder.items = entry.items

    def run(self, argv: list[str]) -> Outcome:
        """Goes through the stages; never raises for what the tree or the tracer does.

        Before each stage but the first the engine is marked; a run that the engine resumes goes on from that stage.
        """
        if self.engine.resumed is not None:
            kept: Outcome
            first, kept = self.engine.resumed.payload
            out = kept.copy()
        else:
            first = 0
            out = Outcome(bound={"argv": list(argv), "unknown": Unknown("$unknown", "only a running server has it")})
        seen = len(self.engine.recorder.events)
        for index, stage in enumerate(self.entry.stages[first:], first):
            if index > first:
                self.engine.mark((index, out.copy()))
            if not self._enters(stage, out):
                continue
            try:
                self._stage(stage, out)
            except Raised as error:
                if self._counts(stage, error):
                    out.stage, out.raised = stage.name, error
                else:
                    out.assumptions[f"stage {stage.name}"] = f"not followed to its end: {message_of(error.value)}"
            except ConstructionReached:
                pass
            except Absent as absent:
                out.stage, out.missing = stage.name, str(absent)
            except RecursionError:
                out.stage, out.stop = (
                    stage.name,
                    TraceStop("the trace nests deeper than it can follow", self.engine.here()),
                )
            except TraceStop as stop:
                if not stage.fails_on:
                    out.stage, out.stop = stage.name, stop
                else:
                    out.assumptions[f"guards of stage {stage.name}"] = f"not followed to their end: {stop.why}"
            finally:
                self.engine.stop_at_construction, self.engine.names_only = None, False
            events = self.engine.recorder.events
            out.events.extend((stage.name, e) for e in events[seen:])
            seen = len(events)
            if out.stage is not None:
                break
        return out

    def _enters(self, stage: Stage, out: Outcome) -> bool:
        if stage.when is None:
            return True
        algorithm = out.resolved.get(self.entry.algorithm)
        if algorithm is None:
            return False
        return stage.when != "has-draft" or not named_in(algorithm, self.entry.draftless)

    def _counts(self, stage: Stage, error: Raised) -> bool:
        if not stage.fails_on:
            return True
        return isinstance(error.value, Instance) and any(c.name in stage.fails_on for c in error.value.cls.mro)

    def _stage(self, stage: Stage, out: Outcome) -> None:
        if stage.until == "constructs":
            out.bound["runner"] = self._runner(out)
        for step in stage.steps:
            try:
                target = self.target(step.target, out)
            except Absent:
                if step.optional:
                    continue
                raise
            self.engine.stop_at_construction = out.bound.get("runner") if stage.until == "constructs" else None
            self.engine.names_only = stage.names_only
            if step.resolved:
                self._demand_resolution(out)
            args = [self._value(a, out) for a in step.args]
            kwargs = {k: self._value(v, out) for k, v in step.kwargs.items()}
            result = self.engine.call(target, args, kwargs)
            if step.bind:
                out.bound[step.bind] = result
        self._after(stage, out)

    def _demand_resolution(self, out: Outcome) -> None:
        """What resolution always sets must be set by now; else the code that resolves was not found."""
        for name in self.entry.always:
            if self._field(out.bound["server_args"], name, out) is None:
                raise Absent(
                    f"{name} is not set although the arguments should be resolved by now: the code that resolves them"
                )

    def _after(self, stage: Stage, out: Outcome) -> None:
        if stage.name == "args":
            self._demand_resolution(out)
            for name in self.entry.fields:
                value = self._field(out.bound["server_args"], name, out)
                if value is not MISSING:
                    out.resolved[name] = value
                    out.bound[name] = value
            out.bound["algorithm"] = out.resolved.get(self.entry.algorithm)
            out.bound["draft_path"] = out.resolved.get(self.entry.draft_path)
        elif stage.name == "target-config":
            out.target = self._model(out.bound["target"])
            _demand_model(out.target)
        elif stage.name == "draft-config":
            out.draft = self._model(out.bound["draft"])
            _demand_model(out.draft)
        elif stage.name == "worker":
            worker = out.bound.get("worker")
            out.worker = (
                worker.path.rpartition(".")[2] if isinstance(worker, External) else getattr(worker, "name", None)
            )

    def _model(self, config: Value) -> dict[str, Value]:
        """What a ModelConfig says of its model."""
        engine = self.engine
        found: dict[str, Value] = {}
        hf_config = attrs.maybe(engine, config, "hf_config")
        names = attrs.maybe(engine, hf_config, "architectures") if hf_config is not MISSING else MISSING
        # The list itself may be changed later, in place, for the draft.
        found["architectures"] = list(names) if isinstance(names, list) else names
        text = attrs.maybe(engine, config, "hf_text_config")
        for key, owner in (("num_nextn_predict_layers", text), ("model_type", hf_config)):
            if owner is not MISSING:
                found[key] = attrs.maybe(engine, owner, key)
        for key in ("num_nextn_predict_layers", "num_hidden_layers", "quantization", "model_path"):
            found[f"config.{key}"] = attrs.maybe(engine, config, key)
        return {k: v for k, v in found.items() if v is not MISSING}

    def _field(self, server_args: Value, name: str, out: Outcome) -> Value:
        if attrs.has(self.engine, server_args, name) is not True:
            return MISSING
        for reader in self.entry.readers:
            try:
                target = self.target(reader, out)
            except Absent:
                continue
            return self.engine.call(target, [server_args, name], {})
        return self.engine.getattr(server_args, name)

    def target(self, text: str, out: Outcome) -> Value:
        if text.startswith("$"):
            name, _, path = text[1:].partition(".")
            value = out.bound.get(name, MISSING)
        else:
            module, _, path = text.partition(":")
            if self.engine.imports.locate(module) is None:
                raise Absent(f"{module} is not in the tree")
            value = self.engine.imports.load(module)
        for part in path.split(".") if path else ():
            if value is MISSING:
                break
            value = attrs.maybe(self.engine, value, part)
        if value is MISSING:
            raise Absent(f"{text} is not in the tree")
        return value

    def _value(self, value: Any, out: Outcome) -> Value:
        if isinstance(value, str) and value.startswith("$"):
            return out.bound.get(value[1:])
        return value

    def _runner(self, out: Outcome) -> Instance:
        """A stand-in for the model runner: what the guards read of it; properties of the real class; else unknown."""
        engine = self.engine
        cls = Class("ModelRunner", (OBJECT,))
        cls.mro = [cls, OBJECT]
        runner = Instance(cls)
        module, _, name = self.entry.runner_class.partition(":")

        def missing(e: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
            if engine.imports.locate(module) is not None:
                real = attrs.maybe(engine, engine.imports.load(module), name)
                raw = real.lookup(args[1]) if isinstance(real, Class) else MISSING
                if raw is not MISSING:
                    return attrs.bind(engine, raw, runner, cls)
            return Unknown(f"runner.{args[1]}", "only a running server has it")

        cls.attrs["__getattr__"] = Native("__getattr__", missing)
        for key, value in self.entry.runner_attributes.items():
            runner.attrs[key] = self._value(value, out)
        main = out.resolved.get("attention_backend")
        for side in ("prefill", "decode"):
            if runner.attrs.get(f"{side}_attention_backend_str") is None:
                runner.attrs[f"{side}_attention_backend_str"] = main
        return runner


def named_in(value: Value, names: frozenset[str]) -> bool:
    """Whether a value is one of some names. A field may hold anything, and not everything can be looked up in a set."""
    return isinstance(value, str) and value in names


def _demand_model(found: dict[str, Value]) -> None:
    """A configuration of which nothing can be read is none: the step called something else."""
    if not found:
        raise Absent("the step that makes the model's configuration made none")


def error_site(outcome: Outcome) -> Site | None:
    """Where the launch stopped."""
    if outcome.raised is not None:
        return outcome.raised.site
    return outcome.stop.site if outcome.stop is not None else None


__all__ = ["Outcome", "StageRunner", "Step", "error_site", "instantiate"]
