"""The import system: tree modules are read when reached, the outside comes from models, the rest is external."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from mtp_trace.trace.compile_stmt import Compiler
from mtp_trace.trace.errors import exception, throw
from mtp_trace.trace.scope import Scope
from mtp_trace.trace.values import (
    MISSING,
    BudgetExceeded,
    External,
    Frame,
    Lazy,
    Module,
    Raised,
    TraceStop,
    Unknown,
    Value,
)

ModuleBuilder = Callable[[Any], dict[str, Value]]


class Imports:
    """Modules by dotted name.

    ``tree`` and ``models`` are program stores (see ``syntax.program``); ``natives`` builds modules that the tracer
    answers itself; ``absent`` names packages that are taken as not installed.
    """

    def __init__(self, engine: Any, tree: Any, models: Any, natives: dict[str, ModuleBuilder], effects: Any,
                 absent: frozenset[str] = frozenset()) -> None:  # fmt: skip
        self.engine, self.tree, self.models, self.natives = engine, tree, models, natives
        self.effects = effects
        self.absent = absent
        self.modules: dict[str, Module] = {}
        self.failures: dict[str, str] = {}
        self._located: dict[str, tuple[Any, str, bool] | None] = {}
        self.roots = tree.packages()

    # --- finding ---------------------------------------------------------------------------------------------------

    def is_tree(self, name: str) -> bool:
        """Whether a dotted name belongs to the tree."""
        return name.split(".", 1)[0] in self.roots

    def locate(self, name: str) -> tuple[Any, str, bool] | None:
        """(store, path, is_package) of a module in the tree or among the models."""
        if name not in self._located:
            self._located[name] = self._locate(name)
        return self._located[name]

    def _locate(self, name: str) -> tuple[Any, str, bool] | None:
        store = self.tree if self.is_tree(name) else self.models
        base = name.replace(".", "/")
        if store.exists(f"{base}/__init__.py"):
            return store, f"{base}/__init__.py", True
        if store.exists(f"{base}.py"):
            return store, f"{base}.py", False
        if store is self.tree and store.is_dir(base):
            return store, f"{base}/", True
        return None

    def load(self, name: str) -> Module | External:
        """Imports a module by its absolute name; raises the traced ModuleNotFoundError where there is none."""
        known = self.modules.get(name)
        if known is not None:
            return known
        parent = name.rpartition(".")[0]
        if parent:
            self.load(parent)
            known = self.modules.get(name)
            if known is not None:
                return known
        if name in self.natives:
            return self._native(name)
        if not self.is_tree(name) and self.outside_absent(name):
            raise _not_found(name.split(".")[0])
        found = self.locate(name)
        if found is not None:
            return self._run(name, *found)
        if self.is_tree(name):
            raise _not_found(name)
        return External(name, f"{name} is outside the tree and has no model")

    def outside_absent(self, name: str) -> bool:
        """Whether a package outside the tree is taken as not installed."""
        return name.split(".", 1)[0] in self.absent or name in self.absent

    def _native(self, name: str) -> Module:
        package = any(other.startswith(f"{name}.") for other in self.natives)
        module = Module(name, f"<{name}>", package, model=True)
        self.modules[name] = module
        module.attrs.update(self.natives[name](self.engine))
        module.ready = True
        return module

    def _run(self, name: str, store: Any, path: str, is_package: bool) -> Module:
        module = Module(name, path, is_package, model=store is self.models)
        self.modules[name] = module
        module.attrs["__package__"] = name if is_package else name.rpartition(".")[0]
        if path.endswith("/"):
            module.ready = True
            return module
        engine = self.engine
        with engine.importing(name):
            try:
                program = store.module(path)
                self._body(module, program.form, program.has_walrus)
            except BaseException:
                self.modules.pop(name, None)
                raise
        module.ready = True
        return module

    def run_aside(self, name: str, path: str, form: list[Any]) -> Module:
        """Runs a module that belongs to neither the tree nor the models (code that comes with a checkpoint), for this
        launch only. Errors are placed where the tree asked for it."""
        module = Module(name, path, model=True)
        self._body(module, form)
        module.ready = True
        return module

    def _body(self, module: Module, form: list[Any], walrus: bool = True) -> None:
        engine = self.engine
        postponed = any(s[0] == "from" and s[3] == "__future__" for s in form[:8])
        compiler = Compiler(engine.builtins, postponed)
        scope = Scope("module", None, set())
        scope.walrus = walrus
        frame = Frame(engine, module, "<module>", None, module.attrs)
        frame.node = ["pass", 1, 1]
        engine.enter(frame)
        try:
            for statement in form:
                self._statement(module, compiler, scope, frame, statement)
        finally:
            engine.leave()

    def _statement(self, module: Module, compiler: Compiler, scope: Scope, frame: Frame, statement: Any) -> None:
        """One top-level statement; what a model is missing for leaves the names it would bind unknown."""
        try:
            compiler.statement(statement, scope)(frame)
        except BudgetExceeded:
            raise
        except TraceStop as stop:
            from mtp_trace.trace.scope import collect

            names: set[str] = set()
            collect([statement], names, set(), set())
            self.failures[module.name] = stop.why
            for n in names:
                module.attrs.setdefault(n, Unknown(f"{module.name}.{n}", stop.why))

    # --- statements ------------------------------------------------------------------------------------------------

    def absolute(self, module: str, level: int, inside: Module) -> str:
        """The absolute name of ``from ..module import``."""
        if level == 0:
            return module
        package = inside.name if inside.is_package else inside.name.rpartition(".")[0]
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        if not package:
            throw("ImportError", "attempted relative import beyond top-level package")
        return f"{package}.{module}" if module else package

    def import_statement(self, dotted: str, alias: str | None, frame: Frame) -> Value:
        """``import a.b`` binds ``a``; ``import a.b as c`` binds ``a.b``."""
        target = self.load(dotted)
        if alias is not None:
            return target
        top = dotted.split(".", 1)[0]
        return self.modules.get(top, target if top == dotted else External(top))

    def may_wait(self, target: str, names: list[str]) -> bool:
        """Whether a top-level ``from target import names`` can stay lazy: what it would run is seen nowhere else."""
        loaded = self.modules.get(target)
        if not self.is_tree(target) or (loaded is not None and loaded.ready) or self.locate(target) is None:
            return False
        if not self.engine.lazy_imports:
            return False
        for name in self.effects.to_run(target, names, self):
            self.load(name)
        return True

    def lazy(self, target: str, name: str) -> Value:
        """A placeholder for a name imported at top level."""
        return Lazy(target, name)

    def resolve(self, placeholder: Lazy) -> Value:
        """What a placeholder stands for."""
        if placeholder.name is None:
            return self.load(placeholder.module)
        return self.name_from(placeholder.module, placeholder.name, None)

    def name_from(self, target: str, name: str, frame: Frame | None) -> Value:
        """``from target import name``."""
        if (
            self.engine.names_only
            and target not in self.modules
            and self.is_tree(target)
            and self.locate(target) is not None
        ):
            return External(f"{target}.{name}")
        module = self.load(target)
        if isinstance(module, External):
            return self.engine.external_attribute(module, name)
        found = self._module_name(module, name)
        if found is not MISSING:
            return found
        if module.name in self.failures:
            return Unknown(f"{module.name}.{name}", self.failures[module.name])
        throw("ImportError", f"cannot import name '{name}' from '{module.name}' ({module.path})")

    def _module_name(self, module: Module, name: str) -> Value:
        from mtp_trace.trace import attrs

        value = module.attrs.get(name, MISSING)
        if isinstance(value, Lazy) and (value.module, value.name) == (module.name, name):
            # ``from . import name`` in the package itself: the name stands for the submodule.
            found = self.submodule(module, name)
            if found is not MISSING:
                module.attrs[name] = found
            return found
        if value is not MISSING:
            return self.engine.resolve(value, module.attrs, name)
        return attrs.of_module(self.engine, module, name)

    def submodule(self, module: Module, name: str) -> Value:
        """``package.name`` as a module, imported if it is there."""
        if not module.is_package:
            return MISSING
        full = f"{module.name}.{name}"
        if full in self.modules:
            return self.modules[full]
        if full in self.natives or self.locate(full) is not None:
            return self.load(full)
        return MISSING

    def lacks(self, module: str, name: str) -> bool:
        """Whether a module of the standard library that is answered natively has no such name, modelled or not."""
        if module not in self.natives or module.split(".", 1)[0] not in sys.stdlib_module_names:
            return False
        return not hasattr(importlib.import_module(module), name)

    def star(self, target: str) -> dict[str, Value]:
        """``from target import *``."""
        module = self.load(target)
        if isinstance(module, External):
            return {}
        listed = module.attrs.get("__all__")
        names = listed if isinstance(listed, (list, tuple)) else [n for n in module.attrs if not n.startswith("_")]
        # Names that are still lazy stay so.
        return {n: module.attrs[n] if n in module.attrs else self._module_name(module, n) for n in names}

    def is_installed(self, name: str) -> bool:
        """Whether ``import name`` would find something (``importlib.util.find_spec``)."""
        if self.is_tree(name) or name in self.natives or name.split(".")[0] in sys.stdlib_module_names:
            return self.locate(name) is not None or not self.is_tree(name)
        return not self.outside_absent(name)


def _not_found(name: str) -> Raised:
    error = exception("ModuleNotFoundError", f"No module named '{name}'")
    error.attrs["name"] = name
    return Raised(error)
