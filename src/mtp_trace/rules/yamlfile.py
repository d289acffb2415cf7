"""Shipped YAML data, read safely and once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

from mtp_trace.errors import RuleError
from mtp_trace.rules.data import data_root


@functools.cache
def shipped(name: str) -> dict[str, Any]:
    """The content of ``rules/NAME``.  Raises RuleError where it is missing or not a mapping."""
    return load_mapping(data_root() / name)


def load_mapping(path: Path) -> dict[str, Any]:
    """A YAML file that holds one mapping.  Raises RuleError with file and line."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(path.read_bytes(), Loader=loader)  # noqa: S506 - a SafeLoader either way
    except OSError as error:
        raise RuleError(f"the file cannot be read: {error.strerror}", str(path)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise RuleError(f"the file is not YAML: {getattr(error, 'problem', None) or error}", where) from None
    if not isinstance(data, dict):
        raise RuleError("the file must hold a mapping", str(path))
    return data
