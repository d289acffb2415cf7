"""Puts an engine together: builtins, native modules, the tree's and the models' programs, the world."""

from __future__ import annotations

from typing import Any

from mtp_trace.gpu import Gpu
from mtp_trace.trace import builtins
from mtp_trace.trace.effects import Effects
from mtp_trace.trace.engine import Budget, Engine
from mtp_trace.trace.imports import Imports
from mtp_trace.trace.noted import Noted
from mtp_trace.trace.stdlib import native_modules
from mtp_trace.trace.stdlib.abcs import MIXINS
from mtp_trace.trace.stdlib.hosts import gpu_facts, host_module
from mtp_trace.trace.stdlib.system import make_environ
from mtp_trace.trace.world import World

_HOST = "mtp_trace_host"


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
    natives[_HOST] = host_module
    engine.imports = Imports(engine, tree, models, natives, Effects(tree.read), world.absent)
    return engine


def moved(engine: Engine, gpu: Gpu) -> bool:
    """Gives an engine that is between launches another GPU, if what it imported so far would be the same with it.

    That is so where both are alike in all that was asked of the GPU while modules ran.
    """
    world = engine.world
    host = engine.imports.modules.get(_HOST)
    if world.gpu == gpu:
        return True
    if host is None or world.gpu is None or world.gpu.kind != gpu.kind:
        return False
    card: Noted = host.attrs["gpu"].attrs
    if any(getattr(world.gpu, name, None) != getattr(gpu, name, None) for name in card.asked):
        return False
    card.update(gpu_facts(gpu))
    world.gpu = gpu
    return True
