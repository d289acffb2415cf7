"""Reads YAML into nodes that know their lines. Safe tags only; nesting and the expansion of aliases are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from mtp_trace.errors import LaunchError
from mtp_trace.launch.text import Text

_DEEPEST = 64
_MOST_NODES = 200_000
_LONGEST_WALKED = 100_000
_HINT = "Write the document without so many levels or aliases."
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(LaunchError):
    """A document is not YAML, or not of a size that a person writes."""

    def __init__(self, what: str, line: int, hint: str = "") -> None:
        super().__init__(what, f"line {line}", hint)
        self.line = line


@dataclass(eq=False)
class Scalar:
    """A single value: its characters, its resolved tag, and the lines that it takes up (from 1)."""

    text: str
    tag: str
    style: str | None
    line: int
    column: int
    last_line: int
    last_column: int
    size: int = 1

    def native(self) -> Any:
        """The Python value that ``yaml.safe_load`` makes of it; the characters where that fails."""
        try:
            return _CONSTRUCTOR.construct_object(yaml.ScalarNode(self.tag, self.text))
        except (yaml.YAMLError, ValueError, OverflowError, TypeError):
            return self.text

    @property
    def is_null(self) -> bool:
        """Whether the value is absent or ``null``."""
        return self.tag == "tag:yaml.org,2002:null"


@dataclass(eq=False)
class Sequence:
    """A list."""

    line: int
    items: list[Node] = field(default_factory=list)
    size: int = 1


@dataclass(eq=False)
class Mapping:
    """A mapping with its entries in the order of the file; keys that are no scalars are left out."""

    line: int
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    size: int = 1

    def items(self) -> dict[str, Node]:
        """The entries by key; merge keys (``<<``) give what the mapping does not say itself, later keys win."""
        return {key: node for key, (_, node) in self._merged(0).items()}

    def keys(self) -> dict[str, Scalar]:
        """The key nodes by key."""
        return {key: scalar for key, (scalar, _) in self._merged(0).items()}

    def get(self, *path: str) -> Node | None:
        """The node at a path of keys, or None."""
        node: Node = self
        for key in path:
            if not isinstance(node, Mapping):
                return None
            found = node.items().get(key)
            if found is None:
                return None
            node = found
        return node

    def _merged(self, depth: int) -> dict[str, tuple[Scalar, Node]]:
        merged: dict[str, tuple[Scalar, Node]] = {}
        own: dict[str, tuple[Scalar, Node]] = {}
        for key, node in self.entries:
            if key.text == "<<" and key.style is None and depth < _DEEPEST:
                sources = node.items if isinstance(node, Sequence) else [node]
                for source in sources:
                    if isinstance(source, Mapping):
                        for name, entry in source._merged(depth + 1).items():
                            merged.setdefault(name, entry)
            else:
                own[key.text] = (key, node)
        return {**merged, **own}


Node = Scalar | Sequence | Mapping
_CONSTRUCTOR: Any = yaml.SafeLoader("")


class _Composer:
    """Builds nodes from parser events, so that the nesting and the size stay in its own hands."""

    def __init__(self, text: str) -> None:
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.resolver: Any = yaml.SafeLoader("")
        self.anchors: dict[str, Node] = {}
        self.made = 0

    def documents(self) -> Iterator[Node]:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors = {}
                yield self._node(next(self.events), 0)

    def _node(self, event: Any, depth: int) -> Node:
        line = event.start_mark.line + 1
        self.made += 1
        if depth > _DEEPEST:
            raise YamlError(f"nested deeper than {_DEEPEST} levels", line, _HINT)
        if self.made > _MOST_NODES:
            raise YamlError(f"holds more than {_MOST_NODES} values", line, _HINT)
        if isinstance(event, yaml.AliasEvent):
            known = self.anchors.get(str(event.anchor))
            if known is None:
                raise YamlError(f"the alias *{event.anchor} names no anchor before it", line)
            return known
        if isinstance(event, yaml.ScalarEvent):
            node: Node = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(line, depth)
        else:
            node = self._mapping(line, depth)
        # Only a finished node can be an alias's target, so none holds itself.
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any) -> Scalar:
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        start, end = event.start_mark, event.end_mark
        return Scalar(event.value, tag, event.style or None, start.line + 1, start.column, end.line + 1, end.column)

    def _sequence(self, line: int, depth: int) -> Sequence:
        node = Sequence(line)
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            item = self._node(event, depth + 1)
            node.items.append(item)
            node.size += item.size
            self._check(node.size, line)
        return node

    def _mapping(self, line: int, depth: int) -> Mapping:
        node = Mapping(line)
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._node(event, depth + 1)
            value = self._node(next(self.events), depth + 1)
            if isinstance(key, Scalar):
                node.entries.append((key, value))
            node.size += key.size + value.size
            self._check(node.size, line)
        return node

    @staticmethod
    def _check(size: int, line: int) -> None:
        if size > _MOST_NODES:
            raise YamlError(f"its aliases stand for more than {_MOST_NODES} values", line, _HINT)


def read_documents(text: str) -> list[Node]:
    """The documents of a YAML text.

    Raises:
        YamlError: the text is not YAML, nests too deep, or its aliases expand too far.
    """
    try:
        return list(_Composer(text).documents())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(f"not YAML: {error.reason}", text.count("\n", 0, error.position) + 1) from error
    except (yaml.YAMLError, ValueError, StopIteration, RuntimeError, RecursionError) as error:
        raise YamlError(f"not YAML: {error}", 1) from error


def native(node: Node) -> Any:
    """The Python value of a node, as ``yaml.safe_load`` makes it."""
    if isinstance(node, Scalar):
        return node.native()
    if isinstance(node, Sequence):
        return [native(item) for item in node.items]
    return {key: native(value) for key, value in node.items().items()}


def scalar_text(scalar: Scalar, lines: list[str]) -> Text:
    """The characters of a scalar, each at the line where it stands.

    Args:
        scalar: the value.
        lines: the lines of the text that it was read from.
    """
    if scalar.style == "|":
        return Text.of_file(scalar.text, scalar.line + 1)
    if scalar.last_line == scalar.line or len(scalar.text) > _LONGEST_WALKED:
        return Text.at(scalar.text, scalar.line)
    # Folded and quoted values join lines: both sides are walked, and blanks are what may differ between them.
    offsets, found = [0], [scalar.line]
    row, column = scalar.line - 1, scalar.column
    if scalar.style == ">":
        row, column = row + 1, 0
        found = [row + 1]
    for offset, character in enumerate(scalar.text):
        if character.isspace():
            continue
        place = _find(lines, row, column, scalar.last_line - 1, character)
        if place is None:
            continue
        if place[0] + 1 != found[-1]:
            if offset == 0:
                found[-1] = place[0] + 1
            else:
                offsets.append(offset)
                found.append(place[0] + 1)
        row, column = place[0], place[1] + 1
    return Text(scalar.text, tuple(offsets), tuple(found))


def _find(lines: list[str], row: int, column: int, last: int, character: str) -> tuple[int, int] | None:
    """The next place of a character, at most two lines on (a quoted value may spell it in another way)."""
    for current in range(row, min(last, row + 2, len(lines) - 1) + 1):
        place = lines[current].find(character, column if current == row else 0)
        if place >= 0:
            return current, place
    return None
