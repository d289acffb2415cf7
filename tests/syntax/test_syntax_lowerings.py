"""The two lowerings give the same form: for every construct, in many layouts, and for SGLang's own files."""

from __future__ import annotations

import hashlib
import sys
import warnings
from pathlib import Path

import pytest
from syntax_reflow import reflow

from mtp_trace.source import decode_source
from mtp_trace.source.release import cache_folder
from mtp_trace.source.wheel import WheelTree
from mtp_trace.syntax.form import Node
from mtp_trace.syntax.lower_ast import lower_module
from mtp_trace.syntax.lower_cst import lower_module_cst

CONSTRUCTS = sorted((Path(__file__).parent / "constructs").glob("*.txt"))
RELEASES = ("0.4.6.post5", "0.5.6", "0.5.9", "0.5.12", "0.5.18", "0.5.20", "0.5.23")
SAMPLE = 25


def by_ast(text: str) -> list[Node]:
    """The form by ``ast``, or a skip where the running Python's grammar is too old for the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return lower_module(text)
        except SyntaxError as error:
            if sys.version_info >= (3, 11):
                raise
            pytest.skip(f"Python {sys.version_info[0]}.{sys.version_info[1]} does not read this: {error}")


@pytest.mark.parametrize("path", CONSTRUCTS, ids=lambda path: path.stem)
def test_constructs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert lower_module_cst(text) == by_ast(text)


@pytest.mark.parametrize("path", CONSTRUCTS, ids=lambda path: path.stem)
def test_constructs_in_other_layouts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    compared = 0
    for seed in range(12):
        changed = reflow(text, seed)
        try:
            expected = by_ast(changed)
        except SyntaxError:  # a break in a place that Python does not allow
            continue
        try:
            found = lower_module_cst(changed)
        except SyntaxError as error:
            # LibCST's tree has no place for some continuations, such as one before a clause's colon.
            assert error.msg == "LibCST loses a line of this file" and "\\\n" in changed, changed
            continue
        assert found == expected, changed
        compared += 1
    assert compared


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a = 1",
        "# only a comment",
        "def f():\n  pass\n  # tail",
        "a = 1\r\nb = (\r\n 2\r\n)\r\nc = '''x\r\ny'''\rd = 4\n",
        "a = 1\n\x0c\nb = 2\n\x0cdef f():\n  pass\n",
    ],
)
def test_line_ends_and_what_is_no_token(text: str) -> None:
    assert lower_module_cst(text) == by_ast(text)


def name(line: int, text: str) -> Node:
    return ["name", line, line, text]


NEWER = {
    "type X[T] = list[T]\n": [["typealias", 1, 1, "X", ["index", 1, 1, name(1, "list"), name(1, "T")]]],
    "def f[T: int, *Ts, **P](a: T): pass\n": [
        ["def", 1, 1, "f", [0, [["a", name(1, "T"), None]], None, [], None], [["pass", 1, 1]], [], None, False]
    ],
    "class A[T](B): pass\n": [["class", 1, 1, "A", [name(1, "B")], [], [["pass", 1, 1]], []]],
    'f"{x["a"]}"\n': [
        ["expr", 1, 1, ["fstring", 1, 1, [
            ["format", 1, 1, ["index", 1, 1, name(1, "x"), ["const", 1, 1, "a"]], None, None]]]]
    ],
    "f'''{\n  x  # c\n}'''\n": [["expr", 1, 3, ["fstring", 1, 3, [["format", 1, 3, name(2, "x"), None, None]]]]],
    "print(f'{a}'\n f'{b[\n'c']}')\n": [
        ["expr", 1, 3, ["call", 1, 3, name(1, "print"), [["fstring", 1, 3, [
            ["format", 1, 3, name(1, "a"), None, None],
            ["format", 1, 3, ["index", 2, 3, name(2, "b"), ["const", 3, 3, "c"]], None, None]]]], []]]
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", NEWER)
def test_grammar_newer_than_some_pythons(text: str) -> None:
    assert lower_module_cst(text) == NEWER[text]
    if sys.version_info >= (3, 12):
        assert lower_module(text) == NEWER[text]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = = 2\n", 2),
        ("a = 1\nb = = 2\nc = 3\n", 2),
        ("a = 1\nb = $\n", None),
        ("def f(a,\n\n  b c): pass\n", 3),
        ("a = 1\nb = t'{a}'\n", 2),
        ("a = 1\nb = '\\N{no such name}'\n", 2),
        ("a\n\nb = b'é'\n", 3),
        ("a\nb = f'\\N{no such name}{a}'\n", 2),
        ("a\n\nb = " + "9" * 5000 + "\n", 3),
        ("a = 1\nb = 'x\0y'\n", 2),
        ("try: a\nexcept A \\\n: b\n", None),
    ],
)
def test_refusals_say_the_line(text: str, line: int | None) -> None:
    with pytest.raises(SyntaxError) as caught:
        lower_module_cst(text)
    assert caught.value.lineno == line


@pytest.mark.parametrize(
    "text",
    [
        "(a): int = 1\n",
        "class A(m=1, *b): pass\n",
        "rf'a\\\nb'\n",
        "[x async\n for x in y]\n",
        "try: a\nexcept A \\\n: b\n",
    ],
)
def test_what_libcst_does_not_read_is_refused_and_not_misread(text: str) -> None:
    try:
        found = lower_module_cst(text)
    except SyntaxError:
        return
    assert found == by_ast(text)  # a newer LibCST has learnt it


DEEP = {
    "brackets": "(" * 5000 + ")" * 5000,
    "signs": "x = " + "-" * 50_000 + "1",
    "sum": "x = " + "+".join("a" * 50_000),
    "attributes": "x = a" + ".b" * 50_000,
    "calls": "x = a" + "()" * 50_000,
    "lambdas": "x = " + "lambda a,: " * 50_000 + "1",
    "strings": "x = (" + "'a'\n" * 50_000 + ")",
    "branches": "if a: pass\n" + "elif b: pass\n" * 50_000,
    "clauses": "x = [a" + " for a, b in c" * 50_000 + "]",
    "patterns": "match x:\n  case " + "[" * 30 + "]" * 30 + ": pass",
    "f-string field": "x = f'{" + "(" * 5000 + "a" + ")" * 5000 + "}'",
    "f-string specification": "x = f'{a:{" + "(" * 5000 + "a" + ")" * 5000 + "}}'",
    "after newer quotes": 'x = f"{x["a"]}" + ' + "(" * 5000 + "a" + ")" * 5000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(RecursionError):
        lower_module_cst(text + "\n")


def test_what_is_long_but_not_deep_is_read() -> None:
    table = "x = {\n" + "".join(f"    'k{i}': [f'{{a[{i}]!r:>{{w}}}}', ({i}, -{i})],\n" for i in range(300)) + "}\n"
    assert lower_module_cst(table) == by_ast(table)
    quoted = 'x = """' + "(" * 5000 + '"""\n' + "y = 1; " * 5000 + "\n"
    assert lower_module_cst(quoted) == by_ast(quoted)
    chain = "if a: b\n" + "".join(f"elif a == {i}: b\n" for i in range(200)) + "else: c\n"
    assert lower_module_cst(chain) == by_ast(chain)


@pytest.mark.releases
@pytest.mark.parametrize("version", RELEASES)
def test_files_of_releases(version: str) -> None:
    wheels = sorted((cache_folder() / "releases" / version).glob("*.whl"))
    if not wheels:
        pytest.skip(f"SGLang {version} is not in the cache ({cache_folder()})")
    tree = WheelTree(wheels[0])
    try:
        paths = [path for path in walk(tree, "sglang/srt") if path.endswith(".py")]
        assert len(paths) > 100
        # Any sample will do, so long as it is the same on every run and differs between releases.
        paths.sort(key=lambda path: hashlib.sha256(f"{version}:{path}".encode()).digest())
        for path in paths[:SAMPLE]:
            text = decode_source(tree.read(path) or b"", path)
            assert lower_module_cst(text) == by_ast(text), path
    finally:
        tree.close()


def walk(tree: WheelTree, folder: str) -> list[str]:
    found = []
    for entry in tree.list(folder):
        path = f"{folder}/{entry}"
        found += walk(tree, path) if tree.is_dir(path) else [path]
    return found
