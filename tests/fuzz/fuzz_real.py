"""The miniature tree really run, to hold a verdict against: it needs two packages, and both have stand-ins here.

Only for the miniature and what is made of it by exchanging its parts: nothing in there reads or writes a file.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_limit import Hung, limit

SECONDS = 5
_MODELS = "sglang/srt/models"


class _StandIn(types.SimpleNamespace):
    """An object of another package's, or the server's, with no more of it than the miniature uses."""


class _Package(types.ModuleType):
    """Another package, with no more of it than the miniature uses."""


@dataclass
class Run:
    """What a launch came to: ``error`` names the exception; ``fields`` are the resolved arguments.

    ``importing``: the error came up while a module was imported, or is in its syntax. ``outside``: in other code than
    the tree's, for what it was called with, or for a name that only a stand-in is known to lack.
    """

    error: str = ""
    importing: bool = False
    outside: bool = False
    stage: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    worker: str | None = None
    draft: str | None = None
    registered: frozenset[str] = frozenset()


def really_run(
    root: Path, argv: list[str], env: dict[str, str], config: dict[str, Any], paths: set[str], major: int
) -> Run:
    """Runs the stages of a launch on a tree, in this process."""
    run = Run()
    with _stand_ins(root, env, config, paths, major), _silence():
        try:
            with limit(SECONDS):
                _stages(run, argv)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a server that leaves by SystemExit does not start either
            run.error = type(error).__name__
            frames = [f"{f.filename}:{f.name}" for f in traceback.extract_tb(error.__traceback__)]
            run.importing = isinstance(error, (SyntaxError, ImportError)) or any(
                frame.startswith(str(root)) and frame.endswith(":<module>") for frame in frames
            )
            run.outside = isinstance(error, (TypeError, AttributeError)) and not frames[-1].startswith(str(root))
            run.outside = run.outside or isinstance(getattr(error, "obj", None), (_StandIn, _Package))
        run.registered = _registered(root)
    return run


def _stages(run: Run, argv: list[str]) -> None:
    load = importlib.import_module
    run.stage = "args"
    args = load("sglang.srt.server_args").prepare_server_args(argv)
    run.fields = dict(vars(args))
    run.stage = "target-config"
    make = load("sglang.srt.configs.model_config").ModelConfig.from_server_args
    target = make(args)
    algorithm, draft_path = args.speculative_algorithm, args.speculative_draft_model_path
    if algorithm is not None and algorithm != "NGRAM":
        run.stage = "draft-config"
        draft = make(args, model_path=draft_path, is_draft_model=True)
        run.draft = draft.hf_config.architectures[0]
    if algorithm is not None:
        run.stage = "worker"
        value = load("sglang.srt.speculative.spec_info").SpeculativeAlgorithm.from_string(algorithm)
        create = getattr(value, "create_worker", None)  # older trees have none
        run.worker = getattr(create(args), "__name__", None) if create is not None else None
    run.stage = "attention"
    guard = getattr(load("sglang.srt.layers.attention.attention_registry"), "attn_backend_wrapper", None)
    if guard is not None:
        guard(_StandIn(server_args=args, model_config=target), object())
    run.stage = ""


def _registered(root: Path) -> frozenset[str]:
    names: set[str] = set()
    for path in sorted((root / _MODELS).glob("*.py")):
        try:
            with limit(SECONDS):
                exported = importlib.import_module(f"sglang.srt.models.{path.stem}").EntryClass
            names |= {c.__name__ for c in (exported if isinstance(exported, list) else [exported])}
        except (Exception, Hung):  # the registry leaves such a module out
            continue
    return frozenset(names)


@contextlib.contextmanager
def _stand_ins(root: Path, env: dict[str, str], config: dict[str, Any], paths: set[str], major: int) -> Iterator[None]:
    def from_pretrained(path: Any, trust_remote_code: Any = False) -> Any:
        if not isinstance(path, str) or path not in paths:
            raise OSError(f"no model at {path}")
        return types.SimpleNamespace(**config)

    torch, transformers = _Package("torch"), _Package("transformers")
    torch.cuda = _StandIn(get_device_capability=lambda *a, **k: (major, 0))  # type: ignore[attr-defined]
    transformers.AutoConfig = _StandIn(from_pretrained=from_pretrained)  # type: ignore[attr-defined]
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _ours(name)}
    before, written, environ = list(sys.path), sys.dont_write_bytecode, dict(os.environ)
    sys.path.insert(0, str(root))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    sys.modules |= {"torch": torch, "transformers": transformers}
    os.environ.update(env)
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = before, written
        os.environ.clear()
        os.environ.update(environ)
        for name in list(sys.modules):
            if _ours(name):
                del sys.modules[name]
        sys.modules.update(hidden)


def _ours(name: str) -> bool:
    return name.partition(".")[0] in ("sglang", "torch", "transformers")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    sink = io.StringIO()
    with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
