"""What a transformers configuration object holds when it is made from the keys of a config.json.

The rules are in the table of its release (``rules/models/transformers/README.md``); nothing of transformers runs here.
A dtype stays the string that was given; where torch is installed the real object holds ``torch.<that>``.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mtp_trace.checkpoint.transformers_forms import MAX_ENTRIES, Opaque, evaluate
from mtp_trace.checkpoint.transformers_layers import PER_LAYER, LayerSettings, build_overrides, settle
from mtp_trace.checkpoint.transformers_rope import name_rope_type, standardise_rope
from mtp_trace.checkpoint.transformers_table import ClassInfo, TransformersTable

BASE_CLASS = "PretrainedConfig"
_ROPE_INPUTS = ("rope_scaling", "rope_parameters", "rope_theta")
_VARYING = ("head", "window", "intermediate_size")


@dataclass
class ConfigObject:
    """One object: its class, what it holds (configs inside are ConfigObjects), and what it holds but cannot be told.

    ``computed`` names the attributes that are properties: readable, not in ``__dict__``. ``delegate`` names the
    attribute that is asked for what this object lacks; ``reads_as`` the base class's properties that read another one.
    ``layers`` is what some layers have otherwise; the names in it are opaque on the object itself.
    """

    cls: str
    info: ClassInfo | None
    values: dict[str, Any] = field(default_factory=dict)
    opaque: dict[str, str] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()
    delegate: str | None = None
    reads_as: Mapping[str, str] = field(default_factory=dict)
    layers: LayerSettings | None = None

    def read(self, name: str) -> Any:
        """The value that ``getattr`` gives; KeyError where there is no such attribute, Opaque where it cannot be told.

        Class attributes and methods are not looked for: ``info`` has those that are described.
        """
        attributes = self.info.attribute_map if self.info is not None else {}
        name = attributes.get(name, name)
        inner = self.values.get(self.delegate) if self.delegate else None
        facts = (self.info.delegates if self.info is not None else None) or {}
        if isinstance(inner, ConfigObject) and name != self.delegate:
            own = not facts.get("inner_first") or name in facts.get("own", ())
            if (not own and name in {*inner.values, *inner.opaque}) or name not in {*self.values, *self.opaque}:
                return inner.read(name)
        name = self.reads_as.get(name, name)
        if name in self.opaque:
            raise Opaque(self.opaque[name])
        return self.values[name]


def make_object(table: TransformersTable, cls: str, given: Mapping[str, Any]) -> ConfigObject:
    """The object that ``cls(**given)`` makes, as that class of the table's release does it.

    Raises KeyError for a class that the release does not have.
    """
    info = table.class_info(cls)
    if info is None:
        raise KeyError(cls)
    return _Maker(table, info, copy.deepcopy(dict(given))).make()


def kind_of(value: object) -> str:
    """The JSON kind of a value: text, number, bool, list, object or null."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    kinds: dict[type, str] = {str: "text", list: "list", dict: "object"}
    return kinds.get(type(value), "null")


def _mentioned(form: Any) -> set[str]:
    """The texts in a form: names of attributes among them."""
    if isinstance(form, str):
        return {form}
    if isinstance(form, dict):
        return {name for key, item in form.items() if key not in ("default", "map") for name in _mentioned(item)}
    return {name for item in form for name in _mentioned(item)} if isinstance(form, list) else set()


