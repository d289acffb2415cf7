"""A rule file's YAML as nodes that know their line and path of keys; safe tags only, bounded, no duplicate keys."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from mtp_trace.errors import RuleError
from mtp_trace.rules.regex import SafeRegex, UnsafeRegex

MAX_BYTES = 1_000_000
_MAX_DEPTH = 32
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SCALARS = {"str", "int", "float", "bool", "null"}


@dataclass(frozen=True)
class Place:
    """Where a value stands: file, line (from 1) and the path of keys."""

    file: str
    line: int
    path: str

    def fail(self, what: str, hint: str = "") -> NoReturn:
        """Raises RuleError here."""
        raise RuleError(
            what, f"{self.file}:{self.line}: {self.path}" if self.path else f"{self.file}:{self.line}", hint
        )


class Value:
    """A scalar, list or mapping of a rule file."""

    def __init__(self, place: Place, data: Any) -> None:
        self.place, self.data = place, data

    # --- what it is ------------------------------------------------------------------------------------------------

    def mapping(self) -> Mapping:
        """The value as a mapping.  Raises RuleError where it is none."""
        if not isinstance(self.data, dict):
            self.place.fail(f"a mapping is needed, not {self.name()}")
        return Mapping(self.place, self.data)

    def items(self) -> list[Value]:
        """The value as a list."""
        if not isinstance(self.data, list):
            self.place.fail(f"a list is needed, not {self.name()}")
        return self.data

    def one_or_many(self) -> list[Value]:
        """A list, or one value as a list of one."""
        return self.data if isinstance(self.data, list) else [self]

    def text(self) -> str:
        """The value as text that is not empty."""
        if not isinstance(self.data, str):
            self.place.fail(f"a text is needed, not {self.name()}", "quote it if it is meant as text")
        if not self.data.strip():
            self.place.fail("the text is empty")
        return self.data

    def boolean(self) -> bool:
        """The value as true or false."""
        if not isinstance(self.data, bool):
            self.place.fail(f"true or false is needed, not {self.name()}")
        return self.data

    def integer(self) -> int:
        """The value as a whole number."""
        if not isinstance(self.data, int) or isinstance(self.data, bool):
            self.place.fail(f"a whole number is needed, not {self.name()}")
        return self.data

    def choice(self, options: Iterable[str]) -> str:
        """The value as one of some words."""
        text, known = self.text(), list(options)
        if text not in known:
            self.place.fail(f"{text!r} is not known", near_hint(text, known))
        return text

    def regex(self) -> SafeRegex:
        """The value as a regular expression that cannot blow up."""
        text = "" if self.data == "" else self.text()
        try:
            return SafeRegex(text)
        except UnsafeRegex as error:
            self.place.fail(f"the regular expression is wrong: {error}")

    def scalar(self) -> str | int | float | bool | None:
        """The value as it is, if it is a scalar."""
        if isinstance(self.data, (dict, list)):
            self.place.fail(f"a single value is needed, not {self.name()}")
        return self.data  # type: ignore[no-any-return]

    def plain(self) -> Any:
        """The value in plain data."""
        if isinstance(self.data, dict):
            return {k: v.plain() for k, (_, v) in self.data.items()}
        return [v.plain() for v in self.data] if isinstance(self.data, list) else self.data

    def name(self) -> str:
        """What the value is, in words."""
        if isinstance(self.data, dict):
            return "a mapping"
        if isinstance(self.data, list):
            return "a list"
        return "nothing" if self.data is None else f"{self.data!r}"


class Mapping:
    """A mapping whose keys are taken one by one; ``finish`` refuses what nobody took."""

    def __init__(self, place: Place, data: dict[str, tuple[Place, Value]]) -> None:
        self.place, self._data = place, data
        self._taken: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[tuple[str, Value]]:
        for key, (_, value) in self._data.items():
            yield key, value

    def keys(self) -> list[str]:
        """The keys in the order of the file."""
        return list(self._data)

    def get(self, key: str) -> Value | None:
        """A value that may be absent."""
        self._taken.append(key)
        found = self._data.get(key)
        return found[1] if found is not None else None

    def need(self, key: str) -> Value:
        """A value that must be there."""
        found = self.get(key)
        if found is None:
            near = difflib.get_close_matches(key, self._data, 1, 0.75)
            hint = f"did you mean {near[0]!r} as {key!r}?" if near else ""
            self.place.fail(f"the key {key!r} is missing", hint)
        return found

    def finish(self) -> None:
        """Refuses keys that are not known here."""
        for key, (place, _) in self._data.items():
            if key not in self._taken:
                place.fail(f"the key {key!r} is not known here", near_hint(key, dict.fromkeys(self._taken)))


def near_hint(word: str, known: Iterable[str]) -> str:
    """``did you mean X?``, or what there is."""
    options = list(known)
    near = difflib.get_close_matches(word, options, 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(options)}" if options else ""


def read_document(path: Path) -> Value:
    """The one document of a rule file.  Raises RuleError with file and line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RuleError(f"the file cannot be read: {error.strerror}", str(path)) from None
    return parse_document(data, str(path))


