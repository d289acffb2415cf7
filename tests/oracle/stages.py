"""One launch through SGLang's own start-up, up to where a GPU would be touched."""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import os
import sysconfig
import traceback
from pathlib import Path

import standins

FIELDS = [
    "speculative_algorithm",
    "speculative_draft_model_path",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "speculative_moe_runner_backend",
    "speculative_attention_mode",
    "speculative_draft_attention_backend",
    "enable_multi_layer_eagle",
    "disable_overlap_schedule",
    "disable_radix_cache",
    "mamba_scheduler_strategy",
    "mamba_radix_cache_strategy",
    "attention_backend",
    "prefill_attention_backend",
    "decode_attention_backend",
    "moe_runner_backend",
    "page_size",
    "max_running_requests",
    "enable_mixed_chunk",
    "device",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "tp_size",
    "dp_size",
    "pp_size",
    "enable_dp_attention",
]

# Imported before the first launch, so that every launch finds the same modules loaded.
WARM = [
    "configs.model_config",
    "speculative.spec_info",
    "model_executor.model_runner",
    "layers.attention.attention_registry",
    "layers.moe.utils",
    "layers.attention.hybrid_linear_attn_backend",
    "speculative.eagle_worker",
    "speculative.eagle_worker_v2",
    "arg_groups.pipeline",
    "arg_groups.speculative_hook",
    "arg_groups.model_hook",
]


class ArgError(Exception):
    """argparse refused the command line."""


def refuse(_parser, message: str):
    raise ArgError(message)


def warm() -> list[str]:
    """Import what the stages need; gives back what could not be imported."""
    argparse.ArgumentParser.error = refuse
    importlib.import_module("sglang.srt.server_args")
    failed = []
    for name in WARM:
        try:
            importlib.import_module(f"sglang.srt.{name}")
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("sglang"):  # a module that this release does not have is no news
                failed.append(f"{name}: {error}")
        except BaseException as error:
            failed.append(f"{name}: {type(error).__name__}: {error}"[:200])
    return failed


class Launch:
    """Runs the stages in order; `outcome` holds what was reached, `stage` where it stands."""

    def __init__(self, argv: list[str]):
        self.argv = argv
        self.stage = "args"
        self.outcome: dict = {}

    def run(self) -> None:
        self.arguments()
        self.configs()
        self.worker()
        self.attention()
        self.outcome["ok"] = True

    def arguments(self) -> None:
        from sglang.srt import server_args

        self.args = server_args.prepare_server_args(list(self.argv))
        if hasattr(self.args, "resolve_once"):  # resolution is a step of its own in recent releases
            self.args.resolve_once()
        self.stage = "check"
        if hasattr(self.args, "check_server_args"):
            self.args.check_server_args()
        self.fields = {name: self.resolved(name) for name in FIELDS if hasattr(self.args, name)}
        self.outcome["fields"] = self.fields

    def resolved(self, name: str):
        try:
            from sglang.srt.arg_groups.overrides import resolution_result
        except ImportError:
            return getattr(self.args, name)
        try:
            return resolution_result(self.args, name)
        except Exception:
            return getattr(self.args, name, None)

    def configs(self) -> None:
        from sglang.srt.configs.model_config import ModelConfig

        self.stage = "target_config"
        self.target = ModelConfig.from_server_args(self.args)
        self.outcome["target"] = {"arch": self.target.hf_config.architectures[0]}
        if self.fields.get("speculative_algorithm") in (None, "NGRAM"):
            return
        self.stage = "draft_config"
        path = self.fields["speculative_draft_model_path"]
        draft = ModelConfig.from_server_args(self.args, model_path=path, is_draft_model=True)
        self.outcome["draft"] = {
            "arch": draft.hf_config.architectures[0],
            "num_nextn_predict_layers": getattr(draft.hf_text_config, "num_nextn_predict_layers", None),
            "attr": getattr(draft, "num_nextn_predict_layers", None),
            "num_hidden_layers": getattr(draft, "num_hidden_layers", None),
        }

    def worker(self) -> None:
        algorithm = self.fields.get("speculative_algorithm")
        if not algorithm:
            return
        self.stage = "worker"
        try:
            from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

            chosen = SpeculativeAlgorithm.from_string(algorithm)
            if hasattr(chosen, "create_worker"):
                self.outcome["worker"] = chosen.create_worker(self.args).__name__
        except (ImportError, AttributeError, NameError, TypeError) as error:  # its kernels' imports, not its choice
            self.outcome["worker_skipped"] = f"{type(error).__name__}: {error}"[:160]

    def attention(self) -> None:
        """The model runner's guards on attention backends: empty passed, text the message, absent not reached."""
        self.stage = "attention"
        try:
            from sglang.srt.layers.attention import attention_registry

            runner = self.runner()
        except Exception:
            return
        wrapper = getattr(attention_registry, "attn_backend_wrapper", None)
        if wrapper is None:
            return
        verdict = guarded(attention_registry.__file__, functools.partial(wrapper, runner, object()))
        if verdict is not None:
            self.outcome["attention_guard"] = verdict
        backends = getattr(attention_registry, "ATTENTION_BACKENDS", {})
        for name in sorted({runner.prefill_attention_backend_str, runner.decode_attention_backend_str} - {None}):
            if name in backends:
                # What the runner builds first; the entry of the registry may refuse this GPU or model.
                refused = guarded(attention_registry.__file__, functools.partial(backends[name], runner))
                if refused:
                    self.outcome.setdefault("backend_guard", f"{name}: {refused}"[:300])

    def runner(self):
        """A model runner that was never initialised but for what the guards read."""
        from sglang.srt.configs.model_config import AttentionArch
        from sglang.srt.model_executor import model_runner

        publish(self.args)
        runner = object.__new__(model_runner.ModelRunner)
        split = (self.fields.get("prefill_attention_backend"), self.fields.get("decode_attention_backend"))
        prefill, decode = (name or self.fields.get("attention_backend") for name in split)
        values = {
            "server_args": self.args, "model_config": self.target, "is_draft_worker": False, "is_hybrid_swa": False,
            "use_mla_backend": self.target.attention_arch == AttentionArch.MLA, "device": self.fields.get("device"),
            "prefill_attention_backend_str": prefill, "decode_attention_backend_str": decode,
            "req_to_token_pool": standins.blank("pool"),  # recent releases ask it for a dtype before the guard
        }  # fmt: skip
        if hasattr(model_runner, "_UNSET"):
            values["_linear_attn_registry_cache"] = model_runner._UNSET
        for name, value in values.items():
            try:
                setattr(runner, name, value)
            except AttributeError:  # a property in this release
                runner.__dict__[name] = value
        return runner


