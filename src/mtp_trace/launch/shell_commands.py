"""Simple commands of a script: assignments, builtins, functions, files read in, and programs that are started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mtp_trace.launch.context import Context
from mtp_trace.launch.execute import Script, execute
from mtp_trace.launch.shell_builtins import BUILTINS
from mtp_trace.launch.shell_expand import Expander
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_state import State, Variable
from mtp_trace.launch.shell_syntax import (
    Assignment,
    Command,
    Function,
    Redirect,
    Simple,
    Substitution,
    Word,
)
from mtp_trace.launch.text import Text, join

_DEEPEST_CALL = 16
_DEEPEST_RECURSION = 2
_RULED_OUT = "not taken with the values that the file itself gives"


class SimpleCommands:
    """Reads simple commands; what they are made of (lists, loops, branches) is the runner's."""

    def __init__(self, context: Context, script: Script) -> None:
        self.context = context
        self.script = script
        self.functions: dict[str, Function] = {}
        self.called: set[str] = set()
        self.calls = 0
        self.active: list[str] = []
        self.ruled_out = 0

    def commands(self, commands: list[Command], states: list[State]) -> list[State]:
        """The states after the commands."""
        raise NotImplementedError

    def read_script(self, script: Script, context: Context) -> None:
        """Reads a script that a command hands to another shell."""
        raise NotImplementedError

    def expander(self, state: State) -> Expander:
        """What expands words in ``state``; launches inside of substitutions are read on the way."""

        def visit(part: Substitution) -> None:
            if self.context.tables.mentions(part.shown) or part.shown.endswith("...)"):
                self.commands(list(part.body), [state.copy()])

        return Expander(state, visit)

    def simple(self, command: Simple, state: State, pipe: Command | None = None) -> list[State]:
        """The states after a simple command; ``pipe`` is the command that its output goes to."""
        expander = self.expander(state)
        if not command.words:
            for assignment in command.assignments:
                state.set(assignment.name, expander.assigned(assignment))
            return [state]
        prefix = {item.name: expander.assigned(item).scalar() for item in command.assignments}
        first = command.words[0]
        name = first.bare() if isinstance(first, Word) else None
        builtin = BUILTINS.get(name or "")
        if builtin is not None and builtin.takes_assignments:
            builtin.declare(command.words[1:], state, expander)
            return [state]
        words = [
            text
            for word in command.words
            for text in (expander.fields(word) if isinstance(word, Word) else [_assignment_text(word, expander)])
        ]
        if not words:
            return [state]
        heredoc = self._heredoc(command.redirects, expander)
        called = self.functions.get(words[0].text)
        if called is not None:
            return self._call(called, words[1:], state, prefix)
        if words[0].text == "eval":
            return self._eval(join(words[1:], " "), state)
        if words[0].text in (".", "source") and len(words) > 1:
            return self._source(words[1], words[2:], state)
        builtin = BUILTINS.get(words[0].text)
        if builtin is not None:
            separators = state.variables.get("IFS")
            if "IFS" in prefix:
                state.set("IFS", Variable(prefix["IFS"]))
            builtin.run(words[1:], state, heredoc)
            _restore(state, {"IFS": separators} if "IFS" in prefix else {})
            return [state]
        self._external(command, words, prefix, state, heredoc, pipe)
        if words[0].text == "exec" and len(words) > 1:
            state.ended = "exit"
        return [state]

    def _heredoc(self, redirects: list[Redirect], expander: Expander) -> Text | None:
        for redirect in reversed(redirects):
            if redirect.body is not None:
                return expander.heredoc(redirect)
            if redirect.op == "<<<":
                return expander.single(redirect.target)
        return None

    def _external(
        self,
        command: Simple,
        words: list[Text],
        prefix: dict[str, Text],
        state: State,
        heredoc: Text | None,
        pipe: Command | None,
    ) -> None:
        env = {**state.exported(), **prefix}
        if self.start(words, env, self._reached(state)):
            return
        if heredoc is not None and self._written(command, words, heredoc, state, pipe):
            return
        execute(
            words,
            env,
            self._reached(state),
            self.read_script,
            command.line,
            command.last_line,
            stdin=heredoc,
            image=self.script.image,
            notes=self.script.notes,
            unknown=self.script.unknown,
            gpu=self.script.gpu,
        )

    def start(self, words: list[Text], env: dict[str, Text], context: Context) -> bool:
        """Reads a command in a way of its own; False where it is read like any other."""
        return False

    def _reached(self, state: State) -> Context:
        """The context of a command that is reached in ``state``."""
        ruled_out = (_RULED_OUT,) if self.ruled_out else ()
        conditions = dict.fromkeys((*self.context.conditions, *state.choices, *ruled_out))
        return replace(self.context, conditions=tuple(conditions))

    def _written(self, command: Simple, words: list[Text], body: Text, state: State, pipe: Command | None) -> bool:
        """Whether the here-document becomes a file, or goes down a pipe to something that reads it."""
        program = words[0].text.rpartition("/")[2]
        if program == "sudo" and len(words) > 1:
            words = words[1:]
            program = words[0].text
        if program not in ("cat", "tee"):
            return self._handed_on(words, body)
        expander = self.expander(state)
        name = ""
        for redirect in command.redirects:
            if redirect.op in (">", ">>", ">|", "&>") and redirect.fd in ("", "1"):
                name = expander.single(redirect.target).text
        if program == "tee":
            name = next((word.text for word in words[1:] if not word.text.startswith("-")), name)
        if name and not name.startswith("/dev/"):
            self._embedded(body, name)
            return True
        if isinstance(pipe, Simple) and pipe.words:
            piped = [text for word in pipe.words if isinstance(word, Word) for text in expander.fields(word)]
            if piped and not self._handed_on(piped, body) and not self._written(pipe, piped, body, state, None):
                execute(piped, state.exported(), self._reached(state), self.read_script, stdin=body)
        return True

    def _handed_on(self, words: list[Text], body: Text) -> bool:
        """Whether a command reads the text as manifests (``kubectl apply -f -``)."""
        texts = [word.text for word in words]
        reads = "-f" in texts or "--filename" in texts or any(text in ("-f-", "--filename=-") for text in texts)
        if texts[0].rpartition("/")[2] in ("kubectl", "oc", "docker", "docker-compose") and reads:
            self._embedded(body, "stdin.yaml")
            return True
        return False

    def _embedded(self, body: Text, name: str) -> None:
        self.context.written[name] = body.text
        if self.context.embedded is not None and self.context.tables.mentions(body.text):
            self.context.embedded(body, name, self.context.within())

    def _call(self, function: Function, arguments: list[Text], state: State, prefix: dict[str, Text]) -> list[State]:
        self.called.add(function.name)
        if self.calls >= _DEEPEST_CALL or self.active.count(function.name) >= _DEEPEST_RECURSION:
            return [state]
        self.calls += 1
        self.active.append(function.name)
        outer = state.positionals
        state.positionals = tuple(arguments)
        variables, local = dict(state.variables), state.local
        state.local = frozenset(prefix)
        for name, value in prefix.items():
            state.set(name, Variable(value), exported=True)
        states = self.commands(function.body, [state])
        for after in states:
            after.positionals = outer
            _restore(after, {name: variables.get(name) for name in after.local})
            after.local = local
            if after.ended == "return":
                after.ended = ""
        self.active.pop()
        self.calls -= 1
        return states

    def _eval(self, text: Text, state: State) -> list[State]:
        if self.calls >= _DEEPEST_CALL:
            return [state]
        commands, error = parse_script(text)
        if error is not None:
            self.context.note(text.line, f"`eval`: {error.what}")
        self.calls += 1
        states = self.commands(commands, [state])
        self.calls -= 1
        return states

    def _source(self, name: Text, arguments: list[Text], state: State) -> list[State]:
        found = self.context.files.named(name.text, self.context.path)
        if found is None or self.calls >= _DEEPEST_CALL:
            return [state]
        path, text = found
        commands, _ = parse_script(Text.of_file(text))
        outer_context, outer = self.context, state.positionals
        # Launches in the file that is read in stand in that file.
        self.context = replace(self.context, file=str(path), path=path)
        if arguments:
            state.positionals = tuple(arguments)
        self.calls += 1
        states = self.commands(commands, [state])
        self.calls -= 1
        self.context = outer_context
        for after in states:
            after.positionals = outer
            if after.ended == "return":
                after.ended = ""
        return states


def _restore(state: State, before: Mapping[str, Variable | None]) -> None:
    for name, variable in before.items():
        state.variables.pop(name, None)
        if variable is not None:
            state.variables[name] = variable


def _assignment_text(assignment: Assignment, expander: Expander) -> Text:
    value = expander.assigned(assignment).scalar()
    return join([Text.at(assignment.name + "=", assignment.line), value])
