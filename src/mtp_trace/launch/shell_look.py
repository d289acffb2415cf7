"""What commands speak of, without following them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mtp_trace.launch.shell_syntax import (
    AndOr,
    Assignment,
    Case,
    Command,
    For,
    Group,
    If,
    Parameter,
    Pipeline,
    Simple,
    Test,
    While,
    Word,
)


def simple_commands(commands: Iterable[Command]) -> Iterator[Simple | Test]:
    """The simple commands and tests among ``commands``, those in branches and loops too."""
    for command in commands:
        if isinstance(command, (Simple, Test)):
            yield command
        elif isinstance(command, Pipeline):
            yield from simple_commands(command.commands)
        elif isinstance(command, AndOr):
            yield from simple_commands([command.first, *(following for _, following in command.rest)])
        elif isinstance(command, If):
            for condition, body in command.arms:
                yield from simple_commands([*condition, *body])
            yield from simple_commands(command.otherwise or ())
        elif isinstance(command, Case):
            for _, body in command.arms:
                yield from simple_commands(body)
        elif isinstance(command, While):
            yield from simple_commands([*command.condition, *command.body])
        elif isinstance(command, (Group, For)):
            yield from simple_commands(command.body)


def has_shift(commands: Iterable[Command]) -> bool:
    """Whether commands step through the positional parameters."""
    for command in simple_commands(commands):
        first = command.words[0] if isinstance(command, Simple) and command.words else None
        if isinstance(first, Word) and first.bare() == "shift":
            return True
    return False


def assigned_in(commands: Iterable[Command]) -> frozenset[str]:
    """The variables that commands give a value."""
    names: set[str] = set()
    for command in simple_commands(commands):
        if isinstance(command, Simple):
            names.update(item.name for item in command.assignments)
            names.update(item.name for item in command.words if isinstance(item, Assignment))
    return frozenset(names)


def names_in(commands: Iterable[Command]) -> frozenset[str]:
    """The variables whose values commands take in their words."""
    names: set[str] = set()
    for command in simple_commands(commands):
        for word in command.words if isinstance(command, Simple) else command.tokens:
            if isinstance(word, Word):
                names.update(part.name for part in word.parts if isinstance(part, Parameter))
    return frozenset(names)
