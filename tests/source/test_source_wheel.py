from __future__ import annotations

from pathlib import Path

import pytest
from source_helpers import FILES, make_wheel

from mtp_trace.errors import SourceError
from mtp_trace.source import open_tree
from mtp_trace.source.wheel import WheelTree


def test_identity_follows_the_content(tmp_path: Path) -> None:
    same = [WheelTree(make_wheel(tmp_path / f"{i}" / "sglang-0.5.9-py3-none-any.whl")).identity() for i in (1, 2)]
    changed = {**FILES, "sglang/version.py": '__version__ = "0.5.8"\n'}
    other = WheelTree(make_wheel(tmp_path / "3" / "sglang-0.5.9-py3-none-any.whl", changed)).identity()
    assert same[0] == same[1] != other


def test_no_zip(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(SourceError, match="no readable wheel"):
        open_tree(str(path))


def test_a_damaged_member(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "sglang-0.5.9-py3-none-any.whl")
    path.write_bytes(path.read_bytes().replace(b"class ServerArgs", b"class Tampered__"))
    with pytest.raises(SourceError, match="CRC"):
        open_tree(str(path)).read("sglang/srt/server_args.py")


def test_names_that_climb_out_are_only_names(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "sglang-0.5.9-py3-none-any.whl", {**FILES, "../../evil.py": "x"})
    tree = open_tree(str(path))
    with pytest.raises(SourceError):
        tree.read("../../evil.py")
    assert sorted(item.name for item in tmp_path.iterdir()) == [path.name]
