"""What was imported for one GPU serves another that is alike in all that the imported modules asked."""

from __future__ import annotations

from pathlib import Path

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.source import open_tree
from mtp_trace.trace.noted import Noted
from mtp_trace.verdict.session import Session

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
ARGV = ["--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer"]


def test_only_what_is_asked_for_while_noting_is_noted() -> None:
    noting = [False]
    table = Noted({"a": 1, "b": 2, "c": 3}, lambda: noting[0])
    assert table["a"] == 1 and "b" in table and table.get("c") == 3
    assert table.asked == set()
    noting[0] = True
    assert table["a"] == 1 and table.get("z") is None
    assert table.asked == {"a", "z"}
    assert list(table) == ["a", "b", "c"]
    assert table.asked == {"a", "b", "c", "z"}


def miniature(tmp_path: Path, line: str) -> Session:
    """The miniature, of which a module asks something when it is imported."""
    import shutil

    shutil.copytree(DEMO / "sglang", tmp_path / "tree")
    file = tmp_path / "tree" / "sglang" / "srt" / "environ.py"
    file.write_text(f"import torch\n{line}\n{file.read_text()}")
    return Session(open_tree(str(tmp_path / "tree")))


def engines(session: Session, *gpus: str) -> int:
    model = ModelFolder.open(str(DEMO / "model"))
    fresh = [Session(session.tree).check(ARGV, {}, session.gpus.find(gpu), model) for gpu in gpus]
    assert [session.check(ARGV, {}, session.gpus.find(gpu), model) for gpu in gpus] == fresh
    return len(session._engines)


def test_gpus_that_are_alike_to_the_modules_share_them(tmp_path: Path) -> None:
    session = miniature(tmp_path, "MAJOR = torch.cuda.get_device_capability()[0]")
    assert engines(session, "h200", "h100", "b200", "h200", "gb200", "h100") == 2


def test_a_module_that_asks_for_the_memory_is_not_shared(tmp_path: Path) -> None:
    session = miniature(tmp_path, "TOTAL = torch.cuda.get_device_properties(0).total_memory")
    assert engines(session, "h200", "h100", "h200") == 2


def test_another_environment_is_another_world(tmp_path: Path) -> None:
    session = miniature(tmp_path, "")
    gpu, model = session.gpus.find("h200"), ModelFolder.open(str(DEMO / "model"))
    for env in ({}, {"SPEC_OVERLAP": "1"}, {}):
        session.check(ARGV, env, gpu, model)
    assert len(session._engines) == 2
