"""``mtp-trace scan``: every fact of a tree about speculation."""

from __future__ import annotations

import sys

import click

from mtp_trace.cli.options import cache_for, output_options, told_drift, tree_options, write

FORMATS = ("terminal", "json", "markdown", "sarif", "junit", "github")


@click.command()
@tree_options
@click.option(
    "--rules", "rule_dirs", multiple=True, type=click.Path(), help="A folder of your own rules; may be repeated."
)
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only facts of this kind; may be repeated.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of parsed files.")
@output_options(FORMATS)
def scan(
    sglang: str,
    ref: str | None,
    rule_dirs: tuple[str, ...],
    kinds: tuple[str, ...],
    no_cache: bool,
    form: str,
    output: str | None,
    quiet: bool,
) -> None:
    """List what a tree says about speculation, with file and line.

    The remap of architectures, the algorithm's other names, the draft-path and parameter tables, guards with their
    conditions and messages, draft classes, environment switches.

    \b
    mtp-trace scan --sglang ./sglang
    mtp-trace scan --sglang 0.5.18 --kind architecture-remap --format json

    Exit status: 0, 2 bad input, 3 where a rule that must find a place in any tree finds none.
    """
    from dataclasses import replace
    from pathlib import Path

    from mtp_trace import __version__
    from mtp_trace.report.formats import Format, RenderOptions, render_scan
    from mtp_trace.report.model import SglangInfo
    from mtp_trace.report.terminal_console import Screen, screen_for
    from mtp_trace.rules.document import near_hint
    from mtp_trace.rules.drift import drift
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.model import KINDS
    from mtp_trace.rules.pages import rule_texts
    from mtp_trace.rules.scan import scan as scan_sites
    from mtp_trace.rules.settings import find_settings
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.advice import tree_sites

    for kind in kinds:
        if kind not in KINDS:
            raise click.UsageError(f"there is no kind {kind!r}; {near_hint(kind, KINDS)}")
    pack = load_pack(rule_dirs, find_settings(Path.cwd()))
    tree = open_tree(sglang, ref)
    sites = tree_sites(tree, cache_for(no_cache))
    found = scan_sites(pack, sites, SglangInfo(tree.root, tree.version, tree.ref))
    if kinds:
        found = replace(found, facts=tuple(f for f in found.facts if f.kind in kinds))
    screen = screen_for(sys.stdout) if output is None else Screen()
    options = RenderOptions(screen=screen, quiet=quiet, rules=rule_texts(pack), tool_version=__version__)
    write(render_scan(found, Format(form), options), output)
    for path, why in sites.unreadable.items():
        click.echo(f"mtp-trace: passed over {path}: {why}", err=True)
    missing = [rule.id for rule in drift(pack, sites)]
    sys.exit(3 if told_drift(missing) else 0)
