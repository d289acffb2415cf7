"""What counts as a change of a tree's facts, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_support import ARGS, GUARD, MODEL_CONFIG, Edit, replaced, tree

from mtp_trace.compare.condition import normal_condition, normal_message
from mtp_trace.compare.diff import Scanned, diff
from mtp_trace.compare.facts import changes
from mtp_trace.compare.trees import TreeSpec
from mtp_trace.report.compare_model import Diff, FactMove
from mtp_trace.report.listing_model import Fact
from mtp_trace.report.model import SglangInfo
from mtp_trace.rules.flags import Flag


def fact(kind: str, line: int = 1, file: str = "sglang/srt/a.py", **details: object) -> Fact:
    return Fact(kind, f"{kind}-rule", file, line, line, "", {k.rstrip("_"): v for k, v in details.items()})


def error(message: str) -> dict[str, str]:
    return {"type": "ValueError", "message": message}


SAME = [
    (
        "a line further down, in another file",
        fact("guard", fields="page_size", condition="self.page_size > 1", error=error("no")),
        fact("guard", 99, "sglang/srt/b.py", fields="page_size", condition="self.page_size > 1", error=error("no")),
    ),
    (
        "out of its class, on another name",
        fact("overlap", condition="self.page_size > 1 and not is_cuda()", sets="disable_overlap_schedule=True"),
        fact("overlap", condition="server_args.page_size > 1 and not is_cuda()", sets="disable_overlap_schedule=True"),
    ),
    (
        "a local variable of another name",
        fact("guard", fields="x", condition="model_arch in ['A', 'B'] and model_arch", error=error("no {model_arch}")),
        fact("guard", fields="x", condition="arch in ['A', 'B'] and arch", error=error("no {arch}")),
    ),
    (
        "a list in another order",
        fact("draft-path-auto-set", architectures=["A", "B", "C"], guard="arch in ['A', 'B', 'C']"),
        fact("draft-path-auto-set", architectures=["C", "A", "B"], guard="arch in ('C', 'A', 'B')"),
    ),
    (
        "alternatives in another order",
        fact("guard", fields="x", condition="a == 'X' or a == 'Y'", error=error("no")),
        fact("guard", fields="x", condition="a == 'Y' or a == 'X'", error=error("no")),
    ),
    (
        "a remap for two, written as one each",
        fact("architecture-remap", from_=["A", "B"], to=["N"], sets={}),
        fact("architecture-remap", from_=["B", "A"], to=["N"], sets={}),
    ),
]

OTHER = [
    (
        "another condition",
        fact("guard", fields="page_size", condition="self.page_size > 1", error=error("no")),
        fact("guard", fields="page_size", condition="self.page_size > 16", error=error("no")),
        [("changed", "page_size: type=ValueError, message=no")],
    ),
    (
        "another function asked",
        fact("overlap", condition="is_cuda()", sets="disable_overlap_schedule=True"),
        fact("overlap", condition="is_hip()", sets="disable_overlap_schedule=True"),
        [("changed", "disable_overlap_schedule=True")],
    ),
    (
        "one more in a list",
        fact("draft-path-auto-set", architectures=["A"]),
        fact("draft-path-auto-set", architectures=["A", "B"]),
        [("added", "B")],
    ),
    (
        "other draft parameters",
        fact("draft-parameters", architectures="default", steps=5, topk=4, draft_tokens=8),
        fact("draft-parameters", architectures="default", steps=3, topk=1, draft_tokens=4),
        [("changed", "default")],
    ),
    (
        "another default of a switch",
        fact("env-switch", name="SWITCH", default="False"),
        fact("env-switch", name="SWITCH", default="True"),
        [("changed", "SWITCH")],
    ),
    (
        "another remap",
        fact("architecture-remap", from_=["A"], to=["N"]),
        fact("architecture-remap", from_=["B"], to=["N"]),
        [("removed", "A"), ("added", "B")],
    ),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_not_a_change(old: Fact, new: Fact) -> None:
    assert changes([old], [new]) == ()


@pytest.mark.parametrize(("old", "new", "told"), [row[1:] for row in OTHER], ids=[row[0] for row in OTHER])
def test_a_change(old: Fact, new: Fact, told: list[tuple[str, str]]) -> None:
    found = changes([old], [new])
    assert [(change.change.value, change.what) for change in found] == told
    for change in found:
        assert (change.old is None) == (change.change is FactMove.ADDED)
        assert (change.new is None) == (change.change is FactMove.REMOVED)


def test_the_same_said_twice_is_no_change() -> None:
    one = fact("guard", fields="x", condition="a", error=error("no"))
    assert changes([one], [one, fact("guard", 9, fields="x", condition="a", error=error("no"))]) == ()


def test_of_several_with_one_name_the_nearest_are_compared() -> None:
    old = [fact("overlap", condition=c, sets="f=True") for c in ("self.aaa == 'mps'", "self.bbb > 1")]
    new = [fact("overlap", condition=c, sets="f=True") for c in ("self.bbb > 2", "self.aaa == 'mps' and x()")]
    found = {(c.old.value, c.new.value) for c in changes(old, new) if c.old and c.new}
    assert found == {("self.bbb > 1", "self.bbb > 2"), ("self.aaa == 'mps'", "self.aaa == 'mps' and x()")}


def test_conditions_keep_functions_classes_constants_and_fields() -> None:
    assert normal_condition("isinstance(config, Hybrid) and LIMIT") != normal_condition(
        "isinstance(c, Other) and LIMIT"
    )
    assert normal_condition("isinstance(config, Hybrid)") == normal_condition("isinstance(c, Hybrid)")
    assert normal_condition("self.a > 1") != normal_condition("self.b > 1")
    assert normal_condition("a and b") != normal_condition("a and a")
    assert normal_condition("not  valid python (") == "not valid python ("
    assert normal_message("no {x.y}  for\n{z}") == "no {} for {}"


def test_flags_are_renamed_or_retired() -> None:
    info = SglangInfo("t", None)

    def flag(name: str, line: int, choices: tuple[str, ...] = ()) -> Flag:
        return Flag(name, name[2:].replace("-", "_"), "sglang/srt/a.py", line, line, choices=choices)

    trees = {
        "old": Scanned(info, (), (flag("--cache-plan-x", 1, ("auto", "lazy")), flag("--gone", 2), flag("--kept", 3))),
        "new": Scanned(info, (), (flag("--kept", 8), flag("--cache-plan-y", 9, ("auto", "lazy", "off")))),
    }
    found = diff(TreeSpec("old"), TreeSpec("new"), lambda spec: trees[spec.spec])
    assert {(c.change.value, c.what) for c in found.changes} == {
        ("changed", "--cache-plan-x is now --cache-plan-y"),
        ("removed", "--gone"),
    }


# --- the miniature, scanned by the shipped rules ------------------------------------------------------------------

METHOD = "    def _handle_hybrid(self):\n"


def moved(text: str) -> str:
    """The method's body as a function of its own, on another name, above the class."""
    start = text.index(METHOD)
    end = text.index("    @staticmethod", start)
    body = text[start:end]
    lines = body.replace("(self)", "(server_args)").replace("self.", "server_args.").splitlines()
    function = "\n".join(line[4:] for line in lines).rstrip() + "\n\n\n"
    text = text[:start] + METHOD + "        _handle_hybrid(self)\n\n" + text[end:]
    return text.replace("@dataclasses.dataclass\n", function + "@dataclasses.dataclass\n", 1)


