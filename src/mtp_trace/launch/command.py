"""One launch command, as a person hands it over: a command line, or its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mtp_trace.errors import LaunchError
from mtp_trace.launch.context import Context, settled
from mtp_trace.launch.execute import Script, execute
from mtp_trace.launch.files import Files
from mtp_trace.launch.holes import clean
from mtp_trace.launch.model import Launch
from mtp_trace.launch.server import Server
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_run import Runner, read_script
from mtp_trace.launch.shell_state import State
from mtp_trace.launch.shell_syntax import ShellError
from mtp_trace.launch.text import Text

_PROMPT = re.compile(r"\A\s*\$\s+")
_LONGEST = 256 * 1024
_EXAMPLE = 'Example: "python -m sglang.launch_server --model-path MODEL", or the arguments alone.'


def parse_command(command: str | Sequence[str], where: str = "--launch", near: Path | None = None) -> Launch:
    """The launch that a command line, or a list of words, stands for.

    A string is read as a shell reads it; a list as the words are. Arguments alone, beginning with a flag, are taken as
    the server's. Redirections, ``&`` and what the output is piped to are dropped.

    Args:
        command: the command.
        where: how the user gave it, for messages.
        near: a file beside which files that the command names are looked for; without it, the working folder.

    Raises:
        LaunchError: it does not parse, starts no server, or starts several.
    """
    context = Context(Files(), file="", path=near)
    if isinstance(command, str):
        _read_line(command, context, where)
    else:
        words = [Text.at(clean(word), 1) for word in command]
        if words and words[0].text.startswith("-"):
            _add_bare(words, context)
        elif words:
            execute(words, {}, context, read_script, line=1, last_line=1)
    launches = settled(context.launches)
    if not launches:
        hint = _EXAMPLE
        if context.notes:
            hint = f"{context.notes[0].text}. {hint}"
        raise LaunchError("no server is started by this command", where, hint)
    if len(launches) > 1:
        raise LaunchError(
            f"{len(launches)} servers are started by this command", where, "Give one command; audit a file for several."
        )
    return replace(launches[0], line=0)


def _read_line(command: str, context: Context, where: str) -> None:
    if len(command) > _LONGEST:
        raise LaunchError(f"the command is longer than {_LONGEST} characters", where, "Give the command alone.")
    text = clean(command).strip().replace("\r\n", "\n")
    text = _PROMPT.sub("", text)
    if not text:
        raise LaunchError("the command is empty", where, _EXAMPLE)
    bare = text.startswith("-")
    source = Text.of_file(f"_ {text}" if bare else text)
    commands, error = parse_script(source)
    if error is not None:
        raise LaunchError(f"the command cannot be read: {error.what}", where, "Check its quotes and brackets.")
    runner = _BareRunner(context) if bare else Runner(context, Script(source, {}))
    try:
        runner.run(commands, State())
    except ShellError as raised:
        raise LaunchError(f"the command cannot be read: {raised.what}", where) from raised


class _BareRunner(Runner):
    """Takes the words after a stand-in program as the server's arguments."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, Script(Text(""), {}))

    def start(self, words: list[Text], env: dict[str, Text], context: Context) -> bool:
        if words[0].text != "_":
            return False
        _add_bare(words[1:], context)
        return True


def _add_bare(words: list[Text], context: Context) -> None:
    context.add(Server("", tuple(words), words[0]), {}, words[0].line)
