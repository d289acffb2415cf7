"""Which class ``AutoConfig.from_pretrained`` makes of a config.json, or how it refuses.

Stated from the behaviour of ``AutoConfig.from_pretrained`` and ``resolve_trust_remote_code``; the words of a refusal
are recorded ones, from the table of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mtp_trace.checkpoint.transformers_table import TransformersTable


class Source(str, Enum):
    """Where the class comes from."""

    TABLE = "table"
    """transformers' own class; ``name`` is its name."""
    REGISTERED = "registered"
    """A class that the program registered; ``name`` is the model type."""
    REMOTE = "remote"
    """The repository's own code; ``name`` is the reference, as ``file.Class`` or ``owner/repository--file.Class``."""
    REFUSED = "refused"
    """None: an error of type ``name`` with ``text``."""


@dataclass(frozen=True)
class Choice:
    """The class that is made, or the error."""

    source: Source
    name: str
    text: str = ""


def choose_class(
    table: TransformersTable,
    config: Mapping[str, Any],
    path: str,
    trust_remote_code: bool,
    registered: Collection[str] = (),
    has_file: Callable[[str], bool] = lambda name: True,
) -> Choice:
    """The class for a config.json.

    ``path`` is the model path as given. ``registered`` are the model types that the program registered itself.
    ``has_file`` tells whether a file is beside config.json, for remote code. Remote code is asked about first: a known
    model type only saves a launch without ``trust_remote_code`` from being refused.
    """
    kind = config.get("model_type")
    own = isinstance(kind, str) and kind in registered
    known = own or (isinstance(kind, str) and table.knows(kind))
    reference = _remote(config)
    if reference is not None and not trust_remote_code and not known:
        refusal = "remote-code-refused-upstream" if "--" in reference else "remote-code-refused"
        return _refused(table, refusal, path=path, upstream=reference.split("--")[0])
    if reference is not None and trust_remote_code and not (own and table.registered_wins):
        file = reference.split("--")[-1].split(".")[0] + ".py"
        if "--" not in reference and not has_file(file):
            return _refused(table, "remote-file-missing", path=path, file=file)
        return Choice(Source.REMOTE, reference)
    if "model_type" not in config:
        return _by_name(table, path)
    redirected = table.redirects.get(f"{kind} with layer_types") if "layer_types" in config else None
    if own and isinstance(kind, str):
        return Choice(Source.REGISTERED, kind)
    cls = redirected or (table.config_class(kind) if isinstance(kind, str) else None)
    if cls is None:
        return _refused(table, "unknown-model-type", model_type=str(kind))
    return Choice(Source.TABLE, cls)


def _remote(config: Mapping[str, Any]) -> str | None:
    mapped = config.get("auto_map")
    reference = mapped.get("AutoConfig") if isinstance(mapped, Mapping) else None
    return reference if isinstance(reference, str) else None


def _by_name(table: TransformersTable, path: str) -> Choice:
    """Without a model_type: older releases take the longest one that the path contains."""
    if table.guesses_by_name:
        for kind in sorted(table.model_types(), key=len, reverse=True):
            cls = table.config_class(kind)
            if kind in path and cls is not None:
                return Choice(Source.TABLE, cls)
    return _refused(table, "no-model-type", path=path, model_types=", ".join(table.model_types()))


def _refused(table: TransformersTable, kind: str, **values: str) -> Choice:
    words = table.error(kind)
    if words is None:
        return Choice(Source.REFUSED, "ValueError", kind)
    return Choice(Source.REFUSED, words.type, words.filled(**values))
