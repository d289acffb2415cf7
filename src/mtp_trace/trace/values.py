"""Abstract values.

Plain Python data (None, bool, int, float, str, bytes, tuple, list, dict, set, frozenset, range, slice) stands for
itself. Everything else that traced code can hold is one of the small objects here. ``Unknown`` is what nobody told
us; asking it for a truth value raises, so that unknown can never pass for false.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Generator as HostGenerator
from dataclasses import dataclass
from typing import Any, NoReturn

Value = Any
"""Any abstract value: plain data or an object of this module."""


@dataclass(frozen=True)
class Site:
    """A place in a source file: 1-based first and last line, and the function it stands in."""

    file: str
    line: int
    end_line: int
    function: str
    model: bool = False  # in a model of the outside rather than in the tree


class TraceStop(Exception):
    """The trace cannot go on; ``why`` says what is missing and ``site`` where it was needed."""

    def __init__(self, why: str, site: Site | None = None) -> None:
        super().__init__(why)
        self.why, self.site = why, site


class BudgetExceeded(TraceStop):
    """A bound on steps, depth, loop turns or size was reached."""


class UnknownTruth(TraceStop):
    """A truth value was needed where none is known and no fork is possible."""


class Raised(Exception):
    """An exception of the traced program. ``value`` is the exception object, ``site`` where the tree raised it."""

    def __init__(self, value: Value, site: Site | None = None) -> None:
        super().__init__()
        self.value, self.site = value, site
        self.explicit = False  # a ``raise`` or ``assert`` statement, rather than an operation that failed
        self.package = ""  # the package outside the tree that raised it, where a model of one did


def shortened(text: str, limit: int) -> str:
    """A text cut to a length, still told apart from others that begin alike."""
    if len(text) <= limit:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{text[: limit - 12]}...#{mark}"


class Unknown:
    """A value nobody told us.

    ``key`` is the expression over the outside world that it stands for (two unknowns with one key are the same
    value); ``why`` says in a sentence what is missing; ``truthy`` is a refinement: known truth, unknown content.
    """

    __slots__ = ("key", "truthy", "why")

    def __init__(self, key: str, why: str, truthy: bool | None = None) -> None:
        self.key, self.why, self.truthy = key, why, truthy

    def derive(self, key: str) -> Unknown:
        """Another unknown that hangs on this one."""
        return Unknown(shortened(key, 400), self.why)

    def __eq__(self, other: object) -> bool:
        """Two unknowns with one key are the same value, as keys of a dict too; of others nothing is known."""
        return self is other or (isinstance(other, Unknown) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> NoReturn:
        raise UnknownTruth(f"the truth of {self.key} is not known: {self.why}")

    def __repr__(self) -> str:
        return f"<unknown {self.key}>"


class External(Unknown):
    """A name outside the tree that no model answers: a function, class or constant, told apart by its dotted path."""

    __slots__ = ("path",)

    def __init__(self, path: str, why: str = "") -> None:
        super().__init__(path, why or f"{path} is outside the tree and has no model")
        self.path = path


class Frame:
    """Variables of one running function, class body, comprehension or module."""

    __slots__ = ("cls", "engine", "exception", "first", "function", "globals", "guard_base", "made", "module", "node",
                 "parent", "returned", "vars")  # fmt: skip

    def __init__(
        self, engine: Any, module: Module, function: str, parent: Frame | None, variables: dict[str, Value]
    ) -> None:
        self.engine = engine
        self.module = module
        self.globals = module.attrs
        self.function = function
        self.parent = parent
        self.vars = variables
        self.returned: Value = None
        self.guard_base = 0
        self.made: list[Function] | None = None
        self.cls: Class | None = None
        self.first: Value = None
        self.exception: Raised | None = None
        self.node: Any = None


class Lazy:
    """A name imported at a module's top level, whose module is read when the name is first used."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str | None) -> None:
        self.module, self.name = module, name


TREE_PREFIX = "/site-packages/"
"""Where the traced program sees the tree: ``__file__`` is this and the path inside the tree."""


class Module:
    """A module of the tree (``path`` set), a model of an outside one, or a native one."""

    __slots__ = ("attrs", "is_package", "model", "name", "path", "ready")

    def __init__(self, name: str, path: str, is_package: bool = False, model: bool = False) -> None:
        self.name, self.path, self.is_package, self.model = name, path, is_package, model
        self.attrs: dict[str, Value] = {"__name__": name, "__file__": TREE_PREFIX + path, "__doc__": None}
        self.ready = False

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


