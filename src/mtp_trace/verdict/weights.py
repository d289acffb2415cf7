"""The stage ``weights``: does the draft find its tensors, in the precision it is built in, and at what cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.head import HeadCost, head_cost
from mtp_trace.checkpoint.quantization import QuantizationInfo
from mtp_trace.checkpoint.tensors import TensorIndex
from mtp_trace.errors import CheckpointError
from mtp_trace.report.model import Assumption, DraftInfo, Failure, Finding, Severity, Verdict
from mtp_trace.trace import attrs
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import message_of
from mtp_trace.trace.ops import type_name
from mtp_trace.trace.values import MISSING, Raised, Site, TraceStop, Value
from mtp_trace.verdict.drafthood import drafthood
from mtp_trace.verdict.files import LaunchFiles
from mtp_trace.verdict.registry import DraftClass, Registry
from mtp_trace.verdict.run import Outcome
from mtp_trace.verdict.weights_build import Answers, Builder, Built, Parameter, Refused, parameters
from mtp_trace.verdict.weights_cost import Expected, built_cost, expected, probe_groups, routed_experts
from mtp_trace.verdict.weights_estimate import (
    HEADS,
    cost_in_numbers,
    estimated,
    experts_of,
    needed_of,
    own_parameters,
)
from mtp_trace.verdict.weights_findings import EXPLAINING, Told, findings_of
from mtp_trace.verdict.weights_judge import Compared, Comparison
from mtp_trace.verdict.weights_load import Fed, Feeder
from mtp_trace.verdict.weights_names import Sample, samples
from mtp_trace.verdict.weights_plain import Unquantized
from mtp_trace.verdict.weights_rules import WeightRules, weight_rules

if TYPE_CHECKING:
    from mtp_trace.verdict.judge import Kept

_LISTED = 20
_OF_NOTHING = ("of_nothing.weight", "model.layers.0.of_nothing.weight", "of_nothing.norm.weight")


@dataclass(frozen=True)
class Weighed:
    """What the stage came to, in plain data."""

    weights: dict[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    error: Failure | None = None
    assumptions: tuple[Assumption, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that it makes of an active launch; None: it stays as it is."""
        if self.error is not None:
            return Verdict.STARTUP_ERROR
        return Verdict.DEGRADED if any(f.severity is Severity.ERROR for f in self.findings) else None


@dataclass
class _Run:
    """One way of building and feeding."""

    head: dict[str, Parameter]
    compared: Compared
    fed: Fed
    expected: Expected | None
    failure: Failure | None
    beside: Compared | None = None
    skip: Site | None = None
    places: dict[str, tuple[Site, ...]] = field(default_factory=dict)


