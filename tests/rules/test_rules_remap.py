"""``scan``'s remap pairs against the tree's own remap, traced for every architecture that its code names."""

from __future__ import annotations

from typing import Any

import pytest

from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.scan import facts_of
from tests.rules.remap_tracer import METHOD, RemapTracer
from tests.rules.trees import sites_of, tree_of

RELEASES = ("0.5.6", "0.5.9", "0.5.12", "0.5.15", "0.5.18", "0.5.21", "0.5.23")


def remaps(version: str) -> list[dict[str, Any]]:
    rule = load_pack().get("architecture-remap")
    assert rule is not None
    return [f.details | {"function": f.snippet} for f in facts_of(rule, sites_of(version))]


def pairs(version: str) -> set[tuple[str, str]]:
    return {(source, target) for d in remaps(version) for source in d["from"] for target in d["to"]}


@pytest.mark.releases
@pytest.mark.parametrize("version", RELEASES)
def test_pairs_are_those_that_the_tree_makes(version: str) -> None:
    tracer = RemapTracer(tree_of(version))
    scanned = pairs(version)
    named = tracer.architectures()
    assert {source for source, _ in scanned} <= named
    traced = {(name, out) for name in named for out in tracer.outcomes(name) if out != name}
    assert scanned == traced
    assert len(traced) >= 8, METHOD


@pytest.mark.releases
@pytest.mark.parametrize("version", RELEASES)
def test_a_target_without_a_source_is_read_from_the_configuration_class(version: str) -> None:
    for details in (d for d in remaps(version) if not d["from"]):
        name = details["guard"].rpartition("isinstance(self.hf_text_config, ")[2].rstrip(")")
        module = f"sglang.srt.configs.{name.removesuffix('Config').lower()}"
        assert RemapTracer(tree_of(version)).outcomes("Anything", f"{module}:{name}") == set(details["to"])
