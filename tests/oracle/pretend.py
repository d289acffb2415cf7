"""Pretend that a GPU is there, and that the packages which a release pins are the ones installed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import stat
import tempfile
import types
from pathlib import Path

import standins
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


def load_platform(path: Path) -> dict:
    platform = json.loads(path.read_text())
    if platform["vendor"] != "nvidia":
        raise SystemExit(f"{path}: only nvidia is known here")
    return platform


def nvidia_smi(platform: dict) -> None:
    """SGLang asks `nvidia-smi --query-gpu=memory.total` for the memory size: put one that knows it on the PATH."""
    folder = Path(tempfile.mkdtemp(prefix="smi-"))
    script = folder / "nvidia-smi"
    answer = "\\n".join([str(platform["memory_mib"])] * platform["gpus"])
    script.write_text(f"#!/bin/sh\nprintf '{answer}\\n'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def cuda(platform: dict) -> None:
    """torch.cuda answers as on the machine of the platform file."""
    import torch

    major, minor = (int(part) for part in platform["compute_capability"].split("."))
    memory = platform["memory_mib"] * 2**20
    properties = types.SimpleNamespace(
        name=platform["product"], major=major, minor=minor, total_memory=memory, uuid="GPU-0", gcnArchName="",
        warp_size=32, multi_processor_count=platform["multiprocessors"], is_integrated=False,
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, shared_memory_per_multiprocessor=233472,
    )  # fmt: skip
    answers = {
        "is_available": True, "is_initialized": False, "device_count": platform["gpus"], "current_device": 0,
        "get_device_name": platform["product"], "get_device_capability": (major, minor),
        "get_device_properties": properties, "mem_get_info": (memory, memory), "set_device": None, "synchronize": None,
        "empty_cache": None, "_lazy_init": None,
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_args, _answer=answer, **_kwargs: _answer)
    torch.version.cuda = platform["cuda"]


def custom_ops() -> None:
    """Operators of kernel packages are registered and looked up at import time; none of them is called."""
    import torch

    def keep(*_args, **_kwargs):
        return lambda function: function

    torch.library.register_fake = keep
    torch.library.impl = keep
    for name in ("_is_amx_tile_supported", "_init_amx"):
        if not hasattr(torch._C._cpu, name):
            setattr(torch._C._cpu, name, lambda: False)
    namespace = torch._ops._OpNamespace
    look_up = namespace.__getattr__

    def look_up_or_blank(self, name):
        try:
            return look_up(self, name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return standins.blank(name)

    namespace.__getattr__ = look_up_or_blank


def processors() -> None:
    """Without torchvision, transformers gives dummies for the image classes, on which SGLang calls `register`."""
    import transformers

    for name in ("AutoImageProcessor", "AutoVideoProcessor", "BaseImageProcessor", "BaseImageProcessorFast"):
        try:
            getattr(transformers, name).register  # noqa: B018 - the access itself is what fails
        except Exception:
            setattr(transformers, name, type(name, (), {"register": classmethod(lambda cls, *_a, **_k: None)}))


def triton_cache() -> None:
    """Names that the triton of this machine may have dropped and older releases import."""
    try:
        import triton.runtime.cache as cache
    except ImportError:
        return
    for name in ("default_cache_dir", "default_override_dir", "default_dump_dir"):
        if not hasattr(cache, name):
            setattr(cache, name, tempfile.gettempdir)


def wanted(requirement: Requirement) -> bool:
    """Required outright, or by the extras that every server is installed with."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", "srt", "runtime-common"))


def pins(tree: Path) -> dict[str, str]:
    """`Requires-Dist: name==version` lines of the release, by canonical name."""
    found = {"sgl-kernel": "0.3.21", "flashinfer-python": "0.6.3"}
    for metadata in tree.glob("sglang-*.dist-info/METADATA"):
        for line in metadata.read_text().splitlines():
            if not line.startswith("Requires-Dist:"):
                continue
            try:
                requirement = Requirement(line.partition(":")[2].strip())
            except InvalidRequirement:
                continue
            exact = [s.version for s in requirement.specifier if s.operator == "=="]
            if exact and wanted(requirement):
                found[canonicalize_name(requirement.name)] = exact[0]
        if "sglang-kernel" in found:
            found["sgl-kernel"] = found["sglang-kernel"]
    return found


def versions(tree: Path) -> None:
    """importlib.metadata.version: the pinned version where the release pins one, else what is installed."""
    pinned, really = pins(tree), importlib.metadata.version
    importlib.metadata.version = lambda name: pinned.get(canonicalize_name(name)) or really(name)
