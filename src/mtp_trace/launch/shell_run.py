"""Walks through a script's commands with what is known of its variables, and reads every command that it comes by.

Where the script branches and the file does not tell which way, both are gone. An arm that the values in the file rule
out is still looked at for launches, but what it sets is not carried on.
"""

from __future__ import annotations

from mtp_trace.launch.context import Context
from mtp_trace.launch.execute import Script
from mtp_trace.launch.holes import has_hole, show, variable, variable_of
from mtp_trace.launch.shell_commands import SimpleCommands
from mtp_trace.launch.shell_look import assigned_in, has_shift, names_in
from mtp_trace.launch.shell_parse import parse_script
from mtp_trace.launch.shell_state import State, Variable
from mtp_trace.launch.shell_syntax import (
    AndOr,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    ShellError,
    Simple,
    While,
    Word,
)
from mtp_trace.launch.shell_test import assume, decide, decide_command, is_test
from mtp_trace.launch.shell_values import matches
from mtp_trace.launch.text import Text

_MOST_STATES = 16
_MOST_TURNS = 32


class Runner(SimpleCommands):
    """One script on its way."""

    # Entry -----------------------------------------------------------------------------------------------------------

    def read_script(self, script: Script, context: Context) -> None:
        read_script(script, context)

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
            return self.simple(command, state)
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
                self.simple(command, state.copy(), following)
            else:
                self.command(command, state.copy())
        return [state]

    def _and_or(self, command: AndOr, state: State) -> list[State]:
        reached = self._answers(command.first, state)
        for operator, following in command.rest:
            wanted = operator == "&&"
            after: list[tuple[State, bool]] = []
            read = False
            for current, holds in reached:
                if current.ended or holds is not wanted:
                    after.append((current, holds))
                    continue
                read = True
                passed = self._in_doubt(current, [command.first]) if is_test(command.first) else None
                answers = self._answers(following, current)
                after.extend(answers)
                if passed is not None and all(answer.ended == "exit" for answer, _ in answers):
                    after.append((passed, not holds))
            if not read:
                self._aside([following], next((current for current, _ in reached if not current.ended), state))
            reached = after
        return self._merged([current for current, _ in reached])

    def _answers(self, command: Command, state: State) -> list[tuple[State, bool]]:
        """(state, success) after a command; what is no test is taken to succeed."""
        if not is_test(command):
            return [(after, True) for after in self.command(command, state)]
        outcome = decide_command(command, state)
        answers: list[tuple[State, bool]] = []
        for after in self.command(command, state):
            if outcome.holds is not None:
                answers.append((after, outcome.holds))
                continue
            failed = after.copy()
            assume(after, outcome.if_true)
            assume(failed, outcome.if_false)
            answers.extend(((after, True), (failed, False)))
        return answers

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
                passed = self._in_doubt(current, condition)
                ends = self.commands(body, [current])
                after.extend(ends)
                # An arm that only says how to use the script does not end it for those who know.
                current = passed if all(end.ended == "exit" for end in ends) else None
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

    @staticmethod
    def _in_doubt(state: State, condition: list[Command]) -> State:
        """The state if the condition had come out otherwise: what a loop over arguments may have set is open."""
        other = state.copy()
        for name in state.doubtful & names_in(condition):
            other.set(name, Variable(Text.at(variable(name), 0)))
        return other

    def _for(self, command: For, state: State) -> list[State]:
        expander = self.expander(state)
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
        left: list[State] = []
        for item in items:
            # An item that nobody told leaves the variable open under its own name.
            value = Text.at(variable(command.name), command.line) if has_hole(item.text) else item
            for current in states:
                if not current.ended:
                    current.set(command.name, Variable(value))
            states = self._turned(self.commands(command.body, states), left)
        return self._merged([*states, *left])

    @staticmethod
    def _turned(states: list[State], left: list[State]) -> list[State]:
        """The states that go on with the next turn of a loop; those that leave it are put into ``left``."""
        going: list[State] = []
        for state in states:
            leaves = state.ended == "break"
            if state.ended in ("break", "continue"):
                state.ended = ""
            (left if leaves else going).append(state)
        return going

    def _while(self, command: While, state: State) -> list[State]:
        open_arguments = any(has_hole(text.text) for text in state.positionals) and has_shift(command.body)
        states: list[State] = [state]
        left: list[State] = []
        for _ in range(_MOST_TURNS):
            after: list[State] = []
            again = False
            for current in states:
                outcome = decide(command.condition, current)
                self.commands(command.condition, [current.copy()])
                holds = outcome.negated().holds if command.until else outcome.holds
                if current.ended or holds is False:
                    left.append(current)
                    continue
                if holds is None or open_arguments:
                    # Arguments and input that nobody gave: the loop is read once, and leaves nothing behind.
                    self.commands(command.body, [current.copy()])
                    current.doubtful |= assigned_in(command.body)
                    left.append(current)
                    continue
                before = current.key()
                turned = self._turned(self.commands(command.body, [current.copy()]), left)
                again = again or any(turn.key() != before for turn in turned)
                after.extend(turned)
            states = self._merged(after)
            if not again:
                break
        return self._merged([*states, *left]) or [state]

    def _case(self, command: Case, state: State) -> list[State]:
        expander = self.expander(state)
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


def _bare(word: Word) -> str:
    return word.bare() or ""


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
