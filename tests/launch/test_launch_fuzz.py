"""Whatever is in a file, reading it ends in launches, notes or a LaunchError."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtp_trace.errors import LaunchError
from mtp_trace.launch.command import parse_command
from mtp_trace.launch.discover import find_launches
from mtp_trace.launch.model import Launch, Note

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "launch"
NAMES = ["a.sh", "a.service", "Dockerfile", "compose.yaml", "pod.yaml", "a.json", "x.sbatch", "a.container"]
SAMPLES = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and path.name != "expected.json")

PIECES = [
    *("python -m sglang.launch_server", "sglang serve", " --model-path ", "m", "$M", "${M:-x}", "${A[@]}", '"$@"'),
    *("$(", "`", "'", '"', "\\", "\n", " ", ";", "&&", "||", "|", "&", "(", ")", "{ ", " }", "<<E\n", "E\n", ">", "#"),
    *("if ", " then ", " else ", " fi ", "for i in ", " do ", " done ", "case ", " in ", " esac ", ";;", "f() "),
    *("[[ ", " ]]", "A=(", "$((", "))", "${", "}", "##*/", "eval ", "source ", "bash -c ", "exec ", "\t", "=", "+="),
    *("docker run -e A=1 img ", "é", "\ue000", "2>&1", "[Service]\n", "ExecStart=", "Environment=", "FROM ", "CMD "),
    *("ENTRYPOINT ", "[", "]", ",", ": ", "- ", "  ", "|\n", ">\n", "services:\n", "  s:\n", "    command:"),
    *("apiVersion: v1\nkind: Pod\n", "containers:\n", "&a ", "*a", "<<: ", "{{ .V }}", "args:", "env:", "? "),
    *("image: sglang\n", "model-path: x\n", "tp-size: 2\n", "$(V)", "$$", "%i", "---\n", "!!x "),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


def check(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_bytes(text.encode("utf-8", errors="replace"))
    try:
        launches, notes = find_launches([path])
    except LaunchError:
        return
    assert all(isinstance(launch, Launch) and launch.line >= 1 for launch in launches)
    assert all(isinstance(note, Note) and note.text for note in notes)
    # Nothing that only the reader uses inside gets out.
    shown = json.dumps([[launch.argv, launch.env, launch.unresolved, launch.notes, launch.name] for launch in launches])
    assert "\\ue000" not in shown and "\\udb80" not in shown


@given(text=TEXTS, name=st.sampled_from(NAMES))
@settings(max_examples=250, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(tmp_path: Path, text: str, name: str) -> None:
    check(tmp_path, name, f"sglang {text}" if name.endswith((".sh", ".sbatch")) else f"# sglang\n{text}")


@given(data=st.binary(max_size=80), name=st.sampled_from(NAMES))
@settings(max_examples=60, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(b"sglang\n" + data)
    find_launches([tmp_path / name])


@given(text=TEXTS)
@settings(max_examples=200, deadline=2000)
def test_any_command(text: str) -> None:
    try:
        launch = parse_command(text)
    except LaunchError as error:
        assert error.what and error.where
        return
    assert isinstance(launch, Launch)


@given(words=st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12))
@settings(max_examples=100, deadline=2000)
def test_any_words(words: list[str]) -> None:
    with contextlib.suppress(LaunchError):
        parse_command(words)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_damaged_fixtures(path: Path, tmp_path: Path) -> None:
    """Cut off, with a piece taken out, and with a piece put in."""
    chance = random.Random(path.name)
    text = path.read_text(encoding="utf-8")
    for _ in range(12):
        first, second = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        check(tmp_path, path.name, text[:first])
        check(tmp_path, path.name, text[:first] + text[second:])
        check(tmp_path, path.name, text[:first] + chance.choice(PIECES) + text[first:])
