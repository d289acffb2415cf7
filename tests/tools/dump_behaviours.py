"""Write how one installed transformers release's ``AutoConfig.from_pretrained`` answers, as one JSON object on stdout.

    PYTHONPATH=... python dump_behaviours.py > RAW/4.57.1.behaviours.json

The messages are recorded from calls on folders made for it; the folder, the model type and the file are replaced by
``{path}``, ``{model_type}`` and ``{file}``. See dump_transformers.py for the environment.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import transformers  # noqa: E402
from dump_transformers import reachable  # noqa: E402
from probe_transformers import flat, make, parameters  # noqa: E402
from transformers import AutoConfig, LlamaConfig  # noqa: E402
from transformers.configuration_utils import PretrainedConfig  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

FULL = "full_attention"
REMOTE = {"AutoConfig": "zz_file.ZzConfig"}
UPSTREAM = {"AutoConfig": "zz/repo--zz_file.ZzConfig"}
CASES = {
    "unknown-model-type": ({"model_type": "zz_type"}, False),
    "no-model-type": ({"hidden_size": 8}, False),
    "remote-code-refused": ({"model_type": "zz_type", "auto_map": REMOTE}, False),
    "remote-code-refused-upstream": ({"model_type": "zz_type", "auto_map": UPSTREAM}, False),
    "remote-file-missing": ({"model_type": "zz_type", "auto_map": REMOTE}, True),
    "remote-file-missing-known-type": ({"model_type": "llama", "auto_map": REMOTE}, True),
    "remote-upstream-offline": ({"model_type": "zz_type", "auto_map": UPSTREAM}, True),
    "inner-unknown-model-type": ({"model_type": "llava", "text_config": {"model_type": "zz_type"}}, False),
    "not-json": ("{", False),
    "no-config-file": (None, False),
    "no-such-folder": ("gone", False),
    "layer-types-length": ({"model_type": "qwen3", "num_hidden_layers": 13, "layer_types": [FULL] * 17}, False),
    "layer-types-names": ({"model_type": "qwen3", "num_hidden_layers": 1, "layer_types": ["zz_layer"]}, False),
}
LAYERS = (
    *("mamba", "attention", "full_attention", "sliding_attention", "linear_attention", "chunked_attention"),
    *("conv", "moe", "mlp", "hybrid", "indexed_attention", "deepseek_sparse_attention", "qwen_sparse_attention"),
)


def main() -> None:
    """Record the release that is installed here."""
    # No random name: a release that guesses by name would find a model type in one.
    folder = Path(tempfile.gettempdir()) / f"zz-{os.getpid()}"
    folder.mkdir()
    try:
        errors = {name: error for name, case in CASES.items() if (error := outcome(folder / "zz", *case))}
        json.dump(
            {
                "release": transformers.__version__,
                "errors": errors,
                "guesses_by_name": guesses_by_name(folder),
                "registered_wins": registered_wins(folder),
                "redirects": redirects(folder / "zz"),
                "layer_names": layer_names(),
                "checks_layer_types": checks(),
            },
            sys.stdout,
            sort_keys=True,
        )
    finally:
        shutil.rmtree(folder)


def outcome(folder: Path, config: object, trust: bool) -> dict[str, str] | None:
    """The error that one config.json meets, None where it meets none."""
    for old in folder.glob("*"):
        old.unlink()
    folder.mkdir(exist_ok=True)
    if config not in (None, "gone"):
        (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    path = str(folder) + ("/gone" if config == "gone" else "")
    try:
        AutoConfig.from_pretrained(path, trust_remote_code=trust)
    except Exception as error:
        kinds = ", ".join(CONFIG_MAPPING.keys())
        text = str(error).replace(path, "{path}").replace(kinds, "{model_types}").replace("zz_type", "{model_type}")
        text = text.replace("zz_file.py", "{file}").replace("zz/repo", "{upstream}").replace("['zz_layer']", "{given}")
        text = text.replace("(13)", "({layers})").replace("(17)", "({entries})")
        return {"type": type(error).__name__, "text": text}
    return None


def guesses_by_name(folder: Path) -> bool:
    """Whether a config.json without a model_type takes the longest registered one that the path contains."""
    return outcome(folder / "zz-qwen2", {"hidden_size": 8}, False) is None


def registered_wins(folder: Path) -> bool:
    """Whether a class that a program registered is taken before the repository's own, once remote code is trusted."""

    class ZzConfig(PretrainedConfig):
        model_type = "zz_registered"

    AutoConfig.register("zz_registered", ZzConfig)
    found = outcome(folder / "registered", {"model_type": "zz_registered", "auto_map": REMOTE}, True) is None
    CONFIG_MAPPING._extra_content.pop("zz_registered")
    return found


def redirects(folder: Path) -> dict[str, str]:
    """Model types that another key of config.json turns into another class."""
    folder.mkdir(exist_ok=True)
    config = {"model_type": "mistral", "num_hidden_layers": 1, "layer_types": [FULL]}
    (folder / "config.json").write_text(json.dumps(config))
    name = type(AutoConfig.from_pretrained(str(folder))).__name__
    return {} if name == "MistralConfig" else {"mistral with layer_types": name}


def layer_names() -> dict[str, str]:
    """Entries of ``layer_types`` that the base class renames."""
    found = {}
    for name in LAYERS:
        made = make(LlamaConfig, {"layer_types": [name], "num_hidden_layers": 1})
        got = flat(made)["layer_types"][0] if made is not None else name
        if got != name:
            found[name] = got
    return found


def checks() -> list[str]:
    """The classes that refuse a ``layer_types`` whose length is not ``num_hidden_layers``."""
    mapping = {key: CONFIG_MAPPING[key].__name__ for key in CONFIG_MAPPING.keys()}  # noqa: SIM118 - a lazy mapping
    found = []
    for name, cls in sorted(reachable(mapping).items()):
        if "layer_types" not in parameters(cls):
            continue
        for layer in ("full_attention", "linear_attention", "attention", "conv"):
            if make(cls, {"num_hidden_layers": 4, "layer_types": [layer] * 4}) is not None:
                if make(cls, {"num_hidden_layers": 4, "layer_types": [layer] * 5}) is None:
                    found.append(name)
                break
    return found


if __name__ == "__main__":
    main()
