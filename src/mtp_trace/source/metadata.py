"""The header lines of a package's METADATA file (core metadata specification), as plain text."""

from __future__ import annotations


def headers(metadata: str) -> dict[str, list[str]]:
    """Each header's values in order, by lower-case name. Continuation lines and the body are left out."""
    found: dict[str, list[str]] = {}
    for line in metadata.split("\n"):
        if not line:
            break
        if line[0] in " \t":  # a licence text, say, whose own empty lines are indented
            continue
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip().lower(), []).append(value.strip())
    return found
