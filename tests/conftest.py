"""Real SGLang releases, fetched as packages into the cache once; tests that need them skip without a network."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtp_trace.errors import SourceError
from mtp_trace.source import SourceTree, open_tree

_opened: dict[str, SourceTree | str] = {}


@pytest.fixture(scope="session")
def release() -> Callable[[str], SourceTree]:
    """``release("0.5.12")``: its tree, or a skip that says why."""

    def get(version: str) -> SourceTree:
        if version not in _opened:
            try:
                _opened[version] = open_tree(version)
            except SourceError as error:
                _opened[version] = f"SGLang {version} cannot be fetched here: {error.what}"
        found = _opened[version]
        if isinstance(found, str):
            pytest.skip(found)
        return found

    return get
