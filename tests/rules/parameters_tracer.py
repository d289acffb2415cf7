"""Runs a release's own argument resolution on the tracer, for one architecture after another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.model import Report
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.spots import descend, spots_of
from mtp_trace.source import SourceTree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.session import Session

CONFIGS = Path(__file__).resolve().parents[2] / "fixtures" / "configs"
FIELDS = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")
DRAFT_PATH = "speculative_draft_model_path"

# A resolution reads keys that only some checkpoints have, so that each holds what all of these do; the first ones' word
# counts. Where a tree wants the model's own type, the next make has it.
MAKES = (
    ("llama3.1", "mimo-v2-flash", "deepseek-v4", "deepseek-v3.2", "qwen3-next", "exaone-moe"),
    ("deepseek-v4", "deepseek-v3.2"),
    ("gpt-oss",),
)
MORE = {"local_layer_ids": [0], "mtp_local_layer_ids": [0]}
GIVEN = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")


@dataclass(frozen=True)
class Resolved:
    """What the arguments came to: whether the draft's path was set to the model's own, and the three numbers."""

    own_path: bool
    numbers: tuple[Any, ...]


class ParametersTracer:
    """The argument resolution of one tree."""

    def __init__(self, tree: SourceTree, folder: Path) -> None:
        self._session = Session(tree, DiskCache())
        self._folder = folder
        self._gpu = self._session.gpus.find("h200", None)

    def resolved(self, architecture: str, *argv: str) -> Resolved | Report:
        """What the tree makes of a launch of this architecture; the report where it refuses every make."""
        report: Report | None = None
        for model in self._models(architecture):
            report = self._session.check([*argv, "--tp", "8", "--disable-radix-cache"], {}, self._gpu, model)
            numbers = tuple(report.resolved.get(f) for f in FIELDS)
            if all(isinstance(n, int) for n in numbers):
                return Resolved(report.resolved.get(DRAFT_PATH) == str(model.path), numbers)
        assert report is not None
        return report

    def _models(self, architecture: str) -> Iterator[ModelFolder]:
        for index, names in enumerate(MAKES):
            config: dict[str, Any] = dict(MORE)
            for name in reversed(names):
                config.update(json.loads((CONFIGS / name / "config.json").read_text()))
            config.pop("quantization_config", None)
            config.pop("auto_map", None)
            config["architectures"] = [architecture]
            config["num_hidden_layers"] = len(config.get("hybrid_layer_pattern", range(config["num_hidden_layers"])))
            folder = self._folder / f"{architecture}-{index}"
            folder.mkdir(exist_ok=True)
            (folder / "config.json").write_text(json.dumps(config))
            yield ModelFolder.open(str(folder))


def named_architectures(sites: Sites) -> set[str]:
    """Every architecture's name in a function that writes one of the fields, or in one that such a function asks."""
    texts: set[str] = set()
    for path in sites.holding(["speculative_num_steps"]):
        spots = spots_of(path, sites.form(path) or [])
        writers = {s.function for s in spots if s.kind == "write" and s.name in {*FIELDS, DRAFT_PATH}} - {""}
        calls = [s.value for s in spots if s.function in writers and s.value is not None and s.value[0] == "call"]
        asked = {n[3][3] for n in calls if n[3][0] == "name"}
        for spot in (s for s in spots if s.function in writers | asked):
            for node in [c.node for c in spot.conditions] + ([spot.value] if spot.value is not None else []):
                texts |= {n[3] for n in descend(node) if n[0] == "const" and isinstance(n[3], str)}
    return {t for t in texts if t.isidentifier() and t.endswith(("ForCausalLM", "ForConditionalGeneration"))}
