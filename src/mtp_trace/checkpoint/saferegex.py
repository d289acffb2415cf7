"""Patterns that a checkpoint brings along, matched without letting one of them run for hours.

Python's matcher backtracks, so ``(a+)+$`` takes exponential time on a name of forty letters. A pattern whose worst case
is too large for the name at hand is not tried: the caller says that it cannot tell.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from math import comb

MAX_PATTERN = 2000
MAX_TEXT = 1000
MAX_STEPS = 20_000_000

_GLOB = re.compile(r"[\w.\-*]*", re.ASCII)
_COUNT = re.compile(r"\{\d*,?\d*\}")


class UndecidedPatternError(Exception):
    """Whether the pattern matches is not known: it is no regular expression, or it might take too long."""


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the whole text matches the pattern with ``.`` taken literally and ``*`` for anything.

    The rest of the pattern is a regular expression, as it is in SGLang (``is_layer_excluded`` of
    ``layers/quantization/modelopt_quant.py``, where the text becomes one by two replacements).

    Raises:
        UndecidedPatternError: the pattern cannot be compiled or might take too long.
    """
    if _GLOB.fullmatch(pattern) is None:
        return regex_matches(pattern.replace(".", r"\.").replace("*", ".*"), text, whole=True)
    first, *rest = pattern.split("*")
    if not rest:
        return first == text
    *middle, last = rest
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def regex_matches(pattern: str, text: str, *, whole: bool = False) -> bool:
    """Whether the text (or with ``whole``, all of it) matches the pattern from its start on, as ``re.match`` does.

    Raises:
        UndecidedPatternError: the pattern cannot be compiled or might take too long.
    """
    if len(text) > MAX_TEXT:
        raise UndecidedPatternError("the name is too long to match it against a pattern")
    compiled, loops, choices = _examined(pattern)
    if comb(len(text) + loops, loops) * choices > MAX_STEPS:
        raise UndecidedPatternError("the pattern might take too long")
    return (compiled.fullmatch(text) if whole else compiled.match(text)) is not None


@lru_cache(maxsize=4096)
def _examined(pattern: str) -> tuple[re.Pattern[str], int, int]:
    """The pattern compiled, how many unbounded repetitions it has, and how many ways its choices can go.

    Raises:
        UndecidedPatternError: it cannot be compiled, or a repetition stands inside a repetition.
    """
    if len(pattern) > MAX_PATTERN:
        raise UndecidedPatternError("the pattern is too long")
    loops, choices = _complexity(pattern)
    try:
        with warnings.catch_warnings():
            # Python's remarks on the style of a pattern are not for the person at the terminal.
            warnings.simplefilter("ignore")
            return re.compile(pattern), loops, choices
    except (re.error, OverflowError, RecursionError) as error:
        raise UndecidedPatternError(f"the pattern is no regular expression: {error}") from error


def _complexity(pattern: str) -> tuple[int, int]:
    loops, choices = 0, 1
    # Of each open group: may it match the same text in several ways, and how many branches has it?
    groups: list[list[int]] = [[0, 1]]
    at = 0
    closed_ambiguous = False
    while at < len(pattern):
        char = pattern[at]
        size = 1
        after_group = False
        if char == "\\":
            size = 2
        elif char == "[":
            size = _class_end(pattern, at) - at
        elif char == "(":
            groups.append([0, 1])
            # "(?:" and the like: the question mark belongs to the bracket.
            size = 2 if pattern[at + 1 : at + 2] == "?" else 1
        elif char == ")" and len(groups) > 1:
            ambiguous, branches = groups.pop()
            choices *= branches
            closed_ambiguous = bool(ambiguous) or branches > 1
            groups[-1][0] |= int(closed_ambiguous)
            after_group = True
        elif char == "|":
            groups[-1][1] += 1
        elif char in "*+?" or (char == "{" and _COUNT.match(pattern, at) is not None):
            match = _COUNT.match(pattern, at)
            size = len(match.group()) if match is not None else 1
            if char == "?":
                choices *= 2
            else:
                loops += 1
                if closed_ambiguous:
                    raise UndecidedPatternError("the pattern might take too long: it repeats a repetition")
            groups[-1][0] = 1
            if pattern[at + size : at + size + 1] in ("?", "+"):
                size += 1  # lazy or possessive: no further choice
        if not after_group:
            closed_ambiguous = False
        at += size
    return loops, choices * groups[0][1]


def _class_end(pattern: str, start: int) -> int:
    """Where a character class ends; a bracket that comes first in it is one of its characters."""
    at = start + 1
    if pattern[at : at + 1] == "^":
        at += 1
    if pattern[at : at + 1] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
