"""What a trace records: writes, raises, log lines, environment reads, outside calls; each with its place and conditions."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from trace_support import call, engine_of

from mtp_trace.trace.engine import Engine
from mtp_trace.trace.events import Event
from mtp_trace.trace.values import Raised, TraceStop, Unknown
from mtp_trace.trace.world import World


def run(source: str, *args: Any, models: dict[str, str] | None = None, env: dict[str, str] | None = None,
        watched: tuple[str, ...] = (), fails: bool = False) -> tuple[Engine, list[Event]]:  # fmt: skip
    """Runs ``test`` and gives the events; records named Args are watched."""
    files = {"app/__init__.py": "", "app/main.py": textwrap.dedent(source).lstrip("\n")}
    engine = engine_of(files, models, World(env=env or {}))
    engine.recorder.records = frozenset({"Args"})
    engine.recorder.items = frozenset({"architectures"})
    engine.recorder.watched = dict.fromkeys(watched, True)
    if fails:
        with pytest.raises((Raised, TraceStop)):
            call(engine, args=args, keep=True)
    else:
        call(engine, args=args, keep=True)
    return engine, engine.recorder.events


def only(events: list[Event], kind: str) -> list[tuple[Any, ...]]:
    return [(e.name, e.value, e.site.line) for e in events if e.kind == kind]


ARGS = """
    from dataclasses import dataclass

    @dataclass
    class Args:
        algorithm: str = None
        steps: int = 1

        def resolve(self, big):
            if big and self.algorithm is None:
                self.algorithm = (
                    "EAGLE"
                )
            elif not big:
                self.steps = 0
            for i in range(2):
                if i == 1:
                    self.steps += i

    """


def test_writes_of_a_watched_record() -> None:
    _, events = run(
        ARGS
        + "\n    def test():\n        a = Args()\n        a.resolve(True)\n        a.other = 1\n        setattr(a, 'late', 2)\n"
    )
    assert only(events, "write") == [("algorithm", "EAGLE", 10), ("steps", 2, 17), ("other", 1, 23), ("late", 2, 24)]
    first = events[0]
    assert (first.record, first.site.file, first.site.function) == ("Args", "app/main.py", "Args.resolve")
    assert (first.site.line, first.site.end_line) == (10, 12)


def test_guards_are_the_conditions_that_hold() -> None:
    _, events = run(ARGS + "\n    def test():\n        Args().resolve(True)\n        Args('X').resolve(False)\n")
    assert [[g.text for g in e.guards] for e in events] == [
        ["big and self.algorithm is None"], ["i == 1"], ["not (big and self.algorithm is None)", "not big"], ["i == 1"],
    ]  # fmt: skip
    assert [g.site.line for g in events[2].guards] == [9, 13]


def test_guards_end_with_their_block() -> None:
    _, events = run(
        ARGS + """
    def test():
        a = Args()
        if a.steps == 1:
            try:
                if True:
                    raise ValueError
            except ValueError:
                a.steps = 2
        a.steps = 3
        for x in (1, 2):
            if x == 1:
                continue
            a.steps = 4
        while True:
            if a.steps:
                break
        a.steps = 5
    """
    )
    assert [(e.value, [g.text for g in e.guards]) for e in events if e.kind == "write"] == [
        (2, ["a.steps == 1"]), (3, []), (4, []), (5, []),
    ]  # fmt: skip


def test_guards_of_generators_and_calls() -> None:
    _, events = run(
        ARGS + """
    def values(flag):
        if flag:
            yield 1
            yield 2

    def put(a, v):
        if v:
            a.steps = v

    def test():
        a = Args()
        for v in values(True):
            put(a, v)
        if a.steps == 2:
            put(a, 9)
    """
    )
    assert [(e.value, [g.text for g in e.guards]) for e in events] == [
        (1, ["v"]), (2, ["v"]), (9, ["a.steps == 2", "v"]),
    ]  # fmt: skip


def test_a_write_through_setattr_is_placed_at_the_statement() -> None:
    source = """
        class Args:
            def __init__(self):
                self.a = 1

            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)

        class Child(Args):
            def __setattr__(self, name, value):
                super().__setattr__(name, value)

        def test():
            args = Args()
            args.b = 2
            setattr(args, "c", 3)
        """
    _, events = run(source)
    assert only(events, "write") == [("a", 1, 3), ("b", 2, 14), ("c", 3, 15)]


def test_property_setters_are_where_the_write_is() -> None:
    source = """
        class Args:
            @property
            def x(self):
                return self._x

            @x.setter
            def x(self, v):
                self._x = v

        def test():
            Args().x = 1
        """
    assert only(run(source)[1], "write") == [("_x", 1, 8)]


def test_augmented_unpacked_and_looped_targets() -> None:
    source = """
        class Args: ...

        def test():
            a = Args()
            a.x, (a.y, *a.z) = 1, (2, 3, 4)
            a.x += 1
            for a.loop in (5, 6): pass
            with open("/nowhere", "w") as a.handle: pass
            [0 for a.comp in (7,)]
        """
    found = [(n, v) for n, v, _ in only(run(source)[1], "write") if n != "handle"]
    assert found == [("x", 1), ("y", 2), ("z", [3, 4]), ("x", 2), ("loop", 5), ("loop", 6), ("comp", 7)]


def test_items_of_watched_fields() -> None:
    source = """
        class Config: ...

        def test():
            c = Config()
            c.architectures = ["A"]
            c.architectures[0] = "B"
            c.other = ["x"]
            c.other[0] = "y"
        """
    assert only(run(source)[1], "item") == [("architectures", "B", 6)]


def test_raises_with_their_lines_and_values() -> None:
    source = """
        def check(x):
            if x > 1:
                raise ValueError(
                    f"{x} is "
                    "too much"
                )

        def test():
            try:
                check(2)
            except ValueError:
                pass
            assert 1 == 2, (
                "never"
            )
        """
    engine, events = run(source, fails=True)
    found = [e for e in events if e.kind == "raise"]
    assert [(e.name, e.site.line, e.site.end_line, e.site.function) for e in found] == [
        ("ValueError", 3, 6, "check"), ("AssertionError", 13, 15, "test"),
    ]  # fmt: skip
    assert found[0].value.attrs["args"] == ("2 is too much",)
    assert [g.text for g in found[0].guards] == ["x > 1"]
    assert [r.value.attrs["args"] for r in engine.recorder.handled] == [("2 is too much",)]


def test_log_lines() -> None:
    source = """
        import logging
        import warnings

        logger = logging.getLogger(__name__)

        def test(u):
            logger.info("hello %s, %d", "x", 3)
            logger.warning(f"careful {u}")
            logger.error("plain %")
            logger.log(logging.INFO, "by level %s", 1)
            logger.exception("failed")
            warnings.warn("old")
            logging.warning("root")
            getattr(logger, "info")("by name")
            logger.info("%s and %r", u, "r")
            logger.warning(
                "several"
                " lines",
            )
        """
    _, events = run(source, Unknown("u", "nobody told u"))
    assert [(e.name, e.value) for e in events if e.kind == "log"] == [
        ("INFO", "hello x, 3"), ("WARNING", "careful <u>"), ("ERROR", "plain %"), ("INFO", "by level 1"), ("ERROR",
                                                                                                           "failed"),
        ("WARNING", "old"), ("WARNING", "root"), ("INFO", "by name"), ("INFO", "<u> and 'r'"), ("WARNING",
                                                                                                "several lines"),
    ]  # fmt: skip
    assert [e.site.line for e in events if e.kind == "log"][:2] == [7, 8]
    assert [(e.site.line, e.site.end_line) for e in events if e.kind == "log"][-1] == (16, 19)


def test_environment_reads() -> None:
    source = """
        import os
        from os import environ, getenv

        def flag(name, default="false"):
            return os.environ.get(name, default)

        def test():
            os.environ["A"]
            os.getenv("B", "2")
            flag("C")
            "D" in environ
            getenv("A")
        """
    _, events = run(source, env={"A": "1"})
    assert only(events, "env") == [("A", "1", 8), ("B", "2", 9), ("C", "false", 5), ("D", None, 11), ("A", "1", 12)]


def test_watched_calls_and_their_arguments() -> None:
    source = """
        def declare(args, who, **fields):
            return None

        def test():
            declare(
                1, "me",
                steps=2,
            )
        """
    _, events = run(source, watched=("declare",))
    assert [(e.name, e.value, e.site.line, e.site.end_line) for e in events] == [
        ("declare", ([1, "me"], {"steps": 2}), 5, 8)
    ]


def test_outside_calls() -> None:
    source = "import zoo\ndef test():\n    zoo.cat(1)\n    return zoo.dog\n"
    assert only(run(source)[1], "outside") == [("zoo.cat", None, 3)]


MODELS = {
    "zoo/__init__.py": """
