"""Bounds: whatever a program asks for, the trace ends, and says where it gave up."""

from __future__ import annotations

import time

import pytest
from trace_support import call, one_module

from mtp_trace.trace.engine import Budget
from mtp_trace.trace.values import BudgetExceeded, TraceStop, Unknown

SMALL = {"calls": 5_000, "depth": 60, "turns": 20_000, "size": 5_000}


def stopped(source: str, **limits: int) -> TraceStop:
    engine = one_module(source, budget=Budget(**{**SMALL, **limits}))
    started = time.monotonic()
    with pytest.raises(TraceStop) as stop:
        call(engine, args=(Unknown("u", "nobody told u"),) if "test(u)" in source else ())
    assert time.monotonic() - started < 20
    return stop.value


def body(text: str) -> str:
    return f"def test():\n    {text}\n"


@pytest.mark.parametrize(("source", "line"), [
    ("def f(n):\n    return f(n + 1)\ndef test():\n    return f(0)\n", 2),
    ("class A:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x')\ndef test():\n    return A().y\n", 3),
    ("class A:\n    @property\n    def p(self):\n        return self.p\ndef test():\n    return A().p\n", 4),
    ("class A:\n    def __eq__(self, other):\n        return other == self\ndef test():\n    return A() == A()\n", 3),
    ("class A:\n    def __repr__(self):\n        return f'{self!r}'\ndef test():\n    return str(A())\n", 3),
    ("class A:\n    def __init__(self):\n        self.inner = A()\ndef test():\n    return A()\n", 3),
    ("f = lambda n: f(n)\ndef test():\n    return f(0)\n", 1),
    ("def g(n):\n    yield from g(n + 1)\ndef test():\n    return list(g(0))\n", 2),
])  # fmt: skip
def test_recursion_without_end(source: str, line: int) -> None:
    stop = stopped(source)
    assert isinstance(stop, BudgetExceeded)
    assert "deep" in stop.why
    assert stop.site is not None
    assert stop.site.file == "app/main.py"
    assert abs(stop.site.line - line) <= 1


@pytest.mark.parametrize("text", [
    "while True: pass", "n = 0\n    while n >= 0: n += 1",
    "for i in range(10**6):\n        for j in range(10**6): pass",
    "names, text = ['a'] * 4000, 'b'\n    while True:\n        for n in names:\n            if n in text: return n",
    "x = [1]\n    for y in x: x.append(y)", "[i for i in iter(int, 1)]",
    "import itertools\n    for i in itertools.count(): pass",
    "import itertools\n    list(itertools.product(range(100), repeat=6))",
    "import itertools\n    return sum(itertools.repeat(1))",
    "import itertools\n    return max(itertools.cycle([1, 2]))",
    "def g():\n        while True: yield 1\n    for x in g(): pass",
    "any(False for i in range(10**6) for j in range(10**6))", "d = {}\n    while True: d[len(d)] = 1",
    "x = []\n    while True: x.append(x)",
    "import itertools\n    return 5 in itertools.repeat(1)",
    "while True:\n        try:\n            raise ValueError\n        except ValueError:\n            continue",
    "while True:\n        try:\n            1 / 0\n        finally:\n            continue",
    "s = ''\n    while True: s += 'x' * 1000",
    "import itertools\n    return list(zip(itertools.count(), itertools.count()))", "list(map(str, iter(int, 1)))",
    "class A:\n        def __iter__(self): return self\n        def __next__(self): return 1\n    list(A())",
    "class A:\n        def __getitem__(self, i): return i\n    list(A())", "a, *b = iter(int, 1)",
    "dict(zip(iter(int, 1), iter(int, 1)))",
    "import functools, itertools\n    functools.reduce(lambda a, b: a, itertools.count())", "''.join(iter(str, 'x'))",
])  # fmt: skip
def test_loops_without_end(text: str) -> None:
    stop = stopped(body(text))
    assert stop.site is not None
    assert stop.site.file == "app/main.py"


