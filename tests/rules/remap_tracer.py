"""Runs a release's own draft remap on the tracer, for one architecture after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mtp_trace.rules.data import data_root
from mtp_trace.rules.spots import descend, spots_of
from mtp_trace.source import SourceTree
from mtp_trace.trace import attrs
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import OBJECT, throw
from mtp_trace.trace.explore import explore
from mtp_trace.trace.setup import make_engine
from mtp_trace.trace.values import BoundMethod, Class, Instance, Native, Raised, TraceStop, Unknown
from mtp_trace.verdict.outside import make_world
from mtp_trace.verdict.programs import ModelPrograms, TreePrograms
from mtp_trace.verdict.session import deep

MODULE = "sglang.srt.configs.model_config"
METHOD = "_config_draft_model"
ALGORITHMS = ("EAGLE", "DSPARK", None)


class RemapTracer:
    """The remap method of one tree."""

    def __init__(self, tree: SourceTree) -> None:
        self.programs = TreePrograms(tree)
        world = make_world(tree, None, {})
        self.engine: Engine = make_engine(self.programs, ModelPrograms(data_root() / "models"), world)
        self.cls = attrs.maybe(self.engine, self.engine.imports.load(MODULE), "ModelConfig")
        self.method = self.cls.lookup(METHOD)

    def architectures(self) -> set[str]:
        """Every text that the method's code holds, names of constants followed."""
        path = MODULE.replace(".", "/") + ".py"
        form = self.programs.module(path).form
        owner = next(s for s in form if s[0] == "class" and s[3] == "ModelConfig")
        method = next(s for s in owner[6] if s[0] == "def" and s[3] == METHOD)
        found: set[str] = set()
        for spot in spots_of(path, method[5]):
            for node in [c.node for c in spot.conditions] + ([spot.value] if spot.value is not None else []):
                for n in descend(node):
                    if n[0] == "const" and isinstance(n[3], str):
                        found.add(n[3])
                    elif n[0] == "name" and n[3].isupper():
                        value = attrs.maybe(self.engine, self.engine.imports.load(MODULE), n[3])
                        found |= set(value) if isinstance(value, (list, tuple, set, frozenset)) else set()
        return {name for name in found if name.isidentifier() and not name.isupper() and name != "full_attention"}

    def outcomes(self, architecture: str, text_class: str | None = None) -> set[str]:
        """Every architecture that the draft may end with, over algorithms and over what nobody told the tracer."""
        return {out for algorithm in ALGORITHMS for out in self._run(architecture, algorithm, text_class)}

    def _run(self, architecture: str, algorithm: str | None, text_class: str | None) -> Iterator[str]:
        def once() -> str | None:
            outer = self._config([architecture])
            text = self._config([architecture])
            if text_class is not None:
                module, _, name = text_class.partition(":")
                text.cls = _with_unknowns(attrs.maybe(self.engine, self.engine.imports.load(module), name))
            config = Instance(self.cls)
            config.attrs.update({
                "is_draft_model": True, "hf_config": outer, "hf_text_config": text, "speculative_algorithm": algorithm,
                "sliding_window_size": None, "is_draft_quantization_explicit": False, "quantization": None,
            })  # fmt: skip
            try:
                self.engine.call(BoundMethod(self.method, config), [], {})
            except Raised:
                return None  # the tree refuses this checkpoint
            except TraceStop as stop:
                raise AssertionError(f"{architecture}: {stop.why}") from stop
            names = self.engine.getattr(config.attrs["hf_config"], "architectures")
            return names[0] if isinstance(names, list) and isinstance(names[0], str) else None

        found = deep(lambda: explore(self.engine, once, 256))
        assert found.complete
        yield from (p.outcome for p in found.paths if p.outcome is not None)

    def _config(self, architectures: list[str]) -> Instance:
        """A configuration that has any attribute, unknown but for the architectures."""
        obj = Instance(_with_unknowns(OBJECT))
        obj.attrs["architectures"] = list(architectures)
        return obj


def _with_unknowns(base: Class) -> Class:
    cls = Class("Config", (base,))
    cls.mro = [cls, *base.mro]

    def missing(engine: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[1].startswith("__") or args[1].endswith("_config"):
            throw("AttributeError", args[1])  # a plain configuration, without another one inside
        return Unknown(f"config.{args[1]}", "a checkpoint says it")

    def to_dict(engine: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return dict(args[0].attrs)

    cls.attrs["__getattr__"] = Native("__getattr__", missing)
    cls.attrs["to_dict"] = Native("to_dict", to_dict)
    return cls
