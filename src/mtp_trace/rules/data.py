"""Where the shipped rule files are: inside the installed package, or in the repository that it runs from."""

from __future__ import annotations

from pathlib import Path


def data_root() -> Path:
    """The folder that holds the YAML rule files.

    Returns:
        ``mtp_trace/_data/rules`` of an installed package where it exists, else the repository's ``rules``.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "_data" / "rules"
    if installed.is_dir():
        return installed
    return package.parents[1] / "rules"
