"""What runs before what, from the calls of a small tree and of a release."""

from __future__ import annotations

import pytest

from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.order import Order, places_of
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.testing import MemoryPrograms
from tests.rules.trees import sites_of

TREE = {
    "main.py": "from steps import first, later as last\n\nPIPELINE = (first, target, last)\n\n"
    "def run(x):\n    for step in PIPELINE:\n        step(x)\n\n"
    "def target(x):\n    inner(x)\n    x.place = 1\n    after(x)\n\n"
    "def inner(x):\n    x.inner = 1\n\ndef after(x):\n    x.after = 1\n\ndef alone(x):\n    x.alone = 1\n",
    "steps.py": "def first(x):\n    from more import deep\n\n    hook(deep, x)\n\ndef later(x):\n    x.later = 1\n",
    "more.py": "def deep(x):\n    x.deep = 1\n    run(x)\n",
}


@pytest.mark.parametrize(
    ("file", "text", "runs_before"),
    [
        ("main.py", "x.inner", True),
        ("main.py", "x.after", False),
        ("main.py", "x.alone", False),
        ("main.py", "inner(x)", True),
        ("steps.py", "hook(", True),
        ("steps.py", "x.later", False),
        ("more.py", "x.deep", True),
    ],
)
def test_calls_and_functions_that_are_handed_on_tell_the_order(file: str, text: str, runs_before: bool) -> None:
    order = Order(Sites(MemoryPrograms(TREE), list(TREE)), "main.py", line("main.py", "x.place"))
    at = line(file, text)
    assert order.before(file, at, at) is runs_before


def line(file: str, text: str) -> int:
    return next(i for i, found in enumerate(TREE[file].split("\n"), 1) if text in found)


def test_what_holds_the_place_does_not_run_before_it() -> None:
    tree = {"a.py": "def f(x):\n    if x.y:\n        x.z = 1\n"}
    order = Order(Sites(MemoryPrograms(tree), ["a.py"]), "a.py", 3)
    assert not order.before("a.py", 2, 3) and order.before("a.py", 2, 2)


def test_functions_that_call_each_other_have_an_end() -> None:
    tree = {"a.py": "def f(x):\n    g(x)\n    x.z = 1\n\ndef g(x):\n    f(x)\n    g(x)\n"}
    order = Order(Sites(MemoryPrograms(tree), ["a.py"]), "a.py", 3)
    assert order.before("a.py", 2, 2)


@pytest.mark.releases
@pytest.mark.parametrize("version", ["0.5.10.post1", "0.5.18", "0.5.23"])
def test_only_what_runs_early_is_named(version: str) -> None:
    rule = load_pack().get("algorithm-compared-early")
    assert rule is not None
    functions = {f.captures["function"] for f in places_of(sites_of(version), rule.match)}
    assert functions and not {f for f in functions if "_handle_eagle" in f or "create_flashinfer" in f}
    if version == "0.5.10.post1":
        assert functions == {"ServerArgs._handle_model_specific_adjustments"}
