"""Which tensors a class would take from a complete checkpoint, and what its parameters cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from mtp_trace.checkpoint.head import HeadCost, head_cost
from mtp_trace.checkpoint.safetensors import DTYPE_BITS
from mtp_trace.checkpoint.tensors import Tensor
from mtp_trace.verdict.weights_build import Parameter
from mtp_trace.verdict.weights_load import Load
from mtp_trace.verdict.weights_rules import WeightRules


@dataclass(frozen=True)
class Expected:
    """The tensors of a complete checkpoint: names by the parameter and part that each fills; None: not known for all.

    A name with ``{e}`` stands for every expert's.
    """

    names: Mapping[tuple[str, tuple[str, ...]], str]
    experts: int
    complete: bool

    @property
    def count(self) -> int | None:
        """How many tensors that is."""
        if not self.complete:
            return None
        return sum(self.experts if "{e}" in name else 1 for name in self.names.values())


def probe_groups(rules: WeightRules, layers: int | None, experts: int, heads: int) -> Iterator[list[str]]:
    """Names that a checkpoint might have, a group for every front."""
    for where, front in ((where, front) for where, fronts in rules.fronts.items() for front in fronts):
        if "{L}" in front and layers is None:
            continue
        for layer in range(heads if "{l}" in front else 1):
            start = front.replace("{L}", str(layers)).replace("{l}", str(layer))
            yield [
                start + back.replace("{e}", str(e))
                for back in rules.backs[where]
                for e in (sorted({0, max(experts - 2, 0), experts - 1}) if "{e}" in back else (0,))
            ]


def expected(probed: list[Load], head: Mapping[str, Parameter], needed: frozenset[str], experts: int) -> Expected:
    """One name for every part of every parameter of the head, out of what the loader took."""
    names: dict[tuple[str, tuple[str, ...]], str] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for load in probed:
        if load.param not in head:
            continue
        part, name = load.part, load.tensor
        own = _expert(part)
        if own is not None and f"experts.{own}." in name:
            if own >= experts:
                continue
            part = tuple(p for p in part if not p.startswith("expert_id="))
            name = "experts.{e}.".join(name.rsplit(f"experts.{own}.", 1))
        if (load.param, part) not in seen:
            seen.add((load.param, part))
            names[load.param, part] = name
    unique = {name: key for key, name in reversed(list(names.items()))}
    return Expected({key: name for name, key in unique.items()}, experts, needed <= {p for p, _ in names})


def routed_experts(probed: list[Load], experts: int) -> int:
    """How many of the experts have numbered tensors: a shared one may be kept behind them under a name of its own."""
    own = [e for load in probed if (e := _expert(load.part)) is not None and f"experts.{e}." not in load.tensor]
    return min([experts, *own])


def _expert(part: tuple[str, ...]) -> int | None:
    for p in part:
        if p.startswith("expert_id=") and p[10:].isdigit():
            return int(p[10:])
    return None


def built_cost(head: Mapping[str, Parameter], rules: WeightRules, tp: int, ep: int) -> HeadCost:
    """The cost of the parameters as they are built."""
    names = {v: k for k, v in rules.dtypes.items()}
    tensors = []
    for p in head.values():
        kind = names.get(p.dtype or "")
        if p.shape is None or kind is None:
            tensors.append(Tensor(p.name, "", kind, p.shape))
        else:
            tensors.append(Tensor(p.name, "", kind, p.shape, prod(p.shape) * DTYPE_BITS[kind] // 8))
    return head_cost(tensors, tp=tp, ep=ep if ep and tp % ep == 0 else 1)
