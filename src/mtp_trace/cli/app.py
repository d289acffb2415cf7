"""The command group. Commands are imported when they are called, so that ``--help`` stays quick."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import click

from mtp_trace import __version__
from mtp_trace.errors import InputError

_COMMANDS = {
    "check": "mtp_trace.cli.check:check",
    "audit": "mtp_trace.cli.audit:audit",
    "demo": "mtp_trace.cli.demo:demo",
    "cache": "mtp_trace.cli.cache:cache",
    "batch": "mtp_trace.cli.batch:batch",
    "scan": "mtp_trace.cli.scan:scan",
    "rules": "mtp_trace.cli.rules:rules",
    "explain-flag": "mtp_trace.cli.explain_flag:explain_flag",
    "diff": "mtp_trace.cli.diff:diff",
    "gate": "mtp_trace.cli.gate:gate",
    "matrix": "mtp_trace.cli.matrix:matrix",
}


class Lazy(click.Group):
    """A group whose commands are loaded by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order a person needs them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """One command."""
        target = _COMMANDS.get(name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.command(cls=Lazy)
@click.version_option(__version__, prog_name="mtp-trace")
def cli() -> None:
    """Says from SGLang's own source whether a launch will run speculative decoding, and why not."""


def run(argv: list[str] | None = None) -> Any:
    """Runs the command line; bad input is told in words and gives exit status 2."""
    # Programs and closures live as long as one answer: looking through them for garbage is a third of its time.
    # Commands that give many answers turn the collector on again.
    gc.disable()
    try:
        cli.main(args=argv, standalone_mode=True, prog_name="mtp-trace")
    except InputError as error:
        click.echo(f"mtp-trace: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        # What no reader has put into words of its own: a disk that fails, a name that no file can have.
        place = ascii(error.filename)[:200] if error.filename is not None else "a file"
        click.echo(f"mtp-trace: {place} cannot be read or written: {error.strerror or error}", err=True)
        sys.exit(InputError.exit_code)
