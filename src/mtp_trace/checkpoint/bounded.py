"""Reading small files that strangers wrote: only regular files, only so many bytes, only so deep."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CheckpointError

MIB = 1024 * 1024

# A config.json of a released model stays under 10 levels; the parsers below recurse once a level.
MAX_DEPTH = 200

# Counted before parsing, so that a few megabytes of "[],[],[]" do not become millions of Python objects.
MAX_BRACKETS = 1_000_000

_BRACKET = re.compile(r'["\[\]{}]')
_STRING_REST = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def shown(value: object, limit: int = 80) -> str:
    """A value out of a file, fit for a message: printable ASCII, one line, at most ``limit`` characters."""
    text = ascii(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def readable_size(count: int) -> str:
    """A number of bytes for a person, in binary units."""
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[tuple[int, int]]:
    """Open a regular file (or a symlink to one) for reading; yields its descriptor and its size in bytes.

    Opened without blocking and looked at before a byte is read, so a FIFO or a device never makes the caller wait.

    Raises:
        CheckpointError: the file is missing, not readable, or not a regular file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise _cannot_open(path, error) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"it is {kind_of(status.st_mode)}, not a regular file", str(path))
        yield descriptor, status.st_size
    finally:
        os.close(descriptor)


def kind_of(mode: int) -> str:
    """What a file's mode says it is, for a message."""
    names = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    )
    return next((name for test, name in names if test(mode)), "a special file")


def _cannot_open(path: Path, error: OSError | ValueError) -> CheckpointError:
    if isinstance(error, FileNotFoundError):
        if path.is_symlink():
            return CheckpointError(
                "it is a symlink to a file that does not exist",
                str(path),
                "In a Hugging Face cache this is an interrupted download: fetch the model again.",
            )
        return CheckpointError("the file does not exist", str(path))
    if isinstance(error, PermissionError):
        # Windows answers "permission denied" when a directory is opened.
        with contextlib.suppress(OSError):
            if path.is_dir():
                return CheckpointError("it is a directory, not a regular file", str(path))
        return CheckpointError("the file cannot be read: permission denied", str(path), "Check its owner and mode.")
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return CheckpointError("it is a symlink that leads back to itself", str(path))
        if error.errno == errno.ENXIO:
            return CheckpointError("it is a socket, not a regular file", str(path))
        return CheckpointError(f"the file cannot be read: {error.strerror or error}", shown(str(path), 200))
    return CheckpointError("this is not a usable file name", shown(str(path), 200))


def read_exactly(descriptor: int, count: int, path: Path, most_at_once: int = 16 * MIB) -> bytes:
    """Up to ``count`` bytes from the descriptor's position; fewer only where the file ends earlier.

    Who knows the file's size hands it over: pieces are joined, and that takes the memory twice.

    Raises:
        CheckpointError: the system cannot read the file.
    """
    chunks: list[bytes] = []
    left = count
    while left > 0:
        try:
            chunk = os.read(descriptor, min(left, most_at_once))
        except OSError as error:
            raise CheckpointError(f"the file cannot be read: {error.strerror or error}", str(path)) from error
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def read_file(path: Path, limit: int, hint: str = "") -> bytes:
    """A whole regular file of at most ``limit`` bytes. A larger one is refused by its size, unread.

    Raises:
        CheckpointError: the file is missing, unreadable, not regular, or larger than ``limit``.
    """
    with open_regular(path) as (descriptor, size):
        if size <= limit:
            # One byte more than the limit: the size of a file that is being written, or of one in /proc, says little.
            data = read_exactly(descriptor, limit + 1, path, size + 1)
            if len(data) <= limit:
                return data
            size = len(data)
    raise CheckpointError(
        f"the file is too large: {readable_size(size)}, at most {readable_size(limit)} are read", str(path), hint
    )


def decode_text(data: bytes, where: str) -> str:
    """UTF-8 text, a byte order mark accepted.

    Raises:
        CheckpointError: the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        raise CheckpointError(
            f"the text is {kind} (byte {error.start})", where, "Save the file as UTF-8, or fetch it again."
        ) from error


def check_depth(text: str, where: str, most: int = MAX_BRACKETS) -> None:
    """Refuse JSON text that nests deeper than ``MAX_DEPTH`` or opens more than ``most`` objects and lists.

    The standard parser recurses in C once a level, and its only guard is the interpreter's recursion limit, which other
    code may have raised: so the depth is measured first, without recursion.

    Raises:
        CheckpointError: too deep, or too many.
    """
    opened = text.count("[") + text.count("{")
    if opened <= MAX_DEPTH:
        return
    if opened > most:
        raise CheckpointError(f"the JSON holds too many objects and lists ({opened})", where)
    depth, at = 0, 0
    while (match := _BRACKET.search(text, at)) is not None:
        at = match.end()
        char = match.group()
        if char == '"':
            rest = _STRING_REST.match(text, at)
            if rest is None:
                return  # an unterminated string: the parser says so better
            at = rest.end()
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                line = text.count("\n", 0, at) + 1
                raise CheckpointError(f"the JSON is nested deeper than {MAX_DEPTH} levels", f"{where}:{line}")
        else:
            depth -= 1


def parse_json(text: str, where: str) -> Any:
    """JSON as Python's own parser takes it: NaN and Infinity are numbers, of two equal keys the last one counts.

    Raises:
        CheckpointError: empty, not JSON, too deep, too many values, or a number too long to be one.
    """
    if not text.strip():
        raise CheckpointError("the file is empty", where, "An interrupted download looks like this: fetch it again.")
    check_depth(text, where)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = ""
        if text.startswith("version https://git-lfs"):
            hint = "This is a Git LFS pointer: run `git lfs pull` in the model's folder."
        elif text.lstrip()[:1] == "<":
            hint = "This looks like a web page: fetch the raw file."
        raise CheckpointError(f"not JSON: {error.msg}", f"{where}:{error.lineno}:{error.colno}", hint) from error
    except (ValueError, RecursionError) as error:
        # ValueError: an integer of more digits than Python converts. RecursionError: called from deep inside.
        raise CheckpointError("the JSON holds a value that cannot be read (too long, or too deep)", where) from error


def json_kind(value: object) -> str:
    """The JSON name of a parsed value's type, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    kinds: tuple[tuple[type, str], ...] = (
        (dict, "an object"),
        (list, "a list"),
        (str, "a string"),
        (int, "a number"),
        (float, "a number"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)


def read_json_object(path: Path, limit: int, hint: str = "") -> dict[str, Any]:
    """A JSON file whose top level is an object, bounded in size and depth.

    Raises:
        CheckpointError: anything but that.
    """
    value = parse_json(decode_text(read_file(path, limit, hint), str(path)), str(path))
    if not isinstance(value, dict):
        raise CheckpointError(f"the file holds {json_kind(value)}, not an object", str(path))
    return value