class Weigher:
    """Weighs drafts of one tree; what it has read of a folder and found of a launch is kept.

    ``estimating``: say what a head takes where there is nothing to weigh but a configuration.
    """

    def __init__(self) -> None:
        self.rules: WeightRules = weight_rules()
        self.estimating = False
        self._indexes: dict[str, tuple[TensorIndex, QuantizationInfo | None]] = {}
        self._chosen: dict[tuple[int, int | None], list[Sample]] = {}
        self._known: dict[Any, Weighed] = {}

    def applied(self, kept: Kept, out: Outcome, engine: Engine, registry: Registry, files: LaunchFiles) -> Kept:
        """What is kept of a way through, and what the checkpoint makes of it."""
        draft = kept.draft
        if kept.verdict is not Verdict.ACTIVE or draft is None or draft.cls is None or draft.model_path is None:
            return kept
        found, folder = registry.find(draft.cls), files.model_folder(draft.model_path)
        if found is None or folder is None:
            return kept
        weighed = self.weigh(
            out, engine, draft, found, folder, (id(engine), repr(kept.resolved), repr(kept.draft_facts))
        )
        algorithm = attrs.maybe(engine, out.bound["server_args"], self.rules.hidden_field)
        known = weighed.weights is not None and weighed.weights["present"] is not None
        own_head = out.target.get("config.model_path") == draft.model_path
        said = drafthood(engine, self.rules, draft, found, algorithm, known, own_head)
        weighed = replace(weighed, findings=(*said, *weighed.findings))
        failed = weighed.error is not None
        return replace(
            kept,
            verdict=weighed.verdict or kept.verdict,
            stage="weights" if failed else kept.stage,
            error=weighed.error or kept.error,
            weights=weighed.weights,
            findings=(*kept.findings, *weighed.findings),
            assumptions=(*kept.assumptions, *weighed.assumptions),
            reason=next((f.message for f in (weighed.error, *weighed.findings) if f is not None), kept.reason),
        )

    def weigh(
        self, out: Outcome, engine: Engine, draft: DraftInfo, found: DraftClass, folder: ModelFolder, key: Any
    ) -> Weighed:
        """Weighs the draft of one way through the stages. ``key`` tells apart what was resolved."""
        key = (found, str(folder.config_file), self.estimating, key)
        if key not in self._known:
            self._known[key] = self._weigh(out, engine, draft, found, folder)
        return self._known[key]

    def _weigh(self, out: Outcome, engine: Engine, draft: DraftInfo, found: DraftClass, folder: ModelFolder) -> Weighed:
        server_args = out.bound["server_args"]
        if attrs.maybe(engine, server_args, self.rules.load_format_field) in self.rules.without_weights:
            return Weighed()
        try:
            index, quantization = self._index(folder)
        except CheckpointError as error:
            return Weighed(assumptions=(Assumption("the checkpoint's tensors", f"not compared: {error}"),))
        tp, ep = (_number(attrs.maybe(engine, server_args, name)) for name in ("tp_size", "ep_size"))
        if not index.known:
            return self._estimated(out, engine, found, tp or 1, ep or 1) if self.estimating else Weighed()
        renamed = attrs.maybe(engine, server_args, self.rules.renames_first)
        if renamed is not MISSING and renamed is not None and renamed is not False:
            return _unsaid(f"with {self.rules.renames_first} the loader renames tensors before the class sees them")
        try:
            run = self._run(out, engine, found, index, None)
            if run.failure is not None or run.compared.essence != Compared().essence:
                again = self._run(out, engine, found, index, run)
                if again.compared.essence != run.compared.essence or again.failure != run.failure:
                    return _unsaid("how the class takes them hangs on open questions")
        except TraceStop as stop:
            return _unsaid(f"the class cannot be followed: {stop.why}")
        except Refused as refusal:
            if self._refused_anyway(out, engine, found, refusal):
                return Weighed(error=refusal.failure)
            return self._by_filter(out, engine, draft, found, folder, index, refusal.why)
        except Raised as error:
            at = f" at {error.site.file}:{error.site.line}" if error.site is not None else ""
            why = f"the class cannot be built: {type_name(error.value)}{at}: {message_of(error.value)}"
            return self._by_filter(out, engine, draft, found, folder, index, why)
        return self._weighed(run, draft, found, folder, index, quantization, tp, ep, engine)

    def _estimated(self, out: Outcome, engine: Engine, found: DraftClass, tp: int, ep: int) -> Weighed:
        config, server_args = out.bound["draft"], out.bound["server_args"]
        layers = self._layers(out, engine)
        weights = estimated(Builder(engine, self.rules), found, config, server_args, layers, tp, ep)
        return Weighed({**weights, "tensors_from": "nothing"} if weights is not None else None)

    def _layers(self, out: Outcome, engine: Engine) -> int | None:
        text = attrs.maybe(engine, out.bound["draft"], "hf_text_config")
        return _number(attrs.maybe(engine, text, "num_hidden_layers"))

    def _index(self, folder: ModelFolder) -> tuple[TensorIndex, QuantizationInfo | None]:
        place = str(folder.config_file)
        if place not in self._indexes:
            self._indexes[place] = (TensorIndex.of(folder), QuantizationInfo.of(folder))
        return self._indexes[place]

    def _samples(self, index: TensorIndex, layers: int | None) -> list[Sample]:
        """The names to follow, chosen once for an index, which lives as long as this does."""
        key = (id(index), layers)
        if key not in self._chosen:
            self._chosen[key] = samples(index, layers, self.rules.telling)
        return self._chosen[key]

    def _refused_anyway(self, out: Outcome, engine: Engine, found: DraftClass, refusal: Refused) -> bool:
        """Whether the refusal is certain: however questions are answered, and by the quantization alone."""
        builder = Builder(engine, self.rules)
        config, server_args = out.bound["draft"], out.bound["server_args"]
        if refusal.asked:
            try:
                with engine.apart():
                    engine.plan = Answers(True)
                    builder.build(found, config, server_args)
                return False
            except Refused as other:
                if other.failure != refusal.failure:
                    return False
            except (TraceStop, Raised):
                return False
        return not refusal.building or bool(Unquantized(builder, found, config, server_args).built[0])

    def _by_filter(
        self,
        out: Outcome,
        engine: Engine,
        draft: DraftInfo,
        found: DraftClass,
        folder: ModelFolder,
        index: TensorIndex,
        why: str,
    ) -> Weighed:
        """Of a class that cannot be built: does its loader turn every name away, as it does names of nothing?"""
        layers = self._layers(out, engine)
        chosen = [s.name for s in self._samples(index, layers)]
        try:
            with engine.apart():
                engine.plan = Answers(False)
                model, _ = Builder(engine, self.rules).begin(found, out.bound["draft"], out.bound["server_args"])
                feeder = Feeder(engine, self.rules, Built(model, parameters(engine, model), None))
                away = feeder.ends(list(_OF_NOTHING))
                stored = feeder.ends(chosen)
                passed = any(
                    end is None or end not in away.values()
                    for group in probe_groups(self.rules, layers, 1, 1)
                    for end in feeder.ends(group[:_LISTED]).values()
                )
        except (TraceStop, Raised):
            return _unsaid(why)
        if None in away.values() or not passed or not set(stored.values()) <= set(away.values()):
            return _unsaid(why)
        findings = findings_of(Compared(absent=True), Told(draft, found, folder, index))
        note = Assumption("the draft's class", f"only its loader's filter of names was followed: {why}")
        return Weighed(
            {"present": 0, "expected": None, "missing": [], "tensors_from": index.source}, findings, None, (note,)
        )

    # --- tracing ---------------------------------------------------------------------------------------------------

    def _run(self, out: Outcome, engine: Engine, found: DraftClass, index: TensorIndex, first: _Run | None) -> _Run:
        """Builds and feeds; after a ``first`` time, with all open questions answered the other way."""
        config = out.bound["draft"]
        layers = self._layers(out, engine)
        with engine.apart():
            engine.plan = Answers(first is not None)
            built = Builder(engine, self.rules).build(found, config, out.bound["server_args"])
            feeder = Feeder(engine, self.rules, built)
            chosen = self._samples(index, layers)
            fed = feeder.feed(index[s.name] for s in chosen)
            probed = None
            described = built.described()
            experts = experts_of(described)
            beside = (
                feeder.feed([*(index[s.name] for s in chosen), *index.unindexed.values()]) if index.unindexed else None
            )
            head = own_parameters(feeder, described, first is not None)
            needed = needed_of(head, self.rules)
            if first is None and fed.raised is None:
                probed = feeder.probe(probe_groups(self.rules, layers, experts, HEADS), needed)
            known = first.expected if first is not None else None
            if probed is not None:
                routed = routed_experts(probed, experts)
                known = expected(probed, head, needed, routed)
            compared = Comparison(self.rules, head, chosen, fed.loads, index).compare(known)
            plain = Unquantized(Builder(engine, self.rules), found, config, out.bound["server_args"], index, chosen)
            plain.explain(compared)
            failure = self._failure(fed, built) or plain.refused(fed.handed, head, compared)
        run = _Run(head, compared, fed, known, failure, places=built.places)
        if beside is not None:
            run.beside = Comparison(self.rules, head, chosen, beside.loads, index).compare(known)
        run.skip = _usual_end(fed, self.rules.load)
        return run

    def _failure(self, fed: Fed, built: Built) -> Failure | None:
        """The loader's own error, where it is one that a server would die of."""
        if fed.raised is None or fed.raised.site is None or fed.raised.site.model:
            return None
        kind = type_name(fed.raised.value)
        key = fed.message.strip("'\"")
        if kind == "KeyError" and key and key not in built.params and "." in key:
            site = fed.raised.site
            message = f"{fed.message}: the checkpoint's {fed.last} has no place in the class"
            return Failure(kind, message, site.file, site.line, site.end_line)
        return None

    # --- the report ------------------------------------------------------------------------------------------------

    def _weighed(
        self,
        run: _Run,
        draft: DraftInfo,
        found: DraftClass,
        folder: ModelFolder,
        index: TensorIndex,
        quantization: QuantizationInfo | None,
        tp: int | None,
        ep: int | None,
        engine: Engine,
    ) -> Weighed:
        compared = run.compared
        notes: list[Assumption] = []
        stopped = run.fed.raised is not None and run.failure is None
        if stopped and run.fed.last is not None and compared.absent:
            return _unsaid(f"its loader cannot be followed: {run.fed.message}")
        if stopped:
            compared.missing = []
        if run.beside is not None and (
            len(run.beside.missing) < len(compared.missing) or run.beside.absent != compared.absent
        ):
            what = "tensors in files that the index does not name"
            notes.append(Assumption(what, "taken as loaded: the draft's are among them"))
            compared = run.beside
        cost = self._cost(run, compared, index, quantization, tp or 1, ep or 1)
        weights = self._numbers(run, compared, cost, index, engine)
        told = Told(draft, found, folder, index, quantization, run.skip, run.places, self._unquantizing(engine, found))
        findings = findings_of(compared, told)
        if run.failure is not None:
            findings = tuple(f for f in findings if f.rule in EXPLAINING)
        return Weighed(weights, findings, run.failure, tuple(notes))

    def _unquantizing(self, engine: Engine, found: DraftClass) -> tuple[int, ...]:
        """Lines of the draft's file that build something without the quantization it was given."""
        lines = engine.imports.tree.module(found.file).lines(1, 1_000_000)
        return tuple(i for i, line in enumerate(lines, 1) if self.rules.unquantizes.search(line))

    def _cost(
        self, run: _Run, compared: Compared, index: TensorIndex, quantization: QuantizationInfo | None, tp: int, ep: int
    ) -> HeadCost:
        stored = [index[n] for n in compared.names if n in index]
        if stored and not compared.missing and all(t.nbytes is not None for t in stored):
            bits = quantization.weights.bits if quantization is not None else None
            return head_cost(stored, tp=tp, ep=ep if tp % ep == 0 else 1, weight_bits=bits)
        return built_cost(run.head, self.rules, tp, ep)

    def _numbers(
        self, run: _Run, compared: Compared, cost: HeadCost, index: TensorIndex, engine: Engine
    ) -> dict[str, Any]:
        plain = not any(
            self.rules.scale.search(n.rpartition(".")[2]) for n in run.head if not self.rules.optional.search(n)
        )
        wanted = run.expected.count if run.expected is not None and plain else None
        return {
            "present": compared.taken,
            "expected": wanted,
            "missing": compared.missing[:_LISTED],
            "missing_count": len(compared.missing) if not compared.absent else wanted,
            **cost_in_numbers(cost, engine),
            "tensors_from": index.source,
        }


def _unsaid(why: str) -> Weighed:
    return Weighed(assumptions=(Assumption("the checkpoint's tensors", f"not compared: {why}"),))


def _number(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _usual_end(fed: Fed, loader: str) -> Site | None:
    """Where the loader leaves most of the checkpoint's names."""
    taken = {load.tensor for load in fed.loads}
    ends = Counter(site for name, site in fed.ends.items() if name not in taken and loader in site.function)
    return ends.most_common(1)[0][0] if ends else None


__all__ = ["Weighed", "Weigher"]
