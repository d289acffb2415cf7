"""Makes holes of what is filled in later, by Helm and Jinja or by ``envsubst``, so that the rest can be read."""

from __future__ import annotations

import re

from mtp_trace.launch.holes import hole, variable

# Neither pattern looks past the next opening braces, so that many of them without an end take no longer.
_ACTION = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}", re.S)
_STATEMENT = re.compile(r"\{%(?:(?!\{%|%\}).)*%\}", re.S)
_CONTROL = re.compile(r"\{\{-?\s*(?:/\*|if\b|else\b|end\b|range\b|with\b|define\b|block\b|template\b|\$\w+\s*:?=)")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_LONGEST_SHOWN = 80


def has_templates(text: str) -> bool:
    """Whether a template engine has to fill in something."""
    return _ACTION.search(text) is not None


def without_templates(text: str) -> str:
    """The text with the same lines: actions that stand alone on a line are blanked, others are holes.

    Of a conditional every arm stays, since nobody tells which one is taken.
    """

    def put(match: re.Match[str]) -> str:
        action = match.group(0)
        if action.count("\n") or _CONTROL.match(action):
            return "\n" * action.count("\n")
        shown = " ".join(action.split())
        return hole(shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 5] + "...}}", soft=True)

    lines = _STATEMENT.sub(lambda match: "\n" * match.group(0).count("\n"), text).split("\n")
    kept = ["" if line.strip() and not _ACTION.sub("", line).strip() else line for line in lines]
    return _ACTION.sub(put, "\n".join(kept))


def with_variables(text: str) -> str:
    """The text with a hole for each ``${NAME}``: its reader takes it as it stands, so something fills it in."""
    return _VARIABLE.sub(lambda match: variable(match.group(1)), text)
