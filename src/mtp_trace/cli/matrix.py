"""``mtp-trace matrix``: which release runs MTP for which model."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from mtp_trace.cli.comparing import COMPARE_CHOICES, render_options
from mtp_trace.cli.options import environment, write
from mtp_trace.errors import InputError

if TYPE_CHECKING:
    from mtp_trace.compare.trees import TreeSpec
    from mtp_trace.report.compare_model import Matrix

DEFAULT_FLAGS = "--speculative-algorithm NEXTN --trust-remote-code"


@click.command(name="matrix")
@click.option("--releases", default=None, help="Release versions, folders or wheels, separated by commas.")
@click.option("--sglang", default=None, help="A git repository; --refs names what of it.")
@click.option("--refs", default=None, help="Git refs of --sglang, separated by commas.")
@click.option(
    "--models",
    multiple=True,
    required=True,
    metavar="PATH",
    help="A model folder, a config.json, or a folder of model folders; may be repeated.",
)
@click.option("--flags", default=DEFAULT_FLAGS, show_default=True, help="The launch's other arguments.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of the launch; may be repeated.")
@click.option("--gpu", default="h200", show_default=True, help="GPU profile.")
@click.option("--gpu-count", type=click.IntRange(1), default=None, help="GPUs in the machine.")
@click.option("--suggest/--no-suggest", default=True, help="Look for flags that make it run where it does not.")
@click.option("--jobs", type=click.IntRange(1), default=None, help="Processes (default: one a core).")
@click.option("--no-cache", is_flag=True, help="Trace again what was judged before.")
@click.option("--format", "form", type=click.Choice(COMPARE_CHOICES), default="terminal", show_default=True)
@click.option("--output", default=None, help="Write to this file.")
@click.argument("more", nargs=-1, metavar="[PATH]...")
def matrix(
    releases: str | None,
    sglang: str | None,
    refs: str | None,
    models: tuple[str, ...],
    flags: str,
    env: tuple[str, ...],
    gpu: str,
    gpu_count: int | None,
    suggest: bool,
    jobs: int | None,
    no_cache: bool,
    form: str,
    output: str | None,
    more: tuple[str, ...],
) -> None:
    """Judge every model in every release, and say where each runs first.

    Exit status: 0 every cell has an answer, 2 unusable input, 3 a cell has none.
    """
    from mtp_trace.compare.judging import How
    from mtp_trace.compare.matrix import matrix as judged
    from mtp_trace.compare.models import named_models
    from mtp_trace.report.formats import Format, render_matrix

    trees = trees_of(releases, sglang, refs)
    try:
        words = shlex.split(flags)
    except ValueError as error:
        raise InputError(f"the flags cannot be read: {error}", "--flags") from None
    found = judged(
        trees, named_models([*models, *more]), words, environment(env), gpu, gpu_count, How(suggest, not no_cache), jobs
    )
    write(render_matrix(found, Format(form), render_options()), output)
    sys.exit(exit_code(found))


def exit_code(found: Matrix) -> int:
    """3 where a cell is open, else 0: a matrix reports, it does not gate."""
    from mtp_trace.report.exitcode import ExitCode
    from mtp_trace.report.outcome import is_open

    return ExitCode.OPEN if any(is_open(cell.verdict) for cell in found.cells) else ExitCode.ACTIVE


def trees_of(releases: str | None, sglang: str | None, refs: str | None) -> list[TreeSpec]:
    """The trees that the options name, oldest first where they are versions."""
    from mtp_trace.compare.trees import TreeSpec, in_order

    if (refs is None) != (sglang is None):
        raise InputError("--sglang and --refs go together", "--refs", "--sglang CLONE --refs v1.0,v1.1")
    trees = [TreeSpec(item) for item in _items(releases)]
    trees += [TreeSpec(sglang or "", item, item) for item in _items(refs)]
    if not trees:
        raise InputError("no release was named", "--releases", "--releases A,B,.. or --sglang CLONE --refs A,B,..")
    return in_order(trees)


def _items(text: str | None) -> list[str]:
    return [item.strip() for item in (text or "").split(",") if item.strip()]
