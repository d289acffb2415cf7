"""Reads the documents of a YAML file, each by what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from mtp_trace.launch.compose import is_compose, read_compose
from mtp_trace.launch.configmaps import ConfigMaps
from mtp_trace.launch.context import Context
from mtp_trace.launch.kubernetes import is_manifest, read_manifest
from mtp_trace.launch.server import Server
from mtp_trace.launch.sglang_config import config_arguments, config_launch, config_notes
from mtp_trace.launch.templates import has_templates, with_variables, without_templates
from mtp_trace.launch.text import Text
from mtp_trace.launch.yaml_nodes import Mapping, Node, Scalar, Sequence, read_documents, scalar_text

ShellReader = Callable[[Text, Context], None]
_SCRIPT_KEYS = ("run", "setup")


def read_documents_of(text: str) -> tuple[list[Node], list[str], bool]:
    """(documents, lines, whether it is a template) of a YAML text.

    Raises:
        YamlError: it is not YAML, or of a size that is not read.
    """
    templated = has_templates(text)
    if templated:
        text = without_templates(text)
    return read_documents(text), text.split("\n"), templated


def read_all(
    documents: list[Node], lines: list[str], context: Context, maps: ConfigMaps, read_shell: ShellReader
) -> None:
    """Adds the launches of a YAML file's documents to the context.

    Args:
        documents: the file's documents.
        lines: its lines.
        context: the file.
        maps: the ConfigMaps among the audited files.
        read_shell: reads a script.
    """
    for document in documents:
        if is_compose(document):
            read_compose(document, lines, replace(context, source="compose"))
        elif is_manifest(document):
            read_manifest(document, lines, replace(context, source="kubernetes"), maps)
        elif not _read_config(document, replace(context, source="config")):
            for script in _scripts(document):
                text = scalar_text(script, lines)
                if context.tables.mentions(text.text):
                    read_shell(text, replace(context, source="shell"))


def _read_config(document: Node, context: Context) -> bool:
    found = config_launch(document, context.tables)
    if found is None:
        return False
    config, line = found
    words = tuple(Text.at(with_variables(word), line) for word in config_arguments(config))
    context.add(Server("", words, Text.at("", line), tuple(config_notes(config))), {}, line)
    return True


def _scripts(node: Node) -> Iterator[Scalar]:
    """The scripts that a workflow or a cloud task holds under `run:`."""
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _scripts(item)
    elif isinstance(node, Mapping):
        for key, value in node.items().items():
            if key in _SCRIPT_KEYS and isinstance(value, Scalar):
                yield value
            else:
                yield from _scripts(value)


def read_unused_scripts(maps: ConfigMaps, context_of: Callable[[str], Context | None], read: ShellReader) -> None:
    """Reads the scripts in ConfigMaps that no container of the audited files was seen to run.

    Args:
        maps: the ConfigMaps.
        context_of: the context of a file, or None for one that is not audited.
        read: reads a script.
    """
    for name, held in maps.entries.items():
        for key, entry in held.items():
            if (name, key) in maps.used or not key.endswith((".sh", ".bash")):
                continue
            context = context_of(entry.file)
            if context is not None and context.tables.mentions(entry.text.text):
                read(entry.text, context.within(source="kubernetes", name=f"ConfigMap/{name}/{key}"))
