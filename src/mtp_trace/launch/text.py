"""Text that remembers which line of its file each part came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mtp_trace.launch.holes import variable

LONGEST_VALUE = 16 * 1024
"""The longest value of a variable that is put in elsewhere; a longer one counts as unknown."""
MOST_REFERENCES = 256
"""The most variables that are put into one value."""
_BLANK_RUN = re.compile(r"[^ \t\n]+")


@dataclass(frozen=True)
class Text:
    """A string and, for offsets into it, the line (from 1) that stands behind: ``lines[i]`` from ``offsets[i]`` on."""

    text: str
    offsets: tuple[int, ...] = (0,)
    lines: tuple[int, ...] = (1,)

    @classmethod
    def of_file(cls, text: str, first_line: int = 1) -> Text:
        """The text of a whole file, or of a block whose first line is ``first_line``."""
        offsets = [0]
        position = text.find("\n")
        while position >= 0:
            offsets.append(position + 1)
            position = text.find("\n", position + 1)
        return cls(text, tuple(offsets), tuple(range(first_line, first_line + len(offsets))))

    @classmethod
    def at(cls, text: str, line: int) -> Text:
        """A text that stands on one line, or whose lines do not matter."""
        return cls(text, (0,), (line,))

    @property
    def line(self) -> int:
        """The line of the first character."""
        return self.lines[0]

    def line_at(self, offset: int) -> int:
        """The line of the character at ``offset``."""
        return self.lines[max(bisect_right(self.offsets, offset) - 1, 0)]

    def cut(self, start: int, end: int) -> Text:
        """The part from ``start`` to ``end``."""
        end = max(start, end)
        first = max(bisect_right(self.offsets, start) - 1, 0)
        last = bisect_right(self.offsets, max(end - 1, start))
        offsets = tuple(max(offset - start, 0) for offset in self.offsets[first:last])
        return Text(self.text[start:end], offsets, self.lines[first:last])

    def same(self, text: str) -> Text:
        """``text``, of the same length as this one, at the same lines."""
        return Text(text, self.offsets, self.lines)

    def split(self) -> Iterator[Text]:
        """The words between blanks, tabs and line ends."""
        for match in _BLANK_RUN.finditer(self.text):
            yield self.cut(match.start(), match.end())


def join(parts: Iterable[Text], between: str = "") -> Text:
    """The parts one after the other, each at its own lines."""
    texts: list[str] = []
    offsets: list[int] = []
    lines: list[int] = []
    length = 0
    for part in parts:
        if texts and between:
            texts.append(between)
            length += len(between)
        for offset, line in zip(part.offsets, part.lines):
            if lines and (offset + length == offsets[-1]):
                lines[-1] = line
            elif not lines or lines[-1] != line:
                offsets.append(offset + length)
                lines.append(line)
        texts.append(part.text)
        length += len(part.text)
    if not offsets:
        return Text("")
    offsets[0] = 0
    return Text("".join(texts), tuple(offsets), tuple(lines))


def bounded(value: Text, name: str) -> Text:
    """The value of the variable ``name``, or its hole where it grew beyond what a person writes."""
    return value if len(value.text) <= LONGEST_VALUE else Text.at(variable(name), value.line)


def split_words(value: Text, escape: Callable[[str, str], str]) -> list[Text]:
    """The words between blanks, with quotes taken off and no variable put in.

    Args:
        value: the text.
        escape: what a backslash and the character after it stand for, given that character and the open quote
            ("" outside of quotes). It is not asked between single quotes.
    """
    words: list[Text] = []
    pieces: list[Text] | None = None
    quote = ""
    place = 0
    text = value.text
    while place < len(text):
        character = text[place]
        if character == "\\" and quote != "'" and place + 1 < len(text):
            pieces = [*(pieces or ()), Text.at(escape(text[place + 1], quote), value.line_at(place))]
            place += 2
            continue
        if quote and character == quote:
            quote = ""
            place += 1
        elif not quote and character in "\"'":
            quote = character
            pieces = [*(pieces or ()), value.cut(place, place)]
            place += 1
        elif not quote and character in " \t\n":
            if pieces is not None:
                words.append(join(pieces))
                pieces = None
            place += 1
        else:
            end = place + 1
            while end < len(text) and text[end] != "\\" and text[end] not in (quote or "\"' \t\n"):
                end += 1
            pieces = [*(pieces or ()), value.cut(place, end)]
            place = end
    if pieces is not None:
        words.append(join(pieces))
    return words
