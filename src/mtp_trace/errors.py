"""Errors that meet a person: each says what is wrong, where, and what to do."""

from __future__ import annotations


class InputError(Exception):
    """Something the user gave cannot be used (exit code 2).

    ``what`` is one sentence; ``where`` names the file, line or key; ``hint`` says what to do about it.
    """

    exit_code = 2

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class SourceError(InputError):
    """The SGLang tree, wheel, git ref or release cannot be read."""


class CheckpointError(InputError):
    """The model's config.json, index or tensor headers cannot be read."""


class LaunchError(InputError):
    """A launch command, environment or GPU description cannot be read."""


class RuleError(InputError):
    """A rule file is wrong; ``where`` holds file, line and key."""
