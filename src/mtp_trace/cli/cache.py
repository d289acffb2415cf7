"""``mtp-trace cache``: what is kept on disk."""

from __future__ import annotations

import click


@click.group()
def cache() -> None:
    """Look at or empty the cache of parsed files and fetched releases."""


@cache.command()
def info() -> None:
    """Where the cache is and how large."""
    from mtp_trace.syntax.cache import DiskCache

    found = DiskCache().info()
    for key, value in (found if isinstance(found, dict) else vars(found)).items():
        click.echo(f"{key}: {value}")


@cache.command()
def clear() -> None:
    """Remove every parsed file from the cache."""
    from mtp_trace.syntax.cache import DiskCache

    click.echo(f"removed {DiskCache().clear()} entries")
