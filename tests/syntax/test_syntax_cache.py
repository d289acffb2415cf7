"""The cache keeps forms, and treats whatever else it finds as absent."""

from __future__ import annotations

import os
import random
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from mtp_trace.syntax import cache as cache_module
from mtp_trace.syntax.cache import DiskCache, cache_root
from mtp_trace.syntax.form import Node
from mtp_trace.syntax.lower_ast import lower_module

FORM = lower_module(
    "import a.b as c\n@d\nclass E(F, g=1):\n  def h(self, *i, j=b'k', **l) -> None:\n"
    "    return f'{self!r:>{i}}', 1.5, 2**64, 0xffffffffffffffffff, True, ..., 3j, 'é', 1e999\n"
)
KEY = DiskCache.key(b"some text", "any")
unix = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix permissions")


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache" / "forms")


def entry(cache: DiskCache) -> Path:
    return cache.folder / KEY


def write_entry(cache: DiskCache, payload: bytes) -> None:
    """A file that is whole and named right, whatever its payload."""
    header = struct.pack("<8sQ16s", b"mtpform1", len(payload), cache_module._checksum(KEY, payload))
    entry(cache).write_bytes(header + payload)
    entry(cache).chmod(0o600)


def test_gives_back_what_was_put(cache: DiskCache) -> None:
    assert cache.get(KEY) is None
    assert not cache.folder.exists(), "asking creates nothing"
    cache.put(KEY, FORM)
    assert cache.get(KEY) == FORM
    assert DiskCache(cache.folder).get(KEY) == FORM
    assert cache.get(DiskCache.key(b"other text", "any")) is None
    info = cache.info()
    assert (info.entries, info.problem) == (1, None)
    assert info.bytes == entry(cache).stat().st_size


def test_keys_differ_by_text_parser_and_program(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {DiskCache.key(b"a", "any"), DiskCache.key(b"b", "any"), DiskCache.key(b"a", "libcst")}
    monkeypatch.setattr(cache_module, "FORM_VERSION", -1)
    cache_module._own_version.cache_clear()
    keys.add(DiskCache.key(b"a", "any"))
    cache_module._own_version.cache_clear()
    assert len(keys) == 4


@unix
def test_only_the_user_can_read_or_write(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(cache).stat().st_mode) == 0o600


def test_place_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MTP_TRACE_CACHE", str(tmp_path))
    assert DiskCache().folder == tmp_path / "forms"
    monkeypatch.delenv("MTP_TRACE_CACHE")
    assert cache_root().name == "mtp-trace"


def test_a_form_that_cannot_be_kept_is_no_error(cache: DiskCache) -> None:
    cache.put(KEY, lower_module("x = '\\ud800'\n"))
    deep: Node = ["pass", 1, 1]
    for _ in range(100_000):
        deep = ["not", 1, 1, deep]
    cache.put(KEY, [deep])
    while len(deep) == 4:  # taken apart by hand, lest freeing it recurses
        deep = deep.pop()
    assert cache.get(KEY) is None
    assert list(cache.folder.iterdir()) == []


def test_cut_short(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    whole = entry(cache).read_bytes()
    for length in [*range(40), *range(40, len(whole), 37)]:
        write = entry(cache)
        write.write_bytes(whole[:length])
        write.chmod(0o600)
        assert cache.get(KEY) is None
        assert not entry(cache).exists(), "what is no form is removed"


def test_changed_anywhere(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    whole = entry(cache).read_bytes()
    dice = random.Random(0)
    for position in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[position] ^= 1 << dice.randrange(8)
        entry(cache).write_bytes(changed)
        entry(cache).chmod(0o600)
        assert cache.get(KEY) is None
    entry(cache).write_bytes(whole + b"\0")
    entry(cache).chmod(0o600)
    assert cache.get(KEY) is None


def test_under_another_name(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    other = DiskCache.key(b"other text", "any")
    os.replace(entry(cache), cache.folder / other)
    assert cache.get(other) is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"a": 1}),
        msgspec.msgpack.encode("text"),
        msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode([["pass", msgspec.msgpack.Ext(5, b"x")]]),
        b"\xdd\xff\xff\xff\xff",
        b"\x91" * 100_000,
        b"\x91\x91\xa2\xff\xff",
        msgspec.msgpack.encode(FORM) + b"\x90",
    ],
)
def test_made_up_payloads(cache: DiskCache, payload: bytes) -> None:
    cache.put(KEY, FORM)
    write_entry(cache, payload)
    assert cache.get(KEY) is None
    assert not entry(cache).exists()


@unix
def test_what_is_no_regular_file(cache: DiskCache, tmp_path: Path) -> None:
    cache.put(KEY, FORM)
    real = tmp_path / "real"
    os.replace(entry(cache), real)
    entry(cache).symlink_to(real)
    assert cache.get(KEY) is None
    cache.put(KEY, FORM)
    assert cache.get(KEY) == FORM and not entry(cache).is_symlink()
    entry(cache).unlink()
    os.mkfifo(entry(cache), 0o600)
    assert cache.get(KEY) is None
    cache.put(KEY, FORM)
    assert cache.get(KEY) == FORM
    entry(cache).unlink()
    entry(cache).mkdir()
    assert cache.get(KEY) is None
    cache.put(KEY, FORM)
    assert cache.get(KEY) is None


