"""``mtp-trace cache``: what is kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mtp_trace.syntax.cache import DiskCache


@click.group()
def cache() -> None:
    """Look at or empty the cache of parsed files and of answers."""


@cache.command()
def info() -> None:
    """Where the caches are and how large."""
    for name, store in _stores().items():
        click.echo(f"{name}:")
        for key, value in vars(store.info()).items():
            click.echo(f"  {key}: {value}")


@cache.command()
def clear() -> None:
    """Remove every parsed file and every answer from the cache."""
    for name, store in _stores().items():
        click.echo(f"removed {store.clear()} {name}")


def _stores() -> dict[str, DiskCache]:
    from mtp_trace.syntax.cache import DiskCache
    from mtp_trace.verdict.remembered import answers_folder

    return {"parsed files": DiskCache(), "answers": DiskCache(answers_folder())}
