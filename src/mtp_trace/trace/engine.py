"""The tracer's state and the rules of evaluation that need it: calls, forks, budgets, journal, events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mtp_trace.syntax.form import Node
from mtp_trace.trace import attrs, classes, ops
from mtp_trace.trace.errors import OBJECT, TYPE, throw
from mtp_trace.trace.events import Event, Guard, Recorder
from mtp_trace.trace.handling import Handling
from mtp_trace.trace.journal import Journal
from mtp_trace.trace.places import site_of
from mtp_trace.trace.reflection import Reflection
from mtp_trace.trace.stdlib import system
from mtp_trace.trace.typeforms import TypeForms
from mtp_trace.trace.values import (
    MISSING,
    BoundMethod,
    BudgetExceeded,
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    Generator,
    Instance,
    Lazy,
    Native,
    Site,
    StaticMethod,
    Super,
    TraceStop,
    TypingForm,
    Unknown,
    Value,
)
from mtp_trace.trace.world import World


class Budget:
    """Bounds on one trace. All counts; reaching one is ``BudgetExceeded``, never a guess."""

    def __init__(self, calls: int = 400_000, depth: int = 160, turns: int = 500_000, size: int = 500_000) -> None:
        self.calls, self.depth, self.turns, self.size = calls, depth, turns, size


class ConstructionReached(Exception):
    """An object would be made of the value in ``stop_at_construction``."""


class Decision:
    """An open question that was answered to go on: ``key`` is the unknown condition, ``answer`` the arm taken."""

    __slots__ = ("answer", "key", "site", "why")

    def __init__(self, key: str, answer: bool, why: str, site: Site | None) -> None:
        self.key, self.answer, self.why, self.site = key, answer, why, site


class Savepoint:
    """The engine between two stages of a launch: what a later way through with the same answers starts from.

    ``payload`` is what the one who runs the stages kept of the way here.
    """

    __slots__ = ("answers", "journal", "payload", "state")

    def __init__(self, answers: tuple[Decision, ...], journal: int, payload: Any, state: dict[str, Any]) -> None:
        self.answers, self.journal, self.payload, self.state = answers, journal, payload, state

    def fits(self, plan: dict[str, bool]) -> bool:
        """Whether a launch with these answers comes by here."""
        return all(plan.get(d.key) is d.answer for d in self.answers)


_LAUNCH_STATE = ("decisions", "decided", "assumptions", "written")


class Engine(Journal, Handling, Reflection, TypeForms):
    """One interpreter over one tree and one world (GPU, environment, packages).

    Import-time state is shared by the launches traced on it: between ``begin`` and ``rollback`` every change to what
    was there before is journalled and undone.
    """

    OBJECT, TYPE = OBJECT, TYPE

    def __init__(self, budget: Budget | None = None) -> None:
        Journal.__init__(self)
        self.budget = budget or Budget()
        self.builtins: dict[str, Value] = {}
        self.host_methods: dict[tuple[type, str], Callable[[Any, Value], Value]] = {}
        self.imports: Any = None
        self.classes = classes.ClassBuilder(self)
        self.recorder = Recorder()
        self.guards: list[tuple[Frame, Node, bool]] = []
        self.frames: list[Frame] = []
        self.lazy_imports = True
        self.plan: dict[str, bool] = {}
        self.decisions: list[Decision] = []
        self.decided: dict[str, bool] = {}
        self.assumptions: dict[str, str] = {}
        self.calls = self.loop_turns = 0
        self.import_assumptions: dict[str, bool] = {}
        self.written: dict[str, Value] = {}
        self.stop_at_construction: Value = None
        self.filling: Instance | None = None
        self.abstract_bases: dict[str, Class] = {}
        self.names_only = False
        self.savepoints: list[Savepoint] = []
        self.resumed: Savepoint | None = None
        self.world = World()
        self.environ: Instance = system.make_environ({})

    # --- the life of a trace ---------------------------------------------------------------------------------------

    def begin(self, plan: dict[str, bool] | None = None) -> None:
        """Starts a launch: fresh budget, events and decisions; changes are journalled from here on."""
        self.plan = plan or {}
        self.decisions, self.decided = [], {}
        self.assumptions = {}
        self.recorder.clear()
        self.written.clear()
        self.calls = self.loop_turns = 0
        self.guards.clear()
        self.frames.clear()
        self._journal.clear()
        self._touched.clear()
        self.savepoints.clear()
        self.resumed = None
        self._recording = True

    def mark(self, payload: Any) -> None:
        """Keeps where the launch stands, between stages, for the ways that differ only later."""
        Generator.epoch += 1
        state: dict[str, Any] = {name: getattr(self, name).copy() for name in _LAUNCH_STATE}
        state |= {"calls": self.calls, "loop_turns": self.loop_turns}
        state |= {"events": len(self.recorder.events), "handled": len(self.recorder.handled)}
        self.savepoints.append(Savepoint(tuple(self.decisions), len(self._journal), payload, state))
        # What was noted before is noted again: going back to here needs its content as of now.
        self._touched = {}

    def forget_marks(self) -> None:
        """After something that going back could not undo."""
        self.savepoints.clear()

    def begin_again(self, plan: dict[str, bool]) -> None:
        """Starts the launch with other answers: from the last savepoint that is on the way, else from the beginning."""
        while self.savepoints and not self.savepoints[-1].fits(plan):
            self.savepoints.pop()
        if not self.savepoints:
            self.rollback()
            self.begin(plan)
            return
        kept = self.resumed = self.savepoints[-1]
        self._undo(kept.journal)
        self._touched = {}
        self.plan = plan
        for name in _LAUNCH_STATE:
            setattr(self, name, kept.state[name].copy())
        self.calls, self.loop_turns = kept.state["calls"], kept.state["loop_turns"]
        del self.recorder.events[kept.state["events"] :], self.recorder.handled[kept.state["handled"] :]
        self.guards.clear()
        self.frames.clear()

    def rollback(self) -> None:
        """Undoes what the launch changed in the shared state."""
        self._recording = False
        self.savepoints.clear()
        self._undo(0)
        self._touched.clear()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is traced inside is undone at its end, and its open questions, calls and events are its own."""
        kept = self.plan, self.decisions, self.decided, self.calls, self.loop_turns, self.recorder.events, self._touched
        start, frames, guards = len(self._journal), list(self.frames), list(self.guards)
        self.plan, self.decisions, self.decided, self.recorder.events, self._touched = (
            {},
            [],
            dict(self.decided),
            [],
            {},
        )
        self.calls = self.loop_turns = 0
        try:
            yield
        finally:
            self._undo(start)
            (
                self.plan,
                self.decisions,
                self.decided,
                self.calls,
                self.loop_turns,
                self.recorder.events,
                self._touched,
            ) = kept
            self.frames[:], self.guards[:] = frames, guards

    def grow(self, container: Any) -> None:
        """Refuses containers past the size budget."""
        if len(container) > self.budget.size:
            raise BudgetExceeded(f"a collection grew past {self.budget.size} items")

    def enter(self, frame: Frame) -> None:
        """A function begins."""
        self.calls += 1
        if self.calls > self.budget.calls:
            raise BudgetExceeded(f"the trace made more than {self.budget.calls} calls", site_of(frame, frame.node))
        if len(self.frames) > self.budget.depth:
            raise BudgetExceeded(f"calls nest more than {self.budget.depth} deep", site_of(frame, frame.node))
        self.frames.append(frame)

    def resume(self, frame: Frame) -> None:
        """A generator goes on."""
        if len(self.frames) > self.budget.depth:
            raise BudgetExceeded(f"calls nest more than {self.budget.depth} deep", site_of(frame, frame.node))
        self.frames.append(frame)

    def leave(self) -> None:
        """A function ends."""
        self.frames.pop()

    def turns(self, count: int, node: Node | None = None, frame: Frame | None = None) -> None:
        """Loop turns taken."""
        self.loop_turns += count
        if self.loop_turns > self.budget.turns:
            site = site_of(frame, node) if frame is not None and node is not None else None
            raise BudgetExceeded(f"loops took more than {self.budget.turns} turns", site)

    # --- where we are ----------------------------------------------------------------------------------------------

    def here(self) -> Site | None:
        """The place in the tree that is running: the innermost frame that is not in a model."""
        for f in reversed(self.frames):
            if not f.module.model and f.node is not None:
                return site_of(f, f.node)
        return None

    def writer(self) -> Site | None:
        """The place in the tree that sets an attribute: the statement, not a ``__setattr__`` that it goes through."""
        for f in reversed(self.frames):
            if not f.module.model and f.node is not None and f.function.rpartition(".")[2] != "__setattr__":
                return site_of(f, f.node)
        return None

    def current_guards(self, count: int = 4) -> tuple[Guard, ...]:
        """The conditions that hold here, innermost last."""
        return tuple(Guard(site_of(f, n), n, taken) for f, n, taken in self.guards[-count:] if not f.module.model)

    # --- truth and forks -------------------------------------------------------------------------------------------

    def truth(self, value: Value) -> bool:
        """``bool(value)``; an unknown one is decided by the plan, and noted."""
        if value is True or value is False:
            return value
        if value is None:
            return False
        if isinstance(value, Unknown):
            return self.decide(value, self.here())
        if isinstance(value, Instance):
            for name in ("__bool__", "__len__"):
                method = value.cls.lookup(name)
                if method is not MISSING:
                    return self.truth(self.call(BoundMethod(method, value), [], {}))
            inner = ops.payload(value)
            return True if isinstance(inner, Instance) else self.truth(inner)
        if isinstance(value, Class) and value.metaclass is not None:
            method = value.metaclass.lookup("__bool__")
            return True if method is MISSING else self.truth(self.call(BoundMethod(method, value), [], {}))
        # A value of the host's own (a list, a view, a path) knows its truth; our functions and classes are true.
        return True if type(value).__module__.startswith("mtp_trace.") else bool(value)

    def truth_at(self, value: Value, frame: Frame, node: Node) -> bool:
        """``truth`` with the place for an unknown one."""
        if value is True or value is False:
            return value
        if isinstance(value, Unknown):
            return self.decide(value, site_of(frame, node))
        return self.truth(value)

    def decide(self, value: Unknown, site: Site | None) -> bool:
        """Answers an unknown condition: as refined, as decided before, as planned, else False (and tried both ways)."""
        if value.truthy is not None:
            return value.truthy
        key = value.key
        inverted = key.startswith("not (")
        if inverted:
            key = key[5:-1]
        if self._import_depth:
            return self._assume(key) is not inverted
        if key in self.decided:
            return self.decided[key] is not inverted
        answer = self.plan.get(key, False)
        self.decided[key] = answer
        self.decisions.append(Decision(key, answer, value.why, site))
        return answer is not inverted

    def assume_there(self, path: str) -> bool:
        """``hasattr`` on another package: the versions that the tree is written for have what it asks for. Noted."""
        if not self._import_depth:
            self.assumptions[path] = "taken to exist: the tree asks the package for it"
        return True

    def _assume(self, key: str) -> bool:
        """A condition on the outside while a module is imported: the packages that the tree was written for have what
        it asks them for. Noted, and never tried the other way: the shared state would differ."""
        answer = not (key.endswith(" is None") or " == " in key or "(" in key.removeprefix("hasattr("))
        self.import_assumptions[key] = answer
        return answer

    # --- calls -----------------------------------------------------------------------------------------------------

    def call(self, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``fn(*args, **kwargs)``."""
        kind = type(fn)
        if kind is Function:
            watched = self.recorder.watched.get(fn.name)
            if watched is not None:
                self.on_call(fn, args, kwargs)
            return fn.code.invoke(self, fn, args, kwargs)
        if kind is BoundMethod:
            return self.call(fn.function, [fn.receiver, *args], kwargs)
        if kind is Native:
            try:
                return fn.call(self, args, kwargs)
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError) as error:
                raise _unanswered(fn, error) from error
        if kind is Class:
            if self.stop_at_construction is not None and any(a is self.stop_at_construction for a in args):
                raise ConstructionReached(fn.name)
            return classes.construct(self, fn, args, kwargs)
        if isinstance(fn, type):
            return self.construct_host(fn, args, kwargs)
        if isinstance(fn, Unknown):
            return self.call_outside(fn, args, kwargs)
        if kind is Instance:
            method = fn.cls.lookup("__call__")
            if method is not MISSING:
                return self.call(attrs.bind(self, method, fn, fn.cls), args, kwargs)
            if fn.cls.opaque_bases:
                return self.call_outside(fn.cls.opaque_bases[0].derive(f"{fn.cls.name}()"), args, kwargs)
        if kind in (StaticMethod, ClassMethod):
            return self.call(fn.function, args, kwargs)
        if kind is TypingForm:
            return self.call_form(fn, args, kwargs)
        throw("TypeError", f"'{ops.type_name(fn)}' object is not callable")

    def call_outside(self, fn: Unknown, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of what has no model: unknown, told apart by its arguments."""
        shown = [ops.short(a) for a in args] + [f"{k}={ops.short(v)}" for k, v in kwargs.items()]
        key = f"{fn.key}({', '.join(shown)})"
        self.recorder.outside(fn.key, self)
        return fn.derive(key)

    def decorate(self, mark: Value, value: Value) -> Value:
        """``@mark`` on a function or class; a decorator outside the tree is taken to keep what it decorates."""
        if isinstance(mark, Unknown):
            return value
        result = self.call(mark, [value], {})
        return value if isinstance(result, Unknown) and isinstance(value, (Function, Class)) else result

    def construct_host(self, host: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``int(x)``, ``dict(...)`` and so on."""
        maker = self.host_methods.get((host, "__new__"))
        if maker is None:
            throw("TypeError", f"cannot create '{host.__name__}' instances")
        return maker(self, (args, kwargs))

    def builtin(self, name: str) -> Callable[..., Value]:
        """The native behind a builtin."""
        native = self.builtins[name]
        return native.call  # type: ignore[no-any-return]

    def new_payload(self, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``str.__new__(cls, value)`` for a class built on a builtin type."""
        cls = args[0]
        if not isinstance(cls, Class):
            return self.construct_host(cls, args[1:], kwargs)
        obj = classes.bare(self, cls, [], {})
        if cls.host is not None and args[1:]:
            obj.payload = self.construct_host(cls.host, args[1:], kwargs)
        return obj

    def fill_payload(self, obj: Instance, args: list[Value], kwargs: dict[str, Value]) -> None:
        """``dict.__init__(self, ...)`` for a class built on a builtin type."""
        self.note_slot(obj, "payload")
        host = obj.cls.host
        if host is not None and host is not tuple and (args or (kwargs and host in (dict, list, set))):
            obj.payload = self.construct_host(host, args, kwargs)

    def getattr(self, obj: Value, name: str) -> Value:
        """``obj.name``."""
        return attrs.get(self, obj, name)

    def setattr(self, obj: Value, name: str, value: Value) -> None:
        """``obj.name = value``."""
        attrs.set_(self, obj, name, value)

    def zero_argument_super(self, frame: Frame) -> Value:
        """``super()``."""
        f: Frame | None = frame
        while f is not None and f.cls is None:
            f = f.parent
        if f is None or f.cls is None:
            throw("RuntimeError", "super(): no arguments")
        return Super(f.cls, f.first)

    def isinstance(self, value: Value, kind: Value) -> Value:
        """``isinstance``: True, False or Unknown."""
        from mtp_trace.trace.instances import isinstance_

        return isinstance_(self, value, kind)

    # --- names and modules -----------------------------------------------------------------------------------------

    def resolve(self, value: Value, table: Any, key: Any) -> Value:
        """Follows a lazily imported name and keeps what it stands for."""
        if type(value) is not Lazy:
            return value
        self._import_depth += 1
        try:
            found = self.imports.resolve(value)
        finally:
            self._import_depth -= 1
        if not self.names_only:
            table[key] = found
        return found

    def all_globals(self, frame: Frame) -> dict[str, Value]:
        """``globals()``."""
        for key, value in list(frame.globals.items()):
            if type(value) is Lazy:
                self.resolve(value, frame.globals, key)
        return frame.globals

    def external(self, path: str) -> Value:
        """A name outside the tree: a modelled module, or told apart by its path only."""
        if self.imports.locate(path) is not None or path in self.imports.natives:
            return self.imports.load(path)
        return External(path)

    def external_attribute(self, obj: Unknown, name: str) -> Value:
        """``obj.name`` of what is outside."""
        if isinstance(obj, External):
            return self.external(f"{obj.path}.{name}")
        return obj.derive(f"{obj.key}.{name}")

    def outside_write(self, obj: Unknown, name: str, value: Value) -> None:
        """``obj.name = value`` on what is outside: nothing to keep."""

    # --- exceptions ------------------------------------------------------------------------------------------------

    def on_raise(self, value: Value, site: Site | None, node: Node) -> None:
        """A ``raise`` or failed ``assert`` of the tree."""
        if site is not None and not site.model:
            self.recorder.add(Event("raise", site, ops.type_name(value), value, self.current_guards()))

    def log(self, level: str, text: Value) -> None:
        """A line that SGLang would log."""
        site = self.here()
        if site is not None:
            shown = (
                text.key if isinstance(text, Unknown) else text if isinstance(text, str) else ops.to_text(self, text)
            )
            self.recorder.add(Event("log", site, level, shown if isinstance(shown, str) else shown.key))

    def open_file(self, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``open(...)``."""
        return system.open_file(self, args, kwargs)

    # --- events ----------------------------------------------------------------------------------------------------

    def _enough(self) -> bool:
        """Whether no further event is kept. What makes so many goes round in a loop: each counts as more turns."""
        if not self.recorder.full:
            return False
        self.turns(4)
        return True

    def on_attribute_set(self, obj: Value, name: str, value: Value) -> None:
        """A field of a watched record was written."""
        if self._enough():
            return
        if isinstance(obj, Instance) and obj.cls.name in self.recorder.records and obj is not self.filling:
            site = self.writer()
            if site is not None:
                self.recorder.add(Event("write", site, name, value, self.current_guards(), obj.cls.name))

    def on_item_set(self, field: str, value: Value, site: Site) -> None:
        """``obj.field[i] = value`` for a watched field."""
        if self._enough():
            return
        self.recorder.add(Event("item", site, field, value, self.current_guards()))

    def on_call(self, fn: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
        """A watched function is called."""
        if self._enough():
            return
        site = self.here()
        if site is not None:
            self.recorder.add(Event("call", site, fn.name, (args, kwargs), self.current_guards()))


def _unanswered(fn: Native, error: Exception) -> TraceStop:
    """Where the tracer's own answer to a call fails, that is its shortcoming, never the tree's error."""
    return TraceStop(f"{fn.name}() is not answered for these arguments: {type(error).__name__}: {error}")
