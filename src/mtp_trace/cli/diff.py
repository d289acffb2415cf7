"""``mtp-trace diff``: what two SGLang trees say differently about speculation."""

from __future__ import annotations

import click

from mtp_trace.cli.comparing import COMPARE_CHOICES, render_options, two_trees
from mtp_trace.cli.options import write


@click.command(name="diff")
@click.argument("old")
@click.argument("new")
@click.option("--sglang", default=None, help="A git repository that OLD and NEW are refs of; nothing is checked out.")
@click.option("--kind", "kinds", multiple=True, help="Only changes of this kind; may be repeated.")
@click.option("--quiet", is_flag=True, help="Only the sum.")
@click.option("--format", "form", type=click.Choice(COMPARE_CHOICES), default="terminal", show_default=True)
@click.option("--output", default=None, help="Write to this file.")
def diff(
    old: str, new: str, sglang: str | None, kinds: tuple[str, ...], quiet: bool, form: str, output: str | None
) -> None:
    """Compare the activation facts of OLD and NEW: folders, wheels, releases, or refs of --sglang.

    A fact that only moved is no change. Exit status: 0, or 2 for unusable input.
    """
    from dataclasses import replace

    from mtp_trace.compare.diff import diff as compared
    from mtp_trace.report.formats import Format, render_diff

    found = compared(*two_trees(old, new, sglang))
    if kinds:
        found = replace(found, changes=tuple(change for change in found.changes if change.kind in kinds))
    write(render_diff(found, Format(form), render_options(quiet)), output)
