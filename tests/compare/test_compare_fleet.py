"""The fleet file: what it says, and how a wrong one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_support import MODEL, ROOT

from mtp_trace.compare.fleet import read_fleet
from mtp_trace.errors import InputError

ARGV = "argv: [--model-path, MODEL, --tp-size, 8]".replace("MODEL", str(MODEL))


def write(folder: Path, text: str) -> Path:
    path = folder / "fleet.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_example_is_read() -> None:
    cases = read_fleet(ROOT / "fixtures" / "fleet" / "nextn.yaml")
    assert [case.id for case in cases] == ["qwen3-next", "qwen3.5", "deepseek-v3", "glm4", "nemotron-h"]
    assert all(case.gpu == "h200" and case.argv[0] == "--model-path" for case in cases)
    assert cases[0].model == str(ROOT / "fixtures" / "configs" / "qwen3-next")


def test_a_deployment_says_more_than_the_defaults(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        f"""\
schema: 1
defaults: {{gpu: h200, gpu_count: 4, env: {{A: 1, B: x}}}}
models: {{/models/x: {MODEL}}}
deployments:
  - id: chat
    command: B=y C=2 python -m sglang.launch_server --model-path /models/x --tp-size 8
    env: {{C: "3"}}
    gpu: b200
  - {{id: batch, {ARGV}}}
""",
    )
    chat, batch = read_fleet(path)
    assert chat.env == {"A": "1", "B": "y", "C": "3"}
    assert (chat.gpu, chat.gpu_count, chat.model) == ("b200", 4, str(MODEL))
    assert chat.argv == ("--model-path", "/models/x", "--tp-size", "8")
    assert (batch.env, batch.gpu) == ({"A": "1", "B": "x"}, "h200")


def test_the_command_line_gives_the_gpu_where_the_file_does_not(tmp_path: Path) -> None:
    path = write(tmp_path, f"schema: 1\ndeployments:\n  - {{id: a, {ARGV}}}\n")
    assert read_fleet(path, "h200", 2)[0].gpu == "h200"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", ":1", "the file is empty"),
        ("schema: 1\n", ":1", "'deployments' is missing"),
        ("schema: 2\ndeployments: []\n", ":1: schema", "schema 2"),
        ("schema: 1\ndeployments: []\n", ":2: deployments", "the list is empty"),
        ("schema: 1\nfleet: x\ndeployments: [{}]\n", ":2: fleet", "not known here"),
        (f"schema: 1\ndeployments:\n  - {{{ARGV}}}\n", ":3: deployments[0]", "'id' is missing"),
        ("schema: 1\ndeployments:\n  - id: a\n", ":3: deployments[0]", "needs argv or command"),
        (f"schema: 1\ndeployments:\n  - id: a\n    {ARGV}\n    command: x\n", ":3: deployments[0]", "one of them"),
        (f"schema: 1\ndeployments:\n  - id: a\n    {ARGV}\n    gpus: x\n", ":5: deployments[0].gpus", "not known here"),
        (f"schema: 1\ndeployments:\n  - id: a\n    {ARGV}\n    gpu: h201\n", ":5: deployments[0].gpu", "'h201'"),
        (f"schema: 1\ndeployments:\n  - id: a\n    {ARGV}\n    env: {{A: true}}\n", ".env.A", "quote the word"),
        (f"schema: 1\ndeployments:\n  - id: a\n    {ARGV}\n  - id: a\n    {ARGV}\n", ":5: deployments[1]", "is taken"),
        ("schema: 1\ndeployments:\n  - id: a\n    argv: [--tp, 8]\n", ":4: deployments[0].argv", "names no model"),
        ("schema: 1\ndeployments:\n  - id: a\n    argv: [--model-path, /no/where]\n", ".argv", "the model /no/where"),
        ("schema: 1\ndeployments:\n  - id: a\n    command: echo hello\n", ":4: deployments[0].command", "no server"),
        (
            "schema: 1\ndeployments:\n  - id: a\n    command: python -m sglang.launch_server --model-path $MODEL\n",
            ":4: deployments[0].command",
            "leaves MODEL open",
        ),
        ("schema: 1\n- x\n", ":2", "not YAML"),
        ("schema: 1\nschema: 1\n", ":2: schema", "stands twice"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, where: str, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_fleet(path)
    assert where in caught.value.where and str(path) in caught.value.where
    assert what in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read|no such"):
        read_fleet(tmp_path / "none.yaml")
