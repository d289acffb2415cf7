"""Python source bytes to text, as Python itself would decode them."""

from __future__ import annotations

import io
import tokenize
from codecs import BOM_UTF8
from collections.abc import Callable

from mtp_trace.errors import SourceError
from mtp_trace.source.interface import SourceTree

# Codecs that no source file is written in and that cost more than linear time, or whose meaning hangs on the machine.
_REFUSED = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})


def decode_source(data: bytes, path: str) -> str:
    """The text of a Python file: byte order mark and PEP 263 coding line honoured, line ends made ``\\n``.

    Raises SourceError, with ``path`` and the byte offset, where the bytes are no such text.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise _undecodable(data, path, str(error)) from None
    if encoding.replace("-", "_").lower() in _REFUSED:
        raise SourceError(f"the coding {encoding} is not supported", f"{path}: byte 0", "save the file as UTF-8")
    skipped = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        text = data[skipped:].decode("utf-8" if skipped else encoding)
    except UnicodeDecodeError as error:
        what = f"the bytes are no {encoding.removesuffix('-sig')} ({error.reason})"
        raise SourceError(what, f"{path}: byte {skipped + error.start}", "is this a Python file?") from None
    except (LookupError, ValueError) as error:
        raise SourceError(f"cannot decode: {error}", f"{path}: byte 0", "is this a Python file?") from None
    if "\0" in text:
        raise SourceError("a null byte, which no Python file may hold", f"{path}: byte {max(data.find(0), 0)}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _undecodable(data: bytes, path: str, reason: str) -> SourceError:
    """The offset for what ``detect_encoding`` refused: the first byte that is no UTF-8 in the lines that it reads."""
    try:
        data.decode("utf-8")
        offset = 0
    except UnicodeDecodeError as error:
        offset = error.start
    return SourceError(f"cannot tell the encoding: {reason}", f"{path}: byte {offset}", "is this a Python file?")


def source_lines(tree: SourceTree) -> Callable[[str, int, int], list[str] | None]:
    """``lines(file, first, last)`` of a tree, both ends included and counted from 1; None where there is no file."""

    def lines(file: str, first: int, last: int) -> list[str] | None:
        data = tree.read(file)
        # Not splitlines(), which also breaks at form feeds and separators that are no line ends in Python.
        return None if data is None else decode_source(data, file).split("\n")[max(first, 1) - 1 : max(last, 0)]

    return lines
