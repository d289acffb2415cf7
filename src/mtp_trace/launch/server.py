"""Recognises a server's command line among words whose wrappers are off."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mtp_trace.launch.holes import has_hole, is_hole
from mtp_trace.launch.launchers import Launchers, Module, Program
from mtp_trace.launch.text import Text
from mtp_trace.launch.wrappers import program_name

_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?t?(?:\.exe)?")
_PYTHON_VALUES = {"-W", "-X", "--check-hash-based-pycs"}


@dataclass(frozen=True)
class Server:
    """A server that is started: its entry point as written, its own arguments, and the word that names the program."""

    entry: str
    arguments: tuple[Text, ...]
    program: Text
    notes: tuple[str, ...] = ()


def find_server(words: list[Text], tables: Launchers, image: str = "") -> Server | None:
    """The server that a command starts, or None.

    Args:
        words: the command without its wrappers.
        tables: what counts as a server.
        image: the container's image or the service's name, where there is one; it says whose entry point takes
            arguments that stand alone.
    """
    if not words:
        return None
    if words[0].text.startswith("-"):
        return _bare(words, tables, image)
    found = _started(words, 0, tables)
    if found is not None:
        return _checked(found, tables)
    name = program_name(words[0].text)
    if name in tables.talkers or _PYTHON.fullmatch(name):
        return None
    # A wrapper that the table does not know: the whole `python -m MODULE` has to stand there, word by word.
    for start in range(1, len(words)):
        if words[start].text == "-m" and start + 1 < len(words) and words[start + 1].text in tables.modules:
            module = tables.modules[words[start + 1].text]
            before = start - 1
            while before > 0 and words[before].text.startswith("-"):
                before -= 1
            return _checked(_of_module(module, words, start + 2, words[before]), tables)
        program = _program(words, start, tables)
        if program is not None and _server_argument(words, start + 2):
            return _checked(program, tables)
    return None


def _server_argument(words: list[Text], place: int) -> bool:
    text = words[place].text if place < len(words) else ""
    return text.startswith("-") or "/" in text or is_hole(text)


def _started(words: list[Text], start: int, tables: Launchers) -> Server | None:
    """The server that the command whose program stands at ``start`` runs."""
    program = _program(words, start, tables)
    if program is not None:
        return program
    name = program_name(words[start].text)
    if name in tables.module_runners:
        return _module_after(words, start + 1, words[start], tables)
    if not _PYTHON.fullmatch(name) and not has_hole(words[start].text):
        return None
    place = start + 1
    while place < len(words):
        text = words[place].text
        if text == "-m" or (text.startswith("-m") and text[2:3].isalpha()):
            return _python_module(words, start, place, tables)
        if text in _PYTHON_VALUES:
            place += 2
        elif text.startswith("-") and text != "-":
            if text[1:2] == "c":
                return None
            place += 1
        else:
            return _script(words, start, place, tables)
    return None


def _python_module(words: list[Text], start: int, place: int, tables: Launchers) -> Server | None:
    joined = words[place].text[2:]
    if not joined:
        place += 1
        joined = words[place].text if place < len(words) else ""
    module = tables.modules.get(joined)
    if module is not None:
        return _of_module(module, words, place + 1, words[start])
    for program in tables.programs.values():
        if joined in program.modules and place + 1 < len(words) and words[place + 1].text == program.subcommand:
            return _of_program(program, f"{joined} {program.subcommand}", words, place + 2, words[start])
    if joined in tables.module_runners:
        return _module_after(words, place + 1, words[start], tables)
    return None


def _module_after(words: list[Text], place: int, program: Text, tables: Launchers) -> Server | None:
    """``RUNNER ... -m MODULE``."""
    for index in range(place, len(words) - 1):
        if words[index].text in ("-m", "--module"):
            module = tables.modules.get(words[index + 1].text)
            return None if module is None else _of_module(module, words, index + 2, program)
    return None


def _script(words: list[Text], start: int, place: int, tables: Launchers) -> Server | None:
    """``python path/to/package/module.py``."""
    path = words[place].text
    if not path.endswith(".py"):
        return None
    for module in tables.modules.values():
        if path.endswith("/" + module.name.replace(".", "/") + ".py"):
            return _of_module(module, words, place + 1, words[start])
    return None


def _program(words: list[Text], start: int, tables: Launchers) -> Server | None:
    program = tables.programs.get(program_name(words[start].text))
    if program is None or start + 1 >= len(words) or words[start + 1].text != program.subcommand:
        return None
    return _of_program(program, f"{program.name} {program.subcommand}", words, start + 2, words[start])


def _of_program(program: Program, entry: str, words: list[Text], place: int, first: Text) -> Server | None:
    arguments: list[Text] = []
    notes: tuple[str, ...] = ()
    rest = words[place:]
    index = 0
    while index < len(rest):
        text = rest[index].text
        if text == program.selector or text.startswith(program.selector + "="):
            separate = text == program.selector
            value = text[len(program.selector) + 1 :]
            if separate:
                value = rest[index + 1].text if index + 1 < len(rest) else ""
            if value not in program.selector_values and not has_hole(value):
                return None
            index += 2 if separate else 1
            continue
        arguments.append(rest[index])
        index += 1
    if arguments and not arguments[0].text.startswith("-"):
        flag = Text.at(program.positional, arguments[0].line)
        arguments.insert(0, flag)
        notes = (f"the model was given without a flag: read as {program.positional}",)
    return Server(entry, tuple(arguments), first, notes)


def _of_module(module: Module, words: list[Text], place: int, first: Text) -> Server:
    return Server(module.name, tuple(words[place:]), first)


def _bare(words: list[Text], tables: Launchers, image: str) -> Server | None:
    """Arguments alone, which a container's entry point takes."""
    lowered = image.lower()
    if not any(word in lowered for word in tables.image_words):
        return None
    flags = (*tables.model_flags, tables.config_flag)
    if not any(word.text == flag or word.text.startswith(flag + "=") for word in words for flag in flags):
        return None
    note = "only arguments are given: the image's entry point is taken to be the server"
    return Server("", tuple(words), words[0], (note,))


def _checked(server: Server | None, tables: Launchers) -> Server | None:
    """Without the module's own flags; None where the command only prints help or talks to a server elsewhere."""
    if server is None:
        return None
    texts = [word.text for word in server.arguments]
    if any(text in tables.help_flags for text in texts):
        return None
    module = tables.modules.get(server.entry)
    if module is None or not (module.own_flags or module.client_flags):
        return server
    if any(text.partition("=")[0] in module.client_flags for text in texts):
        return None
    kept: list[Text] = []
    dropped: list[str] = []
    index = 0
    while index < len(texts):
        flag, equals, _ = texts[index].partition("=")
        count = module.own_flags.get(flag)
        if count is None:
            kept.append(server.arguments[index])
            index += 1
            continue
        dropped.append(flag)
        index += 1
        if equals:
            continue
        taken = 0
        while index < len(texts) and (count < 0 or taken < count):
            if count < 0 and texts[index].startswith("--"):
                break
            index += 1
            taken += 1
    notes = server.notes
    if dropped:
        notes = (*notes, f"left out, as flags of {module.name} itself: {' '.join(dropped)}")
    return Server(server.entry, tuple(kept), server.program, notes)
