"""Launches found in files, each judged on one tree as far as what the file tells allows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.errors import CheckpointError, InputError
from mtp_trace.launch.model import Launch
from mtp_trace.launch.model_map import ModelMap, find_model
from mtp_trace.report.listing_model import AuditEntry
from mtp_trace.report.model import (
    Assumption,
    Failure,
    LaunchInfo,
    ModelInfo,
    Option,
    Question,
    Report,
    SglangInfo,
    Verdict,
)
from mtp_trace.rules.flags import FlagTable
from mtp_trace.trace.world import Gpu
from mtp_trace.verdict.planner import with_suggestion
from mtp_trace.verdict.planner_edit import applied
from mtp_trace.verdict.session import Session

_HOLE = re.compile(r"\$\{\{.*?\}\}|\{\{.*?\}\}|\$\{[^}]*\}|\$\(.*\)|%[A-Za-z]")
_PLACE = re.compile(r"line \d+: ")
_STAND_INS = ("1", "8")
_MOST_CHOICES = 4
_MOST_HOLES = 4


@dataclass(frozen=True)
class Means:
    """What the user gave to answer with: the GPU, where models are, the environment that names the model cache."""

    gpu: Gpu | None = None
    models: ModelMap = field(default_factory=ModelMap)
    env: Mapping[str, str] | None = None
    suggest: bool = True


@dataclass
class Auditor:
    """Judges launches on one session; a launch that stands in several places is judged once."""

    session: Session
    means: Means = field(default_factory=Means)
    _known: dict[object, Report] = field(default_factory=dict)

    def entries(self, launches: Iterable[Launch]) -> Iterator[AuditEntry]:
        """Every launch with its report, in order."""
        for launch in launches:
            report = self.report(launch)
            name = launch.name
            if launch.conditions:
                name += f" ({', '.join(_PLACE.sub('', c) for c in launch.conditions)})"
            yield AuditEntry(launch.file, launch.line, launch.source, name, report, launch.argv, dict(launch.env),
                             launch.unresolved)  # fmt: skip

    def report(self, launch: Launch) -> Report:
        """One launch's report; what cannot be judged is ``undetermined`` and says what to give."""
        key = (launch.argv, tuple(sorted(launch.env.items())), launch.gpu, launch.gpu_count, launch.unresolved_at)
        report = self._known.get(key)
        if report is None:
            try:
                report = self._judged(launch)
            except InputError as error:
                report = self._unusable(launch, type(error).__name__, error.what)
            self._known[key] = report
        place = f"{launch.file}:{launch.line}"
        return replace(report, assumptions=(*report.assumptions, *(Assumption(note, place) for note in launch.notes)))

    def _judged(self, launch: Launch) -> Report:
        gpu = self._gpu(launch)
        model = find_model(launch.argv)
        if model is None:
            return self._unusable(launch, "NoModel", "the launch names no model")
        if model.index in launch.unresolved_at and self.means.models.apply(model.value) is None:
            message = f"the model is {model.value}, which the file does not tell"
            return self._unusable(launch, "UnknownModel", f"{message}; give --model-map '{model.value}=PATH'")
        folder = self._model(model.value)
        argv = self._local(launch.argv, model.index)
        holes = [i for i in launch.unresolved_at if i != model.index]
        if holes:
            report = self._with_holes(launch, argv, holes, gpu, folder)
        else:
            report = self.session.check(list(argv), dict(launch.env), gpu, folder)
        if self.means.suggest:
            report = with_suggestion(self.session, report, folder, gpu)
        return self._shown(report, launch)

    def _gpu(self, launch: Launch) -> Gpu | None:
        """The GPU that the user gives, else the one that the file hints at."""
        if self.means.gpu is not None or launch.gpu is None:
            return self.means.gpu
        try:
            return self.session.gpus.find(launch.gpu, launch.gpu_count)
        except InputError:
            return None

    def _model(self, value: str) -> ModelFolder:
        """The model's folder: where the map says, else as it is written, else in the local Hugging Face cache."""
        mapped = self.means.models.apply(value)
        try:
            folder = ModelFolder.open(mapped or value, env=self.means.env)
            folder.require_architectures()
        except CheckpointError as error:
            if mapped is not None:
                raise CheckpointError(f"{value} is mapped to {mapped}: {error.what}") from error
            message = f"the model {value} is not on this machine; give --model-map {value}=PATH"
            raise CheckpointError(message if not os.path.exists(value) else f"{value}: {error.what}") from error
        return folder

    def _local(self, argv: Sequence[str], model: int) -> list[str]:
        """The arguments with other mapped paths (a draft's, say) as they are here."""
        words = list(argv)
        for i, word in enumerate(words):
            head, sign, tail = word.partition("=") if word.startswith("-") else ("", "", word)
            mapped = self.means.models.apply(tail) if tail and i != model and not tail.startswith("-") else None
            if mapped is not None:
                words[i] = f"{head}{sign}{mapped}"
        return words

    def _table(self) -> FlagTable:
        assert self.session.judge.adviser is not None
        return FlagTable.of(self.session.judge.adviser.sites)

    def _shown(self, report: Report, launch: Launch) -> Report:
        """The report with the launch, and what is suggested for it, in the file's own words."""
        suggestion = report.suggestion
        if suggestion is not None:
            argv, env = applied(launch.argv, launch.env, suggestion.changes, self._table())
            suggestion = replace(suggestion, argv=argv, env=env)
        info = LaunchInfo(launch.argv, dict(launch.env), report.launch.gpu)
        return replace(report, launch=info, suggestion=suggestion)

    # --- words that the file does not tell ---------------------------------------------------------------------------

    def _with_holes(
        self, launch: Launch, argv: list[str], holes: list[int], gpu: Gpu | None, folder: ModelFolder
    ) -> Report:
        """A launch with unknown words: judged with stand-ins; ``depends`` where they do not come to the same."""
        table = self._table()
        offered = {i: _stand_ins(argv, i, table) for i in holes}
        base = list(argv)
        for i in holes:
            base[i] = offered[i][0]
        first = self.session.check(base, dict(launch.env), gpu, folder)
        questions: list[Question] = []
        for i in holes[:_MOST_HOLES]:
            answers = {offered[i][0]: first}
            for word in offered[i][1:]:
                words = list(base)
                words[i] = word
                answers[word] = self.session.check(words, dict(launch.env), gpu, folder)
            # A stand-in of the wrong kind says nothing: a number for a word, say.
            fit = {w: r for w, r in answers.items() if not _wrong_kind(r, argv, i)}
            if len({_essence(r) for r in fit.values()}) > 1:
                options = tuple(Option(_filled(argv[i], w), r.verdict) for w, r in fit.items())
                questions.append(Question(f"what is {_named(argv, i)}?", options))
            elif fit and _wrong_kind(first, argv, i):
                base[i], first = next(iter(fit.items()))
        told = tuple(Assumption(f"{_named(argv, i)} is not known", "judged with stand-ins for it") for i in holes)
        report = replace(first, assumptions=(*first.assumptions, *told))
        if questions:
            report = replace(report, verdict=Verdict.DEPENDS, stage=None, error=None, findings=(), resolved={},
                             depends_on=(*report.depends_on, *questions))  # fmt: skip
        return report

    def _unusable(self, launch: Launch, kind: str, message: str) -> Report:
        tree = self.session.tree
        model = find_model(launch.argv)
        gpu = self._gpu(launch)
        return Report(
            verdict=Verdict.UNDETERMINED,
            sglang=SglangInfo(tree.root, tree.version, tree.ref),
            model=ModelInfo(model.value if model is not None else ""),
            launch=LaunchInfo(launch.argv, dict(launch.env), gpu.name if gpu is not None else None),
            error=Failure(kind, message),
        )