def swapped(first: str, second: str) -> Edit:
    """A list of two in the other order."""
    return replaced(f'["{first}", "{second}"]', f'["{second}", "{first}"]')


def scanned(tmp_path: Path, edits: dict) -> Diff:
    old, new = tree(tmp_path / "old"), tree(tmp_path / "new", edits)
    return diff(TreeSpec(str(old)), TreeSpec(str(new)), workers=1)


@pytest.mark.parametrize(
    "edits",
    [
        {ARGS: moved},
        {ARGS: replaced("given", "asked_for")},
        {ARGS: swapped("MiniDenseForCausalLM", "MiniHybridForCausalLM")},
        {MODEL_CONFIG: swapped("MiniHybridForCausalLM", "MiniHybridMoeForCausalLM")},
        {ARGS: lambda text: "# a comment\n\n" + text},
    ],
    ids=["moved", "renamed", "reordered", "remap-reordered", "lines"],
)  # fmt: skip
def test_rewriting_the_miniature_is_no_change(tmp_path: Path, edits: dict) -> None:
    assert scanned(tmp_path, edits).changes == ()


@pytest.mark.parametrize(
    ("edits", "kind"),
    [
        (
            {ARGS: replaced('self.speculative_algorithm = "EAGLE"', 'self.speculative_algorithm = "EAGLE3"')},
            "algorithm-rewrite",
        ),
        ({MODEL_CONFIG: replaced('"MiniDenseForCausalLMNextN"', '"OtherForCausalLMNextN"')}, "architecture-remap"),
        ({ARGS: replaced("--mamba-scheduler-strategy", "--mamba-radix-cache-strategy")}, "flag"),
        ({ARGS: replaced(GUARD, f"self.page_size > 1 and {GUARD}")}, "scheduler-strategy"),
    ],
    ids=["rewrite", "remap", "flag", "guard"],
)
def test_a_change_of_the_miniature_is_told(tmp_path: Path, edits: dict, kind: str) -> None:
    found = scanned(tmp_path, edits).changes
    assert kind in {change.kind for change in found}
    for change in found:
        for side in (change.old, change.new):
            assert side is None or (side.file.startswith("sglang/srt/") and side.line > 0)
