"""Programs of a tree's modules, by either parser, with and without the cache."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mtp_trace.errors import SourceError
from mtp_trace.syntax import program as program_module
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.syntax.lower_ast import lower_module
from mtp_trace.syntax.program import ProgramStore


class Tree:
    """Files in memory that counts how often they are read."""

    root = "/tree"

    def __init__(self, **files: str | bytes) -> None:
        self.files = {f"{name}.py": text.encode() if isinstance(text, str) else text for name, text in files.items()}
        self.reads: list[str] = []

    def read(self, path: str) -> bytes | None:
        self.reads.append(path)
        return self.files.get(path)


def refuse(_: str) -> None:
    raise SyntaxError("not in this Python", ("", 7, 0, ""))


def test_lowers_a_file_once() -> None:
    tree = Tree(a="x = 1\n")
    store = ProgramStore(tree)
    program = store.module("a.py")
    assert program is not None
    assert program.path == "a.py"
    assert program.form == lower_module("x = 1\n")
    assert store.module("a.py") is program
    assert store.module("b.py") is None and store.module("b.py") is None
    assert tree.reads == ["a.py", "b.py"]


def test_shows_lines() -> None:
    program = ProgramStore(Tree(a="a = 1\r\n\x0cb = 2 # \u2028\r\n\r\nc = 3")).module("a.py")
    assert program is not None
    assert [node[1] for node in program.form] == [1, 2, 4]
    assert program.lines(2, 2) == ["\x0cb = 2 # \u2028"]
    assert program.lines(3, 9) == ["", "c = 3"]
    assert program.lines(-3, 1) == ["a = 1"]
    assert program.lines(3, 2) == program.lines(0, 0) == []


def test_the_coding_line_is_honoured() -> None:
    program = ProgramStore(Tree(a="# coding: latin-1\nx = 'ö'\n".encode("latin-1"))).module("a.py")
    assert program is not None
    assert program.form == [["assign", 2, 2, [["name", 2, 2, "x"]], ["const", 2, 2, "ö"]]]


def test_a_second_run_lowers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path / "forms")
    first = ProgramStore(Tree(a="x = 1\n"), cache).module("a.py")
    monkeypatch.setattr(program_module, "lower_module", refuse)
    monkeypatch.setattr(program_module, "_lower_by_libcst", refuse)
    again = ProgramStore(Tree(b="x = 1\n"), DiskCache(tmp_path / "forms")).module("b.py")
    assert first is not None and again is not None
    assert again.form == first.form
    assert again.path == "b.py" and again.lines(1, 1) == ["x = 1"]
    with pytest.raises(SourceError):
        ProgramStore(Tree(a="x = 2\n"), cache).module("a.py")


def test_libcst_reads_what_ast_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_module, "lower_module", refuse)
    program = ProgramStore(Tree(a="type X = int\n")).module("a.py")
    assert program is not None
    assert program.form == [["typealias", 1, 1, "X", ["name", 1, 1, "int"]]]


def test_libcst_can_be_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path / "forms")
    tree = Tree(a="x = (\n  1)\n")
    by_ast = ProgramStore(tree, cache).module("a.py")
    monkeypatch.setenv("MTP_TRACE_PARSER", "libcst")
    monkeypatch.setattr(program_module, "lower_module", refuse)
    by_libcst = ProgramStore(tree, cache).module("a.py")
    assert by_ast is not None and by_libcst is not None
    assert by_libcst.form == by_ast.form
    assert cache.info().entries == 2
    monkeypatch.setenv("MTP_TRACE_PARSER", "antlr")
    with pytest.raises(SourceError, match="antlr"):
        ProgramStore(tree)


@pytest.mark.parametrize("parser", ["", "libcst"])
class TestRefusals:
    @pytest.fixture(autouse=True)
    def choose(self, parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MTP_TRACE_PARSER", parser)

    def refused(self, text: str | bytes) -> SourceError:
        store = ProgramStore(Tree(a=text))
        with pytest.raises(SourceError) as first:
            store.module("a.py")
        with pytest.raises(SourceError) as second:
            store.module("a.py")
        assert second.value is first.value
        return first.value

    def test_no_grammar_reads_it(self) -> None:
        error = self.refused("x = 1\n<<<<<<< HEAD\ny = 2\n")
        assert error.where == "/tree/a.py:2"
        assert error.hint

    @pytest.mark.parametrize("text", ["(" * 5000 + ")" * 5000, "x = " + "-" * 100_000 + "1", "x = a" + ".b" * 20_000])
    def test_too_deep(self, text: str) -> None:
        error = self.refused(text)
        assert error.where == "/tree/a.py"
        assert "too deeply" in error.what

    def test_numbers_beyond_python(self) -> None:
        assert self.refused("a\nx = " + "9" * 5000 + "\n").where == "/tree/a.py:2"
        self.refused("a\nx = 0x" + "f" * 5000 + "\n")

    def test_too_large(self) -> None:
        assert "limit" in self.refused(b"#" * (8 << 20) + b"\n").what

    def test_bytes_that_are_no_text(self) -> None:
        assert self.refused(b"x = '\xff'\n").where.startswith("/tree/a.py")
        assert self.refused(b"x = '\0'\n").where.startswith("/tree/a.py")

    def test_warnings_about_the_code_stay_inside(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            program = ProgramStore(Tree(a="x = '\\d' f'\\d{y}'\nz = 1 if 1is 1else 2\n")).module("a.py")
        assert program is not None
        assert program.form[0][4][3] == ["\\d\\d", ["format", 1, 1, ["name", 1, 1, "y"], None, None]]
        assert caught == []


def test_libcst_is_not_imported_in_vain() -> None:
    code = (
        "import sys\n"
        "from mtp_trace.syntax.program import ProgramStore\n"
        "class Tree:\n"
        "    root = ''\n"
        "    def read(self, path): return b'x = 1'\n"
        "assert ProgramStore(Tree()).module('a.py').form\n"
        "assert not {'libcst', 'platformdirs'} & set(sys.modules), 'heavy imports'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
