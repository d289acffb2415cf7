"""What a rule says about itself, for the formats that carry rules apart from their findings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleText:
    """A rule's short name and its help in plain text (what it finds, why it matters, what to do)."""

    name: str
    help: str = ""
