"""Takes a command apart: the wrappers around it, the environment that they set, and what is run in the end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mtp_trace.launch.holes import is_hole, is_soft_hole, show, variable
from mtp_trace.launch.launchers import Launchers, Wrapper
from mtp_trace.launch.text import Text, join

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_WRAPPERS = 32
_SHELL_VALUES = {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}

Environment = dict[str, Text]
EnvironmentFile = Callable[[str], "Environment | None"]


@dataclass
class Command:
    """What is left of a command once its wrappers are off.

    ``words`` is the program with its arguments; where a shell reads a text instead, ``script`` holds it with its
    ``positionals``, and ``from_input`` says that it is read from standard input. ``image`` names the container.
    """

    words: list[Text]
    env: Environment
    script: Text | None = None
    positionals: tuple[Text, ...] = ()
    from_input: bool = False
    image: str = ""
    gpu: str = ""
    notes: list[str] = field(default_factory=list)


def program_name(word: str) -> str:
    """The last part of a program's path."""
    return word.rstrip("/").rpartition("/")[2]


def unwrap(words: list[Text], env: Environment, tables: Launchers, env_file: EnvironmentFile | None = None) -> Command:
    """Takes the wrappers off ``words``.

    Args:
        words: the command, expanded.
        env: the environment that it is started with.
        tables: which words are wrappers.
        env_file: reads the file behind ``--env-file``; None where it is not to be had.
    """
    command = Command(list(words), dict(env))
    for _ in range(_MOST_WRAPPERS):
        if not command.words:
            return command
        if is_soft_hole(command.words[0].text) and len(command.words) > 1:
            # `$SUDO docker run ...`: whatever it is, it only goes before the command.
            following = program_name(command.words[1].text)
            if following in tables.shells or following in tables.wrappers:
                command.words = command.words[1:]
        name = program_name(command.words[0].text)
        if name in tables.shells:
            _shell(command)
            return command
        wrapper = _wrapper(name, command.words, tables)
        if wrapper is None:
            return command
        before = len(command.words)
        _Peeling(command, wrapper, env_file).peel()
        if command.script is not None or len(command.words) >= before:
            return command
    return command


def _wrapper(name: str, words: list[Text], tables: Launchers) -> Wrapper | None:
    for wrapper in tables.wrappers.get(name, ()):
        if not wrapper.subcommands:
            return wrapper
        for subcommand in wrapper.subcommands:
            if tuple(word.text for word in words[1 : 1 + len(subcommand)]) == subcommand:
                return wrapper
    return None


def _shell(command: Command) -> None:
    """``bash -c TEXT``, ``bash SCRIPT`` and ``bash`` that reads its input."""
    words = command.words
    place = 2 if program_name(words[0].text) == "busybox" else 1
    reads_text = False
    while place < len(words):
        word = words[place].text
        if word in _SHELL_VALUES:
            place += 2
        elif word == "--" or word == "-":
            place += 1
            break
        elif word.startswith("-") and not word.startswith("--") and len(word) > 1:
            reads_text = reads_text or "c" in word[1:]
            place += 1
        elif word.startswith("--"):
            place += 1
        else:
            break
    rest = words[place:]
    if reads_text:
        if rest:
            command.script = rest[0]
            command.positionals = tuple(rest[2:])
        command.words = []
        return
    if not rest or any(word.text == "-s" for word in words[1:place]):
        command.from_input = True
        command.positionals = tuple(rest)
        command.words = []
        return
    # A script file: it is read where it stands, not here.
    command.words = rest


