"""The command line: one file a command."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    from mtp_trace.cli.app import run

    run()
