"""What each transformers release knows about model configurations, as data.

The data is ``rules/models/transformers/``: ``index.json`` (releases, registered model types, the base class) and
``classes.json`` (one configuration class a line, each with what changed from release to release). Only the index and
the lines that are asked for are decoded. ``README.md`` there describes both files and how they are made.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec
from packaging.version import InvalidVersion, Version

from mtp_trace.errors import RuleError

_HERE = Path(__file__).resolve()
_FOLDERS = (
    _HERE.parents[1] / "_data" / "rules" / "models" / "transformers",
    _HERE.parents[3] / "rules" / "models" / "transformers",
)


BASE_NAMES = ("PretrainedConfig", "PreTrainedConfig")
"""The base class: newer releases have it under both names."""


class ClassInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One configuration class in one release. ``README.md`` beside the data tells what each part means in full.

    ``bases`` runs to ``PretrainedConfig``. ``params`` are the named arguments with their raw defaults; ``constants``
    what every instance holds besides. ``derived`` maps an attribute (dotted for one of a config inside) to the form
    that it follows from; ``unsure`` maps one to the arguments that change it in ways not described, ``opaque`` names
    those that are never described. ``subs`` tells how a config inside is made.
    """

    name: str = ""
    module: str = ""
    bases: tuple[str, ...] = ()
    model_type: str = ""
    attribute_map: dict[str, str] = {}
    sub_configs: dict[str, str] = {}
    ignore: tuple[str, ...] = ()
    base_config_key: str = ""
    default_theta: Any = None
    default_rope_type: str | None = None
    default_partial: float | None = None
    properties: tuple[str, ...] = ()
    params: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    absent: tuple[str, ...] = ()
    missing_base: tuple[str, ...] = ()
    derived: dict[str, dict[str, Any]] = {}
    subs: dict[str, dict[str, Any]] = {}
    delegates: dict[str, Any] | None = None
    popped: dict[str, tuple[str, ...]] = {}
    layers: dict[str, dict[str, dict[str, Any]]] = {}
    last_layer_type: str = ""
    lost_aliases: tuple[str, ...] = ()
    unsure: dict[str, tuple[str, ...]] = {}
    inputs: dict[str, dict[str, tuple[str, ...]]] = {}
    opaque: tuple[str, ...] = ()
    no_instance: bool = False
    standardises_rope: bool = False
    names_rope_type: str = ""
    checks_layer_types: bool = False


class _Release(msgspec.Struct, frozen=True):
    """The base class as one release has it."""

    base_class: str
    base_values: dict[str, Any]
    dropped: tuple[str, ...]
    base_properties: tuple[str, ...]
    rope: str
    fields: bool = False
    base_unsure: dict[str, tuple[str, ...]] = {}
    guesses_by_name: bool = False
    registered_wins: bool = False
    redirects: dict[str, str] = {}
    layer_names: dict[str, str] = {}


class ErrorText(msgspec.Struct, frozen=True, array_like=True):
    """How a release refuses a checkpoint: since which release, the exception's type, and its text with ``{...}``."""

    since: str
    type: str
    text: str

    def filled(self, **values: str) -> str:
        """The text with its places filled: ``path``, ``model_type``, ``file``, ..."""
        text = self.text
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


class _Index(msgspec.Struct, frozen=True):
    """``index.json``."""

    releases: dict[str, _Release]
    model_types: dict[str, list[tuple[str, str | None]]]
    errors: dict[str, list[ErrorText]]