class _Peeling:
    """Takes one wrapper off a command."""

    def __init__(self, command: Command, wrapper: Wrapper, env_file: EnvironmentFile | None) -> None:
        self.command = command
        self.wrapper = wrapper
        self.env_file = env_file
        self.place = 1
        self.outer = command.env
        self.given: Environment = {}
        self.keeps = not wrapper.drops_env
        self.entrypoint: Text | None = None
        self.script: Text | None = None
        self.dashes = False
        for subcommand in wrapper.subcommands:
            if tuple(word.text for word in command.words[1 : 1 + len(subcommand)]) == subcommand:
                self.place = 1 + len(subcommand)

    def peel(self) -> None:
        command, wrapper = self.command, self.wrapper
        self._options()
        operands = command.words[self.place : self.place + wrapper.operands]
        self.place += len(operands)
        if wrapper.image is not None and len(operands) > wrapper.image:
            command.image = operands[wrapper.image].text
        if wrapper.script or wrapper.assignments or wrapper.joined:
            self._options()
        if wrapper.assignments:
            self._assignments()
        self._environment()
        rest = command.words[self.place :]
        if wrapper.needs_dashes and not self.dashes:
            texts = [word.text for word in rest]
            rest = rest[texts.index("--") + 1 :] if "--" in texts else []
        if self.entrypoint is not None:
            rest = [*self.entrypoint.split(), *rest]
        if self.script is not None:
            command.script, command.words = self.script, []
        elif wrapper.joined and (len(rest) > 1 or (rest and " " in rest[0].text)):
            command.script, command.words = join(rest, " "), []
        elif wrapper.joined and not rest:
            command.from_input, command.words = True, []
        else:
            command.words = rest

    def _options(self) -> None:
        words = self.command.words
        while self.place < len(words):
            word = words[self.place].text
            if word == "--":
                self.place += 1
                self.dashes = True
                return
            if word == "-":
                self.place += 1
                continue
            if not word.startswith("-"):
                return
            self.place += 1
            name, value = self._option(word)
            if name in self.wrapper.keep_options or word[:2] in self.wrapper.keep_options:
                self.keeps = True
            if value is not None:
                self._value(name, value)

    def _option(self, word: str) -> tuple[str, Text | None]:
        """(option, its value or None) of a word that begins with a dash; a separate value is passed."""
        line = self.command.words[self.place - 1].line
        if word.startswith("--") or word in self.wrapper.values:
            name, equals, value = word.partition("=")
            if equals:
                return name, Text.at(value, line)
            return name, self._next() if self._takes_value(name) else None
        # Short options may stand together, and a value may follow without a blank: `-it`, `-eNAME=VALUE`.
        for position in range(1, len(word)):
            name = "-" + word[position]
            if self._takes_value(name):
                rest = word[position + 1 :]
                return name, Text.at(rest.removeprefix("="), line) if rest else self._next()
        return word[:2], None

    def _takes_value(self, name: str) -> bool:
        if self.wrapper.switches is not None:
            return name not in self.wrapper.switches
        return name in self.wrapper.values

    def _next(self) -> Text | None:
        if self.place >= len(self.command.words):
            return None
        self.place += 1
        return self.command.words[self.place - 1]

    def _value(self, name: str, value: Text) -> None:
        wrapper = self.wrapper
        if name in wrapper.env_options:
            self._variable(value)
        elif name in wrapper.env_lists:
            for item in value.text.split(","):
                if item == "NONE":
                    self.keeps = False
                elif item != "ALL":
                    self._variable(Text.at(item, value.line))
        elif name in wrapper.env_files:
            self._file(value.text)
        elif name == wrapper.entrypoint:
            self.entrypoint = value
        elif name in wrapper.script:
            self.script = value
        elif name in wrapper.gpu_options:
            self.command.gpu = self.command.gpu or value.text

    def _variable(self, item: Text) -> None:
        """``NAME=VALUE``, or ``NAME`` to pass on what the caller has."""
        name, equals, _ = item.text.partition("=")
        if not _NAME.fullmatch(name):
            return
        if equals:
            self.given[name] = item.cut(len(name) + 1, len(item.text))
        else:
            self.given[name] = self.outer.get(name, Text.at(variable(name), item.line))

    def _file(self, name: str) -> None:
        found = self.env_file(name) if self.env_file is not None else None
        if found is None:
            self.command.notes.append(f"the environment file {show(name)} was not found: its variables are unknown")
        else:
            for key, value in found.items():
                self.given.setdefault(key, value)

    def _assignments(self) -> None:
        words = self.command.words
        while self.place < len(words):
            name, equals, _ = words[self.place].text.partition("=")
            if not equals or not _NAME.fullmatch(name):
                return
            self._variable(words[self.place])
            self.place += 1

    def _environment(self) -> None:
        if not self.keeps:
            dropped = [name for name in self.outer if name not in self.given and not is_hole(self.outer[name].text)]
            if dropped and self.wrapper.assignments:
                self.command.notes.append(f"{self.wrapper.name} does not pass on {', '.join(sorted(dropped))}")
            self.command.env = {}
        self.command.env = {**self.command.env, **self.given}
