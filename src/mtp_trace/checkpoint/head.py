"""What an MTP head costs: its parameters, its bytes, and its share on one GPU."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..errors import CheckpointError
from .bounded import shown
from .safetensors import DTYPE_BITS
from .tensors import Tensor

# What belongs to a quantized matrix and is no parameter of the model.
_SCALES = re.compile(
    r"(\.|_)(scales?|scale_inv|scale_2|global_scale|qzeros|zero_point|zero_points|g_idx|weight_shape)$"
)
# Matrices whose elements may hold several weights each.
_PACKED = re.compile(r"\.(weight|weight_packed|qweight|w1|w2|w3)$|_blocks$|_packed$|_proj$")
_INTEGERS = ("U8", "I8", "I32", "U32", "I64")

_EXPERTS = re.compile(r"(^|\.)experts\.")
_NORM = re.compile(r"norm|(^|\.)(bias|e_score_correction_bias)$|\.bias$")

# Matrices that every GPU holds whole, by the last part of the module's name: the projection that joins embedding and
# hidden state, routers, the shared low-rank projections of latent attention.
REPLICATED = frozenset({"eh_proj", "fc", "gate", "router", "shared_expert_gate", "q_a_proj", "kv_a_proj_with_mqa"})


@dataclass(frozen=True)
class HeadCost:
    """The cost of a set of tensors.

    Attributes:
        tensors: how many tensors were counted.
        parameters: weights, with packed ones counted singly and scales not counted; of the tensors of known shape.
        nbytes: bytes in the checkpoint, of the tensors of known size.
        by_dtype: bytes by the dtype's safetensors name, largest first.
        per_gpu_bytes: bytes on the fullest GPU under ``tp`` and ``ep``, by the assumptions.
        unknown: names of the tensors whose size nothing told, sorted. Where there are any, the rest is a lower bound.
        from_headers: every size was read from a file's header; otherwise some were expected.
        assumptions: what the share of one GPU takes for granted, each a sentence.
    """

    tensors: int
    parameters: int
    nbytes: int
    by_dtype: Mapping[str, int]
    per_gpu_bytes: int
    unknown: tuple[str, ...]
    from_headers: bool
    assumptions: tuple[str, ...]


def expected_tensors(shapes: Mapping[str, Sequence[int]], dtype: str) -> dict[str, Tensor]:
    """Tensors that a model class would build, by name, for ``head_cost`` where no header tells.

    Args:
        shapes: name to shape in elements, as stored (a packed matrix by its packed shape).
        dtype: the safetensors name of their dtype, as ``BF16``.

    Raises:
        CheckpointError: the dtype has no known size, or a size is negative.
    """
    bits = DTYPE_BITS.get(dtype)
    if bits is None:
        raise CheckpointError(f"the size of dtype {shown(dtype)} is not known")
    found = {}
    for name, shape in shapes.items():
        if any(size < 0 for size in shape):
            raise CheckpointError(f"a shape cannot be negative: {shown(tuple(shape))}", shown(name))
        found[name] = Tensor(name, "", dtype, tuple(shape), (prod(shape) * bits + 7) // 8)
    return found


def head_cost(
    tensors: Iterable[Tensor],
    *,
    tp: int = 1,
    ep: int = 1,
    expected: Mapping[str, Tensor] | None = None,
    weight_bits: int | None = None,
) -> HeadCost:
    """Count a head's tensors.

    Args:
        tensors: the head's tensors, as ``TensorIndex.under`` gives them.
        tp: GPUs that share each layer.
        ep: groups that the experts are spread over; at most ``tp``.
        expected: sizes for tensors without a header, by name (from ``expected_tensors``).
        weight_bits: bits of a quantized weight, as ``QuantizationInfo.weights.bits``: tells how many weights an
            element of a packed matrix holds. None counts elements.

    Raises:
        CheckpointError: ``tp`` or ``ep`` is not positive, or ``tp`` is no multiple of ``ep``.
    """
    if tp < 1 or ep < 1 or tp % ep:
        raise CheckpointError(f"tp must be a positive multiple of ep, not {tp} and {ep}", "--tp / --ep")
    count = parameters = nbytes = per_gpu = 0
    by_dtype: dict[str, int] = {}
    unknown: list[str] = []
    exact = True
    for tensor in tensors:
        count += 1
        known = tensor
        if tensor.nbytes is None:
            exact = False
            known = (expected or {}).get(tensor.name, tensor)
        if known.nbytes is None or known.shape is None or known.dtype is None:
            unknown.append(tensor.name)
            continue
        exact = exact and bool(known.shard)
        parameters += _parameters(known, weight_bits)
        nbytes += known.nbytes
        by_dtype[known.dtype] = by_dtype.get(known.dtype, 0) + known.nbytes
        per_gpu += -(-known.nbytes // _share(known, tp, ep))
    ordered = dict(sorted(by_dtype.items(), key=lambda item: (-item[1], item[0])))
    return HeadCost(count, parameters, nbytes, ordered, per_gpu, tuple(sorted(unknown)), exact, _assumed(tp, ep))


def _parameters(tensor: Tensor, weight_bits: int | None) -> int:
    shape, dtype = tensor.shape or (), tensor.dtype or ""
    if _SCALES.search(tensor.name) is not None:
        return 0
    elements = prod(shape)
    bits = DTYPE_BITS.get(dtype, 0)
    packed = weight_bits is not None and dtype in _INTEGERS and _PACKED.search(tensor.name) is not None
    return elements * bits // weight_bits if packed and weight_bits and bits > weight_bits else elements


def _share(tensor: Tensor, tp: int, ep: int) -> int:
    """How many GPUs a tensor's bytes are spread over."""
    shape = tensor.shape or ()
    if _EXPERTS.search(tensor.name) is not None:
        # ep groups of experts, and tp / ep GPUs within each group that share every expert's matrices.
        return tp if len(shape) > 1 else ep
    module = tensor.name.rsplit(".", 1)[0].rsplit(".", 1)[-1]
    if len(shape) < 2 or _NORM.search(tensor.name) is not None or module in REPLICATED:
        return 1
    return tp


def _assumed(tp: int, ep: int) -> tuple[str, ...]:
    if tp == 1:
        return ("one GPU holds the whole head",)
    experts = f"each expert's matrices are split over {tp} GPUs"
    if ep > 1:
        inside = "each expert lies whole on one GPU" if tp == ep else f"each expert is split over {tp // ep} GPUs"
        experts = f"the experts are spread evenly over {ep} groups of GPUs, and {inside}"
    return (
        experts,
        f"other matrices are split over {tp} GPUs",
        "norms, biases, scales of one row, routers and the projection that joins the inputs are held by every GPU",
        "embedding and output matrix are counted only where they are among the tensors given",
    )
