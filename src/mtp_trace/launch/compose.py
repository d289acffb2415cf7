"""Reads Compose files for launches: what each service starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from mtp_trace.launch.context import Context
from mtp_trace.launch.envfile import Style, parse_env
from mtp_trace.launch.execute import execute, span
from mtp_trace.launch.holes import has_hole, variable
from mtp_trace.launch.shell_run import read_script
from mtp_trace.launch.text import MOST_REFERENCES, Text, bounded, join, split_words
from mtp_trace.launch.wrappers import Environment
from mtp_trace.launch.yaml_nodes import Mapping, Node, Scalar, Sequence, scalar_text

_REFERENCE = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*))")
_DEEPEST = 8
_PARTS = ("command", "entrypoint", "environment", "env_file", "image", "container_name", "deploy")


def is_compose(document: Node) -> bool:
    """Whether a document is a Compose file."""
    if not isinstance(document, Mapping):
        return False
    items = document.items()
    return isinstance(items.get("services"), Mapping) and "apiVersion" not in items and "kind" not in items


def read_compose(document: Node, lines: list[str], context: Context) -> None:
    """Adds the launches of a Compose file's services to the context.

    Args:
        document: the file's document.
        lines: the file's lines.
        context: the file.
    """
    services = document.get("services") if isinstance(document, Mapping) else None
    if not isinstance(services, Mapping):
        return
    reader = _Reader(lines, context)
    for name, service in services.items().items():
        if isinstance(service, Mapping):
            reader.service(name, _extended(service, services, 0))


def _extended(service: Mapping, services: Mapping, depth: int) -> dict[str, Node]:
    """The service's entries, over those of the service in the same file that it extends."""
    items = service.items()
    extends = items.get("extends")
    base = extends.get("service") if isinstance(extends, Mapping) and extends.get("file") is None else extends
    if not isinstance(base, Scalar) or depth >= _DEEPEST:
        return items
    parent = services.get(base.text)
    if not isinstance(parent, Mapping):
        return items
    merged = {key: node for key, node in _extended(parent, services, depth + 1).items() if key in _PARTS}
    inherited = merged.get("environment")
    own = items.get("environment")
    merged.update(items)
    if isinstance(inherited, Mapping) and isinstance(own, Mapping):
        merged["environment"] = Mapping(own.line, [*inherited.entries, *own.entries])
    elif isinstance(inherited, Sequence) and isinstance(own, Sequence):
        merged["environment"] = Sequence(own.line, [*inherited.items, *own.items])
    return merged


class _Reader:
    def __init__(self, lines: list[str], context: Context) -> None:
        self.lines = lines
        self.context = context
        self.dotenv: Environment = {}
        if context.path is not None:
            text = context.files.text(context.path.with_name(".env"))
            if text is not None:
                self.dotenv = parse_env(text, Style.COMPOSE)

    def service(self, name: str, items: dict[str, Node]) -> None:
        env, notes = self._environment(items)
        entrypoint = self._words(items.get("entrypoint"))
        command = self._words(items.get("command"))
        words = [*entrypoint, *command]
        if not words:
            return
        called = [name]
        for key in ("image", "container_name"):
            node = items.get(key)
            if isinstance(node, Scalar):
                called.append(self._text(node).text)
        here = replace(self.context.within(name=name), gpu_count=_gpu_count(items))
        lines = span(entrypoint, command)
        execute(words, env, here, read_script, *lines, image=" ".join(called), notes=tuple(notes))

    def _text(self, scalar: Scalar, soft: bool = False) -> Text:
        return interpolated(scalar_text(scalar, self.lines), self.dotenv, soft)

    def _words(self, node: Node | None) -> list[Text]:
        if isinstance(node, Sequence):
            return [self._text(item) for item in node.items if isinstance(item, Scalar)]
        if isinstance(node, Scalar) and not node.is_null:
            return split_words(self._text(node, soft=True), _unescaped)
        return []

    def _environment(self, items: dict[str, Node]) -> tuple[Environment, list[str]]:
        env: Environment = {}
        notes: list[str] = []
        for name in self._env_files(items.get("env_file")):
            found = self.context.files.named(name, self.context.path)
            if found is None:
                notes.append(f"the environment file {name} was not found: its variables are unknown")
                continue
            for key, value in parse_env(found[1], Style.COMPOSE).items():
                env[key] = bounded(interpolated(value, {**self.dotenv, **env}), key)
        given = items.get("environment")
        if isinstance(given, Mapping):
            for key, node in given.items().items():
                if isinstance(node, Scalar):
                    env[key] = self._passed(key, node.line) if node.is_null else self._text(node)
        elif isinstance(given, Sequence):
            for item in given.items:
                if isinstance(item, Scalar):
                    text = self._text(item)
                    key, equals, _ = text.text.partition("=")
                    env[key] = text.cut(len(key) + 1, len(text.text)) if equals else self._passed(key, item.line)
        return {key: value for key, value in env.items() if key and not has_hole(key)}, notes

    def _passed(self, name: str, line: int) -> Text:
        """A variable without a value is passed on from where Compose runs, or from its ``.env``."""
        return self.dotenv.get(name, Text.at(variable(name), line))

    def _env_files(self, node: Node | None) -> list[str]:
        nodes = node.items if isinstance(node, Sequence) else [node] if node is not None else []
        names: list[str] = []
        for entry in nodes:
            scalar = entry.get("path") if isinstance(entry, Mapping) else entry
            if isinstance(scalar, Scalar) and not scalar.is_null:
                names.append(self._text(scalar).text)
        return names


