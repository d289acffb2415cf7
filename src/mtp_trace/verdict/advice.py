"""What the rules say about a judged launch: the facts that they ask for, gathered from the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mtp_trace.report.model import Finding, Report
from mtp_trace.rules.context import Context, flags_of
from mtp_trace.rules.drift import drift
from mtp_trace.rules.findings import findings_for
from mtp_trace.rules.flags import FlagTable
from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.model import Pack, Rule
from mtp_trace.rules.refused import refused_facts
from mtp_trace.rules.sites import Programs, Sites
from mtp_trace.rules.yamlfile import shipped

if TYPE_CHECKING:
    from mtp_trace.source import SourceTree
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.judge import Kept
    from mtp_trace.verdict.registry import DraftClass


def tree_sites(tree: SourceTree, cache: DiskCache | None = None) -> Sites:
    """The sites of a whole tree."""
    from mtp_trace.verdict.programs import TreePrograms

    return Sites(TreePrograms(tree, cache), shipped("scope.yaml")["tree"])


class Adviser:
    """Applies a rule pack to launches on one tree."""

    def __init__(self, programs: Programs, algorithm: str, pack: Pack | None = None) -> None:
        self._pack = pack
        self._algorithm = algorithm
        self._sites = Sites(programs, shipped("scope.yaml")["launch"])

    @property
    def pack(self) -> Pack:
        """The rules in force, read when first needed."""
        if self._pack is None:
            self._pack = load_pack()
        return self._pack

    @property
    def sites(self) -> Sites:
        """The places of the tree that take part in a launch."""
        return self._sites

    def drift(self) -> tuple[Rule, ...]:
        """Rules that must find a place in what takes part in a launch, and find none in this tree."""
        return tuple(drift(self.pack, self._sites, "site", "any-of-kind"))

    def findings(
        self, kept: Kept, report: Report, config: dict[str, Any] | None, find: Callable[[str], DraftClass | None]
    ) -> tuple[Finding, ...]:
        """The findings of one outcome.  ``config`` is the model's config.json, where there is one; ``find`` looks up a
        registered class."""
        from mtp_trace.verdict.judge import plain

        facts = self._facts(kept, report, config or {})
        facts["target_file"] = lambda: _file_of(facts["architecture"], find)
        files = [kept.draft.file] if kept.draft is not None and kept.draft.file else []
        return findings_for(self.pack, Context(self._sites.plus(files), facts, kept.events, plain))

    def _facts(self, kept: Kept, report: Report, config: dict[str, Any]) -> dict[str, Any]:
        flags = flags_of(report.launch.argv)
        error = kept.error
        text = next((v for k, v in config.items() if k in _TEXT_PARTS and isinstance(v, dict)), config)
        facts: dict[str, Any] = {
            "verdict": kept.verdict.value,
            "stage": kept.stage,
            "error": error.message if error else None,
            "error_type": error.type if error else None,
            "error_file": error.file if error else None,
            "error_line": error.line if error else None,
            "worker": kept.worker,
            "gpu": report.launch.gpu,
            "argv": " ".join(report.launch.argv),
            "version": report.sglang.version,
            "resolved": report.resolved,
            "config": config,
            "text_config": text,
            "env": report.launch.env,
            "target": kept.target,
            "flags": flags,
            "draft_config": kept.draft_facts,
            "architecture": report.model.architectures[0] if report.model.architectures else None,
            "model_type": report.model.model_type,
            "log": [log.message for log in kept.logs],
            "draft": kept.draft.architecture if kept.draft else None,
            "draft_class": kept.draft.cls if kept.draft else None,
            "draft_file": kept.draft.file if kept.draft else None,
        }
        # Before the arguments are resolved, what was asked for stands for what it comes to.
        facts["algorithm"] = (
            report.resolved.get(self._algorithm, flags.get(self._algorithm))
            if report.resolved
            else flags.get(self._algorithm)
        )
        if error is not None and error.message:
            facts |= refused_facts(error.message, lambda: FlagTable.of(self._sites))
        return facts


def _file_of(architecture: str | None, find: Callable[[str], DraftClass | None]) -> str | None:
    found = find(architecture) if architecture else None
    return found.file if found else None


_TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
