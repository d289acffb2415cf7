"""What is fuzzed: for each surface how an input is made, and the real code that takes it.

``make`` gives bytes from a random source; ``take`` hands them to the code and checks what comes back. An InputError is
a good answer to anything but an input that is known to be sound; every other exception is a failure.
"""

from __future__ import annotations

import json
import random
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib
import yaml
from fuzz_judge import DEMO_MODEL, GPUS, MINIATURE, ROOT, judged, miniature
from fuzz_mutate import PIECES, bent, either, garbage, json_bytes
from fuzz_sources import mutated

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.checkpoint.index import read_index
from mtp_trace.checkpoint.safetensors import read_header
from mtp_trace.checkpoint.tensors import TensorIndex
from mtp_trace.compare.fleet import read_fleet
from mtp_trace.errors import InputError
from mtp_trace.launch.command import parse_command
from mtp_trace.launch.discover import find_launches
from mtp_trace.launch.model import Launch
from mtp_trace.report.baseline import load_baseline
from mtp_trace.report.formats import Format, RenderOptions, render_scan
from mtp_trace.report.model import SglangInfo, Verdict
from mtp_trace.rules.lint import lint
from mtp_trace.rules.loader import load_file
from mtp_trace.rules.model import Pack, Settings
from mtp_trace.rules.scan import scan
from mtp_trace.rules.settings import read_settings
from mtp_trace.source import open_tree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.syntax.lower_ast import lower_module
from mtp_trace.syntax.lower_cst import lower_module_cst
from mtp_trace.syntax.program import ProgramStore
from mtp_trace.verdict.advice import Adviser
from mtp_trace.verdict.session import Session


@dataclass(frozen=True)
class Surface:
    """``share`` is its part of a run over all surfaces, in parts of the whole."""

    make: Callable[[random.Random], bytes]
    take: Callable[[bytes, Path], None]
    share: int


def _seeds(*patterns: str) -> list[bytes]:
    found = [p for pattern in patterns for p in sorted(ROOT.glob(pattern)) if p.is_file()]
    assert found, patterns
    return [p.read_bytes() for p in found]


def _one_in(data: bytes, count: int) -> bool:
    """Whether to take the dear part too; the input itself decides, so that a replay does the same."""
    return zlib.crc32(data) % count == 0


# --- config.json ------------------------------------------------------------------------------------------------------

_CONFIGS = _seeds("fixtures/configs/*/config.json", "fixtures/demo/model/config.json")
_DEMO = json.loads((DEMO_MODEL / "config.json").read_text())
_NAMES = ["MiniDenseForCausalLM", "MiniHybridForCausalLM", "MiniHybridMoeForCausalLM", "OtherForCausalLM"]
_HYBRID = ["--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer"]


def make_config(chance: random.Random) -> bytes:
    kind = chance.randrange(3)
    if kind == 0:
        return either(chance, _CONFIGS)
    value = bent(chance, json.loads(chance.choice(_CONFIGS)) if kind == 1 else _DEMO)
    if isinstance(value, dict) and chance.random() < 0.5:
        value["architectures"] = [chance.choice(_NAMES)]
    return json_bytes(value)


def take_config(data: bytes, folder: Path) -> None:
    (folder / "config.json").write_bytes(data)
    model = ModelFolder.open(str(folder))
    names = model.require_architectures()
    assert json.loads(data.decode("utf-8-sig"))["architectures"] == list(names)
    assert TensorIndex.of(model) is not None
    if _one_in(data, 6):
        # What transformers makes of a configuration, or refuses, has no stand-in. With these it makes nothing of it.
        plain = model.model_type == "qwen3" and "text_config" not in model.config
        judged(miniature(), MINIATURE, _HYBRID, {}, "h200", model, (Verdict.ACTIVE,) if plain else ())


# --- launches ---------------------------------------------------------------------------------------------------------

