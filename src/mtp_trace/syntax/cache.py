"""Program forms kept on disk, one file for each content, so that a second run parses nothing.

What is in the folder is never trusted to be whole: a file that is cut short, foreign, of another version or simply
wrong is a miss, and is removed. Decoding gives plain data only. Still, whoever can write here can make up a program,
so the folder and its files must belong to the user, be writable by nobody else, and are left alone otherwise.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mtp_trace import __version__
from mtp_trace.syntax.form import FORM_VERSION, Node
from mtp_trace.syntax.quiet import collector_paused

CACHE_VARIABLE = "MTP_TRACE_CACHE"
DEFAULT_LIMIT = 512 << 20

_HEADER = struct.Struct("<8sQ16s")
_MAGIC = b"mtpform1"
_ENTRY = re.compile(r"[0-9a-f]{40}")
_TEMPORARY = re.compile(r"\.[0-9a-f]{40}\.[0-9a-f]{16}")
_STAMP = "swept"
_MAX_ENTRY = 256 << 20
_HOUR = 3600
_DAY = 24 * _HOUR
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NO_SUCH_FOLDER = "there is no such folder yet"


def _no_extension(code: int, data: memoryview) -> Any:
    raise ValueError("a form has no extension types")


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[list[Any]], ext_hook=_no_extension).decode


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds; ``problem`` says why it is not used, if it is not."""

    folder: Path
    entries: int
    bytes: int
    limit: int
    problem: str | None


