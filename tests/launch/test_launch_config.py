"""The server's own configuration, and the model's place in the arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.errors import LaunchError
from mtp_trace.launch.command import parse_command
from mtp_trace.launch.model import Launch
from mtp_trace.launch.model_map import ModelMap, find_model, with_model
from mtp_trace.launch.sglang_config import config_arguments, config_launch, parse_config
from mtp_trace.launch.yaml_nodes import read_documents


def test_arguments_of_a_configuration() -> None:
    config = {"tp": 2, "x": True, "y": False, "n": None, "l": [1, "a"], "e": [], "d": {"a": 1}, "f": 0.80}
    assert config_arguments(config) == [
        *("--tp", "2", "--x", "--n", "None", "--l", "1", "a", "--d", '{"a": 1}', "--f", "0.8"),
    ]


def test_booleans_of_flags_that_take_a_value() -> None:
    assert config_arguments({"x": True, "y": False}, lambda flag: flag == "--x") == ["--x", "--y", "false"]


def test_command_line_comes_after_the_file(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("model-path: a\ntp: 2\n")
    launch = parse_command(["sglang", "serve", "--tp", "4", "--config", str(config), "--port", "1"])
    assert launch.argv == ("--model-path", "a", "--tp", "2", "--tp", "4", "--port", "1")
    assert parse_command(f"--config {config}").argv == ("--model-path", "a", "--tp", "2")


@pytest.mark.parametrize("text", ["- a", "a: [", "x"])
def test_a_configuration_that_cannot_be_read_stays_named(tmp_path: Path, text: str) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(text)
    launch = parse_command(["--config", str(config)])
    assert launch.argv == ("--config", str(config)) and "cannot be read" in launch.notes[0]
    with pytest.raises(LaunchError):
        parse_config(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("model-path: a\ntp-size: 2", True),
        ("model_path: a\nmem_fraction_static: 0.8", True),
        ("model: a\nspeculative-algorithm: NEXTN", True),
        ("model-path: a\nport: 1", True),
        ("model-path: a", False),
        ("model: a\nport: 1", False),
        ("model-path: a\nlearning_rate: 1", False),
        ("model-path: [a]\ntp: 1", False),
        ("model-path: {a: b}\ntp: 1", False),
        ("model-path: a\ntp: 1\nimage: {tag: x}", False),
        ("tp: 1", False),
        ("a", False),
    ],
)
def test_what_is_a_configuration(text: str, is_one: bool) -> None:
    assert (config_launch(read_documents(text)[0]) is not None) is is_one


def test_model_argument() -> None:
    argv = ("--tp", "2", "--model-path=a", "--model", "b/c")
    found = find_model(argv)
    assert found is not None and (found.value, found.index, found.joined) == ("b/c", 4, False)
    assert with_model(argv, "x")[4] == "x"
    assert with_model(("--model-path=a",), "x") == ("--model-path=x",)
    assert find_model(("--model-path",)) is None and with_model(("--tp", "1"), "x") == ("--tp", "1")


def test_model_map() -> None:
    mapping = ModelMap.parse(["/models=/here", "/models/big/=/there/", "Qwen/Q=/q", "/=/root"])
    assert mapping.apply("/models/a") == "/here/a"
    assert mapping.apply("/models/big/b") == "/there/b"
    assert mapping.apply("/models/bigger") == "/here/bigger"
    assert mapping.apply("Qwen/Q") == "/q" and mapping.apply("Qwen/Q2") is None
    assert mapping.apply("/other") == "/root/other"
    launch = mapping.launch(Launch(("--model-path=/models/a", "--tp", "1")))
    assert launch.argv == ("--model-path=/here/a", "--tp", "1")
    assert mapping.launch(Launch(("--tp", "1"))).argv == ("--tp", "1")


@pytest.mark.parametrize("item", ["a", "=b", "a=", ""])
def test_model_map_that_is_none(item: str) -> None:
    with pytest.raises(LaunchError):
        ModelMap.parse([item])
