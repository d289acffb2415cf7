"""What a tree requires, in one form wherever it is written: METADATA's ``Requires-Dist`` or pyproject's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from mtp_trace.source import facts
from mtp_trace.source.metadata import headers


@dataclass(frozen=True)
class Dependencies:
    """PEP 508 lines, and the names of the extras that some of them belong to."""

    requires: tuple[str, ...]
    extras: tuple[str, ...]


def dependencies(tree: facts.Readable) -> Dependencies:
    """From the dist-info METADATA, else from ``[project]`` in pyproject.toml, else nothing."""
    found = headers(facts.metadata(tree))
    if found:
        return Dependencies(tuple(found.get("requires-dist", ())), tuple(found.get("provides-extra", ())))
    project = facts.project_table(tree)
    optional = project.get("optional-dependencies")
    groups = optional if isinstance(optional, dict) else {}
    lines = list(_strings(project.get("dependencies")))
    for extra, group in groups.items():
        lines.extend(_with_extra(line, str(extra)) for line in _strings(group))
    return Dependencies(tuple(lines), tuple(map(str, groups)))


def pinned_version(requirements: Iterable[str], name: str) -> str | None:
    """The version that the lines pin ``name`` to with ``==``, an unconditional line before one with a marker; or None.

    Releases before 0.5.3 name their runtime packages under an extra, which every server installs.
    """
    wanted, conditional = canonicalize_name(name), None
    for line in requirements:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) != wanted:
            continue
        for specifier in requirement.specifier:
            if specifier.operator in ("==", "===") and not specifier.version.endswith(".*"):
                if requirement.marker is None:
                    return specifier.version
                conditional = conditional or specifier.version
    return conditional


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _with_extra(line: str, extra: str) -> str:
    """The line with its group as a marker, as a build would write it into METADATA."""
    specifier, semicolon, marker = (part.strip() for part in line.partition(";"))
    condition = f'extra == "{extra}"'
    return f"{specifier}; ({marker}) and {condition}" if semicolon else f"{specifier}; {condition}"
