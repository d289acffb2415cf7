"""The server's own YAML configuration: on its own, and merged into the arguments of a launch that names it.

What a key and its value become, and that the command line wins over the file, follows SGLang's
``ConfigArgumentMerger``: the file's arguments are put before those of the command line, of which ``--config FILE`` is
taken out. Whether a boolean key is a switch depends on the release; ``switches`` says so where it is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtp_trace.errors import LaunchError
from mtp_trace.launch.holes import has_hole, show
from mtp_trace.launch.launchers import ConfigKeys, Launchers, launchers
from mtp_trace.launch.templates import with_variables
from mtp_trace.launch.text import Text
from mtp_trace.launch.yaml_nodes import Mapping as MappingNode
from mtp_trace.launch.yaml_nodes import Node, Scalar, native, read_documents
from mtp_trace.launch.yaml_nodes import Sequence as SequenceNode

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def config_arguments(config: Mapping[str, Any], switches: Callable[[str], bool] | None = None) -> list[str]:
    """The arguments that a configuration stands for, in its order.

    Args:
        config: keys are flags without their dashes.
        switches: whether a flag (``--enable-metrics``, as the key spells it) takes no value. Without it every
            boolean is taken for a switch: true gives the flag alone, false gives nothing.
    """
    arguments: list[str] = []
    for key, value in config.items():
        flag = f"--{key}"
        if isinstance(value, bool):
            if switches is None or switches(flag):
                arguments.extend([flag] if value else [])
            else:
                arguments.extend([flag, str(value).lower()])
        elif isinstance(value, list):
            arguments.extend([flag, *(str(item) for item in value)] if value else [])
        elif isinstance(value, dict):
            plain = json.dumps(value, default=str, ensure_ascii=False)
            arguments.extend([flag, plain if has_hole(plain) else json.dumps(value, default=str)])
        else:
            arguments.extend([flag, str(value)])
    return arguments


def parse_config(text: str, where: str = "") -> dict[str, Any]:
    """The configuration in a YAML text; an empty text is an empty one.

    Raises:
        LaunchError: the text is not YAML or its root is not a mapping.
    """
    documents = read_documents(text)
    value = native(documents[0]) if documents else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LaunchError("a configuration must be a mapping of flags to values", where, "Write `flag-name: value`.")
    return value


def merged_arguments(
    argv: Sequence[Text],
    read: Callable[[str], str | None],
    tables: Launchers,
    switches: Callable[[str], bool] | None = None,
) -> tuple[list[Text], list[str]]:
    """The arguments with the file behind ``--config`` merged in.

    Args:
        argv: the arguments as written.
        read: gives the text of the file with that name, or None.
        tables: names the flag.
        switches: as in :func:`config_arguments`.

    Returns:
        The arguments, and notes on what was done or could not be.
    """
    places = [index for index, word in enumerate(argv) if word.text == tables.config_flag]
    if not places:
        return list(argv), []
    if len(places) > 1 or places[0] + 1 >= len(argv):
        return list(argv), [f"{tables.config_flag} must stand once and name one file: it is left as it is"]
    place = places[0]
    name = argv[place + 1].text
    if not name.lower().endswith((".yaml", ".yml")):
        return list(argv), [f"{tables.config_flag} takes a .yaml or .yml file: it is left as it is"]
    text = read(name)
    if text is None:
        missing = f"the file behind {tables.config_flag} was not found: its arguments are unknown"
        return list(argv), [missing]
    try:
        config = parse_config(text, show(name))
    except LaunchError as error:
        unread = f"the file behind {tables.config_flag} cannot be read: {error.what}"
        return list(argv), [unread]
    line = argv[place].line
    given = [Text.at(with_variables(word), line) for word in config_arguments(config, switches)]
    notes = [f"the arguments of {show(name)} are merged in, before the others", *config_notes(config)]
    return [*given, *argv[:place], *argv[place + 2 :]], notes


def config_notes(config: Mapping[str, Any]) -> list[str]:
    """What the user of a configuration should know: keys go to the command line as they are spelled."""
    spelled = [key for key in config if "_" in key]
    if not spelled:
        return []
    return [f"keys are handed on as they are spelled, and flags have dashes: {', '.join(spelled[:8])}"]


def config_launch(document: Node, tables: Launchers | None = None) -> tuple[dict[str, Any], int] | None:
    """A document that is a server's configuration, with the line of its model; None for any other document.

    It has to be a flat mapping that names a model and either a key of this server alone, or nothing but known keys.
    """
    keys = (tables or launchers()).config_keys
    if not isinstance(document, MappingNode):
        return None
    items = document.items()
    names = {name.replace("_", "-"): name for name in items}
    model = next((names[key] for key in sorted(keys.model, reverse=True) if key in names), None)
    if model is None or not _flat(items, keys) or not _is_server(set(names), keys):
        return None
    if not isinstance(items[model], Scalar) or not isinstance(native(items[model]), str):
        return None
    return {name: native(node) for name, node in items.items()}, document.keys()[model].line


def _is_server(names: set[str], keys: ConfigKeys) -> bool:
    if names & keys.own:
        return True
    return "model-path" in names and len(names) > 1 and names <= keys.model | keys.own | keys.shared


def _flat(items: Mapping[str, Node], keys: ConfigKeys) -> bool:
    for name, node in items.items():
        if not _KEY.fullmatch(name):
            return False
        if isinstance(node, MappingNode) and name.replace("_", "-") not in keys.json:
            return False
        if isinstance(node, SequenceNode) and any(not isinstance(item, Scalar) for item in node.items):
            return False
    return True
