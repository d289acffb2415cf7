"""What the comparison of a class with a checkpoint says to a person."""

from __future__ import annotations

from collections.abc import Mapping

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.quantization import QuantizationInfo
from mtp_trace.checkpoint.tensors import TensorIndex
from mtp_trace.report.model import DraftInfo, Finding, Fix, Place, Severity
from mtp_trace.trace.values import Site
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_judge import Compared

_SHOWN = 3


def findings_of(
    compared: Compared,
    draft: DraftInfo,
    found: DraftClass,
    folder: ModelFolder,
    index: TensorIndex,
    quantization: QuantizationInfo | None,
    skip: Site | None,
) -> tuple[Finding, ...]:
    """The findings, graver ones first."""
    layers = draft.num_nextn_predict_layers
    declared = f" (the config declares {layers} draft layer{'s' if layers != 1 else ''})" if layers is not None else ""
    out: list[Finding] = []
    if compared.absent:
        places = (
            (Place(skip.file, skip.line, skip.end_line, "the checkpoint's names leave the loader here"),)
            if skip
            else ()
        )
        out.append(
            _finding(
                "weights/head-missing",
                "the checkpoint has no tensor of the draft's head",
                f"{found.name} is built, but none of the {len(index)} tensors of {folder.path.name} is one that its "
                f"loader takes{declared}: its weights stay as allocated and no drafted token will be accepted",
                found,
                "Take a checkpoint that keeps its MTP tensors, or start without speculative decoding.",
                places,
            )
        )
    if compared.missing:
        count = len(compared.missing)
        out.append(
            _finding(
                "weights/head-incomplete",
                "the checkpoint lacks some of the draft's tensors",
                f"{count} tensor{'s' if count != 1 else ''} that {found.name} is built for "
                f"{'are' if count != 1 else 'is'} not there: {_list(compared.missing)}",
                found,
                "Take a checkpoint that keeps all of its MTP tensors.",
            )
        )
    method = quantization.method if quantization is not None else "the quantization"
    if compared.built_quantized:
        out.append(
            _finding(
                "weights/built-quantized",
                "the draft is built quantized, its tensors are not",
                f"{found.name} builds {_pairs(compared.built_quantized)} for {method}, but the checkpoint keeps "
                f"{'it' if len(compared.built_quantized) == 1 else 'them'} unquantized, without scales",
                found,
                "Take a release that builds this draft unquantized, or a checkpoint that quantizes it.",
            )
        )
    if compared.built_plain:
        out.append(
            _finding(
                "weights/built-unquantized",
                "the draft is built unquantized, its tensors are quantized",
                f"{found.name} builds {_pairs(compared.built_plain)} without quantization, but the checkpoint keeps "
                f"{'it' if len(compared.built_plain) == 1 else 'them'} quantized, with scales that are not read",
                found,
                "Take a release that builds this draft quantized, or a checkpoint that keeps it unquantized.",
            )
        )
    if compared.collapsed:
        param, names = next(iter(compared.collapsed.items()))
        out.append(
            _finding(
                "weights/layers-collapse",
                "several draft layers are loaded into one",
                f"{found.name} loads {_list(names)} into one parameter ({param}), each over the one before; so do "
                f"{len(compared.collapsed)} parameters in all",
                found,
                "Take a release that keeps the draft's layers apart.",
            )
        )
    return tuple(out)


def _finding(
    rule: str, title: str, message: str, found: DraftClass, fix: str, related: tuple[Place, ...] = ()
) -> Finding:
    return Finding(
        rule,
        Severity.ERROR,
        title,
        message,
        found.file,
        found.line,
        found.line,
        f"class {found.name}",
        Fix(fix),
        related,
    )


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _pairs(found: Mapping[str, str]) -> str:
    return _list(list(found))
