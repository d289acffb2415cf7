"""What a script knows at one point: variables, positional parameters, and the choices made on the way there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mtp_trace.launch.holes import variable
from mtp_trace.launch.text import Text

_LONGEST_VALUE = 64 * 1024
_MOST_ELEMENTS = 4096

REST = variable("@", soft=True)
"""The element of the positional parameters that stands for arguments which nobody told."""


@dataclass(frozen=True)
class Variable:
    """A variable's value: a text, an array (``elements``), or an associative array (``entries``)."""

    value: Text = field(default_factory=lambda: Text(""))
    elements: tuple[Text, ...] | None = None
    entries: tuple[tuple[str, Text], ...] | None = None
    exported: bool = False

    def scalar(self) -> Text:
        """What ``$name`` gives."""
        if self.elements is not None:
            return self.elements[0] if self.elements else Text("")
        if self.entries is not None:
            return dict(self.entries).get("0", Text(""))
        return self.value

    def all(self) -> tuple[Text, ...]:
        """What ``${name[@]}`` gives."""
        if self.elements is not None:
            return self.elements
        if self.entries is not None:
            return tuple(value for _, value in self.entries)
        return (self.value,)

    def size(self) -> int:
        """Characters held."""
        return sum(len(text.text) for text in self.all())


@dataclass
class State:
    """One way through the script so far.

    ``choices`` says which arms were taken; ``ended`` is "exit", "return", "break" or "continue" once
    the way does not go on with the next command.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    positionals: tuple[Text, ...] = (Text(REST),)
    choices: tuple[str, ...] = ()
    ended: str = ""
    exports_all: bool = False
    local: frozenset[str] = frozenset()
    """The variables that the function on its way declared its own."""
    doubtful: frozenset[str] = frozenset()
    """The variables that a loop over arguments may have set."""

    def copy(self) -> State:
        """The same, to be changed apart."""
        return replace(self, variables=dict(self.variables))

    def chosen(self, choice: str) -> State:
        """A copy in which ``choice`` was made."""
        copy = self.copy()
        if choice not in copy.choices:
            copy.choices = (*copy.choices, choice)
        return copy

    def key(self) -> tuple[object, ...]:
        """Two ways with equal keys go on alike."""
        variables = tuple(
            sorted(
                (name, tuple(text.text for text in variable.all()), variable.exported)
                for name, variable in self.variables.items()
            )
        )
        arguments = tuple(text.text for text in self.positionals)
        return variables, arguments, self.ended, self.exports_all, self.local, self.doubtful

    def set(self, name: str, variable: Variable, exported: bool | None = None) -> None:
        """Gives ``name`` a value; it stays exported if it was. A value too large to be meant is dropped."""
        if variable.size() > _LONGEST_VALUE or len(variable.all()) > _MOST_ELEMENTS:
            self.variables.pop(name, None)
            return
        old = self.variables.get(name)
        if exported is None:
            exported = self.exports_all or (old is not None and old.exported)
        self.variables[name] = replace(variable, exported=exported)

    def exported(self) -> dict[str, Text]:
        """The environment that a command gets."""
        return {
            name: variable.scalar()
            for name, variable in self.variables.items()
            if variable.exported and variable.elements is None and variable.entries is None
        }
