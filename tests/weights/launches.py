"""Launches of miniature checkpoints on real releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from checkpoint.make import Spec, make_checkpoint

from mtp_trace.report.model import Report
from mtp_trace.source import SourceTree
from mtp_trace.verdict.session import Session

from .kinds import Kind

RELEASES = ("0.5.9", "0.5.12", "0.5.18", "0.5.23")
Release = Callable[[str], SourceTree]
_sessions: dict[str, Session] = {}


def session_of(release: Release, version: str) -> Session:
    """The one session of a release."""
    if version not in _sessions:
        _sessions[version] = Session(release(version))
    return _sessions[version]


def check(release: Release, version: str, kind: Kind, place: Path, *more: str, gpu: str = "h200") -> Report:
    """The checkpoint in ``place``, launched as its family starts on that release."""
    session = session_of(release, version)
    argv = ["--model-path", str(place), "--speculative-algorithm", "NEXTN", *more]
    env = {}
    hybrid = "hybrid_override_pattern" in kind.config
    linear = "linear_num_key_heads" in json.dumps(dict(kind.config))
    if version == "0.5.12" and (hybrid or (linear and gpu.startswith("mi"))):
        argv += ["--disable-radix-cache"]
    elif version == "0.5.12" and linear:
        argv += ["--mamba-scheduler-strategy", "extra_buffer"]
        env["SGLANG_ENABLE_SPEC_V2"] = "1"
    return session.check(argv, env, session.gpus.find(gpu))


def folder(place: Path, kind: Kind, head: dict[str, Spec], **extra: Any) -> Path:
    """A checkpoint of the family with this head, headers only."""
    shards = {"model-00001.safetensors": dict(kind.body)}
    if head:
        shards["model-00002.safetensors"] = head
    return make_checkpoint(place, shards, data=False, **{**kind.config, **extra})


def weights_rules(report: Report) -> list[str]:
    """The rules of the findings about the checkpoint."""
    return [f.rule for f in report.findings if f.rule.startswith("weights/")]