def _unescaped(following: str, quote: str) -> str:
    if quote == '"' and following not in '"\\$`':
        return "\\" + following
    return "" if following == "\n" else following


def _gpu_count(items: dict[str, Node]) -> int | None:
    deploy = items.get("deploy")
    devices = deploy.get("resources", "reservations", "devices") if isinstance(deploy, Mapping) else None
    for device in devices.items if isinstance(devices, Sequence) else ():
        if not isinstance(device, Mapping):
            continue
        count = device.get("count")
        if isinstance(count, Scalar) and count.text.isdecimal() and len(count.text) < 5:
            return int(count.text) or None
        ids = device.get("device_ids")
        if isinstance(ids, Sequence) and ids.items:
            return len(ids.items)
    return None


def interpolated(value: Text, known: Environment, soft: bool = False) -> Text:
    """The text with ``$NAME``, ``${NAME:-default}`` and their like put in, and ``$$`` as a dollar sign.

    Args:
        value: the text.
        known: the variables that the ``.env`` file gives.
        soft: whether an unknown variable may come to nothing or to several words.
    """
    if "$" not in value.text:
        return value

    def lookup(name: str) -> str | None:
        return known[name].text if name in known else None

    # Line by line, so that each part keeps its own.
    ends = (*value.offsets[1:], len(value.text))
    return join(
        Text.at(_interpolated(value.text[start:end], lookup, soft, 0), line)
        for start, end, line in zip(value.offsets, ends, value.lines)
    )


def _interpolated(text: str, lookup: Callable[[str], str | None], soft: bool, depth: int) -> str:
    out: list[str] = []
    place = 0
    while True:
        match = _REFERENCE.search(text, place)
        if match is None or depth > _DEEPEST or len(out) > 2 * MOST_REFERENCES:
            out.append(text[place:])
            return "".join(out)
        out.append(text[place : match.start()])
        place = match.end()
        if match.group(0) == "$$":
            out.append("$")
            continue
        name = match.group(1)
        if name is None:
            end = _closing(text, place)
            name, inside = match.group(2), text[place:end]
            place = min(end + 1, len(text))
            out.append(_operated(name, inside, lookup, soft, depth))
            continue
        value = lookup(name)
        out.append(variable(name, soft) if value is None else value)


def _closing(text: str, place: int) -> int:
    level = 0
    for index in range(place, len(text)):
        if text.startswith("${", index):
            level += 1
        elif text[index] == "}":
            if level == 0:
                return index
            level -= 1
    return len(text)


def _operated(name: str, inside: str, lookup: Callable[[str], str | None], soft: bool, depth: int) -> str:
    value = lookup(name)
    match = re.match(r":?[-+?]", inside)
    if match is None:
        return variable(name, soft) if value is None else value
    operator, word = match.group(), inside[match.end() :]
    empty = value is None or (operator.startswith(":") and not value)
    if operator.endswith("-"):
        return _interpolated(word, lookup, soft, depth + 1) if empty else value or ""
    if operator.endswith("+"):
        return "" if empty else _interpolated(word, lookup, soft, depth + 1)
    return variable(name, soft) if value is None else value
