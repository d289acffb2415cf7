"""Write what one installed transformers release knows about model configurations, as one JSON object on stdout.

    PYTHONPATH=... python dump_transformers.py > RAW/4.57.1.json

Runs in an environment that has that release (``pip install --no-deps --target DIR transformers==V`` and its
tokenizers, huggingface_hub and safetensors; torch is better absent, so that a dtype stays a string).
``merge_transformers.py`` makes rules/models/transformers/ from the objects of all releases. Everything is found by
making instances with changed arguments and looking at what came out; nothing is copied from the release's text.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
import os
import pkgutil
import sys
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import transformers  # noqa: E402
from fit_transformers import declared_subs, derivations  # noqa: E402
from probe_transformers import Probe, flat, make, plain, properties  # noqa: E402
from transformers.configuration_utils import PretrainedConfig  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

BASE = "PretrainedConfig"


def main() -> None:
    """Dump the release that is installed here."""
    mapping = {key: CONFIG_MAPPING[key].__name__ for key in CONFIG_MAPPING.keys()}  # noqa: SIM118 - a lazy mapping
    classes = reachable(mapping)
    out = {
        "release": transformers.__version__,
        "mapping": dict(sorted(mapping.items())),
        "base": base_facts(),
        "classes": {},
        "starts": {},
        "probes": {BASE: Probe(PretrainedConfig, 0).base_probes()},
    }
    wanted = set(sys.argv[1:]) or set(classes)
    for count, (name, cls) in enumerate(sorted(classes.items())):
        if name not in wanted:
            continue
        try:
            out["classes"][name], out["probes"][name] = class_facts(cls)
            out["starts"][name] = flat(made) if (made := make(cls, {})) is not None else {}
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            raise
        if count % 100 == 0:
            print(transformers.__version__, count, len(classes), file=sys.stderr, flush=True)
    json.dump(out, sys.stdout, sort_keys=True)


def reachable(mapping: dict[str, str]) -> dict[str, type]:
    """Every configuration class: the registered ones, those of their modules, their bases and their sub-configs."""
    found: dict[str, type] = {}
    queue: list[type] = [CONFIG_MAPPING[key] for key in mapping]
    for module in pkgutil.iter_modules(transformers.models.__path__):
        name = f"transformers.models.{module.name}.configuration_{module.name}"
        try:
            loaded = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        queue += [value for value in vars(loaded).values() if inspect.isclass(value)]
    while queue:
        cls = queue.pop(0)
        if not issubclass(cls, PretrainedConfig) or cls is PretrainedConfig:
            continue
        known = found.get(cls.__name__)
        if known is cls:
            continue
        if known is not None:
            # Two classes of one name: keep the one that is registered, or came first.
            print(f"second {cls.__name__} in {cls.__module__}, first in {known.__module__}", file=sys.stderr)
            continue
        found[cls.__name__] = cls
        queue += cls.__mro__[1:]
        queue += [sub for sub in declared_subs(cls).values() if inspect.isclass(sub)]
    return found


def base_facts() -> dict[str, object]:
    """What every configuration object has, and how the base class treats what it is given."""
    from transformers import GenerationConfig

    values = flat(PretrainedConfig())
    given = [key for key in vars(GenerationConfig()) if not key.startswith("_") and key != "transformers_version"]
    given += ["attn_implementation", "experts_implementation", "output_attentions", "name_or_path", "_commit_hash"]
    names = [name for name in dir(PretrainedConfig) if isinstance(getattr(PretrainedConfig, name, None), property)]
    return {
        "class": PretrainedConfig.__name__,
        "fields": dataclasses.is_dataclass(PretrainedConfig),
        "values": {key: value for key, value in values.items() if "." not in key},
        "dropped": sorted(key for key in given if is_dropped(key)),
        "properties": sorted(name for name in names if not name.startswith("_")),
        "has_rope_scaling_property": "rope_scaling" in names,
    }


def is_dropped(key: str) -> bool:
    """Whether the base class takes an argument and leaves no public attribute of that name."""
    made = [made for value in (7, False, "x", None) if (made := make(PretrainedConfig, {key: value})) is not None]
    return bool(made) and not any(key in flat(one) for one in made)


def class_facts(cls: type) -> tuple[dict[str, object], list[object]]:
    """One class: what it is, what an instance holds, and how that follows from the arguments."""
    bases = [base.__name__ for base in cls.__mro__[1:] if issubclass(base, PretrainedConfig)]
    facts: dict[str, object] = {
        "module": cls.__module__.removeprefix("transformers."),
        "bases": [BASE if name == PretrainedConfig.__name__ else name for name in bases],
        "model_type": getattr(cls, "model_type", ""),
        "attribute_map": dict(getattr(cls, "attribute_map", {})),
        "sub_configs": {key: sub.__name__ for key, sub in declared_subs(cls).items()},
        "ignore": list(getattr(cls, "keys_to_ignore_at_inference", [])),
        "base_config_key": getattr(cls, "base_config_key", "") or "",
        "default_theta": plain(getattr(cls, "default_theta", None)),
        "default_rope_type": getattr(cls, "default_rope_type", None),
        "properties": list(properties(cls)),
    }
    if make(cls, {}) is None:
        facts["no_instance"] = True
        return facts, []
    facts.update(derivations(cls))
    return facts, Probe(cls, hash_of(cls.__name__)).probes(facts)


def hash_of(name: str) -> int:
    """A small number that depends on nothing but the name."""
    return sum(ord(letter) * (index + 1) for index, letter in enumerate(name)) % 1000


if __name__ == "__main__":
    main()
