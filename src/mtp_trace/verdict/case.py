"""A launch to be judged, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_MODEL_FLAGS = ("--model-path", "--model")


@dataclass(frozen=True)
class Case:
    """One launch: SGLang's own arguments, the environment, a GPU profile, the model where argv does not hold it."""

    id: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict, hash=False)
    gpu: str | None = None
    gpu_count: int | None = None
    model: str | None = None


def model_path_of(argv: Sequence[str]) -> str | None:
    """The model path that the arguments give, if any."""
    for i, word in enumerate(argv):
        flag, sign, value = word.partition("=")
        if flag in _MODEL_FLAGS:
            return value if sign else argv[i + 1] if i + 1 < len(argv) else None
    return None
