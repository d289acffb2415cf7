"""Does the function that makes an attention backend refuse to: asked once the stages went through."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from mtp_trace.report.model import Failure, Finding, Severity
from mtp_trace.trace.engine import ConstructionReached
from mtp_trace.trace.errors import message_of
from mtp_trace.trace.events import Event
from mtp_trace.trace.ops import type_name
from mtp_trace.trace.values import Function, Raised, Site, TraceStop, Unknown, Value
from mtp_trace.verdict.run import Absent, Outcome, StageRunner

_SHOWN = 12


@dataclass(frozen=True)
class Refusal:
    """A backend that is not made: the field that names it, for whom, and the tree's own words and place."""

    backend: str
    field: str
    gpu: str
    function: str
    error: Failure
    snippet: str

    @property
    def finding(self) -> Finding:
        """What it is to a person."""
        e = self.error
        said = " ".join((e.message or self.snippet).split())
        return Finding(
            "backend-refused",
            Severity.ERROR,
            "the attention backend is refused as it is made",
            f"the arguments are accepted with the attention backend {self.backend}, but on {self.gpu} {self.function} "
            f"does not make it: {e.type}: {said}",
            e.file,
            e.line,
            e.end_line,
            self.snippet,
        )


def refusal(runner: StageRunner, out: Outcome) -> Refusal | None:
    """The first backend of a way through all stages that the tree certainly refuses to make.

    Nothing of it stays, and only a ``raise`` or ``assert`` of the maker itself counts: what it imports or constructs
    asks for a real machine, and what hangs on an open question is not certain.
    """
    engine, rules = runner.engine, runner.entry.backends
    reached = out.stage is None and "runner" in out.bound
    if not reached or rules.table.partition(":")[0] not in engine.imports.modules:
        return None
    for backend, field in _named(runner, out):
        with engine.apart():
            try:
                found = _asked(runner, out, backend, field)
            except (Absent, Raised, TraceStop, RecursionError):
                found = None
        if found is not None:
            return found
    return None


def agreed(ways: Iterable[Refusal | None]) -> Refusal | None:
    """The refusal that all ways through a launch come to."""
    found = set(ways)
    return found.pop() if len(found) == 1 else None


def _named(runner: StageRunner, out: Outcome) -> Iterable[tuple[str, str]]:
    """The backends that the resolved arguments name, each once, with the field that does."""
    rules, found = runner.entry.backends, dict[str, str]()
    for side in rules.sides:
        field = side if out.resolved.get(side) is not None else rules.main
        backend = out.resolved.get(field)
        if isinstance(backend, str):
            found.setdefault(backend, field)
    return found.items()


def _asked(runner: StageRunner, out: Outcome, backend: str, field: str) -> Refusal | None:
    table = runner.target(runner.entry.backends.table, out)
    maker = table.get(backend) if isinstance(table, dict) else None
    if not isinstance(maker, Function):
        return None
    _complete(runner, out)
    raised = _raised(runner, maker, out.bound["runner"])
    return _told(runner, backend, field, maker.name, raised) if raised is not None else None


def _complete(runner: StageRunner, out: Outcome) -> None:
    """Gives the stand-in what makers read of it, and the guards of the stages do not."""
    engine, stand_in = runner.engine, out.bound["runner"]
    for name, (one, other) in runner.entry.backends.same.items():
        values = runner.target(one, out), runner.target(other, out)
        unknown = next((v for v in values if isinstance(v, Unknown)), None)
        same: Value = values[0] is values[1] if unknown is None else Unknown(f"runner.{name}", unknown.why)
        engine.set_entry(stand_in.attrs, name, same)


def _raised(runner: StageRunner, maker: Function, stand_in: Value) -> Event | None:
    """The maker's own ``raise`` or ``assert``, if that is where it ends whatever is not known."""
    engine = runner.engine
    seen = len(engine.recorder.events)
    # Modules that only a maker asks for are named, not run: what else is judged must not come to depend on them.
    engine.names_only, engine.stop_at_construction = True, stand_in
    try:
        engine.call(maker, [stand_in], {})
    except ConstructionReached:
        return None
    except Raised as error:
        own = (maker.module.path, maker.qualname)
        events = (e for e in engine.recorder.events[seen:] if e.kind == "raise" and e.value is error.value)
        said = next((e for e in events if (e.site.file, e.site.function) == own), None)
        return said if not engine.decisions else None
    finally:
        engine.names_only, engine.stop_at_construction = False, None
    return None


def _told(runner: StageRunner, backend: str, field: str, function: str, raised: Event) -> Refusal:
    engine, site = runner.engine, raised.site
    failure = Failure(type_name(raised.value), message_of(raised.value), site.file, site.line, site.end_line)
    gpu = engine.world.gpu.name if engine.world.gpu is not None else ""
    return Refusal(backend, field, gpu, function, failure, _text(runner, site))


def _text(runner: StageRunner, site: Site) -> str:
    last = min(site.end_line, site.line + _SHOWN - 1)
    lines: list[str] = runner.engine.imports.tree.module(site.file).lines(site.line, last)
    return textwrap.dedent("\n".join(lines))


__all__ = ["Refusal", "agreed", "refusal"]
