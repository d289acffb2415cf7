"""os, sys, platform, time, pathlib and what else asks the machine."""

from __future__ import annotations

import pathlib
import posixpath
import sys
import uuid
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import OBJECT, throw
from mtp_trace.trace.events import Event
from mtp_trace.trace.stdlib.tools import argument, constant, natives, real, unknown
from mtp_trace.trace.values import (
    TREE_PREFIX,
    Class,
    External,
    Instance,
    Native,
    Unknown,
    Value,
    first_unknown,
)

_ENVIRON = Class("_Environ", (OBJECT,))
_ENVIRON.mro = [_ENVIRON, OBJECT]
_ENVIRON.host = dict


def _note(e: Any, name: Value, value: Value) -> None:
    site = e.here()
    if site is not None and isinstance(name, str):
        e.recorder.add(Event("env", site, name, value))


def read_env(e: Any, name: Value, default: Value) -> Value:
    """An environment variable, noted as read."""
    name = ops.payload(name)
    if isinstance(name, Unknown):
        return name.derive(f"os.environ[{name.key}]" if default is None else f"os.environ.get({name.key}, {default!r})")
    value = e.environ.payload.get(name, default)
    _note(e, name, value)
    return value


def _env_get(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    return read_env(e, a[1], argument(a, k, 2, "default"))


def _env_item(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    name = ops.payload(a[1])
    if not isinstance(name, Unknown) and name not in a[0].payload:
        throw("KeyError", name)
    return read_env(e, name, None)


def _env_contains(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    _note(e, ops.payload(a[1]), a[0].payload.get(ops.payload(a[1])))
    return ops.contains(e, a[0].payload, a[1])


def _env_set(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    value = ops.payload(a[2])
    if not isinstance(value, (str, Unknown)):
        throw("TypeError", f"str expected, not {ops.type_name(value)}")
    e.set_entry(a[0].payload, ops.payload(a[1]), value)


_ENVIRON.attrs.update(natives(__contains__=_env_contains, __getitem__=_env_item, __setitem__=_env_set, get=_env_get,
                              copy=lambda e, a, k: dict(a[0].payload)))  # fmt: skip


def make_environ(env: dict[str, str]) -> Instance:
    """``os.environ``."""
    return Instance(_ENVIRON, dict(env))


def _path(value: Value) -> Value:
    value = ops.payload(value)
    return str(value) if isinstance(value, pathlib.PurePath) else value


class TreeFiles:
    """The tree's own files, as ``__file__`` names them."""

    def __init__(self, engine: Any) -> None:
        self._tree = engine.imports.tree

    def exists(self, path: str) -> bool:
        """See ``world.Files``."""
        path = path.removeprefix(TREE_PREFIX)
        return bool(self._tree.exists(path) or self._tree.is_dir(path))

    def is_dir(self, path: str) -> bool:
        """See ``world.Files``."""
        return bool(self._tree.is_dir(path.removeprefix(TREE_PREFIX)))


def _file_question(name: str) -> Native:
    def ask(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        path = _path(a[0])
        if isinstance(path, Unknown):
            return path.derive(f"{name}({path.key})")
        if not isinstance(path, str):
            throw("TypeError", f"expected str, bytes or os.PathLike object, not {ops.type_name(path)}")
        if path in e.written:
            return name in ("exists", "isfile", "lexists")
        files = TreeFiles(e) if path.startswith(TREE_PREFIX) else e.world.files
        found = files.exists(path) if name in ("exists", "isfile", "lexists") else files.is_dir(path)
        if name == "isfile" and found:
            found = not files.is_dir(path)
        if name in ("islink", "ismount"):
            found = False
        return (
            found if found is not None else Unknown(f"os.path.{name}({path!r})", f"whether {path} exists is not known")
        )

    return Native(name, ask)


def _os_path(engine: Any) -> dict[str, Value]:
    table: dict[str, Value] = {n: real(f"os.path.{n}", getattr(posixpath, n)) for n in (
        "join", "basename", "dirname", "splitext", "split", "normpath", "isabs", "commonpath", "commonprefix",
        "relpath")}  # fmt: skip
    table.update({n: real(n, lambda p: posixpath.normpath(posixpath.join("/", p))) for n in ("abspath", "realpath")})
    table["expanduser"] = real("expanduser", lambda p: p.replace("~", "/root", 1) if p.startswith("~") else p)
    table["expandvars"] = real("expandvars", lambda p: p)
    table.update({n: _file_question(n) for n in ("exists", "isfile", "isdir", "islink", "lexists", "ismount")})
    table.update(natives(getsize=lambda e, a, k: Unknown(f"getsize({a[0]!r})", "file sizes are not read"),
                         getmtime=lambda e, a, k: Unknown("getmtime()", "file times are not read")))  # fmt: skip
    return {**table, "sep": "/", "pathsep": ":"}


def _os(engine: Any) -> dict[str, Value]:
    def listing(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        path = _path(a[0]) if a else "."
        if isinstance(path, Unknown):
            return path.derive(f"os.listdir({path.key})")
        names = e.world.files.listing(path)
        return names if names is not None else Unknown(f"os.listdir({path!r})", f"the content of {path} is not known")

    def walk(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        names = listing(e, a, k)
        return [(a[0], [], names)] if isinstance(names, list) else names

    def unset(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.touch(e.environ.payload)
        e.environ.payload.pop(a[0], None)

    return {
        "environ": engine.environ, "sep": "/", "name": "posix", "linesep": "\n", "pathsep": ":", "devnull": "/dev/null",
        "PathLike": External("os.PathLike"), "O_RDWR": 2, "O_CREAT": 64,
        "error": engine.builtins["OSError"], "curdir": ".",
        **natives(getenv=lambda e, a, k: read_env(e, a[0], argument(a, k, 1, "default")), listdir=listing, walk=walk,
                  putenv=lambda e, a, k: e.set_entry(e.environ.payload, a[0], a[1]), unsetenv=unset,
                  getpid=constant(1000), getppid=constant(1), cpu_count=constant(64), getcwd=constant("/"),
                  makedirs=constant(None), mkdir=constant(None), remove=constant(None), kill=constant(None),
                  fspath=lambda e, a, k: _path(a[0]), access=lambda e, a, k: True,
                  sched_getaffinity=constant(set(range(64))),
                  getuid=constant(0), uname=unknown("os.uname()", "the machine's name is not known"),
                  urandom=unknown("os.urandom()", "random bytes")),
    }  # fmt: skip


def _sys(engine: Any) -> dict[str, Value]:
    version = engine.world.python
    info = Instance(Class("version_info", (OBJECT,)), version)
    info.cls.host = tuple
    info.attrs.update({"major": version[0], "minor": version[1], "micro": version[2]})

    def leave(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        throw("SystemExit", *(a or [None]))

    return {
        "modules": engine.imports.modules, "argv": ["sglang"], "path": [], "platform": "linux",
        "executable": "/usr/bin/python3",
        "version_info": info, "version": ".".join(map(str, version)), "maxsize": sys.maxsize, "byteorder": "little",
        "stdout": External("sys.stdout"), "stderr": External("sys.stderr"), "stdin": External("sys.stdin"),
        "flags": External("sys.flags"),
        "stdlib_module_names": frozenset(sys.stdlib_module_names), "prefix": "/usr", "meta_path": [], "path_hooks": [],
        **natives(exit=leave, exc_info=constant((None, None, None)), getsizeof=constant(64),
                  getrecursionlimit=constant(1000),
                  setrecursionlimit=constant(None), getdefaultencoding=constant("utf-8"), intern=lambda e, a, k: a[0],
                  _getframe=unknown("sys._getframe()", "frames are not objects here")),
    }  # fmt: skip


def _platform(engine: Any) -> dict[str, Value]:
    return natives(system=constant("Linux"), machine=constant("x86_64"), processor=constant("x86_64"),
                   node=constant("host"),
                   python_version=lambda e, a, k: ".".join(map(str, e.world.python)), release=constant("6.1.0"),
                   platform=constant("Linux-x86_64"), version=constant("#1"))  # fmt: skip


def _time(engine: Any) -> dict[str, Value]:
    clock = unknown("time.time()", "the clock")
    return natives(time=clock, perf_counter=clock, monotonic=clock, time_ns=clock, perf_counter_ns=clock,
                   sleep=constant(None),
                   strftime=unknown("time.strftime()", "the clock"), localtime=clock, process_time=clock)  # fmt: skip


def _random(engine: Any) -> dict[str, Value]:
    draw = unknown("random()", "a random number")
    return natives(random=draw, randint=draw, choice=draw, uniform=draw, seed=constant(None), shuffle=constant(None),
                   sample=draw,
                   getrandbits=draw)  # fmt: skip


def _pathlib(engine: Any) -> dict[str, Value]:
    host = pathlib.PurePosixPath

    def make(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        parts = [_path(p) for p in a]
        bad = next((p for p in parts if isinstance(p, Unknown)), None)
        return host(*parts) if bad is None else bad.derive(f"Path({bad.key})")

    engine.host_methods[(host, "__new__")] = lambda e, call: make(e, *call)

    def question(name: str) -> Any:
        return lambda e, obj: Native(name, lambda e, a, k: e.call(_file_question(name), [str(obj)], {}))

    for method, name in (("exists", "exists"), ("is_file", "isfile"), ("is_dir", "isdir")):
        engine.host_methods[(host, method)] = question(name)
    same = lambda e, obj: Native("resolve", lambda e, a, k: obj)  # noqa: E731
    for method in ("resolve", "absolute", "expanduser"):
        engine.host_methods[(host, method)] = same
    engine.host_methods[(host, "mkdir")] = lambda e, obj: Native("mkdir", constant(None))
    engine.host_methods[(host, "read_text")] = lambda e, obj: Native(
        "read_text", lambda e, a, k: read_text(e, str(obj))
    )
    engine.host_methods[(host, "open")] = lambda e, obj: Native("open", lambda e, a, k: e.open_file([str(obj), *a], k))

    def found(e: Any, obj: Value, pattern: str) -> list[Value]:
        names = e.world.files.listing(str(obj)) or []
        return [obj / n for n in names if pathlib.PurePosixPath(n).match(pattern)]

    for method in ("glob", "rglob"):
        engine.host_methods[(host, method)] = lambda e, obj: Native("glob", lambda e, a, k: found(e, obj, a[0]))
    engine.host_methods[(host, "iterdir")] = lambda e, obj: Native("iterdir", lambda e, a, k: found(e, obj, "*"))
    return {"Path": host, "PurePath": host, "PosixPath": host, "PurePosixPath": host}


_FILE = Class("TextIOWrapper", (OBJECT,))
_FILE.mro = [_FILE, OBJECT]
_FILE.attrs.update(natives(
    __enter__=lambda e, a, k: a[0], __exit__=constant(False), close=constant(None), flush=constant(None),
    write=lambda e, a, k: _write(e, a[0], a[1]), seek=constant(0),
    read=lambda e, a, k: a[0].attrs["_text"], readlines=lambda e, a, k: _lines(a[0]), __iter__=lambda e, a,
    k: _lines(a[0]),
    fileno=unknown("fileno()", "open files have no number here"),
))  # fmt: skip


def _write(e: Any, handle: Instance, text: Value) -> Value:
    """What is written can be read again by the same launch; nothing reaches the disk."""
    name = handle.attrs.get("name")
    if isinstance(name, str):
        old = e.written.get(name, "")
        e.written[name] = text if isinstance(text, Unknown) else old if isinstance(old, Unknown) else old + str(text)
    return len(text) if isinstance(text, str) else 0


def _lines(handle: Instance) -> Value:
    text = handle.attrs["_text"]
    if isinstance(text, Unknown):
        return text.derive(f"{text.key}.readlines()")
    return text.splitlines(keepends=True)


def read_text(e: Any, path: Value) -> Value:
    """A file's text, or the traced FileNotFoundError."""
    if isinstance(path, Unknown):
        return path.derive(f"open({path.key}).read()")
    if path in e.written:
        return e.written[path]
    data = e.world.files.read(path)
    if data is None:
        throw("FileNotFoundError", f"[Errno 2] No such file or directory: '{path}'")
    return data.decode("utf-8", errors="replace")


def open_file(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    """``open``: reading files that the world shows; writing goes nowhere."""
    mode = argument(a, k, 1, "mode", "r")
    handle = Instance(_FILE)
    writing = isinstance(mode, str) and any(c in mode for c in "wax")
    path = _path(a[0])
    handle.attrs["name"] = path
    handle.attrs["_text"] = "" if writing else read_text(e, path)
    if writing and isinstance(path, str) and isinstance(mode, str) and "a" not in mode:
        e.written[path] = ""
    if isinstance(mode, str) and "b" in mode and isinstance(handle.attrs["_text"], str):
        handle.attrs["_text"] = handle.attrs["_text"].encode()
    return handle


def _glob(engine: Any) -> dict[str, Value]:
    def glob(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        pattern = _path(a[0])
        if isinstance(pattern, Unknown):
            return pattern.derive(f"glob({pattern.key})")
        folder, name = posixpath.split(pattern)
        names = e.world.files.listing(folder) or []
        return [posixpath.join(folder, n) for n in names if pathlib.PurePosixPath(n).match(name or "*")]

    return {**natives(glob=glob, iglob=glob), "escape": real("glob.escape", lambda p: p)}


def _template(engine: Any) -> dict[str, Value]:
    counter = iter(range(1_000_000))

    def name(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        handle = Instance(_FILE)
        handle.attrs.update({"_text": "", "name": f"/tmp/tmp{next(counter)}"})
        return handle

    return {**natives(NamedTemporaryFile=name, TemporaryDirectory=name, gettempdir=constant("/tmp"),
                      mkdtemp=lambda e, a, k: f"/tmp/tmp{next(counter)}", mkstemp=unknown("mkstemp()",
                                                                                          "a temporary file")),
            "tempdir": "/tmp"}  # fmt: skip


def _uuid(engine: Any) -> dict[str, Value]:
    made = Instance(Class("UUID", (OBJECT,)))
    made.attrs.update({"hex": "0" * 32, "int": 0})

    def named(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        unknown_part = first_unknown(a)
        if unknown_part is not None:
            return unknown_part.derive(f"uuid5({unknown_part.key})")
        real = uuid.uuid5(a[0], str(ops.payload(a[1])))
        found = Instance(Class("UUID", (OBJECT,)))
        found.attrs.update({"hex": real.hex, "int": real.int})
        return found

    spaces = {n: getattr(uuid, n) for n in ("NAMESPACE_URL", "NAMESPACE_DNS", "NAMESPACE_OID")}
    return {**natives(uuid4=constant(made), uuid1=constant(made), uuid5=named), **spaces}


def _shutil(engine: Any) -> dict[str, Value]:
    return natives(which=lambda e, a, k: Unknown(f"shutil.which({ops.short(a[0])})", "what is on PATH is not known"),
                   rmtree=constant(None), copy=constant(None), copyfile=constant(None),
                   disk_usage=unknown("disk_usage()", "the disk is not looked at"))  # fmt: skip


def _signal(engine: Any) -> dict[str, Value]:
    return natives(signal=constant(None), getsignal=constant(None))


MODULES = {
    "os": _os,
    "os.path": _os_path,
    "sys": _sys,
    "platform": _platform,
    "time": _time,
    "random": _random,
    "pathlib": _pathlib,
    "glob": _glob,
    "tempfile": _template,
    "uuid": _uuid,
    "shutil": _shutil,
    "signal": _signal,
}
