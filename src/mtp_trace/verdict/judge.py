"""From what the stages came to, to a report: the verdict, the error, what it hangs on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mtp_trace.report.model import (
    Assumption,
    DraftInfo,
    Failure,
    Finding,
    LaunchInfo,
    LogLine,
    ModelInfo,
    Option,
    Question,
    Report,
    SglangInfo,
    Step,
    Verdict,
)
from mtp_trace.source import SourceTree
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import OBJECT, message_of
from mtp_trace.trace.events import Event
from mtp_trace.trace.ops import payload, type_name
from mtp_trace.trace.values import Instance, Raised, Unknown, Value
from mtp_trace.verdict.advice import Adviser
from mtp_trace.verdict.backends import Refusal
from mtp_trace.verdict.entry import Entrypoints
from mtp_trace.verdict.programs import TreePrograms
from mtp_trace.verdict.registry import DraftClass, Registry
from mtp_trace.verdict.run import Outcome, error_site, named_in


@dataclass(frozen=True)
class Kept:
    """An outcome in plain data, safe to keep after the engine's state is rolled back."""

    verdict: Verdict
    stage: str | None
    error: Failure | None
    resolved: dict[str, Any]
    draft: DraftInfo | None
    worker: str | None
    path: tuple[Step, ...]
    logs: tuple[LogLine, ...]
    assumptions: tuple[Assumption, ...]
    reason: str = ""
    events: tuple[tuple[str, Event], ...] = field(default=(), compare=False)
    target: dict[str, Any] = field(default_factory=dict)
    draft_facts: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    refused: Refusal | None = None