def cache_root() -> Path:
    """The folder for everything that this program keeps: ``$MTP_TRACE_CACHE``, else the platform's own place."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("mtp-trace"))


class DiskCache:
    """Forms by content. Never raises: a cache that cannot be used is one that never hits.

    Processes may share the folder: a file appears whole or not at all, and the same name always means the same bytes.
    """

    def __init__(self, folder: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        self.folder = cache_root() / "forms" if folder is None else folder
        self.limit = limit
        self._problem: str | None = None
        self._checked = False
        self._written: int | None = None

    @staticmethod
    def key(data: bytes, parser: str) -> str:
        """Name of the form of a file's bytes, as lowered by this version of the program through ``parser``."""
        digest = hashlib.blake2b(_own_version(), digest_size=20)
        digest.update(f"{parser}\0".encode())
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> list[Node] | None:
        """The form of that key, if it is there and whole."""
        if not self._usable():
            return None
        path = self.folder / key
        try:
            handle = os.open(path, _READ)
        except OSError:
            return None
        form = None
        try:
            with open(handle, "rb", buffering=0) as file:
                status = os.fstat(handle)
                if _is_ours(status, stat.S_ISREG) and status.st_size <= _MAX_ENTRY:
                    form = _unpack(key, file.read())
        except OSError:
            return None
        if form is None:
            _quietly(os.unlink, path)
            return None
        if time.time() - status.st_mtime > _DAY:
            # The oldest go first when room is needed, so what is in use must not look old.
            _quietly(os.utime, path)
        return form

    def put(self, key: str, form: list[Node]) -> None:
        """Keep a form, if it can be kept: one with half a surrogate pair in a string cannot."""
        if not self._usable(create=True):
            return
        try:
            payload = _encode(form)
        except (ValueError, OverflowError, TypeError, RecursionError):
            return
        data = _HEADER.pack(_MAGIC, len(payload), _checksum(key, payload)) + payload
        temporary = self.folder / f".{key}.{secrets.token_hex(8)}"
        try:
            with open(os.open(temporary, _CREATE, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, self.folder / key)
        except OSError:
            _quietly(os.unlink, temporary)
            return
        self._make_room(len(data))

    def info(self) -> CacheInfo:
        """What there is now."""
        usable = self._usable()
        sizes = [status.st_size for _, status in self._files(_ENTRY)] if usable else []
        problem = None if usable or self._problem == _NO_SUCH_FOLDER else self._problem
        return CacheInfo(self.folder, len(sizes), sum(sizes), self.limit, problem)

    def clear(self) -> int:
        """Remove every form; how many there were. Files that are none of the cache's stay."""
        if not self._usable():
            return 0
        removed = sum(_quietly(os.unlink, path) for path, _ in list(self._files(_ENTRY)))
        for path, _ in list(self._files(_TEMPORARY)):
            _quietly(os.unlink, path)
        _quietly(os.unlink, self.folder / _STAMP)
        return removed

    def _usable(self, create: bool = False) -> bool:
        """Whether the folder is there and the user's alone; made so if it may be created."""
        if self._checked and not (create and self._problem == _NO_SUCH_FOLDER):
            return self._problem is None
        self._checked = True
        try:
            if create:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            status = os.lstat(self.folder)
            if not _is_ours(status, stat.S_ISDIR):
                self._problem = "it is no folder that belongs to this user alone"
            else:
                self._problem = None
        except FileNotFoundError:
            self._problem = _NO_SUCH_FOLDER
        except OSError as error:
            self._problem = error.strerror or str(error)
        return self._problem is None

    def _files(self, name: re.Pattern[str]) -> Iterator[tuple[str, os.stat_result]]:
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if name.fullmatch(entry.name):
                        try:
                            yield entry.path, entry.stat(follow_symlinks=False)
                        except OSError:
                            continue  # another process removed it
        except OSError:
            return

    def _make_room(self, written: int) -> None:
        """Look at the whole folder once a day, and whenever this process has written a sixteenth of the limit."""
        if self._written is None:
            self._written = 0
            try:
                due = time.time() - os.lstat(self.folder / _STAMP).st_mtime > _DAY
            except OSError:
                due = True
        else:
            due = False
        self._written += written
        if due or self._written > self.limit // 16:
            self._written = 0
            self._sweep()

    def _sweep(self) -> None:
        now = time.time()
        for path, status in list(self._files(_TEMPORARY)):
            if now - status.st_mtime > _HOUR:  # its writer was killed
                _quietly(os.unlink, path)
        files = sorted(self._files(_ENTRY), key=lambda file: file[1].st_mtime)
        total = sum(status.st_size for _, status in files)
        if total > self.limit:
            for path, status in files:
                _quietly(os.unlink, path)
                total -= status.st_size
                if total <= self.limit * 3 // 4:
                    break
        _quietly(_touch, self.folder / _STAMP)


def _touch(path: Path) -> None:
    path.touch(mode=0o600)


def _quietly(action: Any, path: Any) -> bool:
    """Whether it worked; another process may have been there first, and none of it matters."""
    try:
        action(path)
    except OSError:
        return False
    return True


def _is_ours(status: os.stat_result, right_kind: Any) -> bool:
    if not right_kind(status.st_mode):
        return False
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _checksum(key: str, payload: bytes | memoryview) -> bytes:
    # The key goes in, so that a file under another's name does not pass for it.
    return hashlib.blake2b(payload, digest_size=16, key=key.encode()).digest()


def _unpack(key: str, data: bytes) -> list[Node] | None:
    if len(data) < _HEADER.size:
        return None
    magic, length, checksum = _HEADER.unpack_from(data)
    payload = memoryview(data)[_HEADER.size :]
    if magic != _MAGIC or length != len(payload) or checksum != _checksum(key, payload):
        return None
    try:
        with collector_paused():
            return _decode(payload)
    except Exception:  # whatever a made-up payload can provoke
        return None


@lru_cache(maxsize=1)
def _own_version() -> bytes:
    """What a form depends on besides the text: this program and the Python whose ``ast`` it uses.

    The size and time of this package's files tell one state of a working copy from the next.
    """
    parts: list[Any] = [FORM_VERSION, __version__, sys.version_info[:2]]
    try:
        with os.scandir(Path(__file__).parent) as entries:
            files = sorted((e.name, e.stat()) for e in entries if e.name.endswith(".py"))
        parts += [(name, status.st_size, status.st_mtime_ns) for name, status in files]
    except OSError:  # imported from an archive, which has its version
        pass
    return repr(parts).encode()
