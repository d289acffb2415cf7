"""Feeds tensor names to a class's own loader and notes which parameter each one ends in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mtp_trace.checkpoint.tensors import Tensor
from mtp_trace.trace import attrs
from mtp_trace.trace.engine import Engine
from mtp_trace.trace.errors import message_of
from mtp_trace.trace.events import Event
from mtp_trace.trace.places import site_of
from mtp_trace.trace.values import MISSING, Generator, Instance, Native, Raised, Site, Unknown, Value
from mtp_trace.verdict.weights_build import Built
from mtp_trace.verdict.weights_names import kind_of
from mtp_trace.verdict.weights_rules import WeightRules

_WHY = "the numbers of tensors are not followed"


@dataclass(frozen=True)
class Load:
    """A stored tensor that went into a parameter; ``part`` tells the shards and experts of one parameter apart."""

    tensor: str
    param: str
    part: tuple[str, ...]


@dataclass(frozen=True)
class Handed:
    """One call of a parameter's own loader, as a class's loader made it."""

    tensor: str
    param: str
    source: Instance
    loader: Value
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]


@dataclass
class Fed:
    """What a loader did with the names it was given.

    ``ends`` has the statement with which its turn over a name ended, ``last`` the name that it had come to.
    """

    loads: list[Load] = field(default_factory=list)
    raised: Raised | None = None
    message: str = ""
    events: list[Event] = field(default_factory=list)
    ends: dict[str, Site] = field(default_factory=dict)
    last: str | None = None
    handed: list[Handed] = field(default_factory=list)

    @property
    def by_tensor(self) -> dict[str, list[Load]]:
        """The loads of each stored tensor."""
        found: dict[str, list[Load]] = {}
        for load in self.loads:
            found.setdefault(load.tensor, []).append(load)
        return found

    @property
    def by_param(self) -> dict[str, list[Load]]:
        """The loads into each parameter."""
        found: dict[str, list[Load]] = {}
        for load in self.loads:
            found.setdefault(load.param, []).append(load)
        return found


class Feeder:
    """Runs ``load_weights`` of a built model over stored tensors."""

    def __init__(self, engine: Engine, rules: WeightRules, built: Built) -> None:
        self.engine, self.rules, self.built = engine, rules, built
        torch = engine.imports.load("torch")
        self._torch = torch.attrs
        self._owners = {id(value): name for name, value in built.params.items()}
        self._own_loaders: dict[int, Value] = {}
        self._handed: list[Handed] = []
        for value in built.params.values():
            self._listen(value)

    def _listen(self, param: Instance) -> None:
        """Loads are noted in place of the parameter's own loader: where in it that would copy to is its business."""
        native = Native("weight_loader", self._load)
        own = param.attrs.get("weight_loader", param.attrs.get("_weight_loader", MISSING))
        if own is not MISSING:
            self._own_loaders[id(param)] = own
        for name in ("weight_loader", "_weight_loader"):
            if name == "weight_loader" or name in param.attrs:
                self.engine.set_entry(param.attrs, name, native)

    def _load(self, engine: Engine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        names = ("param", "loaded_weight")
        given = {**dict(zip(names, args)), **kwargs}
        rest = [*args[2:], *(f"{k}={v}" for k, v in sorted(kwargs.items()) if k not in names and k != "weight_name")]
        # The name that some loaders pass along says what the parameter and the part already do.
        part = tuple(
            str(x)
            for x in rest
            if not (isinstance(x, str) and x in self.built.params) and not isinstance(x, (Instance, Unknown))
        )
        self._note(given.get("param"), given.get("loaded_weight"), part)
        self._keep(given.get("param"), given.get("loaded_weight"), args, kwargs)

    def _keep(self, param: Value, source: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
        loader = self._own_loaders.get(id(param))
        stored = source.attrs.get("names") if isinstance(source, Instance) else None
        if loader is not None and isinstance(source, Instance) and isinstance(stored, tuple) and len(stored) == 1:
            self._handed.append(Handed(stored[0], self._owners[id(param)], source, loader, tuple(args), dict(kwargs)))

    def _note(self, param: Value, source: Value, part: tuple[str, ...]) -> None:
        copies = self._torch["_copies"]
        self.engine.touch(copies)
        copies.append((param, source, part))

    def feed(self, tensors: Iterable[Tensor]) -> Fed:
        """Gives the loader these tensors, in order, and collects what came of them."""
        engine = self.engine
        copies = self._torch["_copies"]
        engine.touch(copies)
        copies.clear()
        self._handed = []
        fed = Fed(handed=self._handed)
        engine.loop_turns = 0
        seen = len(engine.recorder.events)
        depth = len(engine.frames)
        turns = Generator(self._turns(tensors, fed))
        try:
            engine.call(engine.getattr(self.built.model, self.rules.load), [turns], {})
        except Raised as error:
            fed.raised, fed.message = error, message_of(error.value)
            del engine.frames[depth:]
        fed.events = engine.recorder.events[seen:]
        for param, source, part in copies:
            name = self._owners.get(id(param))
            stored = source.attrs.get("names") if isinstance(source, Instance) else None
            if name is not None and isinstance(stored, tuple):
                # Tensors that are joined on their way fill one part each.
                joined = len(stored) > 1
                fed.loads.extend(
                    Load(tensor, name, (*part, f"joined={i}") if joined else part) for i, tensor in enumerate(stored)
                )
        return fed

    def _turns(self, tensors: Iterable[Tensor], fed: Fed) -> Iterator[Value]:
        """The (name, tensor) pairs; when the next is asked for, the loader still stands where its last turn ended."""
        for tensor in tensors:
            self._ended(fed)
            fed.last = tensor.name
            yield (tensor.name, self.tensor(tensor))
        self._ended(fed)

    def _ended(self, fed: Fed) -> None:
        frame = self.engine.frames[-1] if self.engine.frames else None
        if fed.last is not None and frame is not None and frame.node is not None and not frame.module.model:
            fed.ends[fed.last] = site_of(frame, frame.node)

    def probe(self, groups: Iterable[list[str]], until: frozenset[str]) -> list[Load]:
        """What the loader takes of names that a checkpoint might have; a name that it dies of is left out.

        Each group is given to it on its own, until all parameters named by ``until`` are filled.
        """
        found: list[Load] = []
        for group in groups:
            if until <= {load.param for load in found}:
                break
            rest, deadly, fed = group, set[str](), Fed()
            while rest:
                fed = self.feed(Tensor(name, "") for name in rest)
                if fed.raised is None or fed.last is None:
                    break
                if fed.last == rest[-1]:  # a loader that takes all names before it looks at the first
                    deadly |= self._deadly(rest)
                    break
                deadly.add(kind_of(fed.last))
                rest = [name for name in rest[rest.index(fed.last) + 1 :] if kind_of(name) not in deadly]
            if deadly:
                fed = self.feed(Tensor(name, "") for name in group if kind_of(name) not in deadly)
            found.extend(fed.loads)
        return found

    def _deadly(self, names: list[str]) -> set[str]:
        """The kinds of names that the loader dies of, found by halves."""
        if self.feed(Tensor(name, "") for name in names).raised is None:
            return set()
        if len(names) == 1:
            return {kind_of(names[0])}
        half = len(names) // 2
        return self._deadly(names[:half]) | self._deadly(names[half:])

    def ends(self, names: list[str]) -> dict[str, Site | None]:
        """With which statement the loader's turn over each name ends; None where it dies of it."""
        found: dict[str, Site | None] = {}
        rest = list(names)
        while rest:
            fed = self.feed(Tensor(name, "") for name in rest)
            found.update(fed.ends)
            if fed.raised is None or fed.last not in rest:
                break
            found[fed.last] = None
            rest = rest[rest.index(fed.last) + 1 :]
        return {name: found.get(name) for name in names}

    def tensor(self, stored: Tensor) -> Instance:
        """A stored tensor as the loader sees it."""
        value = Instance(self._torch["Tensor"])
        kind = self._torch.get(self.rules.dtypes.get(stored.dtype or "", ""))
        value.attrs.update(
            shape=stored.shape
            if stored.shape is not None
            else Unknown("stored.shape", "no header tells the tensor's shape"),
            dtype=kind if kind is not None else Unknown("stored.dtype", "no header tells the tensor's dtype"),
            names=(stored.name,),
            owner=None,
        )
        return value

    def shared(self) -> frozenset[str]:
        """Parameters that a worker replaces by the target's own."""
        engine = self.engine
        for method in self.rules.share:
            function = attrs.maybe(engine, self.built.model, method)
            if function is MISSING:
                continue
            marks = [self.tensor(Tensor(f"target {i}", "")) for i in range(2 if "head" in method else 1)]
            depth = len(engine.frames)
            try:
                engine.call(function, [*marks], {})
            except Raised:
                del engine.frames[depth:]
                continue
            return frozenset(self._replaced())
        return frozenset()

    def _replaced(self) -> list[str]:
        """Parameters that are no longer where they were built."""
        from mtp_trace.verdict.weights_build import parameters

        now = {id(value) for value in parameters(self.engine, self.built.model).values()}
        return [name for name, value in self.built.params.items() if id(value) not in now]
