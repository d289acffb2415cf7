"""Other people's matchers on the same files: what they find by a pattern is a part of what a launch's path needs."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

# A remap of a model's architecture, and a guard that ends a launch: an assertion, or a raise under a condition.
SEMGREP = {
    "rules": [
        {"id": "remap", "languages": ["python"], "severity": "INFO", "message": "remap",
         "pattern": "$X.architectures[0] = $Y"},
        {"id": "guard", "languages": ["python"], "severity": "INFO", "message": "guard",
         "pattern-either": [{"pattern": "assert $C, $M"}, {"pattern": "if $C:\n    ...\n    raise $E(...)\n"}]},
    ]
}  # fmt: skip
AST_GREP = [
    {"id": "remap", "language": "python", "severity": "info", "message": "remap",
     "rule": {"pattern": "$X.architectures[0] = $Y"}},
    {"id": "guard", "language": "python", "severity": "info", "message": "guard",
     "rule": {"any": [{"pattern": "assert $C, $M"},
                      {"kind": "if_statement", "has": {"kind": "raise_statement", "stopBy": "end"}}]}},
]  # fmt: skip


def matchers(files: list[str], folder: Path) -> dict[str, list[str] | str]:
    """A command for each matcher, or why there is none. The rules are written into ``folder``."""
    semgrep_rules, ast_grep_rules = folder / "semgrep.json", folder / "ast-grep.yaml"
    semgrep_rules.write_text(json.dumps(SEMGREP))
    ast_grep_rules.write_text("\n---\n".join(json.dumps(rule) for rule in AST_GREP))
    semgrep, ast_grep = _found("semgrep"), _found("ast-grep")
    quiet = ["--metrics=off", "--disable-version-check", "--quiet", "--json", "--no-git-ignore"]
    return {
        "semgrep, two patterns": [semgrep, "scan", "--config", str(semgrep_rules), *quiet, *files]
        if semgrep
        else "semgrep is not installed (pip install semgrep)",
        "ast-grep, two patterns": [ast_grep, "scan", "--rule", str(ast_grep_rules), "--json=stream", *files]
        if ast_grep
        else "ast-grep is not installed (pip install ast-grep-cli)",
    }


def _found(name: str) -> str | None:
    """The program on the path, or beside the Python that runs this."""
    beside = Path(sys.executable).parent / name
    return shutil.which(name) or (str(beside) if beside.is_file() else None)
