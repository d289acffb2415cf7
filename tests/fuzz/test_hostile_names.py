"""Names that no file can have, wherever a name is taken: told in words, with exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.cli.app import run

LONG = "a" * 400
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
TREE, MODEL = str(DEMO / "sglang"), str(DEMO / "model")


@pytest.mark.parametrize(
    "argv",
    [
        ["check", "--sglang", LONG, "--model", MODEL],
        ["check", "--sglang", LONG, "--ref", "main", "--model", MODEL],
        ["check", "--sglang", TREE, "--model", LONG],
        ["check", "--sglang", TREE, "--model", MODEL, "--rules", LONG],
        ["check", "--sglang", TREE, "--model", MODEL, "--baseline", LONG],
        ["check", "--sglang", TREE, "--model", MODEL, "--also", LONG],
        ["check", "--sglang", TREE, "--model", MODEL, "--output", LONG],
        ["audit", "--sglang", TREE, LONG],
        ["scan", "--sglang", LONG],
        ["diff", LONG, TREE],
        ["gate", "--old", TREE, "--new", TREE, "--fleet", LONG],
        ["matrix", "--releases", LONG, "--models", MODEL],
        ["matrix", "--releases", TREE, "--models", LONG],
        ["batch", "--sglang", LONG],
        ["rules", "lint", LONG],
        ["rules", "list", "--rules", LONG],
    ],
    ids=lambda argv: " ".join(word for word in argv if word not in (LONG, TREE, MODEL)),
)
def test_an_impossible_name_is_bad_input(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(argv)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert LONG[:100] in said.err
    assert "Traceback" not in said.err
