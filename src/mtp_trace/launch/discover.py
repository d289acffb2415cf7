"""Walks files and folders and finds every launch in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mtp_trace.errors import LaunchError
from mtp_trace.launch.configmaps import ConfigMaps
from mtp_trace.launch.context import Context, settled
from mtp_trace.launch.dockerfile import read_dockerfile
from mtp_trace.launch.documents import read_all, read_documents_of, read_unused_scripts
from mtp_trace.launch.execute import is_call
from mtp_trace.launch.files import LARGEST, SHELL_ENDINGS, Files
from mtp_trace.launch.holes import show
from mtp_trace.launch.kinds import UNIT_ENDINGS, YAML_ENDINGS, Kind, is_prose, is_template, kind_of
from mtp_trace.launch.launchers import launchers
from mtp_trace.launch.model import Launch, Note
from mtp_trace.launch.shell import read_shell
from mtp_trace.launch.systemd import drop_in_of, read_unit
from mtp_trace.launch.templates import without_templates
from mtp_trace.launch.text import Text
from mtp_trace.launch.yaml_nodes import Node, YamlError

_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"}
_DEEPEST = 32
_DEEPEST_EMBEDDED = 6
_MOST_FILES = 20_000
_MOST_CHARACTERS = 256 * 1024 * 1024


@dataclass
class _Found:
    """A file that is going to be read: how it is named in results, its kind, text and, for YAML, its documents."""

    path: Path
    shown: str
    kind: Kind
    text: str
    quiet: bool = False
    """Whether the file says nothing of a server, and is read only if it calls a script that does."""
    documents: list[Node] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def find_launches(paths: Sequence[Path]) -> tuple[list[Launch], list[Note]]:
    """The launches in files and folders, in the order of the walk, and notes on what could not be read.

    Folders are walked in order of names, to a bounded depth and number of files; links that lead out of them are not
    followed. A file is read by what it is: its name decides where it tells, else its text. A file that is given
    itself is read as a script where nothing tells.

    Args:
        paths: files and folders.

    Raises:
        LaunchError: a path does not exist.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise LaunchError("no such file or folder", str(path), "Check the path.")
    return _Search([Path(path) for path in paths]).run()


