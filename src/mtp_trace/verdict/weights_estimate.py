"""What a head takes where only a configuration is there: its tensors, as its class would read them, and their size."""

from __future__ import annotations

from typing import Any

from mtp_trace.checkpoint.head import HeadCost
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.values import Raised, TraceStop, Value
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_build import Answers, Builder, Parameter, Refused
from mtp_trace.verdict.weights_cost import built_cost, expected, probe_groups, routed_experts
from mtp_trace.verdict.weights_load import Feeder
from mtp_trace.verdict.weights_rules import WeightRules

HEADS = 2  # draft layers that are asked for by number
_BF16 = 2  # bytes


def estimated(
    builder: Builder, found: DraftClass, config: Value, server_args: Value, layers: int | None, tp: int, ep: int
) -> dict[str, Any] | None:
    """The report's ``weights`` for an unquantized head; None where the class cannot be built."""
    engine, rules = builder.engine, builder.rules
    try:
        with engine.apart():
            engine.plan = Answers(False)
            feeder = Feeder(engine, rules, builder.build(found, config, server_args, plain=True))
            head = own_parameters(feeder, feeder.built.described(), False)
            count = experts_of(head)
            loads = feeder.probe(probe_groups(rules, layers, count, HEADS), needed_of(head, rules))
    except (TraceStop, Raised, Refused):
        return None
    wanted = expected(loads, head, needed_of(head, rules), routed_experts(loads, count)).count
    cost = built_cost(head, rules, tp, ep)
    return {"present": None, "expected": wanted, "missing": [], "missing_count": None} | cost_in_numbers(cost, engine)


def own_parameters(feeder: Feeder, described: dict[str, Parameter], answer: bool) -> dict[str, Parameter]:
    """The parameters that a worker does not replace by the target's."""
    with feeder.engine.apart():
        feeder.engine.plan = Answers(answer)
        shared = feeder.shared()
    return {name: value for name, value in described.items() if name not in shared}


def needed_of(head: dict[str, Parameter], rules: WeightRules) -> frozenset[str]:
    """The weights that a checkpoint must fill."""
    return frozenset(n for n in head if n.endswith("weight") and not rules.optional.search(n))


def experts_of(described: dict[str, Parameter]) -> int:
    """How many experts the class holds: the first size of its experts' matrices."""
    sizes = [p.shape[0] for n, p in described.items() if "experts." in n and p.shape is not None and len(p.shape) == 3]
    return max(sizes, default=1)


def cost_in_numbers(cost: HeadCost, engine: Engine) -> dict[str, Any]:
    """A cost as the report has it, against the GPU's memory."""
    gpu = engine.world.gpu
    memory = gpu.memory_mib * 1024 * 1024 if gpu is not None and gpu.memory_mib else None
    return {
        "params": cost.parameters,
        "bf16_bytes": cost.parameters * _BF16,
        "bytes": cost.nbytes,
        "per_gpu_bytes": cost.per_gpu_bytes,
        "gpu_memory_share": round(cost.per_gpu_bytes / memory, 4) if memory else None,
        "by_dtype": dict(cost.by_dtype),
        "source": "headers" if cost.from_headers else "class",
    }
