"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from mtp_trace.errors import LaunchError

F = TypeVar("F", bound=Callable[..., Any])


def tree_options(command: F) -> F:
    """``--sglang`` and ``--ref``."""
    command = click.option(
        "--ref", default=None, metavar="REF", help="Git ref of the checkout; nothing is checked out."
    )(command)
    return click.option(
        "--sglang",
        required=True,
        metavar="TREE",
        help="Checkout, its python folder, an unpacked wheel, a .whl, or a release (0.5.18).",
    )(command)


def gpu_options(command: F) -> F:
    """``--gpu`` and ``--gpu-count``."""
    command = click.option(
        "--gpu-count", type=click.IntRange(1, 1024), default=None, help="GPUs in the machine (default 8)."
    )(command)
    return click.option(
        "--gpu",
        default=None,
        metavar="NAME",
        help="h200, b200, mi300x, ... or capability=9.0,memory=143771,count=8. Left out: what hangs on it is told.",
    )(command)


def output_options(formats: tuple[str, ...]) -> Callable[[F], F]:
    """``--format``, ``--output`` and ``--quiet``."""

    def add(command: F) -> F:
        command = click.option("--quiet", "-q", is_flag=True, help="Only the first line.")(command)
        command = click.option(
            "--output",
            "-o",
            type=click.Path(dir_okay=False, writable=True),
            default=None,
            help="Write to a file instead of standard output.",
        )(command)
        return click.option("--format", "form", type=click.Choice(formats), default="terminal", show_default=True)(
            command
        )

    return add


def environment(pairs: tuple[str, ...]) -> dict[str, str]:
    """``--env K=V`` options.  Raises LaunchError for one that is none."""
    out: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise LaunchError(f"{pair!r} is not KEY=VALUE", "--env", "write --env SGLANG_ENABLE_SPEC_V2=1")
        out[key] = value
    return out


def write(text: str, output: str | None) -> None:
    """The result, to a file or to standard output."""
    if output is None:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    else:
        Path(output).write_text(text, "utf-8")


def told_drift(missing: Sequence[str]) -> bool:
    """Names the required rules (ids) that find no place in the tree, on standard error; whether there are any."""
    for rule in missing:
        what = f"the rule {rule} must find a place in any tree and finds none: this tree has moved on"
        click.echo(f"mtp-trace: {what}", err=True)
    return bool(missing)


def cache_for(no_cache: bool) -> Any:
    """The on-disk cache of lowered programs, or None."""
    if no_cache:
        return None
    from mtp_trace.syntax.cache import DiskCache

    return DiskCache()
