"""Reading the table of transformers releases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mtp_trace.checkpoint.transformers_auto import Choice, Source, choose_class
from mtp_trace.checkpoint.transformers_table import apply_change, load_table

FOLDER = Path(__file__).parents[2] / "rules" / "models" / "transformers"
REMOTE = {"model_type": "my_own", "auto_map": {"AutoConfig": "conf.MyConfig"}}


@pytest.mark.parametrize(
    ("model_type", "first", "last_without"),
    [
        ("deepseek_v3", "4.51.1", None),
        ("qwen3_next", "4.57.0", "4.56.1"),
        ("qwen3_5_moe", "5.3.0", "5.0.0rc0"),
        ("glm_moe_dsa", "5.3.0", "5.0.0rc0"),
        ("deepseek_v4", "5.8.1", "5.6.0"),
    ],
)
def test_knows_a_model_type_from_its_release_on(model_type: str, first: str, last_without: str | None) -> None:
    assert load_table(first).knows(model_type) and load_table("5.19.0").knows(model_type)
    if last_without is not None:
        assert not load_table(last_without).knows(model_type)


@pytest.mark.parametrize(
    ("asked", "release", "exact"),
    [
        ("4.57.1", "4.57.1", True),
        ("4.57.6", "4.57.1", False),
        ("5.0.0rc0", "5.0.0rc0", True),
        ("5.0.0", "5.0.0rc0", False),
        ("5.13.0", "5.12.1", False),
        ("99", "5.19.0", False),
        ("4.40.0", "4.51.1", False),
        ("nonsense", "5.19.0", False),
        (None, "5.19.0", False),
    ],
)
def test_the_nearest_release_before(asked: str | None, release: str, exact: bool) -> None:
    table = load_table(asked)
    assert (table.release, table.exact) == (release, exact)


def test_class_facts_follow_the_release() -> None:
    old, new = load_table("4.57.1").class_info("Qwen3NextConfig"), load_table("5.12.1").class_info("Qwen3NextConfig")
    assert old is not None and new is not None
    assert old.params["rope_theta"] == 10000.0 and "rope_theta" not in new.params
    assert new.standardises_rope and not old.standardises_rope
    assert new.derived["layer_types"]["every"] == ["full_attention_interval", 4]
    assert old.bases == new.bases == ("PretrainedConfig",)
    assert load_table("4.56.1").class_info("Qwen3NextConfig") is None
    assert load_table("4.57.1").class_info("NoSuchConfig") is None
    assert load_table("4.57.1").class_info('x": [') is None


def test_sub_classes_are_there() -> None:
    info = load_table("5.12.1").class_info("Qwen3_5MoeConfig")
    assert info is not None
    assert info.sub_configs["text_config"] == "Qwen3_5MoeTextConfig"
    assert info.subs["text_config"]["empty"] == "Qwen3_5MoeTextConfig"
    text = load_table("5.12.1").class_info("Qwen3_5MoeTextConfig")
    assert text is not None and text.model_type == "qwen3_5_moe_text"


def test_every_registered_class_is_described() -> None:
    for release in json.loads((FOLDER / "index.json").read_text())["releases"]:
        table = load_table(release)
        for kind in table.model_types():
            name = table.config_class(kind)
            info = table.class_info(name) if name else None
            assert info is not None, (release, kind, name)


def test_the_files_are_one_line_an_entry() -> None:
    """The reader finds a class by its line."""
    lines = (FOLDER / "classes.json").read_text().splitlines()
    names = json.loads("\n".join(lines))
    assert lines[0] == "{" and lines[-1] == "}" and len(lines) == len(names) + 2
    assert list(names) == sorted(names)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3_000_000


def test_loading_is_quick() -> None:
    code = (
        "import msgspec, packaging.version, time; import mtp_trace.checkpoint.transformers_table as t\n"
        "start = time.perf_counter()\n"
        "x = t.load_table('5.12.1'); x.knows('qwen3_next'); x.class_info('Qwen3NextConfig')\n"
        "print(time.perf_counter() - start)"
    )
    seconds = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert seconds < 0.05  # a busy machine's bound; 5 ms at rest


def test_changes_are_merged() -> None:
    before = {"a": {"x": 1, "y": 2}, "b": 1, "c": [1]}
    after = apply_change(before, {"a": {"set": {"z": 3}, "drop": ["x"]}, "b": None, "c": [2]})
    assert after == {"a": {"y": 2, "z": 3}, "c": [2]}
    assert before == {"a": {"x": 1, "y": 2}, "b": 1, "c": [1]}


@pytest.mark.parametrize("release", ["4.51.1", "4.57.1", "5.3.0", "5.19.0"])
def test_refusals(release: str) -> None:
    table = load_table(release)
    unknown = choose_class(table, {"model_type": "my_own"}, "/m", False)
    assert unknown.source is Source.REFUSED and unknown.name == "ValueError"
    assert unknown.text.startswith(
        "The checkpoint you are trying to load has model type `my_own` but Transformers does not recognize this"
    )
    refused = choose_class(table, REMOTE, "/m", False)
    assert (refused.source, refused.name) == (Source.REFUSED, "ValueError")
    assert "trust_remote_code=True" in refused.text and "/m" in refused.text
    missing = choose_class(table, REMOTE, "/m", True, has_file=lambda name: False)
    assert (missing.source, missing.name) == (Source.REFUSED, "OSError")
    assert missing.text.startswith("/m does not appear to have a file named conf.py.")
    untyped = choose_class(table, {}, "/m", False)
    assert untyped.text.startswith("Unrecognized model in /m. Should have a `model_type` key in its config.json")


def test_remote_code_goes_before_a_known_type_once_trusted() -> None:
    table = load_table("5.12.1")
    config = {"model_type": "deepseek_v3", "auto_map": {"AutoConfig": "conf.MyConfig"}}
    assert choose_class(table, config, "/m", False) == Choice(Source.TABLE, "DeepseekV3Config")
    assert choose_class(table, config, "/m", True) == Choice(Source.REMOTE, "conf.MyConfig")


@pytest.mark.parametrize(("release", "source"), [("5.3.0", Source.REMOTE), ("5.12.1", Source.REGISTERED)])
def test_a_registered_class_against_remote_code(release: str, source: Source) -> None:
    assert choose_class(load_table(release), REMOTE, "/m", True, registered={"my_own"}).source is source
    assert choose_class(load_table(release), REMOTE, "/m", False, registered={"my_own"}).source is Source.REGISTERED


def test_by_name_and_redirects() -> None:
    assert choose_class(load_table("4.57.1"), {}, "/models/qwen3_next-x", False).name == "Qwen3NextConfig"
    assert choose_class(load_table("5.3.0"), {}, "/models/qwen3_next-x", False).source is Source.REFUSED
    layered = {"model_type": "mistral", "layer_types": []}
    assert choose_class(load_table("4.51.1"), layered, "/m", False).name == "MistralConfig"
    assert choose_class(load_table("4.57.1"), layered, "/m", False).name == "MinistralConfig"
