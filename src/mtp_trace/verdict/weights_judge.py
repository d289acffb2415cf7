"""Compares what a class builds with what its loader took: what is missing, and what is built in another precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mtp_trace.checkpoint.tensors import Tensor, TensorIndex
from mtp_trace.verdict.weights_build import Parameter
from mtp_trace.verdict.weights_cost import Expected
from mtp_trace.verdict.weights_load import Load
from mtp_trace.verdict.weights_names import Sample, kind_of, numbers
from mtp_trace.verdict.weights_rules import WeightRules

_PLAIN = ("bfloat16", "float16", "float32", "float64")
_STORED_PLAIN = ("BF16", "F16", "F32", "F64")
_FEW = 3


@dataclass
class Compared:
    """What the comparison found, in plain data."""

    taken: int = 0
    names: list[str] = field(default_factory=list)
    absent: bool = False
    missing: list[str] = field(default_factory=list)
    built_quantized: dict[str, str] = field(default_factory=dict)
    built_plain: dict[str, str] = field(default_factory=dict)
    collapsed: dict[str, list[str]] = field(default_factory=dict)
    unfilled: list[str] = field(default_factory=list)

    @property
    def essence(self) -> object:
        """What must be the same however the open questions are answered."""
        return (
            self.absent,
            sorted(self.missing),
            sorted(self.built_quantized),
            sorted(self.built_plain),
            sorted(self.collapsed),
            sorted(self.unfilled),
        )


class Comparison:
    """One class against one checkpoint.

    ``head`` are the parameters that the checkpoint must fill; ``loads`` what went where of the followed ``samples``.
    """

    def __init__(
        self,
        rules: WeightRules,
        head: Mapping[str, Parameter],
        samples: Iterable[Sample],
        loads: list[Load],
        index: TensorIndex,
    ) -> None:
        self.rules, self.head, self.index, self.loads = rules, head, index, loads
        self.samples = {sample.name: sample for sample in samples}
        self.by_param: dict[str, list[Load]] = {}
        for load in loads:
            if load.param in head:
                self.by_param.setdefault(load.param, []).append(load)

    def compare(self, expected: Expected | None) -> Compared:
        """The whole comparison; ``expected`` tells the parts of each parameter, where they are known."""
        found = Compared()
        tensors = dict.fromkeys(load.tensor for loads in self.by_param.values() for load in loads)
        for name in tensors:
            found.names.extend(self._all_of(name))
        found.taken = len(found.names)
        found.absent = not self.by_param
        if found.absent:
            return found
        found.built_quantized = self._built_quantized()
        found.built_plain = self._built_plain()
        found.unfilled = [p for p in self.head if self.rules.packed.search(p) and p not in self.by_param]
        odd = {*map(_module, found.built_quantized), *map(_module, found.built_plain)}
        if expected is not None:
            found.missing = self._missing(expected, odd)
        found.collapsed = self._collapsed()
        return found

    def _all_of(self, name: str) -> Iterable[str]:
        return self.samples[name].stands_for if name in self.samples else (name,)

    # --- what is missing -------------------------------------------------------------------------------------------

    def _missing(self, expected: Expected, odd: set[str]) -> list[str]:
        missing: list[str] = []
        alike: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for (param, part), name in expected.names.items():
            alike.setdefault(param, []).append((part, name))
        for param, parts in alike.items():
            if _module(param) in odd or self.rules.scale.search(param) or self.rules.optional.search(param):
                continue
            loads = self.by_param.get(param, [])
            if not loads:
                missing.extend(name for _, name in parts)
                continue
            missing.extend(self._parts_missing(param, parts, loads, expected.experts))
        return missing

    def _parts_missing(
        self, param: str, parts: list[tuple[tuple[str, ...], str]], loads: list[Load], experts: int
    ) -> list[str]:
        """Of a parameter that is filled by several tensors: those that are not there."""
        missing: list[str] = []
        known = {part for part, _ in parts}
        plain = {_without_expert(load.part) for load in loads}
        if not plain <= {_without_expert(part) for part in known}:
            return []  # filled in another way, as from one fused tensor
        for part, name in parts:
            if "{e}" in name:
                there = self._experts_of(part, loads)
                if there:
                    gone = [e for e in range(experts) if e not in there]
                    missing.extend(name.replace("{e}", str(e)) for e in gone)
                else:
                    missing.append(name)
            elif part not in {load.part for load in loads} and part:
                missing.append(name)
        return missing

    def _experts_of(self, part: tuple[str, ...], loads: list[Load]) -> set[int]:
        there: set[int] = set()
        for load in loads:
            if _without_expert(load.part) == part:
                for name in self._all_of(load.tensor):
                    if "experts." in name and (found := numbers(name)):
                        there.add(found[-1])
        return there

    # --- precision -------------------------------------------------------------------------------------------------

    def _built_quantized(self) -> dict[str, str]:
        """Parameters built quantized that were filled with plain numbers, to the tensor that was."""
        found: dict[str, str] = {}
        for param, loads in self.by_param.items():
            if self.rules.scale.search(param) or not param.endswith("weight"):
                continue
            module = _module(param)
            scales = [p for p in self.head if _module(p) == module and p != param and self._is_scale_of(p, param)]
            if not scales:
                continue
            empty = [p for p in scales if p not in self.by_param]
            stored = {self.index[load.tensor].dtype for load in loads if load.tensor in self.index}
            plain = all(kind in _STORED_PLAIN for kind in stored)
            if empty == scales and (plain or stored == {None}) and not self._stored_scale(loads):
                found[param] = loads[0].tensor
        return found

    def _is_scale_of(self, param: str, weight: str) -> bool:
        """A scale of this matrix: in one module, and of the same half of the experts where there are two."""
        last, own = param.rpartition(".")[2], weight.rpartition(".")[2].removesuffix("weight")
        return bool(self.rules.scale.search(last)) and not self.rules.optional.search(param) and last.startswith(own)

    def _stored_scale(self, loads: list[Load]) -> bool:
        """Whether the checkpoint has a scale beside one of these tensors."""
        return any(self._scale_beside(load.tensor) is not None for load in loads)

    def _scale_beside(self, tensor: str) -> str | None:
        stem = tensor.removesuffix(".weight")
        for tail in (
            ".weight_scale_inv",
            ".weight_scale",
            ".weight_scale_2",
            ".scale",
            ".scales",
            ".weight_packed",
            ".qweight",
            "_scale_inv",
            "_scales",
            "_scale",
            "_blocks",
        ):
            if stem + tail in self.index:
                return stem + tail
        return None

    def _built_plain(self) -> dict[str, str]:
        """Parameters built plain that were filled with quantized numbers, to the tensor that was."""
        found: dict[str, str] = {}
        guessed: dict[str, str] = {}
        used = {load.tensor for load in self.loads}
        for param, loads in self.by_param.items():
            if self.head[param].dtype not in _PLAIN or not param.endswith("weight"):
                continue
            for load in loads:
                stored = self.index.get(load.tensor)
                if stored is None:
                    continue
                beside = self._scale_beside(load.tensor)
                if beside is None or beside in used:
                    continue
                if stored.dtype is None:
                    guessed[param] = load.tensor
                elif stored.dtype not in _STORED_PLAIN:
                    found[param] = load.tensor
        # A loader may take one matrix apart by itself, scale and all: names alone tell only of many.
        return found or (guessed if len(guessed) >= _FEW else {})

    # --- several into one ------------------------------------------------------------------------------------------

    def _collapsed(self) -> dict[str, list[str]]:
        """Parameters that several tensors, alike but for a number, fill one after the other."""
        found: dict[str, list[str]] = {}
        for param, loads in self.by_param.items():
            groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
            for load in loads:
                groups.setdefault((load.part, kind_of(load.tensor)), []).append(load.tensor)
            for names in groups.values():
                if len(set(names)) > 1:
                    found[param] = list(dict.fromkeys(names))
        return found


def head_tensors(index: TensorIndex, names: Iterable[str]) -> list[Tensor]:
    """The tensors of these names."""
    return [index[name] for name in names if name in index]


def _module(param: str) -> str:
    return param.rpartition(".")[0]


def _without_expert(part: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(p for p in part if not p.startswith("expert_id="))
