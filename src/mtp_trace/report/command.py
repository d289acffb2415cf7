"""A launch as a shell command that may be copied, and two launches as a diff."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from mtp_trace.report.textsafe import hides

PROGRAM = ("python", "-m", "sglang.launch_server")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "'": "\\'", "\\": "\\\\"}
_NUMBER = re.compile(r"-\d+(\.\d+)?$")


def shell_word(word: str) -> str:
    r"""``word`` quoted for a shell; with hidden characters in it, in the ``$'\x1b'`` form that also shows them."""
    if "\n" in word or "\t" in word or hides(word):
        return "$'" + "".join(map(_shell_character, word)) + "'"
    return shlex.quote(word)


def command_lines(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The command, environment first, one flag with its values a line, each line but the last ending in a backslash.

    ``argv`` may start with the program; where it starts with a flag, SGLang's server module is put before it.
    """
    lines = launch_lines(argv, env)
    head = len(env) + 1
    indented = [line if index < head else f"  {line}" for index, line in enumerate(lines)]
    return [f"{line} \\" for line in indented[:-1]] + indented[-1:]


def launch_lines(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The parts of :func:`command_lines` bare: ``NAME=value`` each, the program, each flag with its values."""
    assignments = [f"{shell_word(name)}={shell_word(env[name])}" for name in sorted(env)]
    groups = [" ".join(map(shell_word, group)) for group in _groups(argv)]
    return assignments + groups


def launch_diff(
    old_argv: Sequence[str], old_env: Mapping[str, str], new_argv: Sequence[str], new_env: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The lines that differ between two launches, as ``("-", line)`` and ``("+", line)``, in order."""
    old, new = launch_lines(old_argv, old_env), launch_lines(new_argv, new_env)
    changed: list[tuple[str, str]] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            changed += [("-", line) for line in old[old_from:old_to]]
            changed += [("+", line) for line in new[new_from:new_to]]
    return changed


def _groups(argv: Sequence[str]) -> list[list[str]]:
    words = list(argv)
    if not words or words[0].startswith("-"):
        words = [*PROGRAM, *words]
    # The program's own words (``python -m module``) stay together: the first long flag ends them.
    head = next((index for index, word in enumerate(words) if word.startswith("--")), len(words))
    groups = [words[:head]] if head else []
    for word in words[head:]:
        if word.startswith("-") and not _NUMBER.match(word):
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups


def _shell_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if not hides(character):
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8, as the operating system hands it over
        code -= 0xDC00
        return f"\\x{code:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