class _Search:
    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self.files = Files(paths)
        self.maps = ConfigMaps()
        self.launches: list[Launch] = []
        self.notes: list[Note] = []
        self.units: set[Path] = set()
        self.held = 0
        self.tables = launchers()

    def run(self) -> tuple[list[Launch], list[Note]]:
        found: list[_Found] = []
        seen: set[Path] = set()
        for path, shown, given in self._walk():
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
            taken = self._take(path, shown, given)
            if taken is not None:
                found.append(taken)
        found = self._calling(found)
        configs: list[tuple[_Found, list[Launch]]] = []
        for item in found:
            launches = self._read(item)
            if any(launch.source == "config" for launch in launches):
                configs.append((item, launches))
            self.launches.extend(launches)
        for item, launches in configs:
            # A configuration that a launch names is part of that launch.
            if item.path.resolve() in self.files.used:
                self.launches = [launch for launch in self.launches if launch not in launches]
        self._unused_scripts(found)
        self.launches = _best_known(self.launches)
        return self.launches, list(dict.fromkeys(self.notes))

    def _unused_scripts(self, found: list[_Found]) -> None:
        by_name = {item.shown: item for item in found}
        contexts: list[Context] = []

        def context_of(file: str) -> Context | None:
            if file not in by_name:
                return None
            contexts.append(self._context(by_name[file]))
            return contexts[-1]

        read_unused_scripts(self.maps, context_of, read_shell)
        for context in contexts:
            self.launches.extend(settled(context.launches))

    def _calling(self, found: list[_Found]) -> list[_Found]:
        """Without the quiet files that name none of the scripts that speak of a server."""
        scripts = {item.path.name for item in found if not item.quiet and item.kind is Kind.SHELL}
        return [
            item
            for item in found
            if not item.quiet or (item.path not in self.units and any(name in item.text for name in scripts))
        ]

    # The walk --------------------------------------------------------------------------------------------------------

    def _walk(self) -> Iterator[tuple[Path, str, bool]]:
        """(path, path as shown, was it given itself) of every file that may be looked at."""
        count = 0
        for root in self.paths:
            if not root.is_dir():
                yield root, str(root), True
                continue
            for path in self._folder(root, root.resolve(), 0):
                count += 1
                if count > _MOST_FILES:
                    self.notes.append(Note(str(root), 0, f"more than {_MOST_FILES} files: the rest is not read"))
                    return
                yield path, str(path), False

    def _folder(self, folder: Path, root: Path, depth: int) -> Iterator[Path]:
        if depth > _DEEPEST:
            self.notes.append(Note(str(folder), 0, f"deeper than {_DEEPEST} folders: not read"))
            return
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.notes.append(Note(str(folder), 0, f"the folder cannot be read: {error.strerror or error}"))
            return
        for entry in entries:
            path = folder / entry.name
            try:
                if entry.is_symlink() and not self._inside(path, root):
                    continue
                if entry.is_dir():
                    # A link to a folder inside is not followed: its files are met where they are.
                    if entry.name not in _SKIPPED_FOLDERS and not entry.is_symlink():
                        yield from self._folder(path, root, depth + 1)
                elif entry.is_file():
                    yield path
            except OSError:
                continue

    @staticmethod
    def _inside(path: Path, root: Path) -> bool:
        try:
            return path.resolve(strict=True).is_relative_to(root)
        except (OSError, RuntimeError):
            return False

    # One file --------------------------------------------------------------------------------------------------------

    def _take(self, path: Path, shown: str, given: bool) -> _Found | None:
        if is_prose(path.name, given):
            return None
        text = self.files.text(path)
        if text is None:
            self._unread(path, shown, given)
            return None
        kind = kind_of(str(path), text, self.tables, given)
        quiet = kind is None
        if kind is None:
            kind = kind_of(str(path), text, self.tables, mentioned=True)
            if kind not in (Kind.SHELL, Kind.SYSTEMD):
                return None
        if kind is not Kind.YAML and is_template(path.name):
            text = without_templates(text)
        if kind is Kind.SYSTEMD:
            return self._unit(path, shown, text, quiet)
        self.held += len(text)
        if self.held > _MOST_CHARACTERS:
            self.notes.append(Note(shown, 0, "the files before it are as much as is read: not read"))
            return None
        item = _Found(path, shown, kind, text, quiet)
        return item if kind is not Kind.YAML or self._documents(item) else None

    def _unit(self, path: Path, shown: str, text: str, quiet: bool) -> _Found | None:
        """A unit once, whether it is met itself or one of its drop-ins is."""
        unit = drop_in_of(path)
        if unit is not None:
            text = self.files.text(unit) or ""
            path, shown = unit, str(Path(shown).parent.parent / unit.name)
            if quiet:
                return None
        if path in self.units:
            return None
        if not quiet:
            self.units.add(path)
        return _Found(path, shown, Kind.SYSTEMD, text, quiet)

    def _unread(self, path: Path, shown: str, given: bool) -> None:
        """Says why a file that one would expect to be read was not."""
        if not given and not path.name.lower().endswith((*SHELL_ENDINGS, *YAML_ENDINGS, *UNIT_ENDINGS)):
            return
        try:
            size = path.stat().st_size if path.is_file() else -1
        except OSError:
            size = -1
        why = "not a file" if size < 0 else "not a text file" if size <= LARGEST else "larger than 2 MiB"
        self.notes.append(Note(shown, 0, f"{why}: not read"))

    def _documents(self, item: _Found) -> bool:
        """Reads a YAML file's documents; False where it holds nothing to look at."""
        mentioned = self.tables.mentions(item.text)
        try:
            item.documents, item.lines, templated = read_documents_of(item.text)
        except YamlError as error:
            if mentioned:
                self.notes.append(Note(item.shown, error.line, f"not read: {error.what}"))
            return False
        for document in item.documents:
            self.maps.collect(document, item.lines, item.shown, item.path, self.files)
        if templated and mentioned:
            what = "a template: what it is filled in with is not known, and all parts of conditionals are read"
            self.notes.append(Note(item.shown, 0, what))
        return True

    def _context(self, item: _Found) -> Context:
        return Context(
            self.files,
            item.shown,
            item.path,
            name=item.path.name,
            tables=self.tables,
            notes=self.notes,
            embedded=self._embedded,
        )

    def _read(self, item: _Found) -> list[Launch]:
        context = self._context(item)
        if item.kind is Kind.YAML:
            read_all(item.documents, item.lines, context, self.maps, read_shell)
        else:
            self._read_text(item.kind, Text.of_file(item.text), context)
        # A configuration that a script writes and then names is part of that launch.
        return settled(
            launch for launch in context.launches if launch.source != "config" or launch.name not in context.used
        )

    @staticmethod
    def _read_text(kind: Kind, text: Text, context: Context) -> None:
        context = replace(context, source=kind.value)
        if kind is Kind.SYSTEMD:
            read_unit(text, context)
        elif kind is Kind.DOCKERFILE:
            read_dockerfile(text, context)
        else:
            read_shell(text, context)

    def _embedded(self, body: Text, name: str, context: Context) -> None:
        """Reads a file that a script or a Dockerfile writes out."""
        kind = kind_of(name, body.text, self.tables)
        if kind is None and not is_prose(name):
            kind = Kind.SHELL
        if kind is None or context.depth > _DEEPEST_EMBEDDED:
            return
        if kind is not Kind.YAML:
            # What stands beside the file where it is written to is not known: it has no path of its own.
            self._read_text(kind, body, replace(context, path=None))
            return
        inner = replace(context, path=None, launches=[], name=show(name))
        try:
            documents, lines, _ = read_documents_of(body.text)
        except YamlError as error:
            context.note(body.line + error.line - 1, f"not read: {error.what}")
            return
        read_all(documents, lines, inner, self.maps, read_shell)
        for launch in inner.launches:
            start = sum(len(line) + 1 for line in lines[: launch.line - 1])
            context.launches.append(replace(launch, line=body.line_at(start)))


def _best_known(launches: list[Launch]) -> list[Launch]:
    """Without what is not known of a script alone where another file tells how it is called."""
    called = {(launch.file, launch.line) for launch in launches if any(map(is_call, launch.conditions))}
    return [
        launch
        for launch in launches
        if (launch.file, launch.line) not in called or not launch.unresolved or any(map(is_call, launch.conditions))
    ]