class _Maker:
    def __init__(self, table: TransformersTable, info: ClassInfo, given: dict[str, Any]) -> None:
        self.table, self.info, self.given = table, info, given
        self.made = ConfigObject(info.name, info, computed=frozenset(info.properties), reads_as=table.reads_as)
        self.alias = info.attribute_map
        self.busy: set[str] = set()

    def make(self) -> ConfigObject:
        made, info = self.made, self.info
        if info.delegates is not None:
            made.delegate = info.delegates["to"]
        for name, value in {**self.table.base_values, **info.params, **info.constants}.items():
            if name not in info.absent and name not in info.missing_base:
                made.values[name] = copy.deepcopy(value)
        self._take_given()
        for name, facts in info.subs.items():
            self._sub_config(name, facts)
        for path in info.derived:
            self._derive(path)
        self._end_layers()
        for name in ("layer_types", "mtp_layer_types") if self.table.layer_names else ():
            self._rename_layers(self.alias.get(name, name))
        if info.names_rope_type:
            name_rope_type(made.values.get("rope_scaling"), info.names_rope_type)
        if self._gathers_rope():
            standardise_rope(made.values, self.given, self.table.rope, info)
        self._mark_unsure()
        for path in info.opaque:
            self._hide(path, f"{info.name} computes {path} in a way that the table does not describe")
        self._spread_doubt()
        self._vary_by_layer()
        for name in made.opaque:
            made.values.pop(name, None)
        return made

    def _take_given(self) -> None:
        """Named arguments and additional keys alike; an alias writes to the attribute that it stands for."""
        for name, value in self.given.items():
            target = self.alias.get(name, name)
            if name in self.table.dropped and name not in self.info.params:
                continue
            if self._is_popped(name) or (name in self.info.lost_aliases and target in self.info.params):
                continue
            if name in ("torch_dtype", "dtype"):
                self._dtype()
            elif name in self.info.properties:
                continue
            elif name != "rope_scaling" or not self._gathers_rope():
                self.made.values[self.table.reads_as.get(target, target)] = value
        self._labels()

    def _is_popped(self, name: str) -> bool:
        """Whether the class takes a key for itself, which it does not where what it is taken for is given."""
        unless = self.info.popped.get(name)
        return unless is not None and all(self.given.get(other) is None for other in unless)

    def _gathers_rope(self) -> bool:
        """Whether rope settings go into ``rope_parameters``: by the class, or (dataclasses) where both are given."""
        both = self.table.fields and bool(self.given.get("rope_scaling")) and bool(self.given.get("rope_theta"))
        return self.info.standardises_rope or both

    def _dtype(self) -> None:
        """Newer releases hold ``dtype`` and take ``torch_dtype`` for it; older ones hold ``torch_dtype`` only."""
        if "dtype" in self.table.base_values:
            wanted = self.given.get("dtype")
            self.made.values["dtype"] = wanted if wanted is not None else self.given.get("torch_dtype")
        else:
            for name in ("torch_dtype", "dtype"):
                if name in self.given:
                    self.made.values[name] = self.given[name]

    def _labels(self) -> None:
        """``num_labels`` makes label maps. Keys of ``id2label``, numbers in the real object, stay strings."""
        labels, number = self.given.get("id2label"), self.given.get("num_labels")
        if isinstance(labels, Mapping):
            self.made.values["id2label"] = {str(key): value for key, value in labels.items()}
        elif isinstance(number, int) and number > MAX_ENTRIES:
            for name in ("id2label", "label2id"):
                self._hide(name, "num_labels is more than any model has")
        elif isinstance(number, int) and not isinstance(number, bool):
            self.made.values["id2label"] = {str(index): f"LABEL_{index}" for index in range(number)}
            self.made.values["label2id"] = {f"LABEL_{index}": index for index in range(number)}
        self.made.values.pop("num_labels", None)

    def _sub_config(self, name: str, facts: dict[str, Any]) -> None:
        value = self.given.get(name)
        if value is None:
            cls = facts["none"]
            keys = self._left_over() if facts["flat"] else {}
            differs = {} if facts["flat"] else facts.get("differs", {})
        elif isinstance(value, Mapping):
            kind = value.get("model_type")
            if kind in facts.get("renames", {}):
                kind = facts["renames"][kind]
                value = {**value, "model_type": kind}
            chosen = self.table.config_class(kind) if facts["by_model_type"] and isinstance(kind, str) else None
            if facts["by_model_type"] and isinstance(kind, str) and chosen is None:
                self.made.opaque[name] = f"model type {kind!r} is not known to transformers {self.table.release}"
                return
            cls, keys, differs = chosen or facts["empty"], dict(value), {}
            for key, (block, entry, default) in facts.get("fills", {}).items():
                outer = self.given.get(block)
                keys.setdefault(key, outer.get(entry, default) if isinstance(outer, Mapping) else default)
            if cls == "?":
                cls = self.table.config_class(kind) if isinstance(kind, str) else None
                if cls is None:
                    self.made.opaque[name] = f"{self.info.name} takes {name} of a model type that is not told"
                    return
        else:
            self.made.opaque[name] = f"{name} is no object"
            return
        if cls is None:
            self.made.values[name] = value
            return
        info = self.table.class_info(cls)
        if info is not None and facts.get("named") and value is not None:
            keys.setdefault("model_type", info.model_type)
        if info is None:
            self.made.opaque[name] = f"{cls} is not in the table of transformers {self.table.release}"
            return
        inner = make_object(self.table, cls, keys)
        inner.values.update(copy.deepcopy(differs))
        self.made.values[name] = inner

    def _left_over(self) -> dict[str, Any]:
        """The keys that are no named arguments: an old, flat config.json, of which the config inside is made."""
        named = {*self.info.params, *self.info.subs}
        if self.table.fields:
            named |= set(self.table.base_values)
        return {key: value for key, value in self.given.items() if key not in named}

    def _derive(self, path: str) -> None:
        """Set one derived attribute, those that it follows from first."""
        form = self.info.derived[path]
        owner, _, inner = path.rpartition(".")
        target = self.made if not owner else self.made.values.get(owner)
        if path in self.busy or not isinstance(target, ConfigObject):
            return
        if self._is_kept(path, form):
            return
        self.busy.add(path)
        try:
            target.values[inner] = self._value(path, form)
            target.opaque.pop(inner, None)
        except Opaque as error:
            target.values.pop(inner, None)
            target.opaque[inner] = str(error)
        finally:
            self.busy.discard(path)

    def _is_kept(self, path: str, form: dict[str, Any]) -> bool:
        """Whether a value that was given stands."""
        given: Any = self.given
        for part in path.split("."):
            if not isinstance(given, Mapping):
                return False
            names = [part, *(alias for alias, target in self.alias.items() if target == part)]
            name = next((name for name in names if name in given), None)
            if name is None:
                return bool(form["when"] == "null")
            given = given[name]
        if given is not None and given == self.info.params.get(path):
            return bool(form["when"] in ("absent", "null"))
        return form["when"] == "absent" or (form["when"] in ("none", "null") and given is not None)

    def _mark_unsure(self) -> None:
        """Attributes that a given argument is known to change in a way that no form describes."""
        for path, causes in {**self.table.base_unsure, **self.info.unsure}.items():
            cause = next((cause for cause in causes if self._is_changed(cause)), None)
            if cause is not None:
                self._hide(path, f"{self.info.name} sets {path} by {cause} in a way that the table does not describe")
        for name, facts in self.info.inputs.items():
            if self.info.standardises_rope and name in _ROPE_INPUTS:
                continue  # the rope rules cover them, but for writing whole numbers as fractions, which compare equal
            if self._is_changed(name) and kind_of(self.given[name]) not in facts["tried"]:
                why = f"{self.info.name} makes something of {name} that was not tried with such a value"
                for path in facts["touches"]:
                    self._hide(path, why)
                if name not in self.info.params:
                    self._hide(name, why)

    def _spread_doubt(self) -> None:
        """What follows from an attribute that is not known is not known either."""
        before = -1
        while before != (before := len(self.made.opaque)):
            for path, form in self.info.derived.items():
                cause = next((name for name in _mentioned(form) if name in self.made.opaque), None)
                if cause is not None and cause != path and not self._is_kept(path, form):
                    self._hide(path, f"{self.info.name} computes {path} from {cause}, which is not known")
            if before == len(self.made.opaque):
                break

    def _vary_by_layer(self) -> None:
        """Reading what ``per_layer_config`` sets otherwise for some layers is an error, where a release knows the key.

        Where that cannot be told (a class that makes it in a way that is not described), any number of heads, width of
        one, window or inner size may be such a one.
        """
        given = self.given.get(PER_LAYER)
        if PER_LAYER not in self.table.base_properties:
            return
        self.made.values.pop(PER_LAYER, None)
        try:
            if PER_LAYER not in self.given and self.info.layers:
                given = build_overrides(self.info.layers, self.given, self.made.values, self.made.opaque)
            elif PER_LAYER in self.made.opaque and PER_LAYER not in self.given:
                raise Opaque(self.made.opaque[PER_LAYER])
            self.made.opaque.pop(PER_LAYER, None)
            if given is None:
                return
            if not isinstance(given, Mapping):
                raise Opaque(f"{PER_LAYER} is no object")
            self.made.layers = settle(given, self.made.values, self.alias)
            varying = {self.alias.get(name, name) for name in self.made.layers.varying}
        except Opaque as error:
            self.made.opaque[PER_LAYER] = str(error)
            varying = {name for name in self.info.params if any(word in name for word in _VARYING)}
            if isinstance(given, Mapping):
                varying |= {name for entry in given.values() if isinstance(entry, Mapping) for name in entry}
        for name in sorted(varying):
            self._hide(name, f"{name} may differ from layer to layer, which makes reading it an error")

    def _end_layers(self) -> None:
        """Some classes force the type of the last layer."""
        kinds = self.made.values.get("layer_types")
        if self.info.last_layer_type and isinstance(kinds, list) and kinds:
            self.made.values["layer_types"] = [*kinds[:-1], self.info.last_layer_type]

    def _rename_layers(self, name: str) -> None:
        """Newer releases write layer types under new names."""
        layers = self.made.values.get(name)
        if isinstance(layers, list):
            new = self.table.layer_names
            self.made.values[name] = [new.get(item, item) if isinstance(item, str) else item for item in layers]

    def _hide(self, path: str, why: str) -> None:
        owner, _, inner = path.rpartition(".")
        target = self.made if not owner else self.made.values.get(owner)
        if isinstance(target, ConfigObject):
            target.values.pop(inner, None)
            target.opaque[inner] = why

    def _value(self, path: str, form: dict[str, Any]) -> Any:
        if "keep_if" in form:
            return self.made.values.get(path) if self._look(form["keep_if"]) else None
        if "opaque" in form:
            for cause in form["opaque"]:
                if self._is_changed(cause):
                    raise Opaque(f"{path} follows from {cause} in a way that the table does not describe")
            return copy.deepcopy(form.get("default"))
        if form.get("chars") in self.given:  # the key, not the property of that name that spells the result
            return evaluate(form, self.given.__getitem__)
        return copy.deepcopy(evaluate(form, self._look))

    def _is_changed(self, cause: str) -> bool:
        given: Any = self.given
        for part in cause.split("."):
            if not isinstance(given, Mapping) or part not in given:
                return False
            given = given[part]
        return "." in cause or cause not in self.info.params or bool(given != self.info.params[cause])

    def _look(self, name: str) -> Any:
        owner, _, inner = name.rpartition(".")
        if not owner and name in self.info.derived and name not in self.busy:
            self._derive(name)
        target = self.made if not owner else self.made.values.get(owner)
        if isinstance(target, ConfigObject) and inner in target.values:
            return target.values[inner]
        if name in self.given:
            return self.given[name]
        raise Opaque(f"{self.info.name} has no {name} to go by")
