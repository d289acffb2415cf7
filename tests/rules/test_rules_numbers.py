"""The numbers that a place gives to fields, in every spelling of it."""

from __future__ import annotations

import textwrap

import pytest

from mtp_trace.rules.loader import load_pack
from mtp_trace.rules.scan import facts_of
from mtp_trace.rules.sites import Sites
from mtp_trace.rules.testing import MemoryPrograms

SPELLINGS = {
    "a returned tuple": "return (5, 4, 8)",
    "one assignment": "x.speculative_num_steps, x.speculative_eagle_topk, x.speculative_num_draft_tokens = 5, 4, 8",
    "another order": "x.speculative_eagle_topk, x.speculative_num_draft_tokens, x.speculative_num_steps = (4, 8, 5)",
    "one after another": "x.speculative_num_steps = 5\nx.speculative_eagle_topk = 4\n"
    "x.speculative_num_draft_tokens = 8",
    "declared": "declare(x, speculative_num_steps=5, speculative_eagle_topk=4, speculative_num_draft_tokens=8)",
    "by key": 'return {"speculative_num_steps": 5, "speculative_eagle_topk": 4, "speculative_num_draft_tokens": 8}',
    "by name": 'setattr(x, "speculative_num_steps", 5)\nsetattr(x, "speculative_eagle_topk", 4)\n'
    'setattr(x, "speculative_num_draft_tokens", 8)',
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("rule", "test"), [("draft-parameters", 'arch == "A"'), ("draft-parameters-default", 'not (arch in ["A"])')]
)
def test_the_three_are_told_in_their_order(spelling: str, rule: str, test: str) -> None:
    body = textwrap.indent(SPELLINGS[spelling], " " * 8)
    text = f"def handle_speculative(x, arch):\n    if {test}:\n{body}\n"
    found = load_pack().get(rule)
    assert found is not None
    facts = facts_of(found, Sites(MemoryPrograms({"tree.py": text}), ["tree.py"]))
    assert [(f.line, f.details["steps"], f.details["topk"], f.details["draft_tokens"]) for f in facts] == [(3, 5, 4, 8)]
