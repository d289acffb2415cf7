"""``mtp-trace demo``: the main job on a bundled miniature tree, with nothing else at hand."""

from __future__ import annotations

import sys
from pathlib import Path

import click


def demo_root() -> Path:
    """The bundled miniature: inside the installed package, or in the repository it runs from."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_data" / "demo"
    return installed if installed.is_dir() else package.parents[1] / "fixtures" / "demo"


@click.command()
@click.option("--format", "form", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def demo(form: str, arguments: tuple[str, ...]) -> None:
    """Follow a launch through a miniature tree that comes along (arguments after -- replace the launch)."""
    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.cli.check import _with_suggestion, render
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.session import Session

    root = demo_root()
    session = Session(open_tree(str(root / "sglang")))
    model = ModelFolder.open(str(root / "model"))
    argv = list(arguments) or ["--speculative-algorithm", "NEXTN", "--tp-size", "8"]
    card = session.gpus.find("h200")
    report = _with_suggestion(session, session.check(argv, {}, card, model), model, card)
    if form == "terminal" and not arguments:
        click.echo(
            f"$ mtp-trace check --sglang {root / 'sglang'} --model {root / 'model'} --gpu h200 -- {' '.join(argv)}\n",
            err=True,
        )
    sys.stdout.write(render(session.tree, report, form, "error", False, None))
