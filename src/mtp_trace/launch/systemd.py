"""Reads systemd units (and podman's ``.container`` units) for launches, with their drop-ins and environment files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mtp_trace.launch.context import Context
from mtp_trace.launch.envfile import Style, parse_env
from mtp_trace.launch.execute import execute, span
from mtp_trace.launch.holes import hole, variable
from mtp_trace.launch.shell_run import read_script
from mtp_trace.launch.text import MOST_REFERENCES, Text, join, split_words
from mtp_trace.launch.wrappers import Environment

_SECTION = re.compile(r"\[([^\]]+)\]")
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)\}")
_WHOLE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_PREFIXES = "@-:+!|"
_MOST_DROP_INS = 64
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Setting:
    section: str
    key: str
    value: Text
    file: str
    path: Path | None


def looks_like_unit(text: str) -> bool:
    """Whether a text of any name is a unit that starts something."""
    return (
        re.search(r"^\[Service\]\s*$", text, re.M) is not None and re.search(r"^ExecStart\s*=", text, re.M) is not None
    )


def drop_in_of(path: Path) -> Path | None:
    """The unit that a file in ``X.service.d`` adds to, where that unit stands beside the folder."""
    folder = path.parent
    if not folder.name.endswith(".service.d"):
        return None
    unit = folder.with_name(folder.name[: -len(".d")])
    return unit if unit.is_file() else None


def read_unit(text: Text, context: Context) -> None:
    """Adds the launches of a unit to the context; each stands where its ``ExecStart`` does."""
    settings = list(_settings(text, context.file, context.path))
    settings.extend(_drop_ins(context))
    if any(setting.section == "Container" for setting in settings):
        _read_container(settings, context)
        return
    service = [setting for setting in settings if setting.section == "Service"]
    env, unknown, notes = _environment(service, context)
    commands: list[_Setting] = []
    for setting in service:
        if setting.key == "ExecStart":
            commands = [*commands, setting] if setting.value.text.strip() else []
    for setting in commands:
        here = replace(context, file=setting.file, path=setting.path)
        for words in _command_lines(setting.value, env):
            execute(words, env, here, read_script, *span(words), notes=notes, unknown=unknown)


def _read_container(settings: list[_Setting], context: Context) -> None:
    """podman's quadlet: the image's entry point, or ``Entrypoint=``, runs with the words of ``Exec=``."""
    container = [setting for setting in settings if setting.section == "Container"]
    env, unknown, notes = _environment(container, context)
    last = {setting.key: setting for setting in container}
    if "Exec" not in last:
        return
    setting = last["Exec"]
    words = [word for line in _command_lines(setting.value, {}, first_is_program=False) for word in line]
    entrypoint = _split(last["Entrypoint"].value) if "Entrypoint" in last else []
    lines = span(entrypoint, words)
    words = [*entrypoint, *words]
    image = last["Image"].value.text if "Image" in last else ""
    here = replace(context, file=setting.file, path=setting.path)
    execute(words, env, here, read_script, *lines, image=image, notes=notes, unknown=unknown)


def _drop_ins(context: Context) -> list[_Setting]:
    if context.path is None or not context.path.name.endswith((".service", ".container")):
        return []
    folder = context.path.with_name(context.path.name + ".d")
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(".conf"))[:_MOST_DROP_INS]
    except OSError:
        return []
    found: list[_Setting] = []
    for path in paths:
        text = context.files.text(path)
        if text is not None:
            shown = str(Path(context.file).with_name(folder.name) / path.name)
            found.extend(_settings(Text.of_file(text), shown, path))
    return found


def _settings(text: Text, file: str, path: Path | None) -> Iterator[_Setting]:
    """The assignments of a unit file, with continued lines joined."""
    section = ""
    lines = list(_logical_lines(text))
    for line in lines:
        header = _SECTION.fullmatch(line.text.strip())
        if header is not None:
            section = header.group(1)
            continue
        key, equals, _ = line.text.partition("=")
        if equals:
            start = len(key) + 1
            start += len(line.text[start:]) - len(line.text[start:].lstrip())
            yield _Setting(section, key.strip(), line.cut(start, len(line.text.rstrip())), file, path)


def _logical_lines(text: Text) -> Iterator[Text]:
    pieces: list[Text] = []
    start = 0
    while start < len(text.text):
        end = text.text.find("\n", start)
        end = len(text.text) if end < 0 else end
        line = text.text[start:end]
        if line.lstrip()[:1] in ("#", ";"):
            # A comment among continued lines does not end them.
            pass
        elif line.rstrip().endswith("\\"):
            pieces.extend((text.cut(start, start + len(line.rstrip()) - 1), Text.at(" ", text.line_at(start))))
        else:
            pieces.append(text.cut(start, end))
            whole = join(pieces)
            pieces = []
            if whole.text.strip():
                yield whole
        start = end + 1
    if pieces:
        yield join(pieces)


def _environment(settings: list[_Setting], context: Context) -> tuple[Environment, tuple[str, ...], tuple[str, ...]]:
    """(variables, names that are passed on from the manager, notes); files win over ``Environment=``."""
    env: Environment = {}
    from_files: Environment = {}
    passed: dict[str, None] = {}
    notes: list[str] = []
    for setting in settings:
        text = setting.value.text
        if setting.key == "Environment":
            if not text:
                env = {}
            for word in _split(setting.value):
                name, equals, _ = word.text.partition("=")
                if equals and _NAME.fullmatch(name):
                    env[name] = _specified(word.cut(len(name) + 1, len(word.text)))
        elif setting.key == "EnvironmentFile":
            if not text:
                from_files, notes = {}, []
                continue
            name = _specified(setting.value).text.removeprefix("-").strip("\"'")
            found = context.files.named(name, setting.path)
            if found is None:
                notes.append(f"the environment file {text.removeprefix('-')} was not found: its variables are unknown")
            else:
                from_files.update(parse_env(found[1], Style.SYSTEMD))
        elif setting.key == "PassEnvironment":
            passed.update(dict.fromkeys(text.split()))
        elif setting.key == "UnsetEnvironment":
            for name in text.split():
                env.pop(name, None)
                from_files.pop(name, None)
    merged = {**env, **from_files}
    return merged, tuple(name for name in passed if name not in merged), tuple(notes)


def _command_lines(value: Text, env: Environment, first_is_program: bool = True) -> Iterator[list[Text]]:
    """The words of each command in an ``ExecStart``, with variables put in."""
    raw = _split(value)
    commands: list[list[Text]] = [[]]
    for word in raw:
        if word.text == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    for words in commands:
        if not words:
            continue
        expands = True
        if first_is_program:
            program = words[0]
            prefix = len(program.text) - len(program.text.lstrip(_PREFIXES))
            marks = program.text[:prefix]
            words = [program.cut(prefix, len(program.text)), *words[1:]]
            expands = ":" not in marks
            if "@" in marks and len(words) > 1:
                words = [words[0], *words[2:]]
        expanded: list[Text] = []
        for word in words:
            expanded.extend(_expanded(word, env) if expands else [_specified(word)])
        yield [word for word in expanded if word.text]


def _expanded(word: Text, env: Environment) -> list[Text]:
    whole = _WHOLE_VARIABLE.fullmatch(word.text)
    if whole is not None:
        known = env.get(whole.group(1))
        if known is None:
            return [Text.at(variable(whole.group(1), soft=True), word.line)]
        return [Text.at(part.text, word.line) for part in _split(known)]

    def value(match: re.Match[str]) -> str:
        if match.group(0) == "$$":
            return "$"
        known = env.get(match.group(1))
        return variable(match.group(1)) if known is None else known.text

    specified = _specified(word)
    replaced = _VARIABLE.sub(value, specified.text, count=MOST_REFERENCES)
    return [specified if replaced == specified.text else Text.at(replaced, word.line)]


def _specified(word: Text) -> Text:
    """With ``%%`` as a percent sign and every other specifier as a hole."""
    if "%" not in word.text:
        return word
    replaced = re.sub(r"%(.)", lambda match: "%" if match.group(1) == "%" else hole(match.group(0)), word.text)
    return Text.at(replaced, word.line)


def _split(value: Text) -> list[Text]:
    """The words of a setting: quotes and backslashes as systemd reads them."""
    return split_words(value, lambda following, quote: _ESCAPES.get(following, following))
