"""What every reader shares: the files it may look at, the tables, and where its findings go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mtp_trace.launch.configmaps import Entry
from mtp_trace.launch.files import Files
from mtp_trace.launch.holes import has_hole, is_array, is_soft_hole, names, show
from mtp_trace.launch.launchers import Launchers, launchers
from mtp_trace.launch.model import Launch, Note
from mtp_trace.launch.server import Server
from mtp_trace.launch.sglang_config import merged_arguments
from mtp_trace.launch.text import Text

_FLAG = re.compile(r"--?[A-Za-z][\w-]*$")
_SLURM = re.compile(r"^#SBATCH\s+(?:--(gres|gpus|gpus-per-node|gpus-per-task|constraint)[= ]|-([GC])\s*)(\S+)", re.M)
_MOST_LAUNCHES = 500
_MOST_COUNTED = 1024
_MOST_COMMANDS = 20_000


@dataclass
class Context:
    """One file being read. ``launches`` and ``notes`` are added to; ``path`` is None for text that is in no file."""

    files: Files
    file: str = ""
    path: Path | None = None
    source: str = "command"
    name: str = ""
    tables: Launchers = field(default_factory=launchers)
    launches: list[Launch] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    mounted: Callable[[str], str | None] | None = None
    """The text of a file inside the container, where a mounted ConfigMap tells it."""
    script_at: Callable[[str], Entry | None] | None = None
    """A script inside the container, where a mounted ConfigMap tells it."""
    embedded: Callable[[Text, str, Context], None] | None = None
    """Reads a file that stands inside another one: its text, its name where there is one, and the context."""
    conditions: tuple[str, ...] = ()
    """The arms that were taken to the present place."""
    written: dict[str, str] = field(default_factory=dict)
    """Files that the script writes itself, by the name that it gives them."""
    used: set[str] = field(default_factory=set)
    """Those of them that a launch reads."""
    depth: int = 0
    budget: list[int] = field(default_factory=lambda: [_MOST_COMMANDS])
    gpu: str | None = None
    gpu_count: int | None = None

    def within(
        self,
        source: str | None = None,
        name: str | None = None,
        mounted: Callable[[str], str | None] | None = None,
    ) -> Context:
        """The same place, one level further in; findings go to the same lists."""
        return replace(
            self,
            source=source if source is not None else self.source,
            name=name if name is not None else self.name,
            mounted=mounted if mounted is not None else self.mounted,
            depth=self.depth + 1,
        )

    def spend(self) -> bool:
        """Takes one command off the budget of the file; False once it is used up, which is noted."""
        self.budget[0] -= 1
        if self.budget[0] == -1:
            self.note(0, f"more than {_MOST_COMMANDS} commands to follow: the rest is not read")
        return self.budget[0] >= 0

    def note(self, line: int, text: str) -> None:
        """Adds a note about the file."""
        self.notes.append(Note(self.file, line, text))

    def add(
        self,
        server: Server,
        env: Mapping[str, Text],
        line: int,
        notes: tuple[str, ...] = (),
        unknown: tuple[str, ...] = (),
        gpu: str = "",
    ) -> None:
        """Adds the launch of ``server``.

        Args:
            server: what is started.
            env: the environment that the file sets for it.
            line: the line of the command's first word.
            notes: what its reader should know besides.
            unknown: what is not known besides the holes in ``server`` and ``env``.
            gpu: a text that may name the GPU and its number, as Slurm's ``gpu:h100:8``.
        """
        if len(self.launches) >= _MOST_LAUNCHES:
            return
        arguments, config_notes = merged_arguments(server.arguments, self.container_file, self.tables)
        argv, vanished = _arguments(arguments)
        open_names: dict[str, None] = {}
        for word in (*argv, *vanished):
            open_names.update(dict.fromkeys(names(word)))
        open_names.update(dict.fromkeys(unknown))
        known_env: dict[str, str] = {}
        for name, value in env.items():
            if not has_hole(value.text):
                known_env[name] = value.text
            elif name not in self.tables.search_paths:
                open_names[name] = None
        profile, count = self._gpu(gpu)
        more = tuple(f"{show(word)} may add arguments" for word in vanished)
        self.launches.append(
            Launch(
                argv=tuple(show(word) for word in argv),
                env=known_env,
                file=self.file,
                line=line,
                source=self.source,
                name=show(self.name),
                unresolved=tuple(open_names),
                gpu=profile,
                notes=tuple(show(note) for note in dict.fromkeys((*server.notes, *notes, *config_notes, *more))),
                entry=server.entry,
                gpu_count=count,
                conditions=self.conditions,
                unresolved_at=tuple(index for index, word in enumerate(argv) if has_hole(word)),
            )
        )

    def container_file(self, name: str) -> str | None:
        """The text of a file that the launch names: a mounted ConfigMap's, the script's own, or an audited one."""
        mounted = self.mounted(name) if self.mounted is not None else None
        if mounted is not None:
            return mounted
        written = self.written.get(name)
        if written is not None:
            self.used.add(name)
            return written
        found = self.files.named(name, self.path)
        return found[1] if found is not None else None

    def _gpu(self, text: str) -> tuple[str | None, int | None]:
        profile, count = gpu_request(text, self.tables) if text else (None, None)
        return profile or self.gpu, count or self.gpu_count


def gpu_request(text: str, tables: Launchers) -> tuple[str | None, int | None]:
    """(profile, number) that a scheduler's request as ``gpu:h100:8``, ``h100:4`` or ``8`` speaks of."""
    number = re.search(r"(?:^|[:=])(\d{1,4})(?:\(|,|$)", text)
    count = int(number.group(1)) if number else None
    if count is not None and not 0 < count <= _MOST_COUNTED:
        count = None
    return tables.gpu_profile(text), count


def with_slurm_request(context: Context, text: str) -> Context:
    """The context with the GPU that a batch script's own ``#SBATCH`` lines ask for."""
    profile, count = None, None
    for match in _SLURM.finditer(text):
        found, number = gpu_request(match.group(3), context.tables)
        profile = profile or found
        if match.group(1) not in (None, "constraint", "gpus-per-task") or match.group(2) == "G":
            count = count or number
    return replace(context, gpu=profile or context.gpu, gpu_count=count or context.gpu_count)


def _arguments(words: Sequence[Text]) -> tuple[list[str], list[str]]:
    """The arguments, and those words that may come to nothing where no flag waits for a value."""
    kept: list[str] = []
    vanished: list[str] = []
    for word in words:
        text = word.text
        if is_soft_hole(text):
            waits = bool(kept) and _FLAG.fullmatch(kept[-1]) is not None and not is_array(text)
            if not waits:
                vanished.append(text)
                continue
        kept.append(text)
    return kept, vanished


def settled(launches: Iterable[Launch]) -> list[Launch]:
    """The launches without those that differ only in the way to them; what all ways have in common is kept."""
    kept: dict[tuple[object, ...], Launch] = {}
    for launch in launches:
        key = (
            launch.file,
            launch.line,
            launch.argv,
            tuple(sorted(launch.env.items())),
            launch.unresolved,
            launch.source,
            launch.name,
            launch.entry,
        )
        known = kept.get(key)
        if known is None:
            kept[key] = launch
        else:
            common = tuple(condition for condition in known.conditions if condition in launch.conditions)
            kept[key] = replace(known, conditions=common)
    return list(kept.values())
