"""Real release trees for tests: unpacked under $MTP_TRACE_TREES, or fetched once into the cache."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from mtp_trace.errors import SourceError
from mtp_trace.rules.sites import Sites
from mtp_trace.source import SourceTree, open_tree
from mtp_trace.syntax.cache import DiskCache
from mtp_trace.verdict.advice import tree_sites


@functools.cache
def tree_of(version: str) -> SourceTree:
    """The release's tree; the test is skipped where it cannot be had."""
    folder = Path(os.environ.get("MTP_TRACE_TREES", "/nowhere")) / version
    try:
        return open_tree(str(folder) if folder.is_dir() else version)
    except SourceError as error:
        pytest.skip(f"release {version}: {error.what}")


@functools.cache
def sites_of(version: str) -> Sites:
    """The release's sites, shared by the tests of a run."""
    return tree_sites(tree_of(version), DiskCache())
