"""A model as the user names it: a config.json, a folder, or ORG/NAME in the local Hugging Face cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .bounded import MIB, json_kind, open_regular, read_json_object, shown
from .hubcache import fetch as fetch_from_hub
from .hubcache import find_cached, is_repo_id

CONFIG = "config.json"
MAX_CONFIG_BYTES = 16 * MIB
MAX_FILES = 100_000

_CONFIG_HINT = "A config.json is a few kilobytes: check that this is the model's configuration and not its weights."


@dataclass(frozen=True)
class FileEntry:
    """A file of the model folder. ``size`` in bytes, None where it cannot be told (a broken symlink)."""

    name: str
    size: int | None


class ModelFolder:
    """A model folder: its config.json, read, and the names of its other files. No tensor is ever read.

    Attributes:
        path: the folder. Not resolved: a snapshot of a Hugging Face cache keeps its own path.
        config_file: the configuration's file.
        config: config.json, parsed (NaN and Infinity as Python takes them; of two equal keys the last counts).
        given: what the user wrote.
        bare: only a configuration was given, under a name of its own; nothing beside it belongs to the model.
        repo_id, revision: where the model came from the cache or the Hub; else None.
        notes: what had to be assumed to find it.
    """

    def __init__(
        self,
        config_file: Path,
        *,
        given: str = "",
        bare: bool = False,
        repo_id: str | None = None,
        revision: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.path = config_file.parent
        self.config_file = config_file
        self.given = given or str(config_file)
        self.bare = bare
        self.repo_id, self.revision, self.notes = repo_id, revision, notes
        self.config: dict[str, Any] = read_json_object(config_file, MAX_CONFIG_BYTES, _CONFIG_HINT)

    @classmethod
    def open(
        cls,
        given: str,
        *,
        revision: str = "main",
        env: Mapping[str, str] | None = None,
        fetch: bool = False,
    ) -> ModelFolder:
        """Find and read a model.

        Args:
            given: a config.json (any other ``*.json`` name is a configuration on its own, without neighbours),
                a folder with a config.json, or ORG/NAME.
            revision: branch, tag or commit; for ORG/NAME only.
            env: the environment that says where the cache lies (the process's own by default).
            fetch: may config.json and the weight indexes be fetched from the Hub where the cache lacks them?
                Needs the optional package ``huggingface_hub``.

        Raises:
            CheckpointError: there is no such model, or its configuration cannot be used.
        """
        variables = os.environ if env is None else env
        if not given.strip():
            raise CheckpointError("no model was given", "--model", "Give a config.json, a folder, or ORG/NAME.")
        path = Path(given)
        try:
            is_folder, is_there = path.is_dir(), os.path.lexists(path)
        except (OSError, ValueError) as error:
            raise CheckpointError("this is not a usable path", shown(given, 200)) from error
        if is_folder:
            return cls(_config_of(path), given=given)
        if is_there:
            return cls(path, given=given, bare=path.name != CONFIG)
        if not is_repo_id(given):
            raise CheckpointError(
                "there is no such file or folder",
                shown(given, 200),
                "Give a config.json, a folder that holds one, or ORG/NAME of a model in the local Hugging Face cache.",
            )
        cached = None
        try:
            cached = find_cached(given, revision, variables)
            config_file = _config_of(cached.path)
        except CheckpointError:
            if not fetch:
                raise
            cached = fetch_from_hub(given, revision, variables)
            config_file = _config_of(cached.path)
        return cls(config_file, given=given, repo_id=cached.repo_id, revision=cached.commit, notes=cached.notes)

    @property
    def architectures(self) -> tuple[str, ...]:
        """The configuration's ``architectures``; empty where the key is missing or unusable."""
        value = self.config.get("architectures")
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return tuple(value)
        return ()

    @property
    def model_type(self) -> str | None:
        """The configuration's ``model_type``, where it is a string."""
        value = self.config.get("model_type")
        return value if isinstance(value, str) else None

    def require_architectures(self) -> tuple[str, ...]:
        """The configuration's ``architectures``, at least one.

        Raises:
            CheckpointError: the key is missing, null, empty, or not a list of strings.
        """
        hint = "Take config.json from the model's own repository; SGLang picks the model class by this key."
        if "architectures" not in self.config:
            raise CheckpointError("the configuration has no key `architectures`", str(self.config_file), hint)
        value = self.config["architectures"]
        place = f"{self.config_file}: architectures"
        if not isinstance(value, list):
            raise CheckpointError(f"`architectures` is {json_kind(value)}, not a list of class names", place, hint)
        for name in value:
            if not isinstance(name, str):
                raise CheckpointError(f"`architectures` holds {json_kind(name)}, not a class name", place, hint)
        if not value:
            raise CheckpointError("`architectures` is an empty list", place, hint)
        return tuple(value)

    @cached_property
    def files(self) -> tuple[FileEntry, ...]:
        """The folder's own files by name, symlinks followed for their size. Folders and special files are left out.

        Of a configuration that was given on its own, only that file.

        Raises:
            CheckpointError: the folder cannot be listed, or holds more than ``MAX_FILES`` entries.
        """
        if self.bare:
            with open_regular(self.config_file) as (_, size):
                return (FileEntry(self.config_file.name, size),)
        found: list[FileEntry] = []
        try:
            with os.scandir(self.path) as entries:
                for count, entry in enumerate(entries):
                    if count >= MAX_FILES:
                        raise CheckpointError(f"the folder holds more than {MAX_FILES} files", str(self.path))
                    try:
                        if entry.is_file():
                            found.append(FileEntry(entry.name, entry.stat().st_size))
                        elif entry.is_symlink() and not os.path.exists(entry.path):
                            found.append(FileEntry(entry.name, None))
                    except OSError:
                        found.append(FileEntry(entry.name, None))
        except OSError as error:
            raise CheckpointError(f"the folder cannot be listed: {error.strerror or error}", str(self.path)) from error
        return tuple(sorted(found, key=lambda file: file.name))

    def has(self, name: str) -> bool:
        """Whether the folder holds a file of this name whose content is there."""
        return any(file.name == name and file.size is not None for file in self.files)

    def read_json(self, name: str, limit: int = MAX_CONFIG_BYTES) -> dict[str, Any]:
        """Another JSON file of the folder, bounded as config.json is.

        Args:
            name: a plain file name, no path.
            limit: the size in bytes above which the file is refused.

        Raises:
            CheckpointError: no such file, not a plain name, or not a JSON object.
        """
        return read_json_object(self.file_path(name), limit)

    def file_path(self, name: str) -> Path:
        """The path of a file of the folder.

        Raises:
            CheckpointError: ``name`` is not a plain file name.
        """
        if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
            raise CheckpointError(f"{shown(name)} is not the name of a file in the folder", str(self.path))
        return self.path / name


def _config_of(folder: Path) -> Path:
    config = folder / CONFIG
    if os.path.lexists(config):
        return config
    hint = "Give the folder that holds the model's config.json, or the file itself."
    try:
        names = sorted(os.listdir(folder))[:MAX_FILES]
    except OSError as error:
        raise CheckpointError(f"the folder cannot be listed: {error.strerror or error}", str(folder)) from error
    if (folder / "snapshots").is_dir():
        hint = "This is a Hugging Face cache entry: give ORG/NAME, or one of the folders under snapshots/."
    elif "params.json" in names:
        hint = "Only a params.json is here: give the config.json of the Hugging Face layout."
    elif any(name.endswith(".gguf") for name in names):
        hint = "Only GGUF files are here: give the config.json of the model that they were made from."
    elif "adapter_config.json" in names:
        hint = "This is an adapter: give the config.json of its base model."
    raise CheckpointError("the folder holds no config.json", str(folder), hint)