class TransformersTable:
    """One release's knowledge. ``exact`` tells whether it is the release that was asked for, or the one before it."""

    def __init__(self, asked: str, release: str, order: tuple[str, ...], index: _Index, folder: Path) -> None:
        facts = index.releases[release]
        self.asked, self.release, self.exact = asked, release, asked == release
        self.base_class, self.base_values, self.base_properties = (
            facts.base_class,
            facts.base_values,
            facts.base_properties,
        )
        self.dropped, self.rope, self.base_unsure = frozenset(facts.dropped), facts.rope, facts.base_unsure
        self.fields, self.layer_names, self.redirects = facts.fields, facts.layer_names, facts.redirects
        self.guesses_by_name, self.registered_wins = facts.guesses_by_name, facts.registered_wins
        self._upto = frozenset(order[: order.index(release) + 1])
        self._index, self._folder = index, folder
        self._classes: dict[str, ClassInfo | None] = {}

    @property
    def reads_as(self) -> dict[str, str]:
        """Properties of the base class that read, and write, another attribute."""
        pairs = {"torch_dtype": "dtype", "rope_scaling": "rope_parameters", "use_return_dict": "return_dict"}
        return {name: other for name, other in pairs.items() if name in self.base_properties}

    def knows(self, model_type: str) -> bool:
        """Whether ``AutoConfig`` has a class for the model type."""
        return self.config_class(model_type) is not None

    def config_class(self, model_type: str) -> str | None:
        """The name of the class that ``AutoConfig`` makes for a model type, None if it is not registered."""
        return _latest(self._index.model_types.get(model_type, []), self._upto)

    def model_types(self) -> tuple[str, ...]:
        """The registered model types, sorted."""
        return tuple(sorted(kind for kind in self._index.model_types if self.knows(kind)))

    def class_info(self, name: str) -> ClassInfo | None:
        """A configuration class by its name, None if the release has no such class."""
        if name in BASE_NAMES:
            theta = None if self.rope == "kept" else 10000.0
            return ClassInfo(name=self.base_class, module="configuration_utils", default_theta=theta)
        if name not in self._classes:
            self._classes[name] = self._read(name)
        return self._classes[name]

    def error(self, kind: str) -> ErrorText | None:
        """How this release words a refusal (``unknown-model-type``, ``remote-code-refused``, ...), if it does."""
        stages = [stage for stage in self._index.errors.get(kind, []) if stage.since in self._upto]
        return stages[-1] if stages and stages[-1].type else None

    def _read(self, name: str) -> ClassInfo | None:
        line = _line(_bytes(self._folder / "classes.json"), name)
        if line is None:
            return None
        stages = msgspec.json.decode(line, type=list[tuple[str, dict[str, Any] | None]])
        facts: dict[str, Any] | None = None
        for release, change in stages:
            if release not in self._upto:
                break
            facts = None if change is None else apply_change(facts or {}, change)
        return None if facts is None else msgspec.convert({**facts, "name": name}, ClassInfo)


def load_table(version: str | None) -> TransformersTable:
    """The table of the newest described release that is not newer than ``version``; of the oldest one, failing that.

    Without a version (a tree that pins none), the newest. Raises RuleError where the data is missing or damaged.
    """
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[-1])
    index = _index(folder)
    order = tuple(index.releases)
    if version is None:
        return TransformersTable("", order[-1], order, index, folder)
    try:
        wanted = Version(version)
    except InvalidVersion:
        return TransformersTable(version, order[-1], order, index, folder)
    older = [release for release in order if _version(release) <= wanted]
    return TransformersTable(version, older[-1] if older else order[0], order, index, folder)


def apply_change(facts: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The facts after one release's change: a part that is ``{"set": ..., "drop": ...}`` is merged, others replaced."""
    out = dict(facts)
    for part, value in change.items():
        if isinstance(value, dict) and value and value.keys() <= {"set", "drop"}:
            kept = {key: item for key, item in (out.get(part) or {}).items() if key not in value.get("drop", ())}
            out[part] = {**kept, **value.get("set", {})}
        elif value is None:
            out.pop(part, None)
        else:
            out[part] = value
    return out


def _latest(stages: list[tuple[str, str | None]], upto: frozenset[str]) -> str | None:
    """The last value that was set in one of the releases."""
    value = None
    for release, stage in stages:
        if release not in upto:
            break
        value = stage
    return value


def _line(data: bytes, name: str) -> bytes | None:
    """The JSON text of one class: every class has a line of its own, ``"Name": [...]`` and a comma."""
    key = msgspec.json.encode(name)
    start = data.find(b"\n" + key + b": ")
    if start < 0:
        return None
    end = data.find(b"\n", start + 1)
    return data[start + len(key) + 3 : end if end >= 0 else None].strip().rstrip(b",")


@functools.cache
def _version(release: str) -> Version:
    return Version(release)


@functools.cache
def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RuleError(f"cannot read the table of transformers releases: {error.strerror}", str(path)) from None


@functools.cache
def _index(folder: Path) -> _Index:
    path = folder / "index.json"
    try:
        return msgspec.json.decode(_bytes(path), type=_Index)
    except msgspec.DecodeError as error:
        raise RuleError(f"the table of transformers releases is damaged: {error}", str(path)) from None
