"""What a project says of the rules: ``mtp-trace.toml``, or ``[tool.mtp-trace]`` of ``pyproject.toml``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from mtp_trace.errors import InputError
from mtp_trace.report.model import Severity
from mtp_trace.rules.document import near_hint
from mtp_trace.rules.model import Settings, Suppression

OWN_FILE = "mtp-trace.toml"
PROJECT_FILE = "pyproject.toml"
_KEYS = ("rules", "disable", "severity")
_MAX_BYTES = 1_000_000


def find_settings(start: Path) -> Settings:
    """The settings of the nearest folder, from ``start`` upwards, that has some; empty ones where none has."""
    for folder in (start.absolute(), *start.absolute().parents):
        if (folder / OWN_FILE).is_file():
            return read_settings(folder / OWN_FILE)
        if (folder / PROJECT_FILE).is_file():
            found = read_settings(folder / PROJECT_FILE)
            if found.file:
                return found
    return Settings()


def read_settings(path: Path) -> Settings:
    """The settings of one file; empty where a ``pyproject.toml`` has no table for them.

    Raises InputError naming file and key.
    """
    data = _toml(path)
    where = str(path)
    if path.name == PROJECT_FILE:
        tool = data.get("tool")
        data = tool.get("mtp-trace") if isinstance(tool, dict) else None  # type: ignore[assignment]
        if data is None:
            return Settings()
        where += ": tool.mtp-trace"
        if not isinstance(data, dict):
            raise InputError("a table is needed", where)
    for key in data:
        if key not in _KEYS:
            raise InputError(f"the key {key!r} is not known", f"{where}: {key}", near_hint(key, _KEYS))
    folders = data.get("rules", [])
    if not isinstance(folders, list) or not all(isinstance(f, str) and f for f in folders):
        raise InputError("a list of folders is needed", f"{where}: rules")
    return Settings(
        tuple(path.parent / f for f in folders),
        tuple(_disabled(data.get("disable", {}), where)),
        _severities(data.get("severity", {}), where),
        str(path),
    )


def _toml(path: Path) -> dict[str, Any]:
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data = path.read_bytes()
        if len(data) > _MAX_BYTES:
            raise InputError(f"the file has {len(data):,} bytes, over the limit of {_MAX_BYTES:,}", str(path))
        found: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return found
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", str(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"the file is not TOML: {error}", str(path)) from None


def _disabled(data: Any, where: str) -> list[Suppression]:
    if not isinstance(data, dict):
        raise InputError("a table of rule = reason is needed", f"{where}: disable", '[disable]\nRULE = "why"')
    out = []
    for rule, reason in data.items():
        if not isinstance(reason, str) or not reason.strip():
            raise InputError("a reason is needed", f"{where}: disable.{rule}", f'{rule} = "why"')
        out.append(Suppression(rule, reason.strip(), f"{where}: disable.{rule}"))
    return out


def _severities(data: Any, where: str) -> dict[str, Severity]:
    if not isinstance(data, dict):
        raise InputError("a table of rule = severity is needed", f"{where}: severity")
    known = [s.value for s in Severity]
    for rule, value in data.items():
        if value not in known:
            raise InputError(f"{value!r} is no severity", f"{where}: severity.{rule}", near_hint(str(value), known))
    return {rule: Severity(value) for rule, value in data.items()}