class Judge:
    """Turns outcomes into reports for one tree; ``adviser`` adds what the rules say."""

    def __init__(
        self, tree: SourceTree, programs: TreePrograms, entry: Entrypoints, adviser: Adviser | None = None
    ) -> None:
        self.tree, self.entry, self.adviser = tree, entry, adviser
        self.registry = Registry(programs, entry.registry_package, entry.registry_exports)

    # --- one way through -------------------------------------------------------------------------------------------

    def keep(self, out: Outcome, engine: Engine) -> Kept:
        """The verdict of one way through, in plain data."""
        resolved = {name: plain(value) for name, value in out.resolved.items()}
        draft = self._draft(out)
        if out.raised is not None and out.raised.package:
            version = engine.world.versions.get(out.raised.package, "")
            out.assumptions[f"{out.raised.package} {version}".strip()] = (
                "the error comes from inside this package, at the version that the tree pins: "
                "another version may not raise it"
            )
        verdict, stage, error, reason = self._verdict(out, draft)
        return Kept(
            verdict=verdict, stage=stage, error=error, resolved=resolved, draft=draft,
            worker=out.worker if isinstance(out.worker, str) else None, path=self._path(out), logs=_logs(out),
            assumptions=tuple(Assumption(k, v) for k, v in out.assumptions.items()), reason=reason,
            events=tuple(out.events),
            target={k: plain(v) for k, v in out.target.items()}, draft_facts={k: plain(v) for k,
                                                                              v in out.draft.items()},
        )  # fmt: skip

    def _verdict(self, out: Outcome, draft: DraftInfo | None) -> tuple[Verdict, str | None, Failure | None, str]:
        if out.missing is not None:
            failure = Failure("EntryPointMissing", f"{out.missing}: this layout is not one that can be followed")
            return Verdict.UNDETERMINED, out.stage, failure, out.missing
        if out.stop is not None:
            site = error_site(out)
            failure = Failure("TraceStopped", out.stop.why, *(site.file, site.line, site.end_line) if site else ())
            return Verdict.UNDETERMINED, out.stage, failure, out.stop.why
        if out.raised is not None:
            return self._raised(out)
        algorithm = out.resolved.get(self.entry.algorithm)
        if algorithm is None:
            return Verdict.INACTIVE, None, None, "nothing turns speculation on"
        if isinstance(algorithm, Unknown):
            return Verdict.DEPENDS, None, None, algorithm.key
        if draft is not None and draft.architecture is None and named_in(algorithm, self.entry.own_draft):
            return _unnamed(out.draft)
        if draft is not None and named_in(algorithm, self.entry.own_draft):
            if draft.architecture == _architecture(out.target):
                return Verdict.DEGRADED, None, None, "the draft is the whole target model again"
            if draft.cls is None:
                message = f"{draft.architecture} is in no model registry of this tree"
                return Verdict.STARTUP_ERROR, "registry", Failure("ValueError", message), message
        return Verdict.ACTIVE, None, None, ""

    def _raised(self, out: Outcome) -> tuple[Verdict, str | None, Failure | None, str]:
        assert out.raised is not None
        value, site = out.raised.value, out.raised.site
        refusal = value.attrs.get("refusal") if isinstance(value, Instance) else None
        if refusal is not None:
            return Verdict.STARTUP_ERROR, "cli", Failure("ArgumentError", str(refusal)), str(refusal)
        message = message_of(value)
        if _inconsistent(out.raised, message):
            why = (
                f"{message}: the tree asks for a name that it does not have, so its layout cannot be followed"
            )
            where = (site.file, site.line, site.end_line) if site is not None else ()
            return Verdict.UNDETERMINED, out.stage, Failure("LayoutUnknown", why, *where), why
        place = (site.file, site.line, site.end_line) if site is not None else ()
        failure = Failure(type_name(value) if isinstance(value, Instance) else short_name(value), message, *place)
        return Verdict.STARTUP_ERROR, out.stage, failure, message

    def _draft(self, out: Outcome) -> DraftInfo | None:
        if not out.draft:
            return None
        name = _architecture(out.draft)
        found: DraftClass | None = self.registry.find(name) if name else None
        layers = plain(out.draft.get("num_nextn_predict_layers"))
        path = plain(out.draft.get("config.model_path"))
        return DraftInfo(
            architecture=name, cls=found.name if found else None, file=found.file if found else None,
            line=found.line if found else None,
            num_nextn_predict_layers=layers if isinstance(layers, int) and not isinstance(layers, bool) else None,
            model_path=path if isinstance(path, str) else None,
        )  # fmt: skip

    def _path(self, out: Outcome) -> tuple[Step, ...]:
        watched = set(self.entry.fields)
        steps: list[Step] = []
        for stage, e in out.events:
            guard = f"because {e.guards[-1].text}" if e.guards else ""
            if (e.kind == "write" and e.name in watched and e.record == self.entry.arguments) or e.kind == "item":
                steps.append(_step(stage, e, f"{e.name} = {plain_text(e.value)}", guard))
            elif e.kind == "call":
                fields = {k: v for k, v in e.value[1].items() if k in watched}
                steps += [_step(stage, e, f"{k} = {plain_text(v)}", guard) for k, v in fields.items()]
            elif e.kind == "raise":
                steps.append(_step(stage, e, f"raise {e.name}", guard))
        return tuple(steps)

    # --- all ways through ------------------------------------------------------------------------------------------

    def report(self, found: list[tuple[Any, Any]], sglang: SglangInfo, model: ModelInfo, launch: LaunchInfo,
               case: str | None, asked_gpu: bool, config: dict[str, Any] | None = None) -> Report:  # fmt: skip
        """One report from every GPU tried and every way through on it; ``config`` is the model's config.json."""
        report, kept = self._all(found, sglang, model, launch, case, asked_gpu)
        if self.adviser is None:
            return report
        said = self.adviser.findings(kept, report, config, self.registry.find)
        return replace(report, findings=(*report.findings, *said))

    def _all(self, found: list[tuple[Any, Any]], sglang: SglangInfo, model: ModelInfo, launch: LaunchInfo,
             case: str | None,
             asked_gpu: bool) -> tuple[Report, Kept]:  # fmt: skip
        rows = [(gpu, path.decisions, path.outcome) for gpu, e in found for path in e.paths]
        first: Kept = rows[0][2]
        kept = [row[2] for row in rows]
        same = all(_essence(k) == _essence(first) for k in kept)
        if not all(e.complete for _, e in found):
            same = False
        if same:
            return self._one(first, _merged(kept), (), sglang, model, launch, case), first
        hanging = self._hanging(rows, found)
        return self._one(hanging, _merged(kept), self._questions(rows, asked_gpu), sglang, model, launch, case), hanging

    def _hanging(self, rows: list[Any], found: list[Any]) -> Kept:
        base: Kept = rows[0][2]
        verdicts = {row[2].verdict for row in rows}
        places = {_place(row[2]) for row in rows}
        if all(e.complete for _, e in found) and len(places) == 1 and Verdict.UNDETERMINED not in verdicts:
            return base
        if Verdict.UNDETERMINED in verdicts or not all(e.complete for _, e in found):
            stopped = next((row[2] for row in rows if row[2].verdict is Verdict.UNDETERMINED), base)
            error = stopped.error or Failure("TooManyQuestions", "more open questions than can be followed")
            return Kept(
                Verdict.UNDETERMINED,
                stopped.stage or "args",
                error,
                {},
                None,
                None,
                base.path,
                base.logs,
                base.assumptions,
            )
        return Kept(Verdict.DEPENDS, None, None, {}, base.draft, base.worker, base.path, base.logs, base.assumptions)

    def _questions(self, rows: list[Any], asked_gpu: bool) -> tuple[Question, ...]:
        questions: list[Question] = []
        if not asked_gpu:
            options: dict[str, Verdict] = {}
            for gpu, _, kept in rows:
                options.setdefault(gpu.name, kept.verdict)
            if len({*options.values()}) > 1:
                questions.append(Question("which GPU does it run on?", tuple(Option(k, v) for k, v in options.items())))
        keys: dict[str, dict[str, Verdict]] = {}
        for _, decisions, kept in rows:
            for d in decisions:
                keys.setdefault(d.key, {}).setdefault("yes" if d.answer else "no", kept.verdict)
        for key, answers in keys.items():
            if len(set(answers.values())) > 1:
                questions.append(Question(f"is {key} true?", tuple(Option(k, v) for k, v in sorted(answers.items()))))
        return tuple(questions)

    def _one(self, kept: Kept, resolved: dict[str, Any], questions: tuple[Question, ...], sglang: SglangInfo,
             model: ModelInfo,
             launch: LaunchInfo, case: str | None) -> Report:  # fmt: skip
        return Report(
            verdict=kept.verdict, sglang=sglang, model=model, launch=launch, id=case, stage=kept.stage,
            resolved=resolved,
            draft=kept.draft, worker=kept.worker, error=kept.error, depends_on=questions, path=kept.path,
            logs=kept.logs,
            assumptions=kept.assumptions, findings=kept.findings, weights=kept.weights,
        )  # fmt: skip


