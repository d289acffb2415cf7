"""Runs small programs by the real Python and by the tracer, and gives both results in one comparable shape."""

from __future__ import annotations

import enum
import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mtp_trace.syntax.lower_ast import lower_module
from mtp_trace.trace.engine import Budget, Engine
from mtp_trace.trace.errors import EXCEPTIONS, message_of
from mtp_trace.trace.setup import make_engine
from mtp_trace.trace.values import (
    BoundMethod,
    Class,
    Function,
    Generator,
    Instance,
    Module,
    Native,
    Raised,
    TraceStop,
    TypingForm,
    Unknown,
)
from mtp_trace.trace.world import World
from mtp_trace.verdict.session import deep

_HOST_BASES = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


class Program:
    """A lowered module, as a program store gives it."""

    def __init__(self, path: str, form: list[Any], has_walrus: bool) -> None:
        self.path, self.form, self.has_walrus = path, form, has_walrus


class MemoryStore:
    """A program store over texts by path."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self._folders = {"/".join(p.split("/")[:i]) for p in files for i in range(1, p.count("/") + 1)}
        self._programs: dict[str, Program] = {}

    def packages(self) -> list[str]:
        return sorted({p.split("/")[0] for p in self.files if "/" in p})

    def exists(self, path: str) -> bool:
        return path in self.files

    def is_dir(self, path: str) -> bool:
        return path in self._folders

    def list(self, path: str) -> tuple[str, ...]:
        prefix = f"{path}/" if path else ""
        inside = (p.removeprefix(prefix) for p in [*self.files, *self._folders] if p.startswith(prefix) and p)
        return tuple(sorted({p.split("/")[0] for p in inside}))

    def read(self, path: str) -> bytes | None:
        return self.files[path].encode() if path in self.files else None

    def module(self, path: str) -> Program:
        if path not in self._programs:
            self._programs[path] = Program(path, lower_module(self.files[path]), ":=" in self.files[path])
        return self._programs[path]


def engine_of(files: dict[str, str], models: dict[str, str] | None = None, world: World | None = None,
              budget: Budget | None = None) -> Engine:  # fmt: skip
    """An engine over texts: ``files`` are the tree, ``models`` the models of the outside."""
    return make_engine(MemoryStore(files), MemoryStore(models or {}), world or World(), budget)


def one_module(source: str, **options: Any) -> Engine:
    """An engine over the package ``app`` with one module, ``app.main``."""
    return engine_of({"app/__init__.py": "", "app/main.py": source}, **options)


def call(engine: Engine, name: str = "test", args: tuple[Any, ...] = (), module: str = "app.main",
         plan: dict[str, bool] | None = None, keep: bool = False) -> Any:  # fmt: skip
    """What the tracer makes of ``module.name(*args)``; raises what the tracer raises."""

    def run() -> Any:
        engine.begin(plan)
        try:
            return engine.call(engine.getattr(engine.imports.load(module), name), list(args), {})
        finally:
            if not keep:
                engine.rollback()

    return deep(run)


def traced(engine: Engine, name: str = "test", args: tuple[Any, ...] = (), module: str = "app.main") -> Any:
    """The tracer's result in comparable shape: ``("value", ...)``, ``("raised", ...)`` or ``("stopped", why)``."""

    def run() -> Any:
        engine.begin()
        try:
            value = engine.call(engine.getattr(engine.imports.load(module), name), list(args), {})
            return ("value", shape(value))
        except Raised as error:
            site = error.site
            place = (site.file, site.line) if site is not None else None
            return ("raised", error.value.cls.name, message_text(engine, error.value), place)
        except TraceStop as stop:
            return ("stopped", stop.why, stop.site)
        finally:
            engine.rollback()

    return deep(run)


def message_text(engine: Engine, value: Any) -> Any:
    """``str(exception)``, through the program's own ``__str__``."""
    from mtp_trace.trace.ops import to_text

    text = to_text(engine, value)
    return text if isinstance(text, str) else message_of(value)


def shape(value: Any) -> Any:
    """A value, the real Python's or the tracer's, as plain data that can be compared."""
    if isinstance(value, Unknown):
        return ("unknown", value.key)
    if isinstance(value, enum.Enum):
        return ("member", type(value).__name__, value.name)
    if isinstance(value, Instance):
        return _instance(value)
    for host in _HOST_BASES:
        if isinstance(value, host):
            return _host(value, host)
    if value is None or value is ... or value is NotImplemented:
        return value
    if isinstance(value, Class):
        return ("class", value.name)
    if isinstance(value, type):
        return ("class", value.__name__)
    if isinstance(value, (Function, Native)):
        return ("function", value.attrs.get("__name__", value.name))
    if isinstance(value, (BoundMethod, types.MethodType)):
        return ("method",)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return ("function", value.__name__)
    if isinstance(value, (Generator, types.GeneratorType)):
        return ("generator",)
    if isinstance(value, (Module, types.ModuleType)):
        return ("module", value.name if isinstance(value, Module) else value.__name__)
    if isinstance(value, TypingForm) or type(value).__module__ in ("typing", "types"):
        return ("typing",)
    if isinstance(value, BaseException):
        return ("error", type(value).__name__, shape(value.args))
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return ("object", type(value).__name__)


def _instance(value: Instance) -> Any:
    if value.cls.has_trait("enum"):
        return ("member", value.cls.name, value.attrs["_name_"])
    if EXCEPTIONS["BaseException"] in value.cls.mro:
        return ("error", value.cls.name, shape(value.attrs.get("args", ())))
    if value.cls.host is not None:
        return shape(value.payload)
    return ("object", value.cls.name)


def _host(value: Any, host: type) -> Any:
    if host is bool or host in (int, float, str, bytes):
        plain = host(value) if host is not bytes else bytes(value)
        return plain if plain == plain else "nan"
    if host in (list, tuple):
        return (host.__name__, *(shape(x) for x in value))
    if host is dict:
        return ("dict", *((shape(k), shape(v)) for k, v in dict.items(value)))
    return ("set", *sorted((shape(x) for x in value), key=repr))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the real Python the same texts."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self.store.packages():
            return None
        base = name.replace(".", "/")
        for file, package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if self.store.exists(file):
                spec = importlib.util.spec_from_loader(name, self, origin=file, is_package=package)
                if spec is not None:
                    spec.has_location = True
                return spec
        return None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        path = module.__spec__.origin
        # Only this project's own test programs ever get here.
        exec(compile(self.store.files[path], path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102


@contextmanager
def _importable(files: dict[str, str]) -> Iterator[None]:
    store = MemoryStore(files)
    finder = _Finder(store)

    def forget() -> None:
        for name in [n for n in sys.modules if n.split(".")[0] in store.packages()]:
            del sys.modules[name]

    forget()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        forget()


def real(files: dict[str, str], name: str = "test", module: str = "app.main") -> Any:
    """What the real Python makes of it, in the same shape."""
    with _importable(files):
        try:
            function: Callable[[], Any] = getattr(importlib.import_module(module), name)
            return ("value", shape(function()))
        except BaseException as error:
            place = None
            at = error.__traceback__
            while at is not None:
                if at.tb_frame.f_code.co_filename in files:
                    place = (at.tb_frame.f_code.co_filename, at.tb_lineno)
                at = at.tb_next
            return ("raised", type(error).__name__, str(error), place)