class Function:
    """A function of traced source. ``code`` is its compiled form; ``closure`` the frame it was defined in."""

    __slots__ = ("attrs", "closure", "code", "defaults", "kwdefaults", "module", "name", "owner", "qualname")

    def __init__(self, code: Any, module: Module, closure: Frame | None, qualname: str) -> None:
        self.code, self.module, self.closure = code, module, closure
        self.name: str = code.name
        self.qualname = qualname
        self.defaults: list[Value] = []
        self.kwdefaults: dict[str, Value] = {}
        self.attrs: dict[str, Value] = {}
        self.owner: Class | None = None

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class Native:
    """A callable that the tracer answers itself: ``call(engine, args, kwargs) -> Value``."""

    __slots__ = ("attrs", "call", "name")

    def __init__(self, name: str, call: Callable[[Any, list[Value], dict[str, Value]], Value]) -> None:
        self.name, self.call = name, call
        self.attrs: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"


class BoundMethod:
    """A function with its first argument."""

    __slots__ = ("function", "receiver")

    def __init__(self, function: Value, receiver: Value) -> None:
        self.function, self.receiver = function, receiver

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundMethod) and other.function is self.function and other.receiver is self.receiver

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.receiver)))

    def __repr__(self) -> str:
        return f"<bound method {getattr(self.function, 'qualname', self.function)}>"


class Class:
    """A class: of traced source, of a model, or native (an exception type, ``object``).

    ``traits`` holds what special treatment its instances get: "enum", "dataclass", "struct", "namedtuple".
    ``host`` is the builtin type whose value an instance carries as payload (``class X(str, Enum)``), if any.
    """

    __slots__ = ("attrs", "bases", "engine", "host", "keywords", "metaclass", "module", "mro", "name", "qualname",
                 "site",
                 "slots", "traits")  # fmt: skip

    def __init__(self, name: str, bases: tuple[Value, ...] = (), module: Module | None = None) -> None:
        self.name, self.bases, self.module = name, bases, module
        self.qualname = name
        self.attrs: dict[str, Value] = {}
        self.mro: list[Class] = [self]
        self.host: type | None = None
        self.traits: dict[str, Any] = {}
        self.keywords: dict[str, Value] = {}
        self.metaclass: Class | None = None
        self.site: Site | None = None
        self.slots: frozenset[str] | None = None
        self.engine: Any = None

    def lookup(self, name: str) -> Value:
        """The attribute found along the MRO, or ``MISSING``."""
        for c in self.mro:
            if name in c.attrs:
                return c.attrs[name]
        return MISSING

    def has_trait(self, trait: str) -> bool:
        """Whether it or a base has the trait."""
        return any(trait in c.traits for c in self.mro)

    def is_subclass(self, other: Value) -> bool:
        """Whether ``other`` is in its MRO."""
        return other in self.mro

    @property
    def opaque_bases(self) -> list[External]:
        """Bases outside the tree that no model describes."""
        return [b for c in self.mro for b in c.bases if isinstance(b, Unknown)]  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<class '{self.qualname}'>"


class Instance:
    """An object of a ``Class``. ``payload`` is the builtin value inside (str enum, dict subclass, exception args)."""

    __slots__ = ("attrs", "cls", "payload")

    def __init__(self, cls: Class, payload: Value = None) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}
        self.payload = payload

    def __eq__(self, other: object) -> bool:
        """How a dict or set of the program compares it: by its own ``__eq__``, by its builtin value, or as itself."""
        if self is other:
            return True
        method = self.cls.lookup("__eq__")
        engine = self.cls.engine
        if engine is not None and isinstance(method, (Function, Native)):
            result = engine.call(BoundMethod(method, self), [other], {})
            return result is not NotImplemented and bool(engine.truth(result))
        if self.cls.host not in _HASHABLE_HOSTS:
            return False
        return bool(self.payload == (other.payload if isinstance(other, Instance) else other))

    def __hash__(self) -> int:
        method = self.cls.lookup("__hash__")
        engine = self.cls.engine
        if method is None:
            raise TypeError(f"unhashable type: '{self.cls.name}'")
        if engine is not None and isinstance(method, (Function, Native)):
            return hash(engine.call(BoundMethod(method, self), [], {}))
        return hash(self.payload) if self.cls.host in _HASHABLE_HOSTS else id(self)

    def __repr__(self) -> str:
        return f"<{self.cls.qualname} object>"


