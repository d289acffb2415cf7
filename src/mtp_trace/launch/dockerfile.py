"""Reads Dockerfiles for launches: what a container of each stage starts. ``RUN`` is none, nor is a health check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mtp_trace.launch.context import Context
from mtp_trace.launch.execute import Script, execute, span
from mtp_trace.launch.holes import variable
from mtp_trace.launch.shell_run import read_script
from mtp_trace.launch.text import MOST_REFERENCES, Text, bounded, join, split_words
from mtp_trace.launch.wrappers import Environment

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*([\\`])", re.I)
_HEREDOC = re.compile(r"<<-?(['\"]?)([A-Za-z_]\w*)\1")
_VARIABLE = re.compile(r"\\\$|\$(?:\{([A-Za-z_]\w*)(?:(:?[-+])([^}]*))?\}|([A-Za-z_]\w*))")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_STAGE = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+[Aa][Ss]\s+(\S+))?")


@dataclass(frozen=True)
class _Command:
    """An ``ENTRYPOINT`` or ``CMD``: ``words`` in the exec form, ``line_text`` in the shell form."""

    words: list[Text] | None
    line_text: Text | None


@dataclass
class _Stage:
    image: str
    name: str
    env: Environment = field(default_factory=dict)
    arguments: Environment = field(default_factory=dict)
    entrypoint: _Command | None = None
    command: _Command | None = None
    inherits: bool = False
    """Whether ``command`` is the one of the stage below, which a new entry point resets."""


def looks_like_dockerfile(text: str) -> bool:
    """Whether a text of any name begins a stage and says what to start."""
    return re.search(r"^FROM[ \t]+\S", text, re.M) is not None and (
        re.search(r"^(?:CMD|ENTRYPOINT)[ \t\[]", text, re.M) is not None
    )


def read_dockerfile(text: Text, context: Context) -> None:
    """Adds what a container of each stage starts to the context."""
    stages: list[_Stage] = []
    outer: Environment = {}
    for keyword, rest, body in _instructions(text):
        if keyword == "ARG" and not stages:
            _argument(rest, outer, {})
        elif keyword == "FROM":
            stages.append(_stage(rest, stages, outer))
        elif stages:
            _apply(keyword, rest, stages[-1], outer)
        if body is not None and context.embedded is not None and keyword in ("COPY", "ADD"):
            target = rest.text.split()[-1]
            if context.tables.mentions(body.text):
                context.embedded(body, target, context.within())
    for stage in stages:
        _read_stage(stage, context)


def _apply(keyword: str, rest: Text, stage: _Stage, outer: Environment) -> None:
    if keyword == "ENV":
        # All values of one instruction see the variables as they were before it.
        known = {**stage.arguments, **stage.env}
        for name, value in _pairs(rest):
            stage.env[name] = bounded(_expanded(value, known), name)
    elif keyword == "ARG":
        _argument(rest, stage.arguments, outer)
    elif keyword == "CMD":
        stage.command, stage.inherits = _form(rest), False
    elif keyword == "ENTRYPOINT":
        stage.entrypoint = _form(rest)
        stage.command = None if stage.inherits else stage.command


def _stage(rest: Text, stages: list[_Stage], outer: Environment) -> _Stage:
    match = _STAGE.match(_expanded(rest, outer).text)
    image, name = (match.group(1), match.group(2) or "") if match else ("", "")
    for earlier in stages:
        if earlier.name and earlier.name.lower() == image.lower():
            return _Stage(earlier.image, name, dict(earlier.env), {}, earlier.entrypoint, earlier.command, True)
    return _Stage(image, name)


def _read_stage(stage: _Stage, context: Context) -> None:
    entrypoint, command = stage.entrypoint, stage.command
    here = context.within(name=stage.name or context.name)
    if entrypoint is not None and entrypoint.line_text is not None:
        # The shell form takes no further words.
        read_script(Script(entrypoint.line_text, stage.env, image=stage.image), here)
        return
    words = list(entrypoint.words or ()) if entrypoint is not None else []
    if command is not None and command.line_text is not None:
        if not words:
            read_script(Script(command.line_text, stage.env, image=stage.image), here)
            return
        line = command.line_text.line
        words.extend((Text.at("/bin/sh", line), Text.at("-c", line), command.line_text))
        execute(words, stage.env, here, read_script, image=stage.image)
        return
    more = list(command.words or ()) if command is not None else []
    execute([*words, *more], stage.env, here, read_script, *span(words, more), image=stage.image)


def _instructions(text: Text) -> Iterator[tuple[str, Text, Text | None]]:
    """(keyword, arguments, here-document) of each instruction, with continued lines joined."""
    escape = "\\"
    start = 0
    at_top = True
    source = text.text
    while start < len(source):
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        line = source[start:end]
        if at_top:
            directive = _DIRECTIVE.match(line)
            escape = directive.group(1) if directive else escape
            at_top = line.startswith("#")
        if not line.strip() or line.lstrip().startswith("#"):
            start = end + 1
            continue
        pieces: list[Text] = []
        while True:
            stripped = line.rstrip()
            if line.lstrip().startswith("#") and pieces:
                pass
            elif stripped.endswith(escape):
                pieces.extend((text.cut(start, start + len(stripped) - 1), Text.at(" ", text.line_at(start))))
            else:
                pieces.append(text.cut(start, end))
                break
            if end >= len(source):
                break
            start = end + 1
            end = source.find("\n", start)
            end = len(source) if end < 0 else end
            line = source[start:end]
        start = end + 1
        whole = join(pieces)
        match = _INSTRUCTION.match(whole.text)
        if match is None:
            continue
        body: Text | None = None
        for heredoc in _HEREDOC.finditer(whole.text) if match.group(1).upper() in ("RUN", "COPY", "ADD") else ():
            body, start = _body(text, start, heredoc.group(2))
        rest = whole.cut(match.end(), len(whole.text.rstrip()))
        yield match.group(1).upper(), rest, body


def _body(text: Text, start: int, delimiter: str) -> tuple[Text, int]:
    first = start
    while start < len(text.text):
        end = text.text.find("\n", start)
        end = len(text.text) if end < 0 else end
        if text.text[start:end].strip() == delimiter:
            return text.cut(first, start), end + 1
        start = end + 1
    return text.cut(first, len(text.text)), len(text.text)


def _form(rest: Text) -> _Command:
    if rest.text.startswith("["):
        words = _exec_form(rest)
        if words is not None:
            return _Command(words, None)
    return _Command(None, rest)


def _exec_form(rest: Text) -> list[Text] | None:
    """The words of a JSON array, each at its line; None where it is none, which makes it the shell form."""
    try:
        values = json.loads(rest.text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return None
    words: list[Text] = []
    place = 1
    for value in values:
        found = rest.text.find('"', place)
        words.append(Text.at(value, rest.line_at(found)))
        place = found + 1
        while place < len(rest.text) and rest.text[place] != '"':
            place += 2 if rest.text[place] == "\\" else 1
        place += 1
    return words


def _argument(rest: Text, into: Environment, outer: Environment) -> None:
    for name, value in _pairs(rest, needs_equals=False):
        given = _expanded(value, into)
        if not value.text and "=" not in rest.text:
            given = outer.get(name, Text.at(variable(name), rest.line))
        into[name] = bounded(given, name)


def _pairs(rest: Text, needs_equals: bool = True) -> Iterator[tuple[str, Text]]:
    """``NAME=VALUE ...``, or the old ``NAME VALUE`` form."""
    first = rest.text.split(None, 1)
    if needs_equals and first and "=" not in first[0]:
        name = first[0]
        if _NAME.fullmatch(name) and len(first) == 2:
            start = rest.text.index(first[1], len(name))
            yield name, rest.cut(start, len(rest.text))
        return
    for word in split_words(rest, _escaped):
        name, _, _ = word.text.partition("=")
        if _NAME.fullmatch(name):
            yield name, word.cut(min(len(name) + 1, len(word.text)), len(word.text))


def _escaped(following: str, quote: str) -> str:
    # An escaped dollar sign keeps its backslash for the expansion that comes after.
    return "\\$" if following == "$" else following


def _expanded(value: Text, known: Environment) -> Text:
    """The value with the variables of the build put in; one that is not known becomes a hole."""

    def put(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(4)
        if name is None:
            return "$"
        given = known.get(name)
        operator, word = match.group(2) or "", match.group(3) or ""
        if operator.endswith("-"):
            return given.text if given is not None and given.text else word
        if operator.endswith("+"):
            return word if given is not None and given.text else ""
        return variable(name) if given is None else given.text

    replaced = _VARIABLE.sub(put, value.text, count=MOST_REFERENCES)
    return value if replaced == value.text else Text.at(replaced, value.line)
