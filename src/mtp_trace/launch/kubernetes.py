"""Reads Kubernetes manifests for launches: every container of every pod template, whatever kind of object holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from mtp_trace.launch.configmaps import ConfigMaps, Mounts
from mtp_trace.launch.context import Context
from mtp_trace.launch.execute import execute, span
from mtp_trace.launch.holes import variable
from mtp_trace.launch.shell_run import read_script
from mtp_trace.launch.text import MOST_REFERENCES, Text, bounded, join, split_words
from mtp_trace.launch.wrappers import Environment
from mtp_trace.launch.yaml_nodes import Mapping, Node, Scalar, Sequence, scalar_text

_LISTS = ("containers", "initContainers")
_SINGLE = ("mainContainer", "container", "script")
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.\-]*)\)")
_NAMED_LIKE_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_MOST_GPUS = 1024


@dataclass(frozen=True)
class _Place:
    """A container, the pod's specification around it, and the objects around that, outermost first."""

    container: Mapping
    pod: Mapping
    around: tuple[Mapping, ...]


def is_manifest(document: Node) -> bool:
    """Whether a document holds containers, or says that it is a Kubernetes object."""
    if isinstance(document, Mapping) and {"apiVersion", "kind"} <= set(document.items()):
        return True
    return next(_containers(document, ()), None) is not None


def read_manifest(document: Node, lines: list[str], context: Context, maps: ConfigMaps) -> None:
    """Adds the launches of a document's containers to the context.

    Args:
        document: one document of a manifest.
        lines: the file's lines.
        context: the file.
        maps: the ConfigMaps among the audited files.
    """
    for place in _containers(document, ()):
        _Reader(place, lines, context, maps).read()


def _containers(node: Node, around: tuple[Mapping, ...]) -> Iterator[_Place]:
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _containers(item, around)
        return
    if not isinstance(node, Mapping):
        return
    inside = (*around, node)
    for key, value in node.items().items():
        if key in _LISTS and isinstance(value, Sequence):
            for item in value.items:
                if isinstance(item, Mapping):
                    yield _Place(item, node, around)
        elif key in _SINGLE and isinstance(value, Mapping):
            yield _Place(value, node, around)
        else:
            yield from _containers(value, inside)