_FLAGS = [
    "--speculative-algorithm",
    "--speculative-num-steps",
    "--speculative-eagle-topk",
    "--page-size",
    "--tp-size",
    "--speculative-num-draft-tokens",
    "--speculative-draft-model-path",
    "--attention-backend",
    "--model-path",
    "--disable-radix-cache",
    "--mamba-scheduler-strategy",
    "--max-running-requests",
    "--trust-remote-code",
]
_VALUES = [
    "NEXTN",
    "EAGLE",
    "NGRAM",
    "eagle",
    "1",
    "0",
    "-1",
    "4",
    "1.5",
    "0x10",
    "1_0",
    "",
    " ",
    "--",
    "-",
    "fa3",
    "triton",
    "trtllm_mha",
    "auto",
    "no_buffer",
    "extra_buffer",
    "x",
    "/x",
    "é",
    "\u202e",
    "{}",
    "$X",
    "@x",
    "=",
    "9" * 5000,
]
_SWITCHES = [{}, {"MINI_SPEC_OVERLAP": "0"}, {"MINI_SPEC_OVERLAP": "yes"}, {"MINI_SPEC_OVERLAP": ""}]
_WORDS = [
    b" --model-path ",
    b" m ",
    b"python -m sglang.launch_server",
    b"sglang serve",
    b"docker run -e A=1 img ",
    b"&& ",
    b"; ",
    b"$(",
    b"${A:-",
    b"}",
    b"exec ",
    b"bash -c ",
    b"'",
    b'"',
    b"\\\n",
    b"<<E\n",
    b"A=(",
    b'"${A[@]}"',
    *PIECES,
]
_COMMANDS = [
    b"python -m sglang.launch_server --model-path /m --speculative-algorithm NEXTN --tp-size 8 --trust-remote-code",
    b'SGLANG_ENABLE_SPEC_V2=1 exec sglang serve --model-path "$MODEL" --tp ${TP:-8} --speculative-algo=EAGLE',
    b"docker run --gpus all -e A=1 -v /m:/m img python3 -m sglang.launch_server --model /m --speculative-num-steps 3",
    b"bash -c 'cd /x && numactl -N 0 python -m sglang.launch_server --model-path /m'",
]


def make_arguments(chance: random.Random) -> bytes:
    words: list[str] = [] if chance.random() < 0.3 else list(_HYBRID)
    for _ in range(chance.randrange(6)):
        flag, value = chance.choice(_FLAGS), chance.choice(_VALUES)
        flag = flag[: chance.randrange(3, len(flag) + 1)] if chance.random() < 0.15 else flag
        words += chance.choice(([flag, value], [f"{flag}={value}"], [flag], [value]))
    if words and chance.random() < 0.3:
        del words[chance.randrange(len(words))]
    return json_bytes([words, chance.choice(_SWITCHES), chance.choice(list(GPUS))])


def take_arguments(data: bytes, folder: Path) -> None:
    words, env, gpu = json.loads(data)
    judged(miniature(), MINIATURE, words, env, gpu, ModelFolder.open(str(DEMO_MODEL)))


def make_command(chance: random.Random) -> bytes:
    return either(chance, _COMMANDS, _WORDS)


def take_command(data: bytes, folder: Path) -> None:
    launch = parse_command(data.decode("utf-8", "surrogateescape"))
    assert isinstance(launch, Launch) and all(isinstance(word, str) for word in launch.argv)
    if _one_in(data, 10):
        model = ModelFolder.open(str(DEMO_MODEL))
        judged(miniature(), MINIATURE, list(launch.argv), {}, "h200", model)


_FILE_NAMES = [
    "a.sh",
    "a.service",
    "Dockerfile",
    "compose.yaml",
    "pod.yaml",
    "a.json",
    "x.sbatch",
    "a.container",
    "a.env",
    "a.md",
]
_FILES = _seeds("fixtures/launch/*/**/*")


def make_file(chance: random.Random) -> bytes:
    text = either(chance, _FILES, _WORDS)
    return chance.choice(_FILE_NAMES).encode() + b"\n" + (b"# sglang\n" if chance.random() < 0.3 else b"") + text


def take_file(data: bytes, folder: Path) -> None:
    name, _, text = data.partition(b"\n")
    path = folder / "files" / name.decode()
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    path.write_bytes(text)
    launches, notes = find_launches([path.parent])
    assert all(launch.line >= 1 and all(isinstance(w, str) for w in launch.argv) for launch in launches)
    assert all(note.text for note in notes)


# --- rules and other files of the user's own --------------------------------------------------------------------------

_RULES = _seeds("rules/activation/*.yaml")


def _few_rules(chance: random.Random, text: bytes) -> bytes:
    """Two rules of a file, so that one blow in it does not lose a whole pack."""
    head, *rules = text.split(b"\n  - id:")
    return b"\n  - id:".join([head, *chance.sample(rules, min(2, len(rules)))])


