"""``rules/entrypoints.yaml`` as dataclasses."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from mtp_trace.errors import RuleError
from mtp_trace.rules.yamlfile import shipped


@dataclass(frozen=True)
class Step:
    """One call. ``target`` is ``module:attribute.path`` or ``$value.attribute.path``."""

    target: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    bind: str | None = None
    optional: bool = False
    resolved: bool = False  # the arguments must be resolved before it


@dataclass(frozen=True)
class Stage:
    """A stage's steps; ``when`` names the condition under which it is entered."""

    name: str
    steps: tuple[Step, ...]
    when: str | None = None
    until: str | None = None
    fails_on: tuple[str, ...] = ()
    names_only: bool = False


@dataclass(frozen=True)
class Backends:
    """Where the tree keeps what makes each attention backend, and the fields that name one; see the comments there.

    ``same`` are attributes of the runner that hold where two targets are the same object.
    """

    table: str
    sides: tuple[str, ...]
    main: str
    same: dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Entrypoints:
    """Where the stages enter, and what is read at the end."""

    stages: tuple[Stage, ...]
    records: frozenset[str]
    calls: tuple[str, ...]
    items: frozenset[str]
    readers: tuple[str, ...]
    arguments: str
    algorithm: str
    draft_path: str
    fields: tuple[str, ...]
    always: tuple[str, ...]
    draftless: frozenset[str]
    own_draft: frozenset[str]
    runner_attributes: dict[str, Any]
    runner_class: str
    backends: Backends
    registry_package: str
    registry_exports: str


@functools.cache
def entrypoints() -> Entrypoints:
    """The shipped entry points.  Raises RuleError naming a missing key."""
    data = shipped("entrypoints.yaml")
    try:
        return Entrypoints(
            stages=tuple(_stage(s) for s in data["stages"]),
            records=frozenset(data["records"]), calls=tuple(data["calls"]), items=frozenset(data["items"]),
            readers=tuple(data["resolved"]["readers"]), arguments=data["resolved"]["record"],
            algorithm=data["resolved"]["algorithm"],
            draft_path=data["resolved"]["draft-path"], fields=tuple(data["resolved"]["fields"]),
            always=tuple(data["resolved"].get("always", ())),
            draftless=frozenset(data["draftless"]), own_draft=frozenset(data["own-draft"]),
            runner_attributes=data["runner"]["attributes"], runner_class=data["runner"]["class"],
            backends=_backends(data["backends"]),
            registry_package=data["registry"]["package"], registry_exports=data["registry"]["exports"],
        )  # fmt: skip
    except KeyError as error:
        raise RuleError(f"the key {error} is missing", "rules/entrypoints.yaml") from None


def _backends(data: dict[str, Any]) -> Backends:
    same = {name: (str(one), str(other)) for name, (one, other) in data["same"].items()}
    return Backends(data["table"], tuple(data["sides"]), data["main"], same)


def _stage(data: dict[str, Any]) -> Stage:
    steps = tuple(
        Step(s["call"], tuple(s.get("args", ())), dict(s.get("kwargs", {})), s.get("bind"), bool(s.get("optional")),
             bool(s.get("needs-resolved")))
        for s in data["steps"]
    )
    return Stage(data["stage"], steps, data.get("when"), data.get("until"), tuple(data.get("fails-on", ())),
                 bool(data.get("names-only")))  # fmt: skip