class _Reader:
    """Reads one container."""

    def __init__(self, place: _Place, lines: list[str], context: Context, maps: ConfigMaps) -> None:
        self.place = place
        self.lines = lines
        self.context = context
        self.maps = maps
        self.notes: list[str] = []

    def read(self) -> None:
        container = self.place.container
        env = self._environment()
        command = self._words(container.get("command"), env)
        arguments = self._words(container.get("args"), env)
        if not command and not arguments:
            return
        mounts = Mounts.of(container, self.place.pod, self.maps)
        profile, count = self._gpu()

        def mounted(path: str) -> str | None:
            entry = mounts.entry(path)
            return entry.text.text if entry is not None else None

        here = replace(
            self.context.within(name=self._name(), mounted=mounted),
            gpu=profile,
            gpu_count=count,
            script_at=mounts.entry,
        )
        image = " ".join(text for key in ("image", "name") if (text := _scalar(container.get(key))))
        words = [*command, *arguments]
        lines = span(command, arguments)
        # A workflow's script is what its command reads.
        source = container.get("source")
        stdin = _referred(scalar_text(source, self.lines), env) if isinstance(source, Scalar) else None
        execute(words, env, here, read_script, *lines, stdin=stdin, image=image, notes=tuple(dict.fromkeys(self.notes)))

    # Words -----------------------------------------------------------------------------------------------------------

    def _words(self, node: Node | None, env: Environment) -> list[Text]:
        if isinstance(node, Sequence):
            return [
                _referred(scalar_text(item, self.lines), env)
                for item in node.items
                if isinstance(item, Scalar) and not (item.is_null and not item.text)
            ]
        if isinstance(node, Scalar) and not node.is_null:
            # Not of Kubernetes itself, but custom resources have it.
            text = _referred(scalar_text(node, self.lines), env)
            return split_words(text, lambda following, quote: following)
        return []

    # Environment -----------------------------------------------------------------------------------------------------

    def _environment(self) -> Environment:
        env: Environment = {}
        sources: list[Node] = []
        if _is_single(self.place):
            # A custom resource that wraps one container may have its variables beside it.
            sources.extend(mapping for mapping in self.place.around[-1:])
        sources.append(self.place.container)
        for source in sources:
            if not isinstance(source, Mapping):
                continue
            for item in _items(source.get("envFrom")):
                self._from(item, env)
            for key in ("envs", "env"):
                for item in _items(source.get(key)):
                    self._variable(item, env)
        return env

    def _from(self, item: Node, env: Environment) -> None:
        if not isinstance(item, Mapping):
            return
        prefix = _scalar(item.get("prefix"))
        for kind, label in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            name = _scalar(item.get(kind, "name"))
            if not name:
                continue
            held = self.maps.entries.get(name) if kind == "configMapRef" else None
            if held is None:
                where = "is not among the files" if kind == "configMapRef" else "is not read"
                self.notes.append(f"the {label} {name} {where}: its variables are unknown")
                continue
            for key, entry in held.items():
                env[prefix + key] = entry.text

    def _variable(self, item: Node, env: Environment) -> None:
        name = item.get("name") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or not isinstance(name, Scalar):
            return
        value = item.get("value")
        if isinstance(value, Scalar):
            env[name.text] = bounded(_referred(scalar_text(value, self.lines), env), name.text)
            return
        source = item.get("valueFrom")
        known: Text | None = None
        if isinstance(source, Mapping):
            config_map, key = source.get("configMapKeyRef", "name"), source.get("configMapKeyRef", "key")
            if isinstance(config_map, Scalar) and isinstance(key, Scalar):
                known = self.maps.value(config_map.text, key.text)
            env[name.text] = known if known is not None else Text.at(variable(name.text), name.line)
        else:
            env[name.text] = Text.at("", name.line)

    # Names and GPUs --------------------------------------------------------------------------------------------------

    def _name(self) -> str:
        """``Kind/object/container``, of the innermost object that has a kind."""
        parts: list[str] = []
        for mapping in (*self.place.around, self.place.pod):
            kind, name = _scalar(mapping.get("kind")), _scalar(mapping.get("metadata", "name"))
            if kind:
                parts = [kind, name] if name else [kind]
        container = _scalar(self.place.container.get("name"))
        if not container and _is_single(self.place):
            container = self._service()
        return "/".join([*parts, container] if container else parts)

    def _service(self) -> str:
        """The key under which a custom resource holds the component around the container."""
        component = self.place.around[-1] if self.place.around else None
        for mapping in self.place.around:
            for key, value in mapping.items().items():
                if value is component:
                    return key
        return ""

    def _gpu(self) -> tuple[str | None, int | None]:
        profile: str | None = None
        for key in ("nodeSelector", "affinity"):
            for text in _texts(self.place.pod.get(key)):
                profile = profile or self.context.tables.gpu_profile(text)
        holders: list[Node] = [self.place.container]
        if _is_single(self.place):
            holders.extend(self.place.around[-1:])
        count: int | None = None
        for holder in holders:
            for kind in ("limits", "requests"):
                resources = holder.get("resources", kind) if isinstance(holder, Mapping) else None
                for key, value in resources.items().items() if isinstance(resources, Mapping) else ():
                    number = _scalar(value)
                    if key in self.context.tables.gpu_resources and number.isdecimal() and len(number) < 5:
                        count = count or (int(number) if 0 < int(number) <= _MOST_GPUS else None)
        return profile, count


def _is_single(place: _Place) -> bool:
    return any(place.pod.get(key) is place.container for key in _SINGLE)


def _items(node: Node | None) -> list[Node]:
    return node.items if isinstance(node, Sequence) else []


def _scalar(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) and not node.is_null else ""


def _texts(node: Node | None) -> Iterator[str]:
    """Every value below a node, but for those that are ruled out."""
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _texts(item)
    elif isinstance(node, Mapping):
        items = node.items()
        if _scalar(items.get("operator")) in ("NotIn", "DoesNotExist"):
            return
        for value in items.values():
            yield from _texts(value)


def _referred(text: Text, env: Environment) -> Text:
    """The text with ``$(NAME)`` put in as the kubelet does, and ``$$`` before it as a dollar sign.

    What looks like a variable and is not known becomes a hole; any other ``$(...)`` is left to the shell.
    """
    pieces: list[Text] = []
    place = 0
    for match in islice(_REFERENCE.finditer(text.text), MOST_REFERENCES):
        name = match.group(1)
        line = text.line_at(match.start())
        if name is None:
            if text.text[match.end() : match.end() + 1] != "(":
                continue
            put = Text.at("$", line)
        elif name in env:
            put = Text.at(env[name].text, line)
        elif _NAMED_LIKE_VARIABLE.fullmatch(name):
            put = Text.at(variable(name), line)
        else:
            continue
        pieces.extend((text.cut(place, match.start()), put))
        place = match.end()
    if not pieces:
        return text
    return join([*pieces, text.cut(place, len(text.text))])
