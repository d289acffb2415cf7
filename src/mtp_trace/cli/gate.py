"""``mtp-trace gate``: may the fleet move from one SGLang to another?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mtp_trace.cli.comparing import COMPARE_CHOICES, render_options, two_trees
from mtp_trace.cli.options import write


@click.command(name="gate")
@click.option("--old", required=True, help="The tree in use: folder, wheel or release; with --sglang a git ref.")
@click.option("--new", required=True, help="The tree to move to.")
@click.option("--sglang", default=None, help="A git repository that --old and --new are refs of.")
@click.option("--fleet", required=True, type=click.Path(path_type=Path), help="The deployments (docs/upgrade-gate.md).")
@click.option("--gpu", default=None, help="GPU profile for deployments that name none.")
@click.option("--gpu-count", type=click.IntRange(1), default=None, help="GPUs in a machine.")
@click.option("--bisect/--no-bisect", default=True, help="With --sglang: look for the commit that brought a change.")
@click.option("--suggest/--no-suggest", default=True, help="Look for flags that keep a deployment running.")
@click.option(
    "--fail-on", type=click.Choice(("error", "never")), default="error", show_default=True, help="never: report only."
)
@click.option("--jobs", type=click.IntRange(1), default=None, help="Processes (default: one a core).")
@click.option("--quiet", is_flag=True, help="Only the sum.")
@click.option("--format", "form", type=click.Choice(COMPARE_CHOICES), default="terminal", show_default=True)
@click.option("--output", default=None, help="Write to this file.")
def gate(
    old: str,
    new: str,
    sglang: str | None,
    fleet: Path,
    gpu: str | None,
    gpu_count: int | None,
    bisect: bool,
    suggest: bool,
    fail_on: str,
    jobs: int | None,
    quiet: bool,
    form: str,
    output: str | None,
) -> None:
    """Judge every deployment of a fleet on both trees, regressions first.

    Exit status: 0 nothing gets worse, 1 a regression, 2 unusable input, 3 a deployment could not be judged.
    """
    from mtp_trace.compare.fleet import read_fleet
    from mtp_trace.compare.gate import GateOptions
    from mtp_trace.compare.gate import gate as judged
    from mtp_trace.report.exitcode import FailOn, exit_code_gate
    from mtp_trace.report.formats import Format, render_gate

    cases = read_fleet(fleet, gpu, gpu_count)
    found = judged(*two_trees(old, new, sglang), cases, GateOptions(bisect, suggest, jobs))
    write(render_gate(found, Format(form), render_options(quiet)), output)
    sys.exit(exit_code_gate(found, FailOn(fail_on)))