def publish(args) -> None:
    """What the scheduler process does with its arguments before it builds a runner."""
    try:
        from sglang.srt.runtime_context import publish as publish_context

        publish_context(args, role="scheduler")
        return
    except ImportError:
        pass
    try:
        from sglang.srt.server_args import set_global_server_args_for_scheduler

        set_global_server_args_for_scheduler(args)
    except ImportError:
        pass


def guarded(registry: str, call) -> str | None:
    """Message of an assertion in the registry itself; empty where construction began behind it; else None."""
    try:
        call()
    except AssertionError as error:
        here = traceback.extract_tb(error.__traceback__)[-1]
        return str(error)[:300] if here.filename == registry else built(registry, error)
    except BaseException as error:
        return built(registry, error)
    return ""


def built(registry: str, error: BaseException) -> str | None:
    """Empty where the registry had already called a backend's constructor, which is what fails without a GPU."""
    frames = traceback.extract_tb(error.__traceback__)
    after = [f for before, f in itertools.pairwise(frames) if before.filename == registry and f.filename != registry]
    return "" if after and after[0].name in ("__init__", "__new__") else None


def failure(error: BaseException, tree: Path) -> dict:
    """How a stage failed: the error, the last line inside the tree, and the other package that raised, if one did."""
    if isinstance(error, SystemExit):
        return {"ok": False, "error": "SystemExit", "message": str(error.code)}
    found = {"ok": False, "error": type(error).__name__, "message": str(error)}
    if isinstance(error, ArgError):
        return found | {"stage": "cli"}
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if Path(f.filename).is_relative_to(tree)]
    if inside:
        found["at"] = f"{os.path.relpath(inside[-1].filename, tree)}:{inside[-1].lineno}:{inside[-1].name}"
    last = Path(frames[-1].filename) if frames else tree
    package = package_of(last)
    # Asking a config object for a key that it has not got is the asking line's error, not the package's.
    asked = type(error) is AttributeError and bool(frames) and frames[-1].name in ("__getattr__", "__getattribute__")
    if package and not last.is_relative_to(tree) and not asked:
        found["external"] = package
    return found


def package_of(file: Path) -> str | None:
    """Top-level package of a file below site-packages or a folder on PYTHONPATH."""
    roots = {sysconfig.get_paths()[key] for key in ("purelib", "platlib")}
    roots |= {os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p}
    for root in roots:
        if file.is_relative_to(root):
            return file.relative_to(root).parts[0]
    return None