def _unnamed(facts: dict[str, Value]) -> tuple[Verdict, str | None, Failure | None, str]:
    """The verdict on a draft whose architecture is no name."""
    names = facts.get("architectures")
    first = names[0] if isinstance(names, (list, tuple)) and names else names
    if isinstance(first, Unknown):
        why = f"which architecture the draft has hangs on {first.key}: {first.why}"
        return Verdict.UNDETERMINED, "registry", Failure("ArchitectureUnknown", why), why
    if first is None or first is names:
        return Verdict.ACTIVE, None, None, ""
    message = f"{plain_text(first)} is in no model registry of this tree"
    return Verdict.STARTUP_ERROR, "registry", Failure("ValueError", message), message


_MISSING_NAMES = ("NameError", "ImportError")


def _inconsistent(error: Raised, message: str) -> bool:
    """A name of the tree's own that is not there: no release is like that, so the reading is wrong, not the launch."""
    if error.explicit or error.package or not isinstance(error.value, Instance):
        return False
    names = {c.name for c in error.value.cls.mro}
    if any(n in names for n in _MISSING_NAMES):
        return True
    if "AttributeError" not in names:
        return False
    # What a config object lacks is the checkpoint's doing; what a class of the tree alone lacks is not.
    owner = error.value.attrs.get("obj")
    own = isinstance(owner, Instance) and all(
        c is OBJECT or (c.site is not None and not c.site.model) for c in owner.cls.mro
    )
    return own or message.startswith(("module '", "type object '"))


def _merged(kept: list[Kept]) -> dict[str, Any]:
    """Resolved fields that all ways agree on; the others unknown."""
    out: dict[str, Any] = {}
    for name in kept[0].resolved:
        values = [k.resolved.get(name) for k in kept]
        out[name] = values[0] if all(v == values[0] for v in values) else {"unknown": "it hangs on an open question"}
    return out


def _place(kept: Kept) -> Any:
    """What an operator would call the same outcome: the verdict and, for an error, where it is raised."""
    error = (kept.error.type, kept.error.file, kept.error.line) if kept.error else None
    return kept.verdict, kept.stage, error, kept.draft.architecture if kept.draft else None, kept.worker


def _essence(kept: Kept) -> Any:
    error = (kept.error.type, kept.error.file, kept.error.line) if kept.error else None
    return (
        kept.verdict,
        kept.stage,
        error,
        kept.draft,
        kept.worker,
        tuple(sorted((k, repr(v)) for k, v in kept.resolved.items())),
    )


def _architecture(facts: dict[str, Value]) -> str | None:
    names = facts.get("architectures")
    return names[0] if isinstance(names, (list, tuple)) and names and isinstance(names[0], str) else None


def _step(stage: str, e: Event, text: str, note: str) -> Step:
    return Step(stage, e.kind, e.site.file, e.site.line, e.site.function, text, note)


def _logs(out: Outcome) -> tuple[LogLine, ...]:
    return tuple(
        LogLine(e.name, str(e.value), e.site.file, e.site.line)
        for _, e in out.events
        if e.kind == "log" and e.name != "DEBUG"
    )


def plain(value: Value) -> Any:
    """A value as the report shows it: plain data, or ``{"unknown": why}``."""
    value = payload(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Unknown):
        return {"unknown": value.why}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Instance) and "_value_" in value.attrs:
        return plain(value.attrs["_value_"])
    return {"unknown": f"an object of {type_name(value)}"}


def plain_text(value: Value) -> str:
    """A value in a step's text."""
    shown = plain(value)
    return f"<{shown['unknown']}>" if isinstance(shown, dict) and "unknown" in shown else repr(shown)


def short_name(value: Value) -> str:
    """The name of an exception that is not known in full."""
    return value.key.split("(")[0] if isinstance(value, Unknown) else "Exception"