_HASHABLE_HOSTS = (str, int, float, bytes, tuple)


class Property:
    """``property``: getter and, where there are ones, setter and deleter."""

    __slots__ = ("deleter", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, deleter: Value = None) -> None:
        self.getter, self.setter, self.deleter = getter, setter, deleter


class CachedProperty:
    """``functools.cached_property``."""

    __slots__ = ("getter", "name")

    def __init__(self, getter: Value, name: str = "") -> None:
        self.getter, self.name = getter, name


class StaticMethod:
    """``staticmethod``."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class ClassMethod:
    """``classmethod``."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class SlotDescriptor:
    """The class attribute that a Struct or ``__slots__`` leaves for a field."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Super:
    """``super()`` bound to a receiver, starting after ``after`` in its MRO."""

    __slots__ = ("after", "receiver")

    def __init__(self, after: Class, receiver: Value) -> None:
        self.after, self.receiver = after, receiver


class TypingForm:
    """``Optional[int]``, ``Annotated[str, meta]``, ``int | None``: an origin and its arguments."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, args: tuple[Value, ...] = ()) -> None:
        self.name, self.args = name, args

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypingForm) and (self.name, self.args) == (other.name, other.args)

    def __hash__(self) -> int:
        return hash((self.name, len(self.args)))

    def __repr__(self) -> str:
        return f"typing.{self.name}" + (f"[{', '.join(map(repr, self.args))}]" if self.args else "")


class Generator:
    """An iterator: the values come when they are asked for. ``source`` is a host iterator over values.

    One that was made at import time (``shared``) keeps what it gave, so that every launch sees the same values.
    One that goes on in a later stage than it was made in (``epoch``) cannot be put back where it stood between them.
    """

    __slots__ = ("items", "made", "result", "source", "state")
    epoch = 0

    def __init__(self, source: Iterator[Value], shared: bool = False) -> None:
        self.source = source
        self.made = Generator.epoch
        self.result: Value = None
        self.items: list[Value] | None = [] if shared else None
        self.state = {"position": 0}

    def take(self, engine: Any) -> Value:
        """The next value, or ``MISSING`` at the end."""
        if self.items is None:
            if self.made != Generator.epoch:
                engine.forget_marks()
            return self._next()
        position = self.state["position"]
        if position == len(self.items):
            item = self._next()
            if item is MISSING:
                return MISSING
            self.items.append(item)
        engine.set_entry(self.state, "position", position + 1)
        return self.items[position]

    def _next(self) -> Value:
        try:
            return next(self.source)
        except StopIteration as stop:
            self.result = stop.value
            return MISSING

    def rest(self, engine: Any) -> Iterator[Value]:
        """The values not taken yet."""
        if self.items is None and self.made == Generator.epoch:
            # Between two of them no stage ends.
            return self._rest() if isinstance(self.source, HostGenerator) else self.source
        return self._taken(engine)

    def _rest(self) -> Iterator[Value]:
        while (item := self._next()) is not MISSING:
            yield item

    def _taken(self, engine: Any) -> Iterator[Value]:
        while (item := self.take(engine)) is not MISSING:
            yield item

    def delegate(self, engine: Any) -> HostGenerator[Value, Value, None]:
        """For ``yield from``: what is sent and raised goes to this one; its result is kept."""
        if self.items is None and isinstance(self.source, HostGenerator):
            if self.made != Generator.epoch:
                engine.forget_marks()
            self.result = yield from self.source
        else:
            yield from self.rest(engine)


def generator_of(values: Iterable[Value]) -> Generator:
    """An iterator over values."""
    return Generator(iter(values))


class Missing:
    """No value at all (kept apart from None and from Unknown)."""

    def __repr__(self) -> str:
        return "<missing>"

    def __bool__(self) -> bool:
        raise TypeError("MISSING has no truth")


MISSING = Missing()

def first_unknown(value: Value, depth: int = 4) -> Unknown | None:
    """An unknown inside a value, if there is one near the surface."""
    if isinstance(value, Unknown):
        return value
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        for x in value:
            if (u := first_unknown(x, depth - 1)) is not None:
                return u
    if depth and isinstance(value, dict):
        for k, v in value.items():
            for x in (k, v):
                if (u := first_unknown(x, depth - 1)) is not None:
                    return u
    return None