class Config:
    def __init__(self, **k):
        for n, v in k.items():
            setattr(self, n, v)

def load(name):
    if name == "missing":
        raise OSError("no such animal")
    return Config(name=name)

def broken():
    return {}["key"]

def call(fn):
    return fn()

def fails():
    assert False, "by the model"
""".lstrip()
}


@pytest.mark.parametrize(("body", "line", "name"), [
    ("zoo.load('missing')", 4, "OSError"), ("zoo.broken()", 4, "KeyError"), ("zoo.load('x').legs", 4, "AttributeError"),
    ("zoo.call(lambda: 1 / 0)", 4, "ZeroDivisionError"), ("zoo.fails()", 4, "AssertionError"), ("zoo.load()", 4,
                                                                                                "TypeError"),
    ("[zoo.load(n) for n in ('a', 'missing')]", 4, "OSError"), ("zoo.Config(1)", 4, "TypeError"),
])  # fmt: skip
def test_an_error_in_a_model_is_blamed_on_the_tree_that_asked(body: str, line: int, name: str) -> None:
    engine = engine_of(
        {"app/__init__.py": "", "app/main.py": f"import zoo\n\ndef test():\n    return {body}\n"}, MODELS
    )
    with pytest.raises(Raised) as raised:
        call(engine)
    site = raised.value.site
    assert raised.value.value.cls.name == name
    assert site is not None and not site.model
    assert (site.file, site.line, site.function.split(".")[0]) == ("app/main.py", line, "test")


def test_events_inside_models_are_placed_in_the_tree() -> None:
    models = {
        "zoo/__init__.py": (
            "import logging\nimport os\nclass Args: ...\n"
            "def act(a):\n    logging.getLogger('z').warning('from the model')\n    os.environ.get('ZOO')\n    if a:\n        a.legs = 4\n"
            "    try:\n        raise ValueError('inside')\n    except ValueError:\n        pass\n"
        )
    }
    source = "import zoo\n\ndef test():\n    zoo.act(\n        zoo.Args()\n    )\n"
    _, events = run(source, models=models)
    assert {e.kind for e in events} == {"log", "env", "write"}
    for event in events:
        assert (event.site.file, event.site.line, event.site.model) == ("app/main.py", 4, False)
        assert event.guards == ()


def test_a_stop_in_a_model_is_blamed_on_the_tree_that_asked() -> None:
    models = {"zoo/__init__.py": "def act(u):\n    for x in u:\n        pass\n"}
    source = "import zoo\n\ndef test(u):\n    return zoo.act(u)\n"
    engine = engine_of({"app/__init__.py": "", "app/main.py": source}, models)
    with pytest.raises(TraceStop) as stop:
        call(engine, args=(Unknown("u", "why"),))
    assert stop.value.site is not None
    assert (stop.value.site.file, stop.value.site.line) == ("app/main.py", 4)


@pytest.mark.parametrize(("source", "line", "end"), [
    ("def test():\n    return int(\n        'x'\n    )\n", 2, 4),
    ("def test():\n    x = {\n        'a': 1,\n    }['b']\n", 2, 4),
    ("def f(x):\n    return x\ndef test():\n    return f(\n        1,\n        2,\n    )\n", 4, 7),
    ("def test():\n    return (1 +\n            'a')\n", 2, 3),
    ("def test():\n    a, b = (\n        1,\n    )\n", 2, 2),
    ("def test():\n    for x in (\n        5\n    ):\n        pass\n", 3, 3),
    ("def test():\n    with (\n        5\n    ):\n        pass\n", 3, 3),
    ("def test():\n    x = None\n    x.y.z = 1\n", 3, 3),
    ("def test():\n    del {}[\n        'a'\n    ]\n", 2, 4),
    ("def test():\n    return [int(x)\n        for x in ['1',\n                  'b']]\n", 2, 2),
    ("class A:\n    pass\ndef test():\n    return A(\n        1)\n", 4, 5),
    ("def test():\n    return f'{1:d}' + (\n        f'{\"x\":d}')\n", 3, 3),
    ("def test():\n    return -'a'\n", 2, 2),
    ("def test():\n    x = [1]\n    x[0] += 'a'\n", 3, 3),
    ("import app.gone\ndef test():\n    pass\n", 1, 1),
    ("def test():\n    import app.gone\n", 2, 2),
    ("@undefined\ndef f(): ...\ndef test():\n    pass\n", 1, 1),
    ("def g():\n    yield 1\n    raise ValueError\ndef test():\n    return list(g())\n", 3, 3),
    ("def test():\n    return (lambda: 1 /\n        0)()\n", 2, 3),
    ("def test():\n    return max(\n        [],\n    )\n", 2, 4),
    ("def test():\n    return not_there\n", 2, 2),
    ("class A:\n    x = 1 / 0\ndef test():\n    pass\n", 2, 2),
    ("def f(x=1 / 0): ...\ndef test():\n    pass\n", 1, 1),
    ("def test():\n    match 1:\n        case [] | int(1 as x) if x.nope:\n            pass\n", 3, 3),
    ("def test():\n    try:\n        1 / 0\n    except undefined:\n        pass\n", 4, 4),
    ("def test():\n    return sorted(\n        [1, 'a'],\n    )\n", 2, 4),
    ("def test():\n    return 'a' if 1 / 0 else 'b'\n", 2, 2),
    ("def test():\n    while 1 / 0:\n        pass\n", 2, 2),
    ("def test():\n    assert 1 / 0\n", 2, 2),
    ("def test():\n    global z\n    return z\n", 3, 3),
    ("def test():\n    x = 2\n    return 1 < x < 'a'\n", 3, 3),
    ("def test():\n    return {**1}\n", 2, 2),
    ("def test():\n    return print(*1)\n", 2, 2),
    ("def test():\n    from app import gone\n", 2, 2),
])  # fmt: skip
def test_errors_are_placed(source: str, line: int, end: int) -> None:
    engine = engine_of({"app/__init__.py": "", "app/main.py": source})
    with pytest.raises(Raised) as raised:
        call(engine)
    site = raised.value.site
    assert site is not None
    assert (site.file, site.line, site.end_line) == ("app/main.py", line, end)


def test_the_place_of_an_error_that_passes_through_others_is_the_first() -> None:
    source = """
        def a():
            raise LookupError("deep")

        def b():
            try:
                a()
            finally:
                1 + 1

        def c():
            with open("/nowhere", "w"):
                return [b() for _ in range(1)]

        def test():
            try:
                c()
            except LookupError:
                raise
        """
    files = {"app/__init__.py": "", "app/main.py": textwrap.dedent(source).lstrip("\n")}
    with pytest.raises(Raised) as raised:
        call(engine_of(files))
    assert raised.value.site is not None
    assert (raised.value.site.line, raised.value.site.function) == (2, "a")


def test_events_are_bounded() -> None:
    engine, events = run("import logging\ndef test():\n    for i in range(60_000):\n        logging.info('x')\n")
    assert len(events) == engine.recorder.LIMIT


def test_events_of_one_launch_are_gone_in_the_next() -> None:
    source = "import logging\ndef test():\n    logging.info('x')\n"
    engine = engine_of({"app/__init__.py": "", "app/main.py": source})
    for _ in range(2):
        call(engine, keep=True)
        assert len(engine.recorder.events) == 1
        engine.rollback()


def test_tree_files_know_where_they_are() -> None:
    source = "import os\ndef test():\n    return os.path.exists(__file__), os.path.isdir(os.path.dirname(__file__)), os.path.basename(__file__)\n"
    assert call(engine_of({"app/__init__.py": "", "app/main.py": source})) == (True, True, "main.py")
