"""Version and requirements, from wherever a release keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_helpers import FILES, METADATA, PYPROJECT, make_wheel, write

from mtp_trace.source import open_tree, pinned_version

SRT = {"sglang/srt/__init__.py": ""}
COMPUTED = """\
try:
    from sglang._version import __version__
except ImportError:
    __version__ = "0.0.0.dev0"
"""
GENERATED = "version: str\n__version__: str\n\n__version__ = version = '0.5.23'\n__version_tuple__ = (0, 5, 23)\n"


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"sglang/version.py": '__version__ = "0.4.6.post5"\n'}, "0.4.6.post5"),
        ({"sglang/version.py": '__version__: str = "0.5.1"  # kept by hand\r\n'}, "0.5.1"),
        ({"sglang/version.py": COMPUTED, "sglang/_version.py": GENERATED}, "0.5.23"),
        (
            {"sglang/version.py": COMPUTED, "sglang-0.5.20.dist-info/METADATA": METADATA.format(version="0.5.20")},
            "0.5.20",
        ),
        ({"sglang/version.py": COMPUTED, "pyproject.toml": PYPROJECT}, "0.4.6"),
        ({"sglang/version.py": COMPUTED, "pyproject.toml": PYPROJECT.replace("sglang", "other")}, None),
        ({"sglang/version.py": COMPUTED, "pyproject.toml": "not toml ["}, None),
        ({}, None),
    ],
)
def test_version(tmp_path: Path, files: dict[str, str], version: str | None) -> None:
    assert open_tree(str(write(tmp_path, {**SRT, **files}))).version == version


def test_requirements_of_metadata(tmp_path: Path) -> None:
    tree = open_tree(str(make_wheel(tmp_path / "sglang-0.5.9-py3-none-any.whl")))
    assert tree.requirements() == ("transformers==4.57.1", 'torch; extra == "runtime"')
    assert tree.extras() == ("runtime",)


def test_requirements_of_a_checkout_read_alike(tmp_path: Path) -> None:
    write(tmp_path / "python", {**FILES, "pyproject.toml": PYPROJECT})
    tree = open_tree(str(tmp_path))
    assert tree.requirements() == (
        "aiohttp",
        "numpy; python_version > '3.8'",
        'transformers==4.51.1; extra == "runtime"',
        "torch; (sys_platform == 'linux') and extra == \"runtime\"",
    )
    assert tree.extras() == ("runtime", "test")
    assert pinned_version(tree.requirements(), "transformers") == "4.51.1"


def test_the_newest_of_two_dist_infos(tmp_path: Path) -> None:
    old = METADATA.format(version="0.5.9").replace("4.57.1", "4.0")
    new = METADATA.format(version="0.5.10")
    write(tmp_path, {**SRT, "sglang-0.5.9.dist-info/METADATA": old, "sglang-0.5.10.dist-info/METADATA": new})
    tree = open_tree(str(tmp_path))
    assert tree.version == "0.5.10" and "transformers==4.57.1" in tree.requirements()


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        (["transformers==5.3.0"], "5.3.0"),
        (['transformers==1; extra == "a"', "transformers==2"], "2"),
        (["Transformers >=4, ==4.57.1"], "4.57.1"),
        (["transformers>=4.5"], None),
        (["transformers==4.*"], None),
        (["sentence_transformers==3", "???"], None),
    ],
)
def test_pinned_version(lines: list[str], version: str | None) -> None:
    assert pinned_version(lines, "transformers") == version
