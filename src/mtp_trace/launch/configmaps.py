"""The ConfigMaps among the audited files: their values, and the files that they put into containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from mtp_trace.launch.envfile import Style, parse_env
from mtp_trace.launch.files import Files
from mtp_trace.launch.text import Text
from mtp_trace.launch.yaml_nodes import Mapping, Node, Scalar, Sequence, scalar_text


@dataclass(frozen=True)
class Entry:
    """One value of a ConfigMap and the file that it stands in."""

    text: Text
    file: str
    path: Path


@dataclass
class ConfigMaps:
    """All ConfigMaps by name. Namespaces are not told apart: manifests often leave them to the command line."""

    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)
    """(name, key) of the values that a container ran as a script or read as a file."""

    def collect(self, document: Node, lines: list[str], file: str, path: Path, files: Files) -> None:
        """Takes up the ConfigMaps of a document: objects of that kind at any depth, and kustomize generators."""
        if isinstance(document, Sequence):
            for item in document.items:
                self.collect(item, lines, file, path, files)
            return
        if not isinstance(document, Mapping):
            return
        items = document.items()
        kind = items.get("kind")
        if isinstance(kind, Scalar) and kind.text == "ConfigMap":
            name, data = document.get("metadata", "name"), items.get("data")
            if isinstance(name, Scalar) and isinstance(data, Mapping):
                held = self.entries.setdefault(name.text, {})
                for key, value in data.items().items():
                    if isinstance(value, Scalar):
                        held[key] = Entry(scalar_text(value, lines), file, path)
            return
        generators = items.get("configMapGenerator")
        for generator in generators.items if isinstance(generators, Sequence) else ():
            if isinstance(generator, Mapping):
                self._generated(generator, lines, file, path, files)
        if isinstance(items.get("items"), Sequence):
            self.collect(items["items"], lines, file, path, files)

    def _generated(self, generator: Mapping, lines: list[str], file: str, path: Path, files: Files) -> None:
        name = generator.get("name")
        if not isinstance(name, Scalar):
            return
        held = self.entries.setdefault(name.text, {})
        for item in _scalars(generator.get("literals")):
            text = scalar_text(item, lines)
            key, equals, _ = text.text.partition("=")
            if equals:
                held[key] = Entry(text.cut(len(key) + 1, len(text.text)), file, path)
        for item in [*_scalars(generator.get("envs")), *_scalars(generator.get("env"))]:
            found = files.named(item.text, path)
            for key, value in parse_env(found[1], Style.DOCKER).items() if found is not None else ():
                held[key] = Entry(value, str(path.parent / item.text), path.parent / item.text)
        for item in _scalars(generator.get("files")):
            key, equals, source = item.text.partition("=")
            source = source if equals else key
            found = files.named(source, path)
            if found is not None:
                held[key if equals else PurePosixPath(source).name] = Entry(
                    Text.of_file(found[1]), str(found[0]), found[0]
                )

    def value(self, name: str, key: str) -> Text | None:
        """A value, or None where the ConfigMap is not among the files or does not hold it."""
        entry = self.entries.get(name, {}).get(key)
        return entry.text if entry is not None else None


@dataclass
class Mounts:
    """Which ConfigMap values stand where in one container."""

    maps: ConfigMaps
    places: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, container: Mapping, pod: Mapping, maps: ConfigMaps) -> Mounts:
        """From the container's ``volumeMounts`` and the pod's ``volumes``."""
        mounts = cls(maps)
        volumes: dict[str, tuple[str, dict[str, str] | None]] = {}
        for volume in _mappings(pod.get("volumes")):
            name, source = volume.get("name"), volume.get("configMap")
            if isinstance(name, Scalar) and isinstance(source, Mapping):
                target = source.get("name")
                keys = {
                    key.text: where.text
                    for item in _mappings(source.get("items"))
                    if isinstance(key := item.get("key"), Scalar) and isinstance(where := item.get("path"), Scalar)
                }
                if isinstance(target, Scalar):
                    volumes[name.text] = (target.text, keys or None)
        for mount in _mappings(container.get("volumeMounts")):
            name, where, sub = mount.get("name"), mount.get("mountPath"), mount.get("subPath")
            if not isinstance(name, Scalar) or not isinstance(where, Scalar) or name.text not in volumes:
                continue
            config_map, chosen = volumes[name.text]
            held = maps.entries.get(config_map, {})
            paths = {held_key: held_key for held_key in held} if chosen is None else chosen
            for held_key, inside in paths.items():
                if isinstance(sub, Scalar):
                    if inside == sub.text:
                        mounts.places[where.text] = (config_map, held_key)
                else:
                    mounts.places[str(PurePosixPath(where.text) / inside)] = (config_map, held_key)
        return mounts

    def entry(self, path: str) -> Entry | None:
        """The value that stands at a path in the container; it counts as used from then on."""
        place = self.places.get(path)
        if place is None:
            return None
        entry = self.maps.entries.get(place[0], {}).get(place[1])
        if entry is not None:
            self.maps.used.add(place)
        return entry


def _scalars(node: Node | None) -> list[Scalar]:
    nodes = node.items if isinstance(node, Sequence) else [node]
    return [item for item in nodes if isinstance(item, Scalar)]


def _mappings(node: Node | None) -> list[Mapping]:
    return [item for item in node.items if isinstance(item, Mapping)] if isinstance(node, Sequence) else []
