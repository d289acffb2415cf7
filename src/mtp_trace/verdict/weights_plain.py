"""A draft class built a second time without quantization: what its tensors would fill, and of what shape they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mtp_trace.checkpoint.tensors import Tensor, TensorIndex
from mtp_trace.report.model import Failure
from mtp_trace.trace.values import Raised, TraceStop, Value
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_build import Answers, Builder, Parameter, Refused
from mtp_trace.verdict.weights_judge import Compared
from mtp_trace.verdict.weights_load import Feeder, Handed, Load
from mtp_trace.verdict.weights_names import Sample
from mtp_trace.verdict.weights_trial import equal_parts, plain_shapes, refused

Built = tuple[Mapping[str, Parameter], Sequence[Load]]


class Unquantized:
    """The unquantized build of one class, made where somebody asks for it."""

    def __init__(
        self,
        builder: Builder,
        found: DraftClass,
        config: Value,
        server_args: Value,
        index: TensorIndex | None = None,
        chosen: Iterable[Sample] = (),
    ) -> None:
        self.builder, self.found, self.config, self.server_args = builder, found, config, server_args
        self.index: Mapping[str, Tensor] = index if index is not None else {}
        self.chosen = chosen
        self._built: Built | None = None

    @property
    def built(self) -> Built:
        """Its parameters, and what went into them; nothing where it cannot be followed."""
        if self._built is None:
            engine = self.builder.engine
            self._built = {}, ()
            try:
                with engine.apart():
                    engine.plan = Answers(False)
                    model = self.builder.build(self.found, self.config, self.server_args, plain=True)
                    fed = Feeder(engine, self.builder.rules, model).feed(self.index[s.name] for s in self.chosen)
                    self._built = model.described(), fed.loads
            except (TraceStop, Raised, Refused):
                pass
        return self._built

    def explain(self, compared: Compared) -> None:
        """Sorts packed parameters that nothing filled: their tensors are there unpacked, or they are not there."""
        if not compared.unfilled:
            return
        plain = {load.param: load.tensor for load in self.built[1]}
        for param in compared.unfilled:
            tensor = next((plain[name] for name in plain if _same_matrix(name, param)), None)
            if tensor is not None:
                compared.built_quantized[param] = tensor
            else:
                compared.missing.append(param)

    def refused(self, handed: list[Handed], head: Mapping[str, Parameter], compared: Compared) -> Failure | None:
        """What the loader of a parameter built in another precision than its tensor says to the tensor's shape."""
        odd = {*compared.built_quantized, *compared.built_plain}
        tried = [h for h in handed if h.param in odd and h.tensor in self.index]
        if not tried:
            return None
        shapes = {h.tensor: shape for h in tried if (shape := self.index[h.tensor].shape) is not None}
        if len(shapes) < len({h.tensor for h in tried}):
            shapes = {**plain_shapes(tried, equal_parts(tried), self.built[0]), **shapes}
        return refused(self.builder.engine, tried, head, shapes)


def _same_matrix(plain: str, packed: str) -> bool:
    """Whether an unpacked parameter is the same matrix as a packed one: in one module, of the same half of experts."""
    module, _, leaf = packed.rpartition(".")
    front, _, own = plain.rpartition(".")
    half = own.removesuffix("weight")
    return front == module and own.endswith("weight") and leaf.startswith(half)
