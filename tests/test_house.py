"""The house rules: imports run one way, and what belongs to SGLang's releases stands in the rules, not in the code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import mtp_trace

ROOT = Path(mtp_trace.__file__).parent
FILES = sorted(p for p in ROOT.rglob("*.py") if "_data" not in p.parts)

# cli -> (compare, verdict) -> (launch, rules, trace, checkpoint) -> syntax -> source; report, errors, gpu: leaves.
LAYERS = [
    {"errors", "gpu"},
    {"report", "source"},
    {"syntax"},
    {"checkpoint", "trace"},
    {"rules"},
    {"launch"},
    {"verdict"},
    {"compare"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
NEVER = {("launch", "trace"), ("launch", "checkpoint"), ("checkpoint", "syntax"), ("checkpoint", "source")}
"""Lower layers that a package has no business with, beside what the order of the layers forbids."""

OF_A_RELEASE = {
    "a path of the tree": re.compile(r"sglang/srt/"),
    "a release's number": re.compile(r"\b0\.[45]\.(?:\d+|x)\b"),
    "an architecture's name": re.compile(r"[A-Za-z0-9]For(?:CausalLM|ConditionalGeneration)\b"),
}


def package_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else path.stem


def imported(path: Path) -> set[str]:
    """The packages of ours that a file imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*(("mtp_trace", *above) if node.level else ()), *filter(None, [node.module])])
            names |= {module} if module != "mtp_trace" else {f"mtp_trace.{a.name}" for a in node.names}
    ours = {name.split(".")[1] for name in names if name.startswith("mtp_trace.")}
    return {name for name in ours if (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file()}


def code_lines(path: Path) -> dict[int, str]:
    """A file's lines without comments and docstrings, which may say where something was read."""
    text = path.read_text("utf-8")
    lines = dict(enumerate(text.split("\n"), 1))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    strings = [t for t in tokens if t.type == tokenize.STRING]
    for comment in (t for t in tokens if t.type == tokenize.COMMENT):
        lines[comment.start[0]] = lines[comment.start[0]][: comment.start[1]]
    documenting = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for token in strings:
        if token.start in documenting:
            for line in range(token.start[0], token.end[0] + 1):
                lines.pop(line, None)
    return lines


def test_every_package_has_its_layer() -> None:
    found = {package_of(p) for p in FILES} - {"__init__"}
    assert found <= RANK.keys(), "give the new package a layer"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    own = package_of(path)
    if own == "__init__":
        return
    for other in imported(path) - {own}:
        assert RANK[other] < RANK[own], f"{own} imports {other}"
        assert (own, other) not in NEVER, f"{own} imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_nothing_of_a_release_is_in_the_code(path: Path) -> None:
    for line, text in code_lines(path).items():
        for what, pattern in OF_A_RELEASE.items():
            if package_of(path) == "cli" and what == "a release's number":
                continue  # help texts show examples
            found = pattern.search(text)
            assert found is None, f"{path.relative_to(ROOT)}:{line} holds {what}: {found and found.group()}"


def test_the_check_itself_finds_what_it_looks_for(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        '"""sglang/srt/ in a docstring is fine."""\n# and so is 0.5.9 in a comment\n'
        'x = "sglang/srt/server_args.py"\ny = "0.5.9"\nz = "Qwen3ForCausalLM"\n'
    )
    lines = code_lines(bad)
    assert 1 not in lines and not lines[2]
    hits = [what for text in lines.values() for what, pattern in OF_A_RELEASE.items() if pattern.search(text)]
    assert hits == list(OF_A_RELEASE)
