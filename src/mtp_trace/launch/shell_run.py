"""Walks through a script's commands with what is known of its variables, and reads every command that it comes by.

Where the script branches and the file does not tell which way, both are gone. An arm that the values in the file rule
out is still looked at for launches, but what it sets is not carried on.
"""

from __future__ import annotations

from dataclasses import replace

from mtp_trace.launch.context import Context
from mtp_trace.launch.execute import Script, execute
from mtp_trace.launch.holes import has_hole, show, variable, variable_of
from mtp_trace.launch.shell_builtins import BUILTINS
from mtp_trace.launch.shell_expand import Expander
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_state import State, Variable
from mtp_trace.launch.shell_syntax import (
    AndOr,
    Assignment,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirect,
    ShellError,
    Simple,
    Substitution,
    While,
    Word,
)
from mtp_trace.launch.shell_test import Outcome, assume, decide, decide_command, is_test
from mtp_trace.launch.shell_values import matches
from mtp_trace.launch.text import Text, join

_MOST_STATES = 16
_MOST_TURNS = 32
_DEEPEST_CALL = 16
_RULED_OUT = "not taken with the values that the file itself gives"


class Runner:
    """One script on its way; ``functions`` are those defined so far."""

    def __init__(self, context: Context, script: Script) -> None:
        self.context = context
        self.script = script
        self.functions: dict[str, Function] = {}
        self.called: set[str] = set()
        self.calls = 0
        self.ruled_out = 0

    # Entry -----------------------------------------------------------------------------------------------------------

    def run(self, commands: list[Command], state: State) -> list[State]:
        """Goes through a whole script, then through the functions that nothing called."""
        states = self.commands(commands, [state])
        rest = next((state for state in states if not state.ended), states[0] if states else state).copy()
        rest.ended = ""
        for name, function in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                unknown = rest.copy()
                unknown.positionals = State().positionals
                self.commands(function.body, [unknown])
        return states

    def commands(self, commands: list[Command], states: list[State]) -> list[State]:
        """The states after the commands."""
        for command in commands:
            after: list[State] = []
            for state in states:
                after.extend([state] if state.ended else self.command(command, state))
            states = self._merged(after)
            if all(state.ended for state in states):
                break
        return states

    def _merged(self, states: list[State]) -> list[State]:
        """Without those that go on alike, and not more than can be followed."""
        if len(states) < 2:
            return states
        kept: dict[tuple[object, ...], State] = {}
        for state in states:
            kept.setdefault(state.key(), state)
        different = list(kept.values())
        if len(different) > _MOST_STATES:
            self.context.note(0, f"more than {_MOST_STATES} ways through the script: some are left out")
            half = _MOST_STATES // 2
            different = [*different[:half], *different[-half:]]
        return different

    # Commands --------------------------------------------------------------------------------------------------------

    def command(self, command: Command, state: State) -> list[State]:
        """The states after one command."""
        if not self.context.spend():
            state.ended = "exit"
            return [state]
        if isinstance(command, Simple):
            return self._simple(command, state)
        if isinstance(command, Pipeline):
            return self._pipeline(command, state)
        if isinstance(command, AndOr):
            return self._and_or(command, state)
        if isinstance(command, If):
            return self._if(command, state)
        if isinstance(command, For):
            return self._for(command, state)
        if isinstance(command, While):
            return self._while(command, state)
        if isinstance(command, Case):
            return self._case(command, state)
        if isinstance(command, Function):
            self.functions[command.name] = command
            return [state]
        if isinstance(command, Group):
            if command.subshell:
                self.commands(command.body, [state.copy()])
                return [state]
            return self.commands(command.body, [state])
        return [state]

    def _pipeline(self, pipeline: Pipeline, state: State) -> list[State]:
        if len(pipeline.commands) == 1:
            return self.command(pipeline.commands[0], state)
        for place, command in enumerate(pipeline.commands):
            # Each command of a pipeline has a shell of its own.
            if isinstance(command, Simple):
                following = pipeline.commands[place + 1] if place + 1 < len(pipeline.commands) else None
                self._simple(command, state.copy(), following)
            else:
                self.command(command, state.copy())
        return [state]

    def _and_or(self, command: AndOr, state: State) -> list[State]:
        previous = command.first
        states = self.command(command.first, state)
        outcome = decide_command(command.first, state)
        for operator, following in command.rest:
            after: list[State] = []
            wanted = operator == "&&"
            for current in states:
                if current.ended:
                    after.append(current)
                    continue
                if not is_test(previous):
                    # What a command comes to is taken to be success.
                    if wanted:
                        after.extend(self.command(following, current))
                    else:
                        self._aside([following], current)
                        after.append(current)
                    continue
                after.extend(self._if_then(following, current, outcome if wanted else outcome.negated()))
            states = self._merged(after)
            previous = following if not is_test(previous) else previous
        return states

    def _if_then(self, following: Command, state: State, outcome: Outcome) -> list[State]:
        if outcome.holds is True:
            return self.command(following, state)
        if outcome.holds is False:
            self._aside([following], state)
            return [state]
        taken, passed = state.copy(), state.copy()
        assume(taken, outcome.if_true)
        assume(passed, outcome.if_false)
        return [*self.command(following, taken), passed]

    def _aside(self, commands: list[Command], state: State) -> None:
        """Looks at commands that are not taken: their launches count, what they set does not."""
        self.ruled_out += 1
        self.commands(commands, [state.copy()])
        self.ruled_out -= 1

    def _if(self, command: If, state: State) -> list[State]:
        after: list[State] = []
        current: State | None = state
        for number, (condition, body) in enumerate(command.arms):
            place = f"line {command.line}: `{'elif' if number else 'if'}`"
            if current is None:
                self._aside(body, state.chosen(f"{place} taken"))
                continue
            # A condition's commands run, too (`if python -m ...; then`).
            tested = self.commands(condition, [current])
            current = tested[0] if tested else current
            outcome = decide(condition, current)
            if outcome.holds is False:
                self._aside(body, current.chosen(f"{place} taken"))
            elif outcome.holds is True:
                after.extend(self.commands(body, [current]))
                current = None
            else:
                taken = current.chosen(f"{place} taken")
                assume(taken, outcome.if_true)
                after.extend(self.commands(body, [taken]))
                current = current.chosen(f"{place} not taken")
                assume(current, outcome.if_false)
        if current is not None:
            after.extend(self.commands(command.otherwise or [], [current]))
        elif command.otherwise:
            self._aside(command.otherwise, state.chosen(f"line {command.line}: `else` taken"))
        return after

    def _for(self, command: For, state: State) -> list[State]:
        expander = self._expander(state)
        if command.counted:
            items: list[Text] = [Text.at(variable(command.name), command.line)]
        elif command.words is None:
            items = list(state.positionals)
        else:
            items = [field for word in command.words for field in expander.fields(word)]
        if len(items) > _MOST_TURNS:
            self.context.note(command.line, f"only the first {_MOST_TURNS} turns of the loop are read")
            items = items[:_MOST_TURNS]
        states = [state]
        for item in items:
            # An item that nobody told leaves the variable open under its own name.
            value = Text.at(variable(command.name), command.line) if has_hole(item.text) else item
            for current in states:
                if not current.ended:
                    current.set(command.name, Variable(value))
            states = self.commands(command.body, states)
        return states

    def _while(self, command: While, state: State) -> list[State]:
        states = [state]
        for _ in range(_MOST_TURNS):
            after: list[State] = []
            again = False
            for current in states:
                outcome = decide(command.condition, current)
                self.commands(command.condition, [current.copy()])
                holds = outcome.negated().holds if command.until else outcome.holds
                if current.ended or holds is False:
                    after.append(current)
                    continue
                if holds is None:
                    # Arguments and input that nobody gave: the loop is read once, and leaves nothing behind.
                    self.commands(command.body, [current.copy()])
                    after.append(current)
                    continue
                before = current.key()
                turned = self.commands(command.body, [current.copy()])
                again = again or any(turn.key() != before for turn in turned)
                after.extend(turned)
            states = self._merged(after)
            if not again:
                break
        return states

    def _case(self, command: Case, state: State) -> list[State]:
        expander = self._expander(state)
        subject = expander.single(command.word)
        after: list[State] = []
        decided = False
        for patterns, body in command.arms:
            texts = [expander.single(pattern).text for pattern in patterns]
            fits: bool | None = False
            if has_hole(subject.text) or any(has_hole(text) for text in texts):
                fits = None
            else:
                answers = [matches(subject.text, text) for text in texts]
                fits = True if True in answers else None if None in answers else False
            taken = state.chosen(f"line {command.line}: `case` {'|'.join(show(text) for text in texts)[:60]} taken")
            if decided or fits is False:
                self._aside(body, taken)
            elif fits:
                after.extend(self.commands(body, [state.copy()]))
                decided = True
            else:
                plain = len(texts) == 1 and not any(character in texts[0] for character in "*?[")
                name = variable_of(subject.text)
                if plain and name is not None and not has_hole(texts[0]):
                    assume(taken, ((name, texts[0]),))
                after.extend(self.commands(body, [taken]))
        if not decided and not any("*" in [_bare(p) for p in patterns] for patterns, _ in command.arms):
            after.append(state)
        return after or [state]

    # Simple commands -------------------------------------------------------------------------------------------------

    def _expander(self, state: State) -> Expander:
        def visit(part: Substitution) -> None:
            if self.context.tables.mentions(part.shown) or part.shown.endswith("...)"):
                self.commands(list(part.body), [state.copy()])

        return Expander(state, visit)

    def _simple(self, command: Simple, state: State, pipe: Command | None = None) -> list[State]:
        expander = self._expander(state)
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
            builtin.run(words[1:], state, heredoc)
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
            read_script,
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
        expander = self._expander(state)
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
                execute(piped, state.exported(), self._reached(state), read_script, stdin=body)
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
        if self.context.embedded is not None and self.context.tables.mentions(body.text):
            self.context.embedded(body, name, self.context.within())

    def _call(self, function: Function, arguments: list[Text], state: State, prefix: dict[str, Text]) -> list[State]:
        self.called.add(function.name)
        if self.calls >= _DEEPEST_CALL:
            return [state]
        self.calls += 1
        outer = state.positionals
        state.positionals = tuple(arguments)
        before = {name: state.variables.get(name) for name in prefix}
        for name, value in prefix.items():
            state.set(name, Variable(value), exported=True)
        states = self.commands(function.body, [state])
        for after in states:
            after.positionals = outer
            for name, variable_before in before.items():
                after.variables.pop(name, None)
                if variable_before is not None:
                    after.variables[name] = variable_before
            if after.ended == "return":
                after.ended = ""
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


def _bare(word: Word) -> str:
    return word.bare() or ""


def _assignment_text(assignment: Assignment, expander: Expander) -> Text:
    value = expander.assigned(assignment).scalar()
    return join([Text.at(assignment.name + "=", assignment.line), value])


def read_script(script: Script, context: Context) -> None:
    """Reads a script that a shell is given, in a state that knows its environment and arguments only."""
    commands, error = parse_script(script.text)
    state = State(positionals=script.positionals or ())
    for name, value in script.env.items():
        state.set(name, Variable(value), exported=True)
    try:
        Runner(context, script).run(commands, state)
    except ShellError as raised:
        error = error or raised
    if error is not None:
        context.note(error.line, error.what)
