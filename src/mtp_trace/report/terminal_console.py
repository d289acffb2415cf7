"""A rich console that writes to memory: width, colours and glyphs are given, nothing is read from the environment."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

from mtp_trace.report.textsafe import one_line, visible

MIN_WIDTH = 40


@dataclass(frozen=True)
class Screen:
    """What the output goes to: its width in cells, whether it shows colours, whether it shows more than ASCII."""

    width: int = 100
    color: bool = False
    unicode: bool = True


def screen_for(stream: TextIO, env: Mapping[str, str] | None = None) -> Screen:
    """The screen behind ``stream``: colours only on a terminal that is not dumb, and never under ``NO_COLOR``."""
    env = os.environ if env is None else env
    is_terminal = bool(getattr(stream, "isatty", lambda: False)())
    color = is_terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns if is_terminal else Screen.width
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return Screen(width=max(width, MIN_WIDTH), color=color, unicode=encoding.startswith("utf"))


class Page:
    """Text gathered through rich. Every string is plain: markup, emoji codes and control characters mean nothing."""

    def __init__(self, screen: Screen) -> None:
        # rich is imported here: most commands never print to a terminal.
        from rich.console import Console

        class Buffer(io.StringIO):
            encoding = "utf-8" if screen.unicode else "ascii"

        self.screen = screen
        self.margin = 0
        self._buffer = Buffer()
        self._console: Console = Console(
            file=self._buffer,
            width=max(screen.width, MIN_WIDTH),
            force_terminal=screen.color,
            color_system="standard" if screen.color else None,
            no_color=not screen.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )

    def add(self, item: Any) -> None:
        """Add a rich renderable."""
        from rich.padding import Padding

        self._console.print(Padding(item, (0, 0, 0, self.margin)) if self.margin else item)

    def line(self, text: str = "", style: str = "") -> None:
        """Add one line that wraps at the width."""
        self.add(styled(text, style))

    def indented(self, text: str, style: str = "") -> None:
        """Add one line, and what it wraps to, two cells in; nothing where there is no text."""
        if text:
            with self.inset():
                self.line(text, style)

    @contextmanager
    def inset(self) -> Iterator[None]:
        """Everything added inside stands two cells further in."""
        self.margin += 2
        try:
            yield
        finally:
            self.margin -= 2

    def raw(self, text: str, style: str = "") -> None:
        """Add one line that stays whole, as a command to be copied must, even where it is wider than the screen."""
        from rich.text import Text

        shown = " " * self.margin + visible(text).replace("\n", "\\n")
        self._console.print(Text(shown, style=style), soft_wrap=True)

    def cropped(self, gutter: str, code: str, style: str) -> None:
        """Add one line of source: one that wraps reads as two, so it is cut at the screen's edge."""
        from rich.text import Text

        line = Text(gutter, style="dim")
        line.append(code.expandtabs(4).replace("\n", " "), style=style)
        self._console.print(line, no_wrap=True, overflow="ellipsis" if self.screen.unicode else "crop")

    def heading(self, text: str) -> None:
        """Start a section."""
        self.line()
        self.line(text, "bold")

    def text(self) -> str:
        """Everything so far, without blanks at the ends of lines; in ASCII where the screen knows no more."""
        text = "\n".join(line.rstrip() for line in self._buffer.getvalue().split("\n"))
        return text if self.screen.unicode else ascii_only(text)


def ascii_only(text: str) -> str:
    """``text`` for a screen that shows nothing but ASCII: the rest is spelled out."""
    return text.replace("\u2026", "...").encode("ascii", "backslashreplace").decode("ascii")


def styled(text: str, style: str = "") -> Text:
    """``text`` on one line, made safe, in ``style``."""
    from rich.text import Text

    return Text(one_line(text), style=style)


def block(text: str, style: str = "") -> Text:
    """``text`` with its line breaks, made safe, in ``style``."""
    from rich.text import Text

    return Text(visible(text), style=style)


def joined(*parts: tuple[str, str]) -> Text:
    """``(text, style)`` parts side by side, made safe, blanks at their ends kept."""
    from rich.text import Text

    line = Text()
    for text, style in parts:
        safe = one_line(text)
        lead = text[: len(text) - len(text.lstrip(" "))]
        trail = text[len(text.rstrip(" ")) :] if safe else ""
        line.append(f"{lead}{safe}{trail}", style=style)
    return line


def grid(*ratios: int) -> Any:
    """A borderless table with one column for each of ``ratios`` (0: as wide as its content, else a share)."""
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, expand=any(ratios))
    for ratio in ratios:
        table.add_column(ratio=ratio or None, overflow="fold")
    return table


def table(*headers: str) -> Any:
    """A borderless table with bold headers."""
    from rich.table import Table

    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for header in headers:
        made.add_column(styled(header), overflow="fold")
    return made
