"""A launch as it was found: the arguments after the entry point, the environment, and where it stood."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Launch:
    """One server launch.

    ``argv`` holds SGLang's own arguments only (no ``python -m sglang.launch_server``); ``unresolved`` names the
    variables whose value the file does not tell. ``gpu`` is a profile name where the file hints at one.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    source: str = "command"
    name: str = ""
    unresolved: tuple[str, ...] = ()
    gpu: str | None = None
    notes: tuple[str, ...] = ()
