"""Record what a real SGLang release does with launches, on a machine without a GPU.

    record.py --tree DIR --gpu platforms/h200.json --configs DIR --cases cases.jsonl > outcomes.jsonl

A case is {"id", "argv", "env"}; `{configs}` in it stands for --configs. SGLang is imported once, every launch runs in a
fork of its own. An outcome is one line: see README.md beside this file.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import logging
import os
import select
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

ORDER = [
    "id",
    "ok",
    "stage",
    "error",
    "message",
    "at",
    "external",
    "fields",
    "target",
    "draft",
    "worker",
    "worker_skipped",
    "attention_guard",
    "backend_guard",
    "declared",
]
DECLARED = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
SECONDS = 120


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("tree", "gpu", "configs", "cases"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", help="record this id only, with its traceback on stderr")
    return parser.parse_args()


def declared(argv: list[str]) -> int:
    """MTP layers that the target's own config.json declares, in the outer or the text config."""
    for at, word in enumerate(argv):
        flag, equals, value = word.partition("=")
        if flag in ("--model-path", "--model"):
            folder = Path(value if equals else argv[at + 1])
            break
    else:
        return 0
    try:
        config = json.loads((folder / "config.json").read_text())
    except OSError:
        return 0
    parts = (config, config.get("text_config") or {})
    return max(part.get(key) or 0 for part in parts for key in DECLARED)


def attempt(case: dict, tree: Path, loud: bool) -> dict:
    """Runs in the fork."""
    import stages

    before = set(sys.modules)
    os.environ.update(case.get("env") or {})
    launch = stages.Launch(case["argv"])
    try:
        launch.run()
    except BaseException as error:
        if loud:
            logging.getLogger("record").error("failed", exc_info=error)
        launch.outcome.update({"stage": launch.stage} | stages.failure(error, tree))
    launch.outcome["imported"] = [name for name in sys.modules if name not in before]
    return launch.outcome


def catch_up(names: list[str]) -> None:
    """Import here what a launch imported in its fork, so that the next launch need not."""
    for name in names:
        if name.startswith(("sglang.srt.", "sglang.kernels.", "transformers.models.")):
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def in_fork(case: dict, tree: Path, loud: bool) -> dict:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a package that asks a question gets no answer
        try:
            text = json.dumps(attempt(case, tree, loud), default=str)
        except BaseException as error:
            text = json.dumps({"ok": False, "error": "HARNESS", "message": repr(error)})
        with os.fdopen(write, "w") as pipe:
            pipe.write(text)
        os._exit(0)
    os.close(write)
    chunks = []
    while select.select([read], [], [], SECONDS)[0]:
        chunk = os.read(read, 65536)
        if not chunk:
            break
        chunks.append(chunk)
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read)
    os.waitpid(child, 0)
    return json.loads(b"".join(chunks) or '{"ok": false, "error": "DIED"}')


def tidy(outcome: dict, case: dict, places: dict[str, str]) -> str:
    """One compact line with the keys in order and no path of this machine in it."""
    outcome = {"id": case["id"], "declared": declared(case["argv"])} | outcome
    if "message" in outcome:
        outcome["message"] = outcome["message"].replace(*next(iter(places.items())))[:300]
    line = json.dumps({key: outcome[key] for key in ORDER if key in outcome}, separators=(",", ":"))
    for path, name in places.items():
        line = line.replace(path, name)
    return line


def main() -> None:
    opts = options()
    tree, configs = opts.tree.resolve(), opts.configs.resolve()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever SGLang prints is not an outcome
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_MODULES_CACHE": tempfile.mkdtemp(prefix="hf-"),
    }

    import pretend
    import stages
    import standins

    platform = pretend.load_platform(opts.gpu)
    pretend.nvidia_smi(platform)
    pretend.triton_cache()
    import transformers  # noqa: F401 - before the stand-ins: it looks for what is really installed
    from transformers import AutoConfig, AutoProcessor, AutoTokenizer, PreTrainedModel  # noqa: F401

    pretend.processors()
    missing = standins.install()
    pretend.cuda(platform)
    pretend.custom_ops()
    pretend.versions(tree)
    sys.path.insert(0, str(tree))
    failed = stages.warm()
    print(f"{tree.name}: stand-ins for {' '.join(sorted(missing))}", *failed, sep="\n  ", file=sys.stderr)

    gc.disable()  # a collection in a fork would copy every page of what was imported
    os.environ |= {"COLUMNS": "120", "LINES": "40"}  # argparse looks for the terminal once a flag
    places = {str(configs): "{configs}", f"{tree}/": "", str(tree.parent): "trees"}
    for text in opts.cases.read_text().splitlines():
        if not text.strip():
            continue
        case = json.loads(text.replace("{configs}", str(configs)))
        if opts.only in (None, case["id"]):
            outcome = in_fork(case, tree, loud=opts.only is not None)
            catch_up(outcome.pop("imported", []))
            print(tidy(outcome, case, places), file=answers, flush=True)


if __name__ == "__main__":
    main()
