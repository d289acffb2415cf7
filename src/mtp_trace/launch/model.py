"""A launch as it was found: the arguments after the entry point, the environment, and where it stood."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Launch:
    """One server launch.

    ``argv`` holds SGLang's own arguments only (no ``python -m sglang.launch_server``). What the file does not tell
    stands in it as it would be spelled there (``${MODEL}``, ``$(hostname -i)``, ``%i``); ``unresolved_at`` holds the
    indices of those words. ``unresolved`` names the variables whose value the file does not tell, those of ``argv``
    first, then environment variables that are set but to a value unknown here; ``env`` holds only what is known.

    ``line`` counts from 1 and is the line of the command's first word in ``file``. ``source`` is ``command``,
    ``shell``, ``systemd``, ``dockerfile``, ``compose``, ``kubernetes`` or ``config``; ``name`` is what the file calls
    the launch (a unit, a service, a workload and its container). ``entry`` is the entry point as written (a module, or
    a program with its subcommand; "" where only arguments were given). ``gpu`` is a profile name and ``gpu_count`` a
    number of GPUs where the file hints at them. ``conditions`` says which arms of a script lead to the launch, where
    it does not run either way.
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
    entry: str = ""
    gpu_count: int | None = None
    unresolved_at: tuple[int, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """Something about a file that its reader should know, as a file that could not be read. ``line`` 0 is the whole."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"
