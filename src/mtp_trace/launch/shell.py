"""Reads shell scripts for launches. No shell is run."""

from __future__ import annotations

from mtp_trace.launch.context import Context, with_slurm_request
from mtp_trace.launch.execute import Script
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_run import Runner
from mtp_trace.launch.shell_state import State
from mtp_trace.launch.shell_syntax import ShellError
from mtp_trace.launch.text import Text


def read_shell(text: Text, context: Context) -> None:
    """Adds the launches in a shell script to the context.

    The script is taken to be started without arguments and in an empty environment: what it takes from there and has
    no default for is unresolved. A script that cannot be read to its end gives what stands before that, and a note.
    """
    context = with_slurm_request(context, text.text)
    commands, error = parse_script(text)
    try:
        Runner(context, Script(text, {})).run(commands, State())
    except ShellError as raised:
        error = error or raised
    if error is not None:
        context.note(error.line, f"not read from here on: {error.what}")
