"""Is a draft's class one that was made for drafting, and does its configuration declare layers to draft with?"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mtp_trace.report.model import DraftInfo, Finding, Fix, Severity
from mtp_trace.trace.engine import Engine
from mtp_trace.verdict.registry import DraftClass
from mtp_trace.verdict.weights_rules import WeightRules


def drafthood(
    engine: Engine,
    rules: WeightRules,
    draft: DraftInfo,
    found: DraftClass,
    algorithm: object,
    weighed: bool,
    own_head: bool,
) -> tuple[Finding, ...]:
    """What is to be said of a draft by its class and its configuration, whatever its checkpoint holds.

    ``weighed``: the checkpoint's tensors are known, and what is missing of them is said elsewhere. ``own_head``: the
    draft is of the target's own checkpoint, so that the tree itself chose its class.
    """
    if algorithm not in rules.hidden_for:
        return ()
    if not own_head and not any(rules.hidden_mark.encode() in text for text in _texts(engine, found)):
        return (_not_a_draft(rules, draft, found),)
    if draft.num_nextn_predict_layers == 0 and not weighed:
        return (_no_layers(draft, found),)
    return ()


def _texts(engine: Engine, found: DraftClass) -> Iterator[bytes]:
    """The class's file, and those of its folder that it imports from: a draft may be put together elsewhere."""
    tree = engine.imports.tree
    text = tree.read(found.file) or b""
    yield text
    package = posixpath.dirname(found.file).replace("/", ".")
    for match in re.finditer(rb"^from (" + re.escape(package.encode()) + rb"[\w.]+) import", text, re.M):
        base = match.group(1).decode().replace(".", "/")
        yield tree.read(f"{base}.py") or tree.read(f"{base}/__init__.py") or b""


def _not_a_draft(rules: WeightRules, draft: DraftInfo, found: DraftClass) -> Finding:
    return Finding(
        "weights/not-a-draft",
        Severity.ERROR,
        "the draft's class was not made for drafting",
        f"{found.name}, which {draft.model_path} is loaded as, has no use for what the target hands to a draft "
        f"({rules.hidden_mark}): it is a model of its own and drafts without knowing the target's state",
        found.file,
        found.line,
        found.line,
        f"class {found.name}",
        Fix("Give a draft that was trained for this target, or none where the checkpoint has its own head."),
    )


def _no_layers(draft: DraftInfo, found: DraftClass) -> Finding:
    return Finding(
        "weights/no-draft-layers",
        Severity.WARNING,
        "the configuration declares no draft layer",
        f"{draft.model_path} declares 0 draft layers, and {found.name} builds one all the same: a checkpoint without "
        "it leaves its weights as allocated, and no drafted token is accepted",
        found.file,
        found.line,
        found.line,
        f"class {found.name}",
        Fix("Give a draft of its own by --speculative-draft-model-path, or start without speculative decoding."),
    )
