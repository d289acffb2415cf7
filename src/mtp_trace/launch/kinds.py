"""Tells what a file is: by its name where that says so, else by its text."""

from __future__ import annotations

import re
from enum import Enum

from mtp_trace.launch.dockerfile import looks_like_dockerfile
from mtp_trace.launch.files import SHELL_ENDINGS, has_shebang
from mtp_trace.launch.launchers import Launchers
from mtp_trace.launch.systemd import looks_like_unit

YAML_ENDINGS = (".yaml", ".yml", ".json")
UNIT_ENDINGS = (".service", ".container")
_ENGINE_ENDINGS = (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".template", ".gotmpl")
_TEMPLATE_ENDINGS = (*_ENGINE_ENDINGS, ".in", ".example", ".sample")
_PLAIN_ENDINGS = (".txt", ".log", ".text")
_OTHER_ENDINGS = (
    *(".md", ".mdx", ".rst", ".adoc", ".html", ".htm", ".ipynb", ".py", ".pyi", ".csv", ".tsv", ".xml", ".jsonl"),
    *(".js", ".ts", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".toml", ".ini", ".cfg", ".lock", ".diff"),
)
# Each blank line is matched in one way only: else a few dozen of them would take forever.
_YAML_START = re.compile(r"(?:(?:#[^\n]*|[^\S\n]*)\n)*(?:---|apiVersion:|kind:|services:|\{\{)")
_YAML_OF_INTEREST = re.compile(r"ConfigMap|configMapGenerator|(?:^|[{,])[\"' ]*model(?:[-_]path)?[\"']?\s*:", re.M)


class Kind(Enum):
    """Which reader a file is for."""

    SHELL = "shell"
    SYSTEMD = "systemd"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"


def is_prose(name: str, given: bool = False) -> bool:
    """Whether a file of that name is read by nobody: prose, or a program in another language.

    A plain text file is read where the user ``given`` it by name.
    """
    lowered = name.lower()
    return lowered.endswith(_OTHER_ENDINGS) or (not given and lowered.endswith(_PLAIN_ENDINGS))


def is_template(name: str) -> bool:
    """Whether a file's name says that a template engine fills it in."""
    return name.lower().endswith(_ENGINE_ENDINGS)


def kind_of(name: str, text: str, tables: Launchers, given: bool = False, mentioned: bool = False) -> Kind | None:
    """The reader for a file, or None.

    Args:
        name: the file's path or name.
        text: its text.
        tables: which words a file has to hold to be of interest.
        given: whether the user named the file itself; then it is a script where nothing else tells.
        mentioned: whether the file is of interest without any of those words.
    """
    if is_prose(name, given):
        return None
    lowered = name.lower()
    for ending in _TEMPLATE_ENDINGS:
        lowered = lowered.removesuffix(ending)
    folder, _, base = lowered.rpartition("/")
    mentioned = mentioned or tables.mentions(text)
    if base.endswith(YAML_ENDINGS):
        return Kind.YAML if mentioned or _YAML_OF_INTEREST.search(text) else None
    if not mentioned:
        return None
    if base.startswith(("dockerfile", "containerfile")) or base.endswith((".dockerfile", ".containerfile")):
        return Kind.DOCKERFILE
    if base.endswith(SHELL_ENDINGS):
        return Kind.SHELL
    if base.endswith(UNIT_ENDINGS) or (base.endswith(".conf") and folder.endswith(".service.d")):
        return Kind.SYSTEMD
    return _by_text(text, given)


def _by_text(text: str, given: bool) -> Kind | None:
    if has_shebang(text):
        return Kind.SHELL
    if looks_like_unit(text):
        return Kind.SYSTEMD
    if looks_like_dockerfile(text):
        return Kind.DOCKERFILE
    if _YAML_START.match(text):
        return Kind.YAML
    return Kind.SHELL if given else None
