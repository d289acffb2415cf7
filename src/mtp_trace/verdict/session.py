"""One SGLang tree, opened once, and the launches judged on it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.launch.gpus import GpuTable
from mtp_trace.report.model import Finding, LaunchInfo, ModelInfo, Report, SglangInfo
from mtp_trace.rules.data import data_root
from mtp_trace.rules.flags import FlagTable
from mtp_trace.rules.model import Pack, Rule
from mtp_trace.rules.yamlfile import shipped
from mtp_trace.source import SourceTree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.explore import explore
from mtp_trace.trace.setup import make_engine, moved
from mtp_trace.trace.world import Gpu
from mtp_trace.verdict.advice import Adviser
from mtp_trace.verdict.backends import Refusal, agreed, refusal
from mtp_trace.verdict.backends_fix import fix_of, other_backends
from mtp_trace.verdict.case import model_path_of
from mtp_trace.verdict.entry import entrypoints
from mtp_trace.verdict.files import LaunchFiles, folders_named
from mtp_trace.verdict.judge import Judge, Kept
from mtp_trace.verdict.outside import make_world
from mtp_trace.verdict.planner_edit import applied
from mtp_trace.verdict.programs import ModelPrograms, TreePrograms
from mtp_trace.verdict.run import StageRunner
from mtp_trace.verdict.weights import Weigher

T = TypeVar("T")
_MAX_WORLDS = 24
_MAX_PATHS = 48


class Session:
    """Judges launches on one tree. What was imported is shared between GPUs that are alike to it."""

    def __init__(self, tree: SourceTree, cache: DiskCache | None = None, pack: Pack | None = None) -> None:
        self.tree = tree
        self.programs = TreePrograms(tree, cache)
        self.models = ModelPrograms(data_root() / "models", cache)
        self.gpus = GpuTable(shipped("gpus.yaml"))
        self.entry = entrypoints()
        self.judge = Judge(tree, self.programs, self.entry, Adviser(self.programs, self.entry.algorithm, pack))
        self.weigher = Weigher()
        self._engines: list[Engine] = []

    def check(self, argv: list[str], env: dict[str, str], gpu: Gpu | None, model: ModelFolder | None = None,
              case: str | None = None) -> Report:  # fmt: skip
        """Judges one launch.

        ``argv`` are SGLang's own arguments; the model's path is added where they name none. ``gpu`` None: whatever
        hangs on it is answered as ``depends``.
        """
        argv, aliases = _with_model(argv, model)
        roots = [*folders_named(argv), *([model.path] if model is not None else [])]
        files = LaunchFiles(roots, aliases)
        info = LaunchInfo(tuple(argv), dict(env), gpu.name if gpu is not None else None)
        named = model or _model_named(argv)
        model_info = _model_info(argv, named)
        sglang = SglangInfo(self.tree.root, self.tree.version, self.tree.ref)
        gpus = [gpu] if gpu is not None else [self.gpus.find(name) for name in self.gpus.asked]
        found = deep(lambda: [(g, self._explore(argv, env, g, files)) for g in gpus])
        report = self.judge.report(found, sglang, model_info, info, case, asked_gpu=gpu is not None,
                                   config=named.config if named is not None else None)  # fmt: skip
        refused = agreed(path.outcome.refused for _, e in found for path in e.paths)
        if refused is None or not all(e.complete for _, e in found):
            return report
        return replace(report, findings=(self._fixed(refused, report, env, gpu, files), *report.findings))

    def _fixed(
        self, refused: Refusal, report: Report, env: dict[str, str], gpu: Gpu | None, files: LaunchFiles
    ) -> Finding:
        """The finding, with the first other backend on which the same launch comes as far."""
        if self.judge.adviser is None or gpu is None:
            return refused.finding
        table = FlagTable.of(self.judge.adviser.sites)
        for change in other_backends(refused, report.launch.argv, self.entry.backends.main, table):
            argv, _ = applied(report.launch.argv, env, (change,), table)
            found = deep(partial(self._explore, list(argv), env, gpu, files))
            outcomes = [path.outcome for path in found.paths]
            if found.complete and all(k.verdict is report.verdict and k.refused is None for k in outcomes):
                return replace(refused.finding, fix=fix_of(change))
        return refused.finding

    def drift(self) -> tuple[Rule, ...]:
        """Rules that must find a place in any tree, and find none in this one."""
        return self.judge.adviser.drift() if self.judge.adviser is not None else ()

    def _explore(self, argv: list[str], env: dict[str, str], gpu: Gpu, files: LaunchFiles) -> Any:
        engine = self._engine(gpu, env)
        engine.world.files = files
        runner = StageRunner(engine, self.entry)

        def once() -> Kept:
            out = runner.run(argv)
            out.assumptions.update(engine.assumptions)
            kept = self.weigher.applied(self.judge.keep(out, engine), out, engine, self.judge.registry, files)
            return replace(kept, refused=refusal(runner, out)) if kept.stage is None else kept

        return explore(engine, once, _MAX_PATHS)

    def _engine(self, gpu: Gpu, env: dict[str, str]) -> Engine:
        engine = next((e for e in reversed(self._engines) if e.world.env == env and moved(e, gpu)), None)
        if engine is None:
            engine = make_engine(self.programs, self.models, make_world(self.tree, gpu, dict(env)))
        else:
            self._engines.remove(engine)
        self._engines.append(engine)
        del self._engines[:-_MAX_WORLDS]
        return engine


def _with_model(argv: list[str], model: ModelFolder | None) -> tuple[list[str], dict[str, Path]]:
    """The arguments with a model path in them, and what that path stands for here."""
    if model is None:
        return list(argv), {}
    place = model.config_file if model.bare else model.path
    named = model_path_of(argv)
    if named is None:
        return ["--model-path", str(place), *argv], {}
    return list(argv), {named: place}


def _model_named(argv: list[str]) -> ModelFolder | None:
    path = model_path_of(argv)
    return ModelFolder.open(path) if path is not None and os.path.isfile(os.path.join(path, "config.json")) else None


def _model_info(argv: list[str], model: ModelFolder | None) -> ModelInfo:
    if model is None:
        return ModelInfo(model_path_of(argv) or "")
    return ModelInfo(str(model.path), tuple(model.architectures or ()), model.model_type)


def deep(run: Callable[[], T]) -> T:
    """Runs something on a thread whose stack takes deep recursion."""
    box: list[T] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            box.append(run())
        except BaseException as error:
            failure.append(error)

    limit = sys.getrecursionlimit()
    size = threading.stack_size(256 * 1024 * 1024)
    sys.setrecursionlimit(max(limit, 30_000))
    try:
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return box[0]
