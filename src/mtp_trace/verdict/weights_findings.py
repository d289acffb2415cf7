"""What the comparison of a class with a checkpoint says to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.quantization import QuantizationInfo
from mtp_trace.checkpoint.tensors import TensorIndex
from mtp_trace.report.model import DraftInfo, Finding, Fix, Place, Severity
from mtp_trace.trace.values import Site
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_judge import Compared

_SHOWN = 3
# Findings that say more of an error of the loader.
EXPLAINING = ("weights/built-quantized", "weights/built-unquantized")


@dataclass(frozen=True)
class Told:
    """What the findings are told of: the draft, its class, its checkpoint, and where in the tree things were decided.

    ``skip`` is where the checkpoint's names leave the loader, ``places`` the lines that each parameter was made under,
    ``unquantizing`` the lines of the draft's file that drop a quantization.
    """

    draft: DraftInfo
    found: DraftClass
    folder: ModelFolder
    index: TensorIndex
    quantization: QuantizationInfo | None = None
    skip: Site | None = None
    places: Mapping[str, tuple[Site, ...]] = field(default_factory=dict)
    unquantizing: tuple[int, ...] = ()

    def handed_over(self, params: Iterable[str]) -> Site | None:
        """The line of the draft's own file under which the first of these parameters was made."""
        sites = [next((s for s in self.places.get(p, ()) if s.file == self.found.file), None) for p in params]
        return next((s for s in sites if s is not None), None)

    def allocated(self, params: Iterable[str]) -> Site | None:
        """The line that made the first of these parameters; a parameter's own constructor says nothing."""
        sites = (s for p in params for s in self.places.get(p, ()) if "__new__" not in s.function)
        return next(sites, None)


def findings_of(compared: Compared, told: Told) -> tuple[Finding, ...]:
    """The findings, graver ones first."""
    draft, found, folder, index, skip = told.draft, told.found, told.folder, told.index, told.skip
    quantization = told.quantization
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
                _precision_places(told, compared.built_quantized),
                told.handed_over(compared.built_quantized),
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
                _precision_places(told, compared.built_plain),
                told.handed_over(compared.built_plain),
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


def _precision_places(told: Told, params: Iterable[str]) -> tuple[Place, ...]:
    """Beside where the quantization is handed over: the class, what made the weights, what might have dropped it."""
    names = list(params)
    found, made, over = told.found, told.allocated(names), told.handed_over(names)
    out = []
    if over is not None:
        out.append(Place(found.file, found.line, found.line, "the draft's class"))
    if made is not None and made.file != found.file:
        out.append(Place(made.file, made.line, made.end_line, "the weights are allocated here"))
    out.extend(Place(found.file, n, n, "drops the quantization where its condition holds") for n in told.unquantizing)
    return tuple(out)


def _finding(
    rule: str,
    title: str,
    message: str,
    found: DraftClass,
    fix: str,
    related: tuple[Place, ...] = (),
    at: Site | None = None,
) -> Finding:
    line, end = (at.line, at.end_line) if at is not None else (found.line, found.line)
    snippet = "" if at is not None else f"class {found.name}"
    return Finding(rule, Severity.ERROR, title, message, found.file, line, end, snippet, Fix(fix), related)


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _pairs(found: Mapping[str, str]) -> str:
    return _list(list(found))
