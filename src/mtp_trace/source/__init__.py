"""Where the text of an SGLang tree comes from: a folder, a wheel, a git ref, or a release by its version.

``open_tree`` picks the implementation; ``SourceTree`` is what everything else sees. Nothing here runs a line of the
tree, and only a release by version touches the network.
"""

from __future__ import annotations

from mtp_trace.source.decode import decode_source
from mtp_trace.source.interface import SourceTree
from mtp_trace.source.open import open_tree
from mtp_trace.source.requirements import pinned_version

__all__ = ["SourceTree", "decode_source", "open_tree", "pinned_version"]
