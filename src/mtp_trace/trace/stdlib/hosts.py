"""``mtp_trace_host``: how the models of the outside, written in Python under ``rules/models``, ask about the world."""

from __future__ import annotations

from typing import Any

from mtp_trace.gpu import Gpu
from mtp_trace.trace.errors import OBJECT
from mtp_trace.trace.events import Event
from mtp_trace.trace.noted import Noted
from mtp_trace.trace.stdlib.importing import version_of
from mtp_trace.trace.stdlib.text import loads
from mtp_trace.trace.stdlib.tools import natives
from mtp_trace.trace.values import Class, External, Instance, TraceStop, Unknown, Value

_GPU_FACTS = ("kind", "capability", "memory_mib", "count", "runtime", "arch", "device_name")


def host_module(engine: Any) -> dict[str, Value]:
    """Facts: ``gpu``, ``version(name)``, ``installed(name)``, ``table(name)``, ``unknown(key, why)``, ``symbol(path)``,
    ``known(x)``."""
    card = Instance(Class("Gpu", (OBJECT,)))
    card.attrs = Noted(gpu_facts(engine.world.gpu), engine.is_shared)
    return {
        "gpu": card,
        **natives(
            version=lambda e, a, k: version_of(e, a[0]),
            installed=lambda e, a, k: e.imports.is_installed(a[0]),
            table=lambda e, a, k: e.world.tables(a[0], *a[1:]),
            unknown=lambda e, a, k: Unknown(a[0], a[1]),
            symbol=lambda e, a, k: External(a[0]),
            known=lambda e, a, k: not isinstance(a[0], Unknown),
            read_json=_read_json,
            load_code=_load_code,
            note_read=_note,
        ),
    }  # fmt: skip


def gpu_facts(gpu: Gpu | None) -> dict[str, Value]:
    """What the models may ask about the GPU."""
    facts: dict[str, Value] = {}
    for name in _GPU_FACTS:
        value = getattr(gpu, name) if gpu is not None else None
        if value is None and (gpu is None or name in ("capability", "memory_mib", "count")):
            needed = gpu is None or gpu.kind in ("cuda", "hip")
            value = Unknown(f"gpu.{name}", f"the GPU's {name.replace('_', ' ')} was not given") if needed else None
        facts[name] = value
    return facts


def _read_json(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    path = str(a[0])
    if path in e.written:
        return loads(e.written[path])
    data = e.world.files.read(path)
    return None if data is None else loads(data.decode("utf-8", errors="replace"))


def _load_code(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    """A Python file of the checkpoint, followed like any other code: the module, None where there is no such file."""
    from mtp_trace.syntax.lower_ast import lower_module

    path = str(a[0])
    data = e.world.files.read(path)
    if data is None:
        return None
    name = "transformers_modules." + path.rpartition("/")[2].removesuffix(".py")
    try:
        form = lower_module(data.decode("utf-8"))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TraceStop(f"the checkpoint's own code, {path}, cannot be read: {error}") from None
    return e.imports.run_aside(name, path, form)


def _note(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    site = e.here()
    if site is not None:
        e.recorder.add(Event("config", site, str(a[0]), a[1] if len(a) > 1 else None))
