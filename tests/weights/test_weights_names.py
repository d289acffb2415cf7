"""Which names stand for all of a checkpoint's."""

from __future__ import annotations

import time

from mtp_trace.verdict.weights_names import samples


def _stands_for_all(names: list[str], layers: int | None = None) -> dict[str, tuple[str, ...]]:
    found = samples(names, layers, ("mtp",))
    assert sorted(name for s in found for name in s.stands_for) == sorted(names)
    assert all(s.name in s.stands_for for s in found)
    return {s.name: s.stands_for for s in found}


def test_every_name_is_stood_for_once() -> None:
    names = [f"model.layers.{layer}.mlp.experts.{e}.up_proj.weight" for layer in range(12) for e in range(9)]
    found = _stands_for_all([*names, "lm_head.weight"], 11)
    assert "model.layers.11.mlp.experts.8.up_proj.weight" in found
    assert len(found) < 20


def test_layers_behind_the_last_stand_for_themselves() -> None:
    names = [f"model.layers.{layer}.enorm.weight" for layer in range(30)]
    found = _stands_for_all(names, 27)
    assert all(
        found[f"model.layers.{layer}.enorm.weight"] == (f"model.layers.{layer}.enorm.weight",) for layer in (27, 28, 29)
    )


def test_layers_that_a_prefix_without_a_dot_takes_stand_for_themselves() -> None:
    """A loader that asks ``name.startswith("model.layers.6")`` takes the layers 60 to 69 as well."""
    found = _stands_for_all([f"model.layers.{layer}.norm.weight" for layer in range(64)], 6)
    assert {f"model.layers.{layer}.norm.weight" for layer in (6, 60, 63)} <= set(found)


def test_few_telling_names_are_followed_one_by_one() -> None:
    names = [f"mtp.layers.0.mlp.experts.{e}.up_proj.weight" for e in range(128)]
    assert len(_stands_for_all(names, 4)) == 128


def test_names_with_line_breaks_and_without_numbers() -> None:
    _stands_for_all(["a\nb", "a", "b", "\ud800.0", "\ud800.1"])
    _stands_for_all(["a1b", "ab1", "ab", "1ab", "a\u0661b", "a22b3", *(f"a{i}b" for i in range(30, 50))], 40)


def test_a_million_names() -> None:
    names = [
        f"model.layers.{layer}.mlp.experts.{e}.{part}.weight"
        for layer in range(62)
        for e in range(5400)
        for part in ("gate_proj", "up_proj", "down_proj")
    ]
    start = time.process_time()
    assert len(samples(names, 61, ("mtp",))) < 100
    assert time.process_time() - start < 6


def test_a_million_names_with_a_number_of_their_own() -> None:
    """Not one of them is a layer's, whatever their numbers: they cost what others cost, and all are stood for."""
    names = [f"model.extra.{number}" for number in range(1_000_000)]
    found = samples(names, 61, ("mtp",))
    assert len(found) < 100
    assert sum(len(s.stands_for) for s in found) == len(names)


def test_a_number_longer_than_any_is_read_whole() -> None:
    long = [f"model.layers.{number}.norm.weight" for number in (3, 10**15, 10**15 + 1, 7)]
    assert {long[1], long[2]} <= set(_stands_for_all(long, 5))
