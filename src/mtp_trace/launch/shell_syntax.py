"""The parts of a shell script, as the parser hands them on."""

from __future__ import annotations

from dataclasses import dataclass, field

from mtp_trace.errors import LaunchError
from mtp_trace.launch.text import Text


class ShellError(LaunchError):
    """A script is not well formed; ``line`` says where."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what, f"line {line}", "Check the quotes and brackets before this place.")
        self.line = line


@dataclass(frozen=True)
class Literal:
    """Characters that stand for themselves."""

    text: Text
    quoted: bool


@dataclass(frozen=True)
class Parameter:
    """``$name`` or ``${name[index] op argument}``; ``op`` is "" for a plain one, "length" for ``${#name}``."""

    name: str
    line: int
    quoted: bool
    shown: str
    op: str = ""
    argument: Word | None = None
    index: str | None = None


@dataclass(frozen=True)
class Substitution:
    """``$(commands)``, backquotes, or ``<(commands)``."""

    shown: str
    line: int
    quoted: bool
    body: tuple[Command, ...]


@dataclass(frozen=True)
class Arithmetic:
    """``$((expression))``."""

    expression: str
    line: int
    quoted: bool


Part = Literal | Parameter | Substitution | Arithmetic


@dataclass(frozen=True)
class Word:
    """One word before expansion."""

    parts: tuple[Part, ...]
    line: int

    def bare(self) -> str | None:
        """The word's characters if it is one unquoted literal, as keywords and builtins are written."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Literal) and not self.parts[0].quoted:
            return self.parts[0].text.text
        return None


@dataclass(frozen=True)
class Assignment:
    """``name=value``, ``name+=value``, ``name[index]=value``, ``name=(elements)``."""

    name: str
    line: int
    append: bool
    value: Word | None = None
    elements: tuple[tuple[str | None, Word], ...] | None = None
    index: str | None = None


@dataclass
class Redirect:
    """``op target``; a here-document has a ``body``, ``literal`` where its delimiter was quoted."""

    op: str
    target: Word | None
    fd: str = ""
    body: Text | None = None
    literal: bool = False


@dataclass
class Simple:
    """Assignments, then a command and its words (builtins as ``export`` have assignments among them)."""

    line: int
    last_line: int
    assignments: list[Assignment] = field(default_factory=list)
    words: list[Word | Assignment] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass
class Pipeline:
    """Commands joined by ``|``."""

    commands: list[Command]
    negated: bool = False


@dataclass
class AndOr:
    """``first``, then (operator, command) pairs with ``&&`` or ``||``."""

    first: Command
    rest: list[tuple[str, Command]]


@dataclass
class If:
    """``if`` with its ``elif`` arms; ``otherwise`` is None without an ``else``."""

    line: int
    arms: list[tuple[list[Command], list[Command]]]
    otherwise: list[Command] | None


@dataclass
class For:
    """``for name in words``; ``words`` None is the positional parameters, ``counted`` is the C form."""

    line: int
    name: str
    words: list[Word] | None
    body: list[Command]
    counted: bool = False


@dataclass
class While:
    """``while`` or ``until``."""

    line: int
    condition: list[Command]
    body: list[Command]
    until: bool


@dataclass
class Case:
    """``case word in pattern) ... ;; esac``."""

    line: int
    word: Word
    arms: list[tuple[list[Word], list[Command]]]


@dataclass
class Function:
    """A function's definition."""

    line: int
    name: str
    body: list[Command]


@dataclass
class Group:
    """``{ ...; }``, or ``( ... )`` with ``subshell``."""

    line: int
    body: list[Command]
    subshell: bool
    redirects: list[Redirect] = field(default_factory=list)


@dataclass
class Test:
    """``[[ ... ]]``: its words and operators in order."""

    line: int
    tokens: list[Word | str]


@dataclass
class Calculation:
    """``(( ... ))``."""

    line: int
    expression: str


Command = Simple | Pipeline | AndOr | If | For | While | Case | Function | Group | Test | Calculation
