"""``mtp-trace audit``: every launch in some files, judged on one tree."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mtp_trace.cli.options import cache_for, gpu_options, output_options, tree_options, write

if TYPE_CHECKING:
    from mtp_trace.report.listing_model import Audit, AuditEntry
    from mtp_trace.rules.model import Pack

FORMATS = ("terminal", "json", "sarif", "junit", "github", "markdown")


@click.command()
@tree_options
@click.option(
    "--model-map",
    "pairs",
    multiple=True,
    metavar="OLD=NEW",
    help="A model's path in the files, or a folder above it, and where it is here; may be repeated.",
)
@gpu_options
@click.option("--rules", "rule_dirs", multiple=True, type=click.Path(), help="A folder of your own rules.")
@click.option("--baseline", type=click.Path(dir_okay=False), default=None, help="Known findings to pass over.")
@click.option(
    "--write-baseline", type=click.Path(dir_okay=False), default=None, help="Write all that is found as known."
)
@click.option("--fail-on", type=click.Choice(["error", "warning", "note", "never"]), default="error", show_default=True)
@click.option("--no-suggestion", is_flag=True, help="Do not search for launches that work.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of parsed files.")
@output_options(FORMATS)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
def audit(
    sglang: str,
    ref: str | None,
    pairs: tuple[str, ...],
    gpu: str | None,
    gpu_count: int | None,
    rule_dirs: tuple[str, ...],
    baseline: str | None,
    write_baseline: str | None,
    fail_on: str,
    no_suggestion: bool,
    no_cache: bool,
    form: str,
    output: str | None,
    quiet: bool,
    paths: tuple[str, ...],
) -> None:
    """Find the launches in scripts, units, Dockerfiles, compose files and manifests, and judge each.

    \b
    mtp-trace audit --sglang 0.5.18 deploy/
    mtp-trace audit --sglang ./sglang --ref v0.5.9 --gpu b200 --model-map /models=./configs run.sh
    mtp-trace audit --sglang 0.5.18 --format sarif -o audit.sarif --baseline known.json deploy/

    A comment `# mtp-trace: ignore[RULE] why` in a file silences a rule for the launches of that file.

    Exit status: 0 all active, 1 one is not or has findings at --fail-on, 2 bad input or no launch found, 3 one is open.
    """
    gc.enable()
    from mtp_trace.launch.discover import find_launches
    from mtp_trace.launch.model_map import ModelMap
    from mtp_trace.report.exitcode import FailOn, exit_code_all
    from mtp_trace.report.listing_model import Audit
    from mtp_trace.report.model import SglangInfo
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.settings import find_settings
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.audit import Auditor, Means
    from mtp_trace.verdict.session import Session

    models = ModelMap.parse(pairs)
    launches, notes = find_launches([Path(path) for path in paths])
    for note in () if quiet else notes:
        _say(str(note))
    pack = load_pack(rule_dirs, find_settings(Path.cwd()))
    session = Session(open_tree(sglang, ref), cache_for(no_cache), pack)
    card = session.gpus.find(gpu, gpu_count) if gpu else None
    if not launches:
        _say(f"no server launch was found in {', '.join(paths)}")
    auditor = Auditor(session, Means(card, models, os.environ, not no_suggestion))
    tree = session.tree
    entries = _not_silenced(tuple(auditor.entries(launches)), pack, quiet)
    found = Audit(SglangInfo(tree.root, tree.version, tree.ref), entries)
    if write_baseline is not None:
        _keep(found, write_baseline, baseline)
    if baseline is not None:
        found = _without_known(found, baseline, quiet)
    write(_rendered(found, form, fail_on, quiet, output), output)
    sys.exit(int(exit_code_all((entry.report for entry in found.launches), FailOn(fail_on))))


def _not_silenced(entries: tuple[AuditEntry, ...], pack: Pack, quiet: bool) -> tuple[AuditEntry, ...]:
    """The launches without what comments in their files silence; comments that silence nothing are told."""
    from mtp_trace.launch.files import Files
    from mtp_trace.rules.suppress import silenced

    files = Files()
    kept, unused = silenced(entries, lambda file: files.text(Path(file)), pack)
    for suppression in () if quiet else unused:
        _say(f"{suppression.where}: the comment silences nothing: {suppression.rule} does not speak here")
    return kept


def _rendered(found: Audit, form: str, fail_on: str, quiet: bool, output: str | None) -> str:
    from mtp_trace import __version__
    from mtp_trace.report.exitcode import FailOn
    from mtp_trace.report.formats import Format, RenderOptions, render_audit
    from mtp_trace.report.terminal_console import Screen, screen_for

    screen = screen_for(sys.stdout) if output is None else Screen()
    options = RenderOptions(screen=screen, quiet=quiet, fail_on=FailOn(fail_on), tool_version=__version__)
    return render_audit(found, Format(form), options)


def _keep(found: Audit, path: str, previous: str | None) -> None:
    from mtp_trace.report.baseline import load_baseline, make_baseline, save_baseline
    from mtp_trace.report.fingerprint import entry_scope

    old = load_baseline(Path(previous)) if previous is not None else None
    save_baseline(Path(path), make_baseline([(entry_scope(e), e.report) for e in found.launches], old))


def _without_known(found: Audit, path: str, quiet: bool) -> Audit:
    from dataclasses import replace
    from datetime import date

    from mtp_trace.report.baseline import apply_baseline, load_baseline
    from mtp_trace.report.fingerprint import entry_scope

    pairs = [(entry_scope(entry), entry.report) for entry in found.launches]
    applied = apply_baseline(load_baseline(Path(path)), pairs, date.today())
    for entry in () if quiet else (*applied.stale, *applied.expired):
        state = "has expired" if entry in applied.expired else "matches nothing any more"
        _say(f"{path}: {entry.rule} in {entry.scope} {state}")
    entries = tuple(replace(entry, report=report) for entry, report in zip(found.launches, applied.reports))
    return replace(found, launches=entries)


def _say(text: str) -> None:
    from mtp_trace.report.textsafe import one_line

    click.echo(f"mtp-trace: {one_line(text)}", err=True)
