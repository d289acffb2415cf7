"""``mtp-trace rules``: the rules in force, their pages, and tools for one's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mtp_trace.cli.options import cache_for, write
from mtp_trace.errors import InputError

if TYPE_CHECKING:
    from mtp_trace.rules.model import Pack, Rule

_DIRS = click.option(
    "--rules", "rule_dirs", multiple=True, type=click.Path(), help="A folder of your own rules; may be repeated."
)


@click.group()
def rules() -> None:
    """Show the rules, and write your own."""


@rules.command(name="list")
@_DIRS
@click.option("--sglang", default=None, metavar="TREE", help="Count each rule's sites in this tree.")
@click.option("--ref", default=None, metavar="REF", help="Git ref of the checkout.")
@click.option("--format", "form", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
def list_rules(rule_dirs: tuple[str, ...], sglang: str | None, ref: str | None, form: str) -> None:
    """All rules: id, kind, severity, name."""
    pack = _pack(rule_dirs)
    counts = _counts(pack, sglang, ref) if sglang else {}
    if form == "json":
        from mtp_trace.report.plain import to_bytes

        rows = [_row(r, counts.get(r.id) if sglang else None) for r in pack.rules]
        write(to_bytes({"schema": 1, "rules": rows}, indent=True).decode(), None)
        return
    off = {s.rule: s.reason for s in pack.settings.disabled}
    width = max(len(r.id) for r in pack.rules)
    for rule in pack.rules:
        sites = f"{counts.get(rule.id, 0):>4}  " if sglang else ""
        state = f"  (off: {off[rule.id]})" if rule.id in off else ""
        click.echo(f"{rule.id:<{width}}  {rule.severity.value:<7}  {rule.kind:<20}  {sites}{rule.name}{state}")


@rules.command()
@_DIRS
@click.argument("rule_id", metavar="ID")
def explain(rule_dirs: tuple[str, ...], rule_id: str) -> None:
    """One rule's page."""
    from mtp_trace.rules.document import near_hint
    from mtp_trace.rules.pages import page

    pack = _pack(rule_dirs)
    rule = pack.get(rule_id)
    if rule is None:
        raise InputError(
            f"there is no rule {rule_id!r}", "rules explain", near_hint(rule_id, [r.id for r in pack.rules])
        )
    write(page(rule), None)


@rules.command()
@click.argument("folder", type=click.Path(path_type=Path))
def lint(folder: Path) -> None:
    """Check the rules of a folder or file: errors with file, line and key, then advice.

    Exit status: 0 nothing to say, 1 advice, 2 a rule is wrong.
    """
    from mtp_trace.rules.lint import lint as remarks
    from mtp_trace.rules.loader import load_folder
    from mtp_trace.rules.model import Pack

    found = load_folder(folder)
    advice = remarks(Pack(tuple(found.values())))
    for item in advice:
        click.echo(f"{item.where}: {item.rule}: {item.text}")
    click.echo(
        f"{len(found)} rule{'s' if len(found) != 1 else ''}, {len(advice)} remark{'s' if len(advice) != 1 else ''}",
        err=True,
    )
    sys.exit(1 if advice else 0)


@rules.command(name="test")
@_DIRS
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
def run(rule_dirs: tuple[str, ...], folder: Path) -> None:
    """Try the rules on annotated miniatures: `# ruleid: X` above a line must fire there, `# ok: X` must not.

    Rules that stand in FOLDER (or its `rules` folder) are loaded too. Exit status: 0 all as written, 1 not.
    """
    from mtp_trace.rules.testing import run_tests

    own = _rule_files_in(folder)
    results = run_tests(_pack((*rule_dirs, *own)), folder)
    failed = [r for r in results if r.failed]
    for result in failed:
        e = result.expectation
        if e.todo:
            what = "is marked as a known gap, and is none any more"
        else:
            what = "must fire here and does not" if e.fires else "fires here and must not"
        click.echo(f"{e.file}:{e.line}: {e.rule} {what}")
    click.echo(f"{len(results)} expectations, {len(failed)} not met", err=True)
    sys.exit(1 if failed else 0)


def _rule_files_in(folder: Path) -> tuple[str, ...]:
    if os.path.isfile(folder):
        return ()
    files = (p for p in sorted(folder.rglob("*")) if p.suffix in (".yaml", ".yml"))
    return tuple(str(p) for p in files if not p.name.endswith(".launch.yaml"))


def _pack(rule_dirs: tuple[str, ...]) -> Pack:
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.settings import find_settings

    return load_pack(rule_dirs, find_settings(Path.cwd()))


def _counts(pack: Pack, sglang: str, ref: str | None) -> dict[str, int]:
    from mtp_trace.rules.match_site import find_sites
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.advice import tree_sites

    sites = tree_sites(open_tree(sglang, ref), cache_for(False))
    return {r.id: len(find_sites(sites, r.match.site)) for r in pack.rules if r.match.site is not None}


def _row(rule: Rule, sites: int | None) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "kind": rule.kind,
        "severity": rule.severity.value,
        "requires": rule.requires,
        "sites": sites,
    }