def make_rules(chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return either(chance, [_few_rules(chance, chance.choice(_RULES))])
    value = bent(chance, _yaml(_few_rules(chance, chance.choice(_RULES))))
    return _yaml_bytes(value)


def _yaml(text: bytes) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a SafeLoader either way


def _yaml_bytes(value: Any) -> bytes:
    # The dumper in C refuses half a surrogate pair.
    return yaml.dump(value, Dumper=yaml.SafeDumper).encode("utf-8", "surrogatepass")


def take_rules(data: bytes, folder: Path) -> None:
    path = folder / "own.yaml"
    path.write_bytes(data)
    rules = load_file(path)
    plain = _yaml(data)
    assert isinstance(plain, dict) and len(plain["rules"]) == len(rules)
    pack = Pack(tuple(sorted(rules, key=lambda rule: rule.id)), Settings())
    lint(pack)
    session = miniature()
    adviser, session.judge.adviser = session.judge.adviser, Adviser(session.programs, session.entry.algorithm, pack)
    try:
        render_scan(scan(pack, session.judge.adviser.sites, SglangInfo("x", None)), Format.JSON, RenderOptions())
        if _one_in(data, 3):
            chosen = _HYBRID if _one_in(data, 2) else _HYBRID[:2]
            judged(session, MINIATURE, chosen, {}, "h200", ModelFolder.open(str(DEMO_MODEL)))
    finally:
        session.judge.adviser = adviser


_FLEETS = _seeds("fixtures/fleet/*.yaml")
_SETTINGS = [
    b'rules = ["own"]\n[disable]\nalgorithm-rewrite = "known"\n[severity]\nno-auto-detection = "note"\n',
    b'[tool.mtp-trace]\nrules = []\n[tool.mtp-trace.disable]\nx = "y"\n',
]
_BASELINES = [
    json_bytes(
        {
            "version": 1,
            "entries": [
                {
                    "fingerprint": "0" * 16,
                    "rule": "r",
                    "title": "t",
                    "file": "f",
                    "scope": "s",
                    "reason": "because",
                    "expires": "2030-01-01",
                }
            ],
        }
    )
]


def make_document(chance: random.Random) -> bytes:
    kind = chance.choice(("fleet.yaml", "mtp-trace.toml", "pyproject.toml", "baseline.json"))
    if kind == "fleet.yaml" and chance.random() < 0.5:
        value = bent(chance, _yaml(chance.choice(_FLEETS)))
        text = _yaml_bytes(value)
    elif kind == "baseline.json" and chance.random() < 0.5:
        text = json_bytes(bent(chance, json.loads(chance.choice(_BASELINES))))
    else:
        seeds = _FLEETS if kind == "fleet.yaml" else _BASELINES if kind == "baseline.json" else _SETTINGS
        text = either(chance, seeds)
    return kind.encode() + b"\n" + text


def take_document(data: bytes, folder: Path) -> None:
    kind, _, text = data.partition(b"\n")
    path = folder / kind.decode()
    path.write_bytes(text)
    if path.suffix == ".yaml":
        assert read_fleet(path)
        assert isinstance(_yaml(text), dict)
    elif path.suffix == ".toml":
        read_settings(path)
        tomllib.loads(text.decode("utf-8-sig"))
    else:
        load_baseline(path)
        assert json.loads(text)["version"] == 1


# --- checkpoints ------------------------------------------------------------------------------------------------------

_HEADER = {
    "__metadata__": {"format": "pt"},
    "model.embed.weight": {"dtype": "BF16", "shape": [8, 4], "data_offsets": [0, 64]},
    "mtp.fc.weight": {"dtype": "F8_E4M3", "shape": [4, 8], "data_offsets": [64, 96]},
    "mtp.scale": {"dtype": "F32", "shape": [], "data_offsets": [96, 100]},
}
_INDEX = {
    "metadata": {"total_size": 100},
    "weight_map": {
        "a.weight": "model-00001-of-00002.safetensors",
        "mtp.b": "model-00002-of-00002.safetensors",
        "c": "x.safetensors",
    },
}


def _shard(header: bytes, chance: random.Random) -> bytes:
    length = len(header) if chance.random() < 0.9 else chance.choice((0, 1, 2**31, 2**63, 2**64 - 1, len(header) + 1))
    return length.to_bytes(8, "little") + header + bytes(chance.choice((100, 100, 100, 0, 99, 101)))


def make_header(chance: random.Random) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return either(chance, [_shard(json_bytes(_HEADER), random.Random(0))])
    if kind == 1:
        return _shard(either(chance, [json_bytes(_HEADER)]), chance)
    return _shard(json_bytes(bent(chance, _HEADER)), chance)


def take_header(data: bytes, folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(data)
    header = read_header(path)
    length = int.from_bytes(data[:8], "little")
    plain = json.loads(data[8 : 8 + length])
    assert set(header.tensors) == set(plain) - {"__metadata__"}
    told = sum(tensor.nbytes for tensor in header.tensors.values())
    assert header.header_only or told == len(data) - 8 - length


def make_index(chance: random.Random) -> bytes:
    return either(chance, [json_bytes(_INDEX)]) if chance.random() < 0.5 else json_bytes(bent(chance, _INDEX))


def take_index(data: bytes, folder: Path) -> None:
    path = folder / "index" / "model.safetensors.index.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    shutil.copy(DEMO_MODEL / "config.json", path.parent)
    index = read_index(path)
    assert json.loads(data.decode("utf-8-sig"))["weight_map"] == index.weight_map
    assert not any(".." in shard.split("/") or shard.startswith("/") for shard in index.shards)
    assert set(TensorIndex.of(ModelFolder.open(str(path.parent)))) <= set(index.weight_map)


# --- sources ----------------------------------------------------------------------------------------------------------

# What a launch runs. The workers' own modules are named and never run, as docs/design.md says.
_RUN = {
    path.relative_to(MINIATURE).as_posix(): path.read_text()
    for path in sorted(MINIATURE.rglob("*.py"))
    if not path.name.startswith(("eagle_worker", "__init__", "version", "model_runner"))
}
_TEXTS = _seeds("tests/syntax/constructs/*.txt", "fixtures/demo/sglang/sglang/srt/*.py", "tests/trace/programs/*.py")


def make_sources(chance: random.Random) -> bytes:
    weights = [len(text) for text in _RUN.values()]
    chosen = set(chance.choices(list(_RUN), weights, k=chance.choice((1, 1, 1, 2))))
    argv = chance.choice((_HYBRID, _HYBRID, _HYBRID[:2], [*_HYBRID[:2], "--disable-radix-cache"], []))
    changed = {path: mutated(chance, _RUN[path]) for path in sorted(chosen)}
    return json_bytes([changed, argv, chance.choice(list(GPUS)), chance.choice(_NAMES[:2])])


def take_sources(data: bytes, folder: Path) -> None:
    changed, argv, gpu, architecture = json.loads(data)
    tree, model = folder / "tree", folder / "model"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(MINIATURE, tree)
    for path, text in changed.items():
        (tree / path).write_bytes(text.encode("utf-8", "surrogatepass"))
    model.mkdir(exist_ok=True)
    (model / "config.json").write_bytes(json_bytes({**_DEMO, "architectures": [architecture]}))
    session = Session(open_tree(str(tree)), DiskCache(folder / "forms"))
    judged(session, tree, argv, {}, gpu, ModelFolder.open(str(model)))


class _One:
    root = "."

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, path: str) -> bytes:
        return self._data


def make_text(chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return either(chance, _TEXTS)
    seed = chance.choice(_TEXTS).decode()
    return mutated(chance, seed).encode("utf-8", "surrogatepass")


def take_text(data: bytes, folder: Path) -> None:
    program = ProgramStore(_One(data)).module("x.py")
    assert program is not None
    if _one_in(data, 4):
        text = data.decode("utf-8-sig")
        try:
            plain = lower_module(text)
            other = lower_module_cst(text)
        except (SyntaxError, ValueError, UnicodeDecodeError):
            return
        assert plain == other, "the two front ends differ"


def make_entry(chance: random.Random) -> bytes:
    return chance.randbytes(4) + (garbage(chance) if chance.random() < 0.2 else b"")


def take_entry(data: bytes, folder: Path) -> None:
    """A file of the cache, damaged: it is a miss, or what was put."""
    cache = DiskCache(folder / "entries")
    form = [["x", 1, 2, [None, "text", 3.5, True]] for _ in range(20)]
    key = cache.key(b"text", "any")
    cache.put(key, form)
    (entry,) = (path for path in cache.folder.iterdir() if path.name == key)
    chance = random.Random(data)
    entry.write_bytes(data[4:] if len(data) > 4 else either(chance, [entry.read_bytes()]))
    assert cache.get(key) in (None, form)


SURFACES: dict[str, Surface] = {
    "config": Surface(make_config, take_config, 30),
    "arguments": Surface(make_arguments, take_arguments, 5),
    "command": Surface(make_command, take_command, 40),
    "file": Surface(make_file, take_file, 25),
    "rules": Surface(make_rules, take_rules, 15),
    "document": Surface(make_document, take_document, 20),
    "header": Surface(make_header, take_header, 30),
    "index": Surface(make_index, take_index, 15),
    "text": Surface(make_text, take_text, 10),
    "entry": Surface(make_entry, take_entry, 5),
    "sources": Surface(make_sources, take_sources, 5),
}
EXPECTED = (InputError,)
"""What may come out of a surface instead of an answer."""
