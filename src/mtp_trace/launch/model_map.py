"""Where the model stands in a launch's arguments, and how its path is turned into one that exists here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mtp_trace.errors import LaunchError
from mtp_trace.launch.launchers import launchers
from mtp_trace.launch.model import Launch


@dataclass(frozen=True)
class ModelArgument:
    """A model flag: ``index`` of the word that holds the value, ``joined`` for ``--model-path=VALUE``."""

    flag: str
    value: str
    index: int
    joined: bool


def find_model(argv: Sequence[str]) -> ModelArgument | None:
    """The model that the arguments name, or None. As the server does, the last one counts."""
    found: ModelArgument | None = None
    for index, word in enumerate(argv):
        for flag in launchers().model_flags:
            if word == flag and index + 1 < len(argv):
                found = ModelArgument(flag, argv[index + 1], index + 1, joined=False)
            elif word.startswith(flag + "="):
                found = ModelArgument(flag, word[len(flag) + 1 :], index, joined=True)
    return found


def with_model(argv: Sequence[str], path: str) -> tuple[str, ...]:
    """The arguments with the model at ``path``; they stay as they are where they name none."""
    model = find_model(argv)
    if model is None:
        return tuple(argv)
    words = list(argv)
    words[model.index] = f"{model.flag}={path}" if model.joined else path
    return tuple(words)


@dataclass(frozen=True)
class ModelMap:
    """Pairs (old, new) of paths; the longest old one that fits counts."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, items: Sequence[str]) -> ModelMap:
        """From ``OLD=NEW`` items.

        Raises:
            LaunchError: an item has no ``=``, or nothing before or after it.
        """
        pairs: list[tuple[str, str]] = []
        for item in items:
            old, equals, new = item.partition("=")
            if not equals or not old or not new:
                raise LaunchError(
                    f"{item!r} is not of the form OLD=NEW", "--model-map", "Example: --model-map /models=/data/configs"
                )
            pairs.append((_trimmed(old), _trimmed(new)))
        return cls(tuple(pairs))

    def apply(self, path: str) -> str | None:
        """The path that ``path`` is here: by the pair whose old side is it or a folder above it; else None."""
        best: tuple[str, str] | None = None
        for old, new in self.pairs:
            inside = path == old or path.startswith(old if old.endswith("/") else old + "/")
            if inside and (best is None or len(old) > len(best[0])):
                best = (old, new)
        if best is None:
            return None
        rest = path[len(best[0]) :].lstrip("/")
        return f"{best[1].rstrip('/')}/{rest}" if rest else best[1]

    def launch(self, launch: Launch) -> Launch:
        """The launch with its model's path mapped, where a pair fits."""
        model = find_model(launch.argv)
        new = self.apply(model.value) if model is not None else None
        return launch if new is None else replace(launch, argv=with_model(launch.argv, new))


def _trimmed(path: str) -> str:
    return path.rstrip("/") or "/"