@pytest.mark.parametrize("text", [
    "return [0] * 10**9", "return 'x' * 10**12", "return (1,) * 10**10", "return 10**9 * [0]", "return 10**10**10",
    "return 2 ** (1 << 40)",
    "return 1 << 10**12", "x = [0]\n    for i in range(60): x = x + x\n    return len(x)",
    "x = 'a'\n    for i in range(60): x += x\n    return len(x)",
    "return list(range(10**9))", "return len(list(range(10**15)))", "return bytes(10**11)", "return bytearray(10**11)",
    "x = [0]\n    x *= 10**10",
    "return 'a'.ljust(10**11)", "return f\"{'a':>100000000000}\"", "return '%100000000000d' % 1",
    "return '{:>100000000000}'.format(1)",
    "return format(1, '099999999999d')", "x = 3\n    for i in range(80): x = x * x\n    return x",
    "return 'aaaa'.replace('a', 'b' * 1000000) * 1000000",
    "return sum([[0] * 1000] * 100000, [])", "import math\n    return math.factorial(10**7)", "return pow(10, 10**10)",
    "return int('9' * 10**8)",
    "return ('x' * 900000).replace('x', 'y' * 900000)", "return ','.join(['x' * 900000] * 90000)",
    "return [[0] * 900000 for i in range(100000)]",
    "import math\n    return math.comb(10**6, 5 * 10**5)", "return ('a' * 900000).split('a') * 900000",
    "return str(10 ** 4000) * 10**9",
    "import re\n    return re.sub('', 'x' * 900000, 'a' * 900000)", "return 'a'.zfill(10**11)",
    "return 'a'.center(10**11)", "return (1).to_bytes(10**11, 'big')",
    "import operator\n    return operator.mul([0], 10**10)", "return '\\t'.expandtabs(10**11)",
    "x = {i: i for i in range(10**9)}",
    "return set(range(10**9))", "return frozenset(range(10**12))", "return sorted(range(10**9))",
    "return max(range(10**12))", "return '%s' % ('x' * 10**10)",
    "return ('x' * 900000).join(['y'] * 900000)",
    "import textwrap\n    return textwrap.indent('a\\n' * 90000, 'x' * 90000)",
    "import itertools\n    return list(itertools.permutations(range(30)))", "return 3 ** 10 ** 9",
])  # fmt: skip
def test_results_too_large_are_refused(text: str) -> None:
    stop = stopped(body(text))
    assert stop.site is not None
    assert stop.site.file == "app/main.py"


@pytest.mark.parametrize("text", [
    "import re\n    return re.match(r'(a+)+$', 'a' * 40 + 'b')",
    "import re\n    return re.search(r'(x+x+)+y', 'x' * 45)",
    "import re\n    p = re.compile(r'(.*)*=')\n    return p.match('a' * 60)",
])  # fmt: skip
def test_patterns_that_would_backtrack_for_ever_are_refused(text: str) -> None:
    stopped(body(text))


def test_calls_are_counted() -> None:
    stop = stopped("def f():\n    return 1\ndef test():\n    for i in range(10_000):\n        f()\n")
    assert isinstance(stop, BudgetExceeded)
    assert "5000 calls" in stop.why


def test_a_bare_except_does_not_catch_the_budget() -> None:
    stop = stopped(
        "def f():\n    return f()\ndef test():\n    try:\n        f()\n    except BaseException:\n        return 'caught'\n"
    )
    assert isinstance(stop, BudgetExceeded)


def test_finally_does_not_swallow_the_budget() -> None:
    stop = stopped(
        "def f():\n    return f()\ndef test():\n    try:\n        f()\n    finally:\n        return 'swallowed'\n"
    )
    assert isinstance(stop, BudgetExceeded)


def test_a_context_manager_does_not_swallow_the_budget() -> None:
    source = (
        "import contextlib\ndef f():\n    return f()\ndef test():\n"
        "    with contextlib.suppress(BaseException):\n        f()\n    return 'swallowed'\n"
    )
    assert isinstance(stopped(source), BudgetExceeded)


def test_hasattr_does_not_swallow_the_budget() -> None:
    source = "class A:\n    @property\n    def p(self):\n        return self.p\ndef test():\n    return hasattr(A(), 'p'), getattr(A(), 'p', 1)\n"
    assert isinstance(stopped(source), BudgetExceeded)


def test_budget_is_new_for_every_launch() -> None:
    source = "def f():\n    return 1\ndef test():\n    return sum(f() for i in range(1000))\n"
    engine = one_module(source, budget=Budget(**SMALL))
    assert [call(engine) for _ in range(6)] == [1000] * 6


def test_deep_but_finite_nesting_of_values() -> None:
    source = "def test():\n    x = []\n    for i in range(3000):\n        x = [x]\n    return x == x, len(x), isinstance(str(x), str)\n"
    assert call(one_module(source)) == (True, 1, True)


def test_deeply_nested_expressions() -> None:
    assert call(one_module("def test():\n    return " + " + ".join(["1"] * 800) + "\n")) == 800
    assert call(one_module("def test():\n    return " + "(" * 80 + "1" + ")" * 80 + "\n")) == 1
    assert (
        call(
            one_module(
                "def test():\n    x = 1\n"
                + "".join(f"{'    ' * d}if x:\n" for d in range(1, 60))
                + "    " * 60
                + "return 7\n"
            )
        )
        == 7
    )


def test_a_long_chain_of_elif() -> None:
    chain = "    if x == 0:\n        return 0\n" + "".join(
        f"    elif x == {i}:\n        return {i}\n" for i in range(1, 700)
    )
    assert call(one_module(f"def f(x):\n{chain}\ndef test():\n    return f(650)\n")) == 650
