"""What a command starts: a server, a shell that reads a script, or nothing of interest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mtp_trace.launch.context import Context, with_slurm_request
from mtp_trace.launch.envfile import Style, parse_env
from mtp_trace.launch.files import SHELL_ENDINGS, is_script
from mtp_trace.launch.holes import is_hole, variable
from mtp_trace.launch.server import Server, find_server
from mtp_trace.launch.text import Text
from mtp_trace.launch.wrappers import Command, Environment, unwrap

_DEEPEST = 12
_CALLED = "called from "


@dataclass(frozen=True)
class Script:
    """A text that a shell reads, with what it is started with."""

    text: Text
    env: Environment
    positionals: tuple[Text, ...] = ()
    image: str = ""
    gpu: str = ""
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


ScriptReader = Callable[[Script, Context], None]


def execute(
    words: list[Text],
    env: Environment,
    context: Context,
    read_script: ScriptReader,
    line: int = 0,
    last_line: int = 0,
    stdin: Text | None = None,
    image: str = "",
    notes: tuple[str, ...] = (),
    unknown: tuple[str, ...] = (),
    gpu: str = "",
) -> bool:
    """Reads one command and adds the launch that it is, or those in the script that it hands to a shell.

    Args:
        words: the command, expanded.
        env: its environment.
        context: the file, and where launches go.
        read_script: reads a script.
        line: the command's first line in the file; 0 where its words stand wherever they do.
        last_line: the command's last line.
        stdin: the here-document that it reads.
        image: what names the container or the service, where there is one.
        notes: what to say with the launch.
        unknown: what is not known of its environment.
        gpu: a scheduler's request for GPUs around it.

    Returns:
        Whether the command is a server or a shell's script.
    """
    if not words or context.depth > _DEEPEST:
        return False

    def env_file(name: str) -> Environment | None:
        found = context.files.named(name, context.path)
        if found is None:
            return None
        return {
            key: Text.at(variable(key), value.line) if is_hole(value.text) else value
            for key, value in parse_env(found[1], Style.DOCKER).items()
        }

    command = unwrap(words, env, context.tables, env_file)
    notes = (*notes, *command.notes)
    text = command.script if not command.from_input else stdin
    here = context.within()
    if text is None and command.words and context.script_at is not None:
        entry = context.script_at(command.words[0].text)
        if entry is not None:
            text, command.positionals = entry.text, tuple(command.words[1:])
            here = replace(here, file=entry.file, path=entry.path)
    server = _server(command, context, image) if text is None else None
    if text is None and server is None and command.words:
        called = _called(command.words[0].text, context)
        if called is not None:
            path, text = called[0], Text.of_file(called[1])
            command.positionals = tuple(command.words[1:])
            condition = f"{_CALLED}{context.file}:{words[0].line}"
            conditions = (*context.conditions, condition)
            here = with_slurm_request(here, text.text)
            here = replace(here, file=str(path), path=path, name=path.name, source="shell", conditions=conditions)
    if text is not None:
        script = Script(
            text,
            command.env,
            command.positionals,
            command.image or image,
            command.gpu or gpu,
            unknown,
            notes,
        )
        read_script(script, here)
        return True
    if server is None:
        return False
    context.add(server, command.env, _line(server, line, last_line), notes, unknown, gpu=command.gpu or gpu)
    return True


def is_call(condition: str) -> bool:
    """Whether a launch's condition is that another file calls the script that it stands in."""
    return condition.startswith(_CALLED)


def _called(name: str, context: Context) -> tuple[Path, str] | None:
    """The script that a command runs, where it is among the files and may hold a launch."""
    if "/" not in name and not name.lower().endswith(SHELL_ENDINGS):
        return None
    found = context.files.named(name, context.path)
    if found is None or not is_script(name, found[1]) or not context.tables.mentions(found[1]):
        return None
    # A script that calls itself tells nothing new.
    return None if context.path is not None and found[0].resolve() == context.path.resolve() else found


def span(*parts: list[Text]) -> tuple[int, int]:
    """(first line, last line) of a command that one list of words makes up; (0, 0) where several are put together."""
    filled = [part for part in parts if part]
    if len(filled) != 1:
        return 0, 0
    return filled[0][0].line, max(word.line for word in filled[0])


def _server(command: Command, context: Context, image: str) -> Server | None:
    return find_server(command.words, context.tables, command.image or image)


def _line(server: Server, line: int, last_line: int) -> int:
    """The command's first line, or the program's own where the words came from elsewhere, as an array."""
    if line and line <= server.program.line <= max(line, last_line):
        return line
    return server.program.line or line