def parse_document(data: bytes, file: str) -> Value:
    """The one document of a rule file's bytes."""
    if len(data) > MAX_BYTES:
        raise RuleError(f"the file has {len(data):,} bytes, over the limit of {MAX_BYTES:,}", file)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RuleError("the file is not UTF-8", f"{file}:{line}") from None
    try:
        return _Builder(text, file).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = getattr(error, "problem", None) or str(error)
        raise RuleError(f"the file is not YAML: {what}", f"{file}:{mark.line + 1}" if mark else file) from None
    except RecursionError:
        raise RuleError("the file nests too deeply", file) from None


class _Builder:
    def __init__(self, text: str, file: str) -> None:
        self.loader: Any = _LOADER(text)
        self.file = file

    def document(self) -> Value:
        try:
            events = self.loader
            events.get_event()  # the stream starts
            if events.check_event(yaml.StreamEndEvent):
                raise RuleError("the file is empty", f"{self.file}:1", "a rule file holds 'schema: 1' and 'rules:'")
            events.get_event()
            found = self.value("", 0)
            events.get_event()
            if not events.check_event(yaml.StreamEndEvent):
                line = events.peek_event().start_mark.line + 1
                raise RuleError("the file holds more than one document", f"{self.file}:{line}")
            return found
        finally:
            self.loader.dispose()

    def value(self, path: str, depth: int) -> Value:
        event = self.loader.get_event()
        place = Place(self.file, event.start_mark.line + 1, path)
        if depth > _MAX_DEPTH:
            place.fail(f"nested deeper than {_MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            place.fail("anchors and aliases are not read", "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            return Value(place, self.scalar(event, place))
        if event.tag not in (None, "!"):
            place.fail(f"the tag {event.tag} is not read")
        if isinstance(event, yaml.SequenceStartEvent):
            return Value(place, self.sequence(path, depth))
        return Value(place, self.entries(path, depth))

    def scalar(self, event: Any, place: Place) -> Any:
        tag = event.tag
        if tag in (None, "!"):
            tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        kind = str(tag).rpartition(":")[2]
        if kind not in _SCALARS:
            place.fail(f"a value of type {kind} is not read", "quote it if it is meant as text")
        try:
            return self.loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (ValueError, OverflowError):
            place.fail(f"{event.value!r} is no {kind}")

    def sequence(self, path: str, depth: int) -> list[Value]:
        items: list[Value] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self.value(f"{path}[{len(items)}]", depth + 1))
        self.loader.get_event()
        return items

    def entries(self, path: str, depth: int) -> dict[str, tuple[Place, Value]]:
        entries: dict[str, tuple[Place, Value]] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            key = self.value(path, depth + 1)
            if not isinstance(key.data, (str, int, bool)):
                key.place.fail(f"a key must be text, not {key.name()}")
            # YAML 1.1 reads `on` and `no` as truth values; as keys they are words.
            name = key.data if isinstance(key.data, str) else str(key.data).lower()
            place = Place(self.file, key.place.line, f"{path}.{name}" if path else name)
            if name in entries:
                place.fail(f"the key {name!r} stands twice", f"first in line {entries[name][0].line}")
            entries[name] = (place, self.value(place.path, depth + 1))
        self.loader.get_event()
        return entries
