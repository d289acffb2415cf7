"""What a launch changes in the state that it shares with the next one is undone."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from trace_support import call, engine_of, one_module, shape, traced

from mtp_trace.trace.explore import explore
from mtp_trace.trace.values import Unknown
from mtp_trace.trace.world import World
from mtp_trace.verdict.session import deep

SHARED = """
    import collections
    import contextvars
    import copy
    import enum
    import functools
    import itertools
    import logging
    import os
    import sys
    import types
    from dataclasses import dataclass, field

    numbers = [3, 1, 2]
    table = {"a": 1, "nested": {"b": [1]}}
    names = {"x", "y"}
    text = "start"
    counter = 0
    buffer = bytearray(b"abc")
    queue = collections.deque([1, 2, 3])
    tally = collections.Counter("aab")
    groups = collections.defaultdict(list, k=[0])
    ordered = collections.OrderedDict(a=1, b=2)
    space = types.SimpleNamespace(x=1)
    ids = itertools.count()
    walk = iter([1, 2, 3])
    squares = (x * x for x in range(5))
    variable = contextvars.ContextVar("variable", default=0)
    calls = []

    class A:
        kind = "class"
        shared = []

        def __init__(self, x=1):
            self.x = x
            self.items = []

        @functools.cached_property
        def lazily(self):
            calls.append("lazily")
            return len(calls)

        def method(self):
            return self.x

    class D(dict):
        pass

    class Mode(enum.Enum):
        FAST = 1

    @dataclass
    class Record:
        x: int = 1
        tags: list = field(default_factory=list)

    thing = A()
    mapping = D(k=1)
    record = Record()
    mode = Mode.FAST

    @functools.lru_cache(maxsize=None)
    def cached(x):
        calls.append(x)
        return [x, len(calls)]

    def remember(x, seen=[]):
        seen.append(x)
        return seen

    def tagged():
        return tagged.count

    tagged.count = 0

    def cell():
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        return bump

    bump = cell()
    registry = {}

    def register(name):
        def mark(fn):
            registry[name] = fn
            return fn
        return mark

    @register("first")
    def first():
        return 1

    def generator():
        total = 0
        while True:
            total += 1
            yield total

    running = generator()
    """

CHANGES = {
    "list methods": "numbers.append(4); numbers.sort(); numbers.pop(0); numbers.insert(0, 9); numbers.remove(9); numbers.extend([7]); return numbers",
    "list items": "numbers[0] = 10; numbers[1:2] = [7, 8]; del numbers[-1]; return numbers",
    "list in place": "global numbers\n    numbers += [1]; numbers *= 2; return numbers",
    "list reversed and cleared": "numbers.reverse(); out = list(numbers); numbers.clear(); return out, numbers",
    "dict items": "table['a'] = 5; table['new'] = 1; table['nested']['b'].append(2); table['nested']['c'] = 3; return table",
    "dict methods": "table.update(z=1); table.pop('a'); table.setdefault('q', []).append(1); return table",
    "dict order": "v = table.pop('a'); table['a'] = v; return list(table)",
    "dict deletions": "del table['nested']; return table",
    "dict cleared": "table.clear(); return table",
    "dict in place": "global table\n    table |= {'n': 1}; return table",
    "dict popitem": "return table.popitem(), table",
    "set methods": "names.add('z'); names.discard('x'); names.update({'w'}); return sorted(names)",
    "set in place": "global names\n    names |= {'q'}; names -= {'x'}; return sorted(names)",
    "globals": "global counter, text\n    counter += 1; text += '!'; return counter, text",
    "new and deleted globals": "global made, text\n    made = 1; del text; return made, 'text' in globals()",
    "globals through the table": "globals()['counter'] = 5; globals()['fresh'] = 1; return counter, fresh",
    "bytes": "buffer.append(1); buffer[0] = 0; return bytes(buffer)",
    "deque": "queue.appendleft(0); queue.pop(); queue.rotate(1); return list(queue)",
    "counter": "tally['a'] += 1; tally.update('zz'); return sorted(tally.items())",
    "defaultdict": "groups['k'].append(1); groups['new'].append(2); return dict(groups)",
    "ordered dict": "ordered.move_to_end('a'); ordered.popitem(last=False); return list(ordered)",
    "namespace": "space.x = 2; space.y = 3; return vars(space)",
    "iterators": "return next(ids), next(ids), next(walk), list(walk), next(squares), sum(squares)",
    "running generator": "return next(running), next(running)",
    "context variable": "variable.set(variable.get() + 1); return variable.get()",
    "instance attributes": "thing.x = 5; thing.new = 1; thing.items.append(1); return vars(thing)",
    "instance attribute deleted": "del thing.x; return hasattr(thing, 'x')",
    "instance dict": "thing.__dict__['x'] = 9; thing.__dict__.update(y=1); return thing.x, thing.y",
    "instance class": "class B(A):\n        kind = 'other'\n    thing.__class__ = B; return thing.kind",
    "cached property": "return thing.lazily, calls",
    "class attributes": "A.kind = 'changed'; A.shared.append(1); A.extra = 2; return A.kind, A.shared, thing.extra",
    "class attribute deleted": "del A.kind; return hasattr(A, 'kind')",
    "patched method": "A.method = lambda self: 'patched'; return thing.method()",
    "method through setattr": "setattr(A, 'added', lambda self: 1); return thing.added()",
    "subclasses": "class New(A): ...\n    return [c.__name__ for c in A.__subclasses__()]",
    "dict subclass": "mapping['k'] = 2; mapping['n'] = 1; mapping.tag = 3; return dict(mapping)",
    "dataclass": "record.x = 2; record.tags.append(1); return record.x, record.tags",
    "enum member": "mode.note = 1; return mode.note",
    "enum class": "Mode.extra = 1; return Mode.extra",
    "lru_cache": "return cached(1), cached(1), cached(2), calls",
    "lru_cache cleared": "cached(1); cached.cache_clear(); return cached(1), calls",
    "mutable default": "return remember(1), remember(2)",
    "function attribute": "tagged.count += 1; tagged.new = 1; return tagged()",
    "closure cell": "return bump(), bump()",
    "decorator registry": "@register('second')\n    def second():\n        return 2\n    return sorted(registry)",
    "environment": "os.environ['MTP_A'] = '1'; os.environ.pop('MTP_B', None); os.environ.update(MTP_C='3'); return sorted(k for k in os.environ if k.startswith('MTP_'))",
    "environment deleted": "del os.environ['MTP_B']; os.environ.setdefault('MTP_D', '4'); return sorted(k for k in os.environ if k.startswith('MTP_'))",
    "module attribute": "import app.state\n    app.state.value = 2; app.state.items.append(1); return app.state.value, app.state.items",
    "module function patched": "import app.state\n    app.state.get = lambda: 'patched'; return app.state.get()",
    "module of the library": "sys.argv.append('x'); sys.path.insert(0, '/p'); logging.getLogger('l').propagate = False\n    return sys.argv[-1], sys.path[0]",
    "after an exception": "try:\n        numbers.append(1)\n        table['a'] = 0\n        raise ValueError\n    except ValueError:\n        return numbers, table['a']",
    "in nested calls": "def inner():\n        numbers.append(1)\n        return bump()\n    return inner(), inner(), numbers",
    "swapped containers": "global numbers, table\n    numbers, table = [0], {}\n    numbers.append(1); return numbers, table",
    "sorted by key": "numbers.sort(key=lambda x: -x); return numbers",
    "aliases": "alias = table['nested']; alias['b'] = 5; table['self'] = table['nested']; return table['self']['b']",
    "deep copies are apart": "c = copy.deepcopy(table); c['nested']['b'].append(5); return c, table",
}  # fmt: skip


def files_of(body: str) -> dict[str, str]:
    source = textwrap.dedent(SHARED) + f"\n\ndef test(u=None):\n    {body}\n"
    return {
        "app/__init__.py": "",
        "app/main.py": source,
        "app/state.py": "value = 1\nitems = []\ndef get():\n    return value\n",
    }


def world() -> World:
    return World(env={"MTP_B": "2"})


@pytest.mark.parametrize("name", CHANGES)
def test_a_second_run_gives_what_a_new_engine_gives(name: str) -> None:
    files = files_of(CHANGES[name])
    fresh = traced(engine_of(files, world=world()))
    assert fresh[0] == "value", fresh
    engine = engine_of(files, world=world())
    assert [traced(engine) for _ in range(3)] == [fresh] * 3


@pytest.mark.parametrize("name", CHANGES)
def test_one_change_leaves_nothing_for_the_others(name: str) -> None:
    """A snapshot of the shared state, taken by the program itself, is the same before and after."""
    snapshot = (
        "return repr((numbers, table, sorted(names), globals().get('text'), counter, bytes(buffer), list(queue), sorted(tally.items()), "
        "dict(groups), list(ordered), vars(space), vars(thing), A.__dict__.get('kind'), A.shared, dict(mapping), record, calls, "
        "sorted(registry), remember(0), tagged(), bump(), sorted(k for k in os.environ if k.startswith('MTP')), cached(7), "
        "hasattr(A, 'extra'), hasattr(A, 'added'), hasattr(Mode, 'extra'), next(ids), list(walk), thing.method(), "
        "[c.__name__ for c in A.__subclasses__()], variable.get(), type(thing).__name__, hasattr(mapping, 'tag'), next(running)))"
    )
    files = files_of(CHANGES[name])
    files["app/main.py"] += f"\n\ndef look():\n    {snapshot}\n"
    engine = engine_of(files, world=world())
    before = call(engine, "look")
    call(engine)
    assert call(engine, "look") == before
    assert isinstance(before, str)


@pytest.mark.parametrize("name", CHANGES)
def test_every_flip_starts_anew(name: str) -> None:
    start, _, end = CHANGES[name].rpartition("return ")
    files = files_of(f"{start}return u and 1, u.b and 2, {end}")
    u = Unknown("u", "nobody told u")

    def paths(engine: Any) -> list[Any]:
        def run() -> Any:
            return shape(engine.call(engine.getattr(engine.imports.load("app.main"), "test"), [u], {}))

        return [
            (tuple((d.key, d.answer) for d in p.decisions), p.outcome) for p in deep(lambda: explore(engine, run)).paths
        ]

    engine = engine_of(files, world=world())
    first = paths(engine)
    assert paths(engine) == first == paths(engine_of(files, world=world()))
    assert len({repr(outcome[3:]) for _, outcome in first if outcome[0] == "tuple"}) <= 1


def test_a_stopped_run_is_undone_too() -> None:
    source = (
        "items = []\ndef test(u):\n    items.append(1)\n    for x in u:\n        pass\ndef look():\n    return items\n"
    )
    engine = one_module(source)
    with pytest.raises(Exception, match="iterates"):
        call(engine, args=(Unknown("u", "why"),))
    assert call(engine, "look") == []


def test_modules_first_imported_by_a_launch_stay() -> None:
    files = {
        "app/__init__.py": "",
        "app/late.py": "loads = []\nloads.append(1)\ndef get():\n    loads.append(2)\n    return loads\n",
        "app/main.py": "def test():\n    from app.late import get\n    return get()\n",
    }
    engine = engine_of(files)
    assert [traced(engine) for _ in range(3)] == [("value", ("list", 1, 2))] * 3


def test_what_an_import_does_for_a_launch_is_not_undone_halfway() -> None:
    files = {
        "app/__init__.py": "",
        "app/table.py": "TABLE = {}\n",
        "app/late.py": "from app.table import TABLE\nTABLE['late'] = 1\n",
        "app/main.py": "from app.table import TABLE\ndef test():\n    TABLE['own'] = 1\n    import app.late\n    return sorted(TABLE)\n",
    }
    engine = engine_of(files)
    assert [traced(engine) for _ in range(3)] == [("value", ("list", "late", "own"))] * 3


def test_rollback_restores_identity() -> None:
    source = (
        "inner = []\ntable = {'inner': inner}\n"
        "def test():\n    table['inner'] = [1]\n    return table['inner'] is inner\n"
        "def look():\n    return table['inner'] is inner\n"
    )
    engine = one_module(source)
    assert call(engine, "look") is True
    assert call(engine) is False
    assert call(engine, "look") is True
