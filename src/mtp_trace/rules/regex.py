"""Regular expressions of rules: compiled once, bounded in length, refused where matching could take for ever."""

from __future__ import annotations

import re
import warnings

from mtp_trace.checkpoint.saferegex import UndecidedPatternError, regex_matches

MAX_PATTERN = 1000
MAX_TEXT = 1500
_EXAMPLE = "\n" * 300


class UnsafeRegex(ValueError):
    """The expression cannot be compiled or repeats a repetition."""


class SafeRegex:
    """A compiled expression; only the first ``MAX_TEXT`` characters of a text are looked at."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN:
            raise UnsafeRegex(f"longer than {MAX_PATTERN} characters")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self._compiled = re.compile(pattern, re.S)
        except (re.error, OverflowError, RecursionError, Warning) as error:
            raise UnsafeRegex(str(error)) from None
        try:
            for branch in _branches(pattern):
                regex_matches(branch, _EXAMPLE)  # refuses repeated repetitions, and too many of them
        except UndecidedPatternError as error:
            raise UnsafeRegex(str(error)) from None
        self.pattern = pattern

    @property
    def groups(self) -> list[str]:
        """Names of the named groups."""
        return list(self._compiled.groupindex)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match anywhere in the text."""
        return self._compiled.search(text[:MAX_TEXT])

    def full(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return self._compiled.fullmatch(text[:MAX_TEXT])


def _branches(pattern: str) -> list[str]:
    """The alternatives of the whole expression; only one of them runs at a place, so each is judged by itself."""
    found, depth, start, at = [], 0, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = max(pattern.find("]", at + 2), at)
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            found.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*found, pattern[start:]]