def _stand_ins(argv: Sequence[str], index: int, table: FlagTable) -> list[str]:
    """Words to try for an unknown one: some of the flag's choices, else small numbers, which texts may be too."""
    flag = table.by_name.get(_flag_at(argv, index))
    values: Sequence[str] = flag.choices[:_MOST_CHOICES] if flag is not None and flag.choices else _STAND_INS
    return list(dict.fromkeys(_HOLE.sub(value, argv[index]) for value in values))


def _flag_at(argv: Sequence[str], index: int) -> str:
    for word in reversed(argv[: index + 1]):
        if word.startswith("--"):
            return word.partition("=")[0]
    return ""


def _named(argv: Sequence[str], index: int) -> str:
    flag = _flag_at(argv, index)
    value = argv[index].partition("=")[2] if argv[index].startswith("--") else argv[index]
    return f"{value} ({flag})" if flag else value


def _filled(word: str, stand_in: str) -> str:
    """What stood in for the hole, without the flag that it is joined to."""
    return stand_in.partition("=")[2] if word.startswith("--") else stand_in


def _wrong_kind(report: Report, argv: Sequence[str], index: int) -> bool:
    """Whether the parser refuses the stand-in as such."""
    message = report.error.message if report.error is not None else ""
    return report.stage == "cli" and message.startswith("argument ") and _flag_at(argv, index) in message


def _essence(report: Report) -> object:
    error = report.error
    return report.verdict, report.stage, (error.type, error.file, error.line) if error is not None else None
