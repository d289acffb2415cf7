"""``scan``'s auto-set list and parameter table against the tree's own argument resolution, traced for every
architecture that it or the remap names."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.scan import facts_of
from tests.rules.parameters_tracer import CONFIGS, GIVEN, ParametersTracer, Resolved, named_architectures
from tests.rules.test_rules_remap import RELEASES, pairs
from tests.rules.trees import sites_of, tree_of

pytestmark = pytest.mark.releases
EAGLE = ("--speculative-algorithm", "EAGLE")
OTHER = ("--speculative-draft-model-path", str(CONFIGS / "eagle3-llama-head"))

# What the tree itself refuses without a draft model, read in its own words.
WITHOUT_DRAFT = "requires an independent draft model path"


def rows(version: str, rule: str) -> list[dict[str, Any]]:
    found = load_pack().get(rule)
    assert found is not None
    return [dict(f.details) for f in facts_of(found, sites_of(version))]


def numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["steps"], row["topk"], row["draft_tokens"]


def names(version: str) -> set[str]:
    """Those that the resolution names, some that only the remap names, and one that nobody does."""
    named = named_architectures(sites_of(version))
    return named | set(sorted({source for source, _ in pairs(version)} - named)[::5]) | {"NobodyKnowsMe"}


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @functools.cache
    def make(version: str) -> ParametersTracer:
        return ParametersTracer(tree_of(version), Path(tmp_path_factory.mktemp("models")))

    return make


@pytest.mark.parametrize("version", RELEASES)
def test_the_auto_set_list_and_the_table_are_those_of_the_tree(version: str, tracer: Any) -> None:
    listed = {a for row in rows(version, "draft-path-auto-set") for a in row["architectures"]}
    table = {a: numbers(r) for r in reversed(rows(version, "draft-parameters")) for a in r["architectures"]}
    (default,) = {numbers(r) for r in rows(version, "draft-parameters-default")}
    named = names(version)
    assert listed | set(table) <= named
    own_path: set[str] = set()
    traced: dict[str, tuple[Any, ...]] = {}
    for name in sorted(named):
        # Some want a backend named, some the numbers themselves; both say so.
        for further in ((), ("--attention-backend", "triton"), GIVEN):
            found = tracer(version).resolved(name, *EAGLE, *further)
            if isinstance(found, Resolved):
                break
            assert found.error is not None
        else:
            assert WITHOUT_DRAFT in found.error.message, (name, found.error)
            continue
        if further is not GIVEN:
            traced[name] = found.numbers
        own_path |= {name} if found.own_path else set()
    assert own_path == listed
    assert {n: v for n, v in traced.items() if v != table.get(n, default)} == {}
    assert len(listed) >= 5 and len(set(table) & set(traced)) >= 8


@pytest.mark.parametrize("version", RELEASES)
def test_an_algorithm_with_numbers_of_its_own_has_them_whatever_the_architecture(version: str, tracer: Any) -> None:
    own = [(a, numbers(r)) for r in rows(version, "draft-parameters-algorithm") for a in r["algorithms"]]
    assert own
    for algorithm, wanted in own:
        for name in ("LlamaForCausalLM", "NobodyKnowsMe"):
            found = tracer(version).resolved(name, "--speculative-algorithm", algorithm, *OTHER)
            assert isinstance(found, Resolved) and found.numbers == wanted and not found.own_path, (name, found)
