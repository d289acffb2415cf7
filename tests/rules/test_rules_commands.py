"""The commands as a user runs them; the first rule of the docs, copied as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mtp_trace.cli.app import cli

ROOT = Path(__file__).resolve().parents[2]
TREE = """\
class ServerArgs:
    page_size: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--page-size", type=int, choices=["a", "b"])
        parser.add_argument("--disable-custom-all-reduce", action="store_true")

    def handle(self):
        if self.attention_backend == "slow":
            self.page_size = 1
        if self.speculative_eagle_topk > 1 and self.page_size > 1:
            raise ValueError("speculative_eagle_topk > 1 with page_size > 1 is unstable")
        print(self.disable_custom_all_reduce)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    srt = tmp_path / "tree" / "sglang" / "srt"
    srt.mkdir(parents=True)
    (srt.parent / "__init__.py").write_text("")
    (srt / "server_args.py").write_text(TREE)
    return tmp_path / "tree"


def run(*argv: str) -> Result:
    return CliRunner().invoke(cli, list(argv))


def docs_rule(folder: Path) -> Path:
    """The two files of the docs' first rule."""
    text = (ROOT / "docs" / "rules.md").read_text()
    rule = re.search(r"```yaml\n(schema: 1.*?)```", text, re.S)
    miniature = re.search(r"```python\n(.*?)```", text, re.S)
    assert rule and miniature
    folder.mkdir()
    (folder / "page-size.yaml").write_text(rule.group(1))
    (folder / "page_size.py").write_text(miniature.group(1))
    return folder


def test_the_first_rule_of_the_docs_works(tmp_path: Path, tree: Path) -> None:
    folder = docs_rule(tmp_path / "my-rules")
    linted = run("rules", "lint", str(folder))
    assert (linted.exit_code, linted.stderr) == (0, "1 rule, 0 remarks\n")
    tested = run("rules", "test", str(folder))
    assert (tested.exit_code, tested.stderr) == (0, "2 expectations, 0 not met\n")
    scanned = run("scan", "--sglang", str(tree), "--rules", str(folder), "--no-cache", "--format", "json")
    facts = [f for f in json.loads(scanned.stdout)["facts"] if f["rule"] == "my-page-size"]
    condition = "self.attention_backend == 'slow'"
    assert [(f["line"], f["condition"], f["sets"]) for f in facts] == [(11, condition, "page_size=1")]


def test_a_miniature_that_does_not_hold_is_told(tmp_path: Path) -> None:
    folder = docs_rule(tmp_path / "my-rules")
    text = (folder / "page_size.py").read_text()
    (folder / "page_size.py").write_text(text.replace("ruleid:", "ok:"))
    tested = run("rules", "test", str(folder))
    assert tested.exit_code == 1
    assert "page_size.py:5: my-page-size fires here and must not" in tested.stdout


LIMIT = """\
schema: 1
rules:
  - id: our-limit
    name: Fewer requests than we send
    kind: override
    severity: warning
    match:
      when:
        algorithm: {given: true}
        flags.max_running_requests: {given: false}
      event: {write: max_running_requests, value: {below: 64}}
    message: '{field} becomes {value} at {file}:{line}.'
    why: The gateway sends more.
"""


def test_the_launches_of_the_docs_stand_beside_the_rules(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "rules.md").read_text()
    launches = re.search(r"```yaml\n(# ruleid: our-limit.*?)```", text, re.S)
    assert launches
    (tmp_path / "limit.yaml").write_text(LIMIT)
    (tmp_path / "limit.launch.yaml").write_text(launches.group(1))
    linted = run("rules", "lint", str(tmp_path))
    assert linted.stderr == "1 rule, 1 remark\n" and "there is no example" in linted.stdout
    tested = run("rules", "test", str(tmp_path))
    assert (tested.exit_code, tested.stderr) == (0, "2 expectations, 0 not met\n")


def test_scan_names_required_rules_that_find_nothing(tree: Path) -> None:
    scanned = run("scan", "--sglang", str(tree), "--no-cache")
    assert scanned.exit_code == 3
    assert "the rule architecture-remap must find a place in any tree and finds none" in scanned.stderr


def test_scan_passes_over_what_is_no_python_and_says_so(tree: Path) -> None:
    (tree / "sglang" / "srt" / "broken.py").write_text("speculative_algorithm = (\nEAGLE page_size topk raise \n")
    scanned = run("scan", "--sglang", str(tree), "--no-cache", "--quiet")
    assert "passed over sglang/srt/broken.py" in scanned.stderr


def test_scan_refuses_an_unknown_kind(tree: Path) -> None:
    scanned = run("scan", "--sglang", str(tree), "--kind", "gaurd")
    assert scanned.exit_code == 2 and "did you mean 'guard'?" in scanned.stderr


@pytest.mark.parametrize("form", ["terminal", "json", "markdown", "sarif", "junit", "github"])
def test_scan_in_every_format(tree: Path, form: str) -> None:
    scanned = run("scan", "--sglang", str(tree), "--no-cache", "--format", form)
    assert "topk-page-size" in scanned.stdout


def test_list_and_explain() -> None:
    rows = json.loads(run("rules", "list", "--format", "json").stdout)["rules"]
    assert {"id", "name", "kind", "severity", "requires", "sites"} == set(rows[0])
    assert all(row["id"] in run("rules", "list").stdout for row in rows)
    page = run("rules", "explain", "near-miss-architecture")
    assert page.stdout == (ROOT / "docs" / "rules" / "near-miss-architecture.md").read_text()
    refused = run("rules", "explain", "near-mis-architecture")
    assert refused.exception is not None and "near-miss-architecture" in str(refused.exception)


def explained(tree: Path, *flag: str) -> dict[str, Any]:
    result = run("explain-flag", "--sglang", str(tree), "--no-cache", "--format", "json", *flag)
    return json.loads(result.stdout)


def test_a_flag_that_meets_speculation(tree: Path) -> None:
    found = explained(tree, "page_size")
    assert found["interacts"] and [p["line"] for p in found["meets"]] == [12, 13]


def test_a_flag_that_does_not(tree: Path) -> None:
    found = explained(tree, "--", "--disable-custom-all-reduce")
    assert not found["interacts"] and [p["line"] for p in found["reads"]] == [14]
    told = run("explain-flag", "--sglang", str(tree), "--no-cache", "disable_custom_all_reduce")
    assert "does not touch speculation" in told.stdout


def test_an_unknown_flag_is_told_with_the_nearest(tree: Path) -> None:
    result = run("explain-flag", "--sglang", str(tree), "--no-cache", "disable_custom_reduce")
    assert "--disable-custom-all-reduce" in str(result.exception)
