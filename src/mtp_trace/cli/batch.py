"""``mtp-trace batch``: many launches on one tree, a JSON line each, in input order."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mtp_trace.errors import InputError

if TYPE_CHECKING:
    from mtp_trace.verdict.session import Session


@click.command(name="batch")
@click.option("--sglang", required=True, help="Checkout, python folder, unpacked wheel, .whl or release version.")
@click.option("--ref", default=None, help="Git ref of the checkout.")
@click.option("--gpu", default=None, help="GPU profile for all lines (a line may give its own).")
@click.option("--gpu-count", type=int, default=None, help="GPUs in the machine.")
@click.option("--configs", default=None, help="Folder that {configs} in argv stands for.")
@click.option("--rules", "rule_dirs", multiple=True, type=click.Path(), help="A folder of your own rules.")
@click.argument("cases", type=click.File("r", encoding="utf-8"), default="-")
def batch(
    sglang: str,
    ref: str | None,
    gpu: str | None,
    gpu_count: int | None,
    configs: str | None,
    rule_dirs: tuple[str, ...],
    cases: Any,
) -> None:
    """Judge JSON lines {"id", "argv", "env"} from CASES or standard input."""
    gc.enable()
    from mtp_trace.report.jsonform import report_line
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.settings import find_settings
    from mtp_trace.source import open_tree
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.session import Session

    pack = load_pack(rule_dirs, find_settings(Path.cwd()))
    cache = DiskCache()
    sessions: dict[str, Session] = {sglang: Session(open_tree(sglang, ref), cache, pack)}
    default_gpu = sessions[sglang].gpus.find(gpu, gpu_count) if gpu else None

    def session_of(tree: str) -> Session:
        if tree not in sessions:
            sessions[tree] = Session(open_tree(tree), cache, pack)
        return sessions[tree]

    for line in _lines(cases):
        report = _judge(line, session_of, sglang, default_gpu, gpu_count, configs)
        sys.stdout.buffer.write(report_line(report) + b"\n")
        sys.stdout.flush()


def _lines(cases: Iterable[str]) -> Iterator[str]:
    for line in cases:
        if line.strip():
            yield line


def _judge(
    line: str, session_of: Callable[[str], Session], sglang: str, gpu: Any, count: int | None, configs: str | None
) -> Any:
    from mtp_trace.report.model import Failure, LaunchInfo, ModelInfo, Report, SglangInfo, Verdict

    case: str | None = None
    try:
        data = json.loads(line)
        if not isinstance(data, dict):
            raise InputError("a case must be an object", hint='{"id": ..., "argv": [...], "env": {...}}')
        case = str(data.get("id"))
        argv, env = data.get("argv"), data.get("env") or {}
        if not isinstance(argv, list) or not all(isinstance(a, str) for a in argv):
            raise InputError("argv must be a list of text", "argv")
        if not isinstance(env, dict):
            raise InputError("env must be an object", "env")
        if configs is not None:
            argv = [a.replace("{configs}", configs.rstrip("/")) for a in argv]
        session = session_of(data.get("sglang", sglang))
        chosen = session.gpus.find(data["gpu"], count) if data.get("gpu") else gpu
        return session.check(argv, {str(k): str(v) for k, v in env.items()}, chosen, case=case)
    except (ValueError, RecursionError, InputError) as error:
        return Report(
            verdict=Verdict.UNDETERMINED,
            sglang=SglangInfo(sglang, None),
            model=ModelInfo(""),
            launch=LaunchInfo(),
            id=case,
            stage=None,
            error=Failure("UnusableCase", str(error)),
        )


def folder(path: str) -> Path:
    """A folder given on the command line."""
    return Path(path)
