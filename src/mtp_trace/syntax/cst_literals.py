"""Values of literal tokens as LibCST keeps them: raw text with prefix, quotes and escapes."""

from __future__ import annotations

import ast

_QUOTES = "'\""


def string_value(token: str) -> str | bytes:
    """What a string or bytes token stands for.  Raises SyntaxError or ValueError where Python does."""
    body = token.lstrip("rRuUbBfF")
    prefix = token[: len(token) - len(body)].lower()
    if "b" in prefix or ("\\" in token and "r" not in prefix):
        value = ast.literal_eval(token)
        assert isinstance(value, str | bytes)
        return value
    width = 3 if body[:3] in ("'''", '"""') else 1
    return body[width:-width]


def fstring_text(raw: str, start: str, in_spec: bool) -> str:
    """What a piece of literal text in an f-string that opens with ``start`` stands for."""
    if not in_spec and ("{" in raw or "}" in raw):
        raw = raw.replace("{{", "{").replace("}}", "}")
    quote = start.lstrip("rRfFtT")
    if "\\" not in raw or "r" in start[: len(start) - len(quote)].lower():
        return raw
    # The space keeps a quote at the text's end apart from the closing ones, and a backslash from escaping them.
    value = ast.literal_eval(f"{quote}{raw} {quote}")
    assert isinstance(value, str)
    return value[:-1]


def number_value(token: str) -> int | float | complex:
    """What a number token stands for.  Raises ValueError for decimals beyond Python's own limit."""
    if token[-1] in "jJ" and token[:2] not in ("0x", "0X"):
        return complex(token.lower())
    try:
        return int(token, 0)
    except ValueError:
        if token.replace("_", "").isdigit():
            raise
        return float(token)
