"""Text from trees, configs and launches made safe to show: nothing in it may steer a terminal, a log or a page."""

from __future__ import annotations

import re

# Controls (C0, DEL, C1), soft hyphen, zero-width and bidirectional marks, line separators, byte-order mark,
# interlinear marks, non-characters, lone surrogates and tag characters. The zero-width joiner stays: emoji need it.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANKS = re.compile(r"\s+")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def hides(text: str) -> bool:
    """Whether ``text`` holds a character that a reader would not see (line breaks and tabs apart)."""
    return _HIDDEN.search(text) is not None


def visible(text: str) -> str:
    r"""``text`` with every hidden or steering character spelled out (``\x1b``); line breaks and tabs stay."""
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """``visible(text)`` on a single line: line breaks with the blanks around them become one blank."""
    return _BLANKS.sub(_unbroken, visible(text)).strip()


def _unbroken(match: re.Match[str]) -> str:
    blanks = match.group()
    return " " if "\n" in blanks else blanks.replace("\t", " ")


def clip(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` characters, the cut marked by an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "\u2026"


def counted(number: int, noun: str) -> str:
    """``1 launch``, ``2 launches``: a number with its noun in the right form."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith(('s', 'ch', 'sh', 'x')) else 's'}"
