"""Puts an engine together: builtins, native modules, the tree's and the models' programs, the world."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import builtins
from mtp_trace.trace.effects import Effects
from mtp_trace.trace.engine import Budget, Engine
from mtp_trace.trace.imports import Imports
from mtp_trace.trace.stdlib import native_modules
from mtp_trace.trace.stdlib.abcs import MIXINS
from mtp_trace.trace.stdlib.hosts import host_module
from mtp_trace.trace.stdlib.system import make_environ
from mtp_trace.trace.world import World


def make_engine(tree: Any, models: Any, world: World, budget: Budget | None = None) -> Engine:
    """An engine over one tree in one world.

    ``tree`` and ``models`` are program stores: ``module(path)``, ``exists(path)``, ``is_dir(path)``, ``list(path)``,
    ``read(path)`` and ``packages()`` (the top-level package names).
    """
    engine = Engine(budget)
    engine.world = world
    engine.environ = make_environ(world.env)
    builtins.install(engine)
    engine.abstract_bases = MIXINS
    natives = native_modules()
    natives["mtp_trace_host"] = host_module
    engine.imports = Imports(engine, tree, models, natives, Effects(tree.read), world.absent)
    return engine
