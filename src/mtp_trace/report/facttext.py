"""A scanned fact, and any plain value, in a few words on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtp_trace.report.listing_model import Fact
from mtp_trace.report.plain import plain
from mtp_trace.report.textsafe import one_line

# What a reader looks for first; other keys follow by name.
_FIRST = ("name", "default", "architectures", "architecture", "class", "from", "to", "field", "fields", "condition")


def fact_text(fact: Fact) -> str:
    """The keys of the fact's kind as ``key: value; key: value``."""
    keys = [key for key in _FIRST if key in fact.details]
    keys += sorted(key for key in fact.details if key not in keys)
    return "; ".join(f"{one_line(key)}: {value_text(fact.details[key])}" for key in keys)


def value_text(value: Any) -> str:
    """A plain value without JSON's quotes and braces: lists by commas, mappings as ``key=value``."""
    data = plain(value)
    if data is None:
        return "none"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, Mapping):
        return ", ".join(f"{one_line(key)}={value_text(item)}" for key, item in data.items())
    if isinstance(data, list):
        return "[" + ", ".join(map(value_text, data)) + "]"
    return one_line(str(data))