@unix
def test_a_file_that_others_may_write(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    entry(cache).chmod(0o620)
    assert cache.get(KEY) is None


@unix
def test_a_folder_that_others_may_write_is_not_used(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    cache.folder.chmod(0o770)
    again = DiskCache(cache.folder)
    assert again.get(KEY) is None
    again.put(DiskCache.key(b"b", "any"), FORM)
    assert again.clear() == 0
    assert [path.name for path in cache.folder.iterdir() if path.name != "swept"] == [KEY]
    assert "belongs" in (again.info().problem or "")


@unix
def test_what_belongs_to_another_user_is_not_used(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, FORM)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert DiskCache(cache.folder).get(KEY) is None
    assert cache.get(KEY) is None  # nor where only the file is another's


def test_no_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "forms"):
        cache = DiskCache(folder)
        cache.put(KEY, FORM)
        assert cache.get(KEY) is None
        assert cache.info().problem
        assert cache.clear() == 0


def test_a_full_disk(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    cache.put(KEY, FORM)
    assert list(cache.folder.iterdir()) == []


def fill(cache: DiskCache, count: int) -> list[str]:
    """Keys of entries put a minute apart, oldest first."""
    keys = [DiskCache.key(str(i).encode(), "any") for i in range(count)]
    now = time.time()
    for i, key in enumerate(keys):
        cache.put(key, FORM)
        then = now - 10 * 86400 + 60 * i
        os.utime(cache.folder / key, (then, then))
    return keys


def test_the_oldest_go_when_room_is_needed(cache: DiskCache) -> None:
    keys = fill(cache, 20)
    size = (cache.folder / keys[0]).stat().st_size
    assert cache.get(keys[0]) == FORM  # used today, so not old any more
    os.utime(cache.folder / "swept", (0, 0))
    small = DiskCache(cache.folder, limit=10 * size)
    small.put(KEY, FORM)
    left = {path.name for path in cache.folder.iterdir() if path.name != "swept"}
    assert left == {keys[0], KEY, *keys[-5:]}
    assert small.info().bytes <= small.limit


def test_room_is_looked_for_rarely(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps = []
    monkeypatch.setattr(DiskCache, "_sweep", lambda self: sweeps.append(self))
    fill(cache, 20)
    assert len(sweeps) == 1
    size = entry_size(cache)
    fill(DiskCache(cache.folder, limit=16 * 4 * size), 20)
    assert 4 <= len(sweeps) - 1 <= 6


def entry_size(cache: DiskCache) -> int:
    return max(path.stat().st_size for path in cache.folder.iterdir())


def test_clearing_leaves_what_is_not_the_caches(cache: DiskCache) -> None:
    fill(cache, 3)
    (cache.folder / "notes.txt").write_text("mine")
    (cache.folder / f".{KEY}.{'0' * 16}").write_text("half")
    assert cache.clear() == 3
    assert [path.name for path in cache.folder.iterdir()] == ["notes.txt"]
    assert cache.info().entries == 0


def test_what_a_killed_writer_left_is_removed_later(cache: DiskCache) -> None:
    cache.put(KEY, FORM)
    half = cache.folder / f".{KEY}.{'0' * 16}"
    fresh = cache.folder / f".{KEY}.{'1' * 16}"
    for path in (half, fresh):
        path.write_text("half")
    os.utime(half, (0, 0))
    os.utime(cache.folder / "swept", (0, 0))
    DiskCache(cache.folder).put(KEY, FORM)
    assert not half.exists() and fresh.exists()


WRITER = """
import sys
from pathlib import Path
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.syntax.lower_ast import lower_module
cache = DiskCache(Path(sys.argv[1]))
forms = {DiskCache.key(str(i).encode(), "any"): lower_module(f"x = {i}\\n" * 200) for i in range(20)}
print("ready", flush=True)
for turn in range(int(sys.argv[2])):
    for key, form in forms.items():
        cache.put(key, form)
        found = cache.get(key)
        assert found is None or found == form
        if turn % 10 == 9:
            cache.clear()
"""


def test_many_processes_at_once_and_one_killed(cache: DiskCache) -> None:
    command = [sys.executable, "-c", WRITER, str(cache.folder)]
    writers = [subprocess.Popen([*command, "20"], stdout=subprocess.PIPE) for _ in range(2)]
    victim = subprocess.Popen([*command, "100000"], stdout=subprocess.PIPE)
    assert victim.stdout is not None and victim.stdout.readline()
    time.sleep(0.2)
    victim.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    victim.communicate()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    for i in range(20):
        key = DiskCache.key(str(i).encode(), "any")
        found = cache.get(key)
        assert found is None or found == lower_module(f"x = {i}\n" * 200)
