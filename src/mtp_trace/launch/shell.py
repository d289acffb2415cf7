"""Reads shell scripts for launches. No shell is run."""

from __future__ import annotations

import re
from dataclasses import replace

from mtp_trace.launch.context import Context, gpu_request
from mtp_trace.launch.execute import Script
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_run import Runner
from mtp_trace.launch.shell_state import State
from mtp_trace.launch.shell_syntax import ShellError
from mtp_trace.launch.text import Text

_SLURM = re.compile(r"^#SBATCH\s+(?:--(gres|gpus|gpus-per-node|gpus-per-task|constraint)[= ]|-([GC])\s*)(\S+)", re.M)


def read_shell(text: Text, context: Context) -> None:
    """Adds the launches in a shell script to the context.

    The script is taken to be started without arguments and in an empty environment: what it takes from there and has
    no default for is unresolved. A script that cannot be read to its end gives what stands before that, and a note.
    """
    gpu, count = _slurm(text.text, context)
    context = replace(context, gpu=gpu or context.gpu, gpu_count=count or context.gpu_count)
    commands, error = parse_script(text)
    try:
        Runner(context, Script(text, {})).run(commands, State())
    except ShellError as raised:
        error = error or raised
    if error is not None:
        context.note(error.line, f"not read from here on: {error.what}")


def _slurm(text: str, context: Context) -> tuple[str | None, int | None]:
    """The GPU that a batch script's own `#SBATCH` lines ask for."""
    profile, count = None, None
    for match in _SLURM.finditer(text):
        found, number = gpu_request(match.group(3), context.tables)
        profile = profile or found
        if match.group(1) not in (None, "constraint", "gpus-per-task") or match.group(2) == "G":
            count = count or number
    return profile, count
