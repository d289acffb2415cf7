"""``mtp-trace explain-flag``: does a flag touch speculation in a tree?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mtp_trace.cli.options import cache_for, tree_options, write

if TYPE_CHECKING:
    from mtp_trace.rules.flagfacts import FlagFacts


@click.command(name="explain-flag")
@tree_options
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of parsed files.")
@click.option("--format", "form", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.argument("flag")
def explain_flag(sglang: str, ref: str | None, no_cache: bool, form: str, flag: str) -> None:
    """Say where a flag meets speculation in a tree: conditions, checks and writes; or that it does not.

    \b
    mtp-trace explain-flag --sglang 0.5.18 -- --disable-custom-all-reduce
    mtp-trace explain-flag --sglang ./sglang disable_custom_all_reduce
    """
    from mtp_trace.report.model import SglangInfo
    from mtp_trace.rules.flagfacts import flag_facts
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.advice import tree_sites

    tree = open_tree(sglang, ref)
    facts = flag_facts(tree_sites(tree, cache_for(no_cache)), flag)
    if form == "json":
        from dataclasses import asdict

        from mtp_trace.report.jsonform import sglang_dict
        from mtp_trace.report.plain import to_bytes

        data = {
            "schema": 1,
            "sglang": sglang_dict(SglangInfo(tree.root, tree.version, tree.ref)),
            "flag": facts.flag.name,
            "field": facts.flag.field,
            "file": facts.flag.file,
            "line": facts.flag.line,
            "interacts": facts.interacts,
            "meets": [asdict(p) for p in facts.meets],
            "reads": [asdict(p) for p in facts.reads],
        }
        write(to_bytes(data, indent=True).decode(), None)
        return
    write(_text(facts, tree.version or Path(tree.root).name), None)


def _text(facts: FlagFacts, version: str) -> str:
    flag = facts.flag
    word = "touches" if facts.interacts else "does not touch"
    lines = [
        f"{flag.name} {word} speculation in {version}.",
        f"  registered at {flag.file}:{flag.line}, field {flag.field}",
    ]
    for place in facts.meets:
        lines.append(f"  {place.file}:{place.line}  {place.how} ({place.function})")
        lines.append(f"      {place.text[:160]}")
    if not facts.interacts:
        lines.append(
            "  No condition, check or write joins it with a field of speculation, and no code of speculation reads it."
            if facts.reads
            else "  Nothing reads it."
        )
    if facts.reads:
        lines.append(f"  read elsewhere at {len(facts.reads)} place{'s' if len(facts.reads) != 1 else ''}:")
        lines += [f"  {p.file}:{p.line}  ({p.function})" for p in facts.reads[:12]]
    return "\n".join(lines) + "\n"
