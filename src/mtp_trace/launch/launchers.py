"""The table of what counts as a launch and what may stand around one, from ``rules/launchers.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml

from mtp_trace.errors import LaunchError
from mtp_trace.rules.data import data_root

_FILE = "launchers.yaml"


@dataclass(frozen=True)
class Module:
    """``python -m name``: flags of its own with how many values follow (-1: up to the next flag)."""

    name: str
    own_flags: dict[str, int] = field(default_factory=dict)
    client_flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Program:
    """``program subcommand [positional] ...``; ``selector`` chooses the kind of server and is not the server's flag."""

    name: str
    subcommand: str
    modules: frozenset[str]
    positional: str
    selector: str
    selector_values: frozenset[str]


@dataclass(frozen=True)
class Wrapper:
    """A command that runs another; the keys are described in the data file."""

    name: str
    subcommands: tuple[tuple[str, ...], ...] = ()
    values: frozenset[str] = frozenset()
    switches: frozenset[str] | None = None
    operands: int = 0
    image: int | None = None
    assignments: bool = False
    env_options: frozenset[str] = frozenset()
    env_lists: frozenset[str] = frozenset()
    env_files: frozenset[str] = frozenset()
    drops_env: bool = False
    keep_options: frozenset[str] = frozenset()
    entrypoint: str = ""
    script: frozenset[str] = frozenset()
    joined: bool = False
    needs_dashes: bool = False
    gpu_options: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ConfigKeys:
    """Keys of the server's own configuration file, written with dashes; ``json`` ones take a mapping."""

    model: frozenset[str]
    own: frozenset[str]
    shared: frozenset[str]
    json: frozenset[str]


@dataclass(frozen=True)
class Launchers:
    """The whole table."""

    needles: tuple[str, ...]
    modules: dict[str, Module]
    programs: dict[str, Program]
    module_runners: frozenset[str]
    help_flags: frozenset[str]
    model_flags: tuple[str, ...]
    config_flag: str
    image_words: tuple[str, ...]
    talkers: frozenset[str]
    search_paths: frozenset[str]
    shells: frozenset[str]
    wrappers: dict[str, tuple[Wrapper, ...]]
    config_keys: ConfigKeys
    gpu_products: tuple[tuple[str, str], ...]
    gpu_resources: frozenset[str]

    def mentions(self, text: str) -> bool:
        """Whether ``text`` could hold a launch at all."""
        lowered = text.lower()
        return any(needle in lowered for needle in self.needles)

    def gpu_profile(self, text: str) -> str | None:
        """The GPU profile that a product name, a node label or an instance name speaks of."""
        words = f" {re.sub(r'[^a-z0-9]+', ' ', text.lower())} "
        for product, profile in self.gpu_products:
            if f" {product} " in words:
                return profile
        return None


@lru_cache(maxsize=1)
def launchers() -> Launchers:
    """The table, read once.

    Raises:
        LaunchError: the data file is missing or is not of its form, which an installation that is whole never shows.
    """
    path = data_root() / _FILE
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return _launchers(data)
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise LaunchError(f"the table of launchers cannot be read ({error})", str(path), "Install again.") from error


def _launchers(data: dict[str, Any]) -> Launchers:
    wrappers: dict[str, tuple[Wrapper, ...]] = {}
    for item in data["wrappers"]:
        wrapper = _wrapper(item)
        wrappers[wrapper.name] = (*wrappers.get(wrapper.name, ()), wrapper)
    keys = data["config_keys"]
    return Launchers(
        needles=tuple(data["needles"]),
        modules={item["module"]: _module(item) for item in data["modules"]},
        programs={item["program"]: _program(item) for item in data["programs"]},
        module_runners=frozenset(data["module_runners"]),
        help_flags=frozenset(data["help_flags"]),
        model_flags=tuple(data["model_flags"]),
        config_flag=data["config_flag"],
        image_words=tuple(data["image_words"]),
        talkers=frozenset(data["talkers"]),
        search_paths=frozenset(data["search_paths"]),
        shells=frozenset(data["shells"]),
        wrappers=wrappers,
        config_keys=ConfigKeys(
            frozenset(keys["model"]), frozenset(keys["own"]), frozenset(keys["shared"]), frozenset(keys["json"])
        ),
        gpu_products=tuple((product, profile) for product, profile in data["gpu_products"]),
        gpu_resources=frozenset(data["gpu_resources"]),
    )


def _module(item: dict[str, Any]) -> Module:
    flags = {flag: -1 if count == "+" else int(count) for flag, count in item.get("own_flags", {}).items()}
    return Module(item["module"], flags, frozenset(item.get("client_flags", ())))


def _program(item: dict[str, Any]) -> Program:
    return Program(
        item["program"],
        item["subcommand"],
        frozenset(item["modules"]),
        item["positional"],
        item["selector"],
        frozenset(item["selector_values"]),
    )


def _wrapper(item: dict[str, Any]) -> Wrapper:
    return Wrapper(
        name=item["name"],
        subcommands=tuple(tuple(words) for words in item.get("subcommands", ())),
        values=frozenset(item.get("values", ())),
        switches=frozenset(item["switches"]) if "switches" in item else None,
        operands=item.get("operands", 0),
        image=item.get("image"),
        assignments=item.get("assignments", False),
        env_options=frozenset(item.get("env_options", ())),
        env_lists=frozenset(item.get("env_lists", ())),
        env_files=frozenset(item.get("env_files", ())),
        drops_env=item.get("env") == "drop",
        keep_options=frozenset(item.get("keep_options", ())),
        entrypoint=item.get("entrypoint", ""),
        script=frozenset(item.get("script", ())),
        joined=item.get("joined", False),
        needs_dashes=item.get("needs_dashes", False),
        gpu_options=frozenset(item.get("gpu_options", ())),
    )
