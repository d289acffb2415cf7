"""A published release by its version: its wheel, fetched once with pip into the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from mtp_trace.errors import SourceError
from mtp_trace.source import facts
from mtp_trace.source.interface import PACKAGE
from mtp_trace.source.metadata import headers
from mtp_trace.source.wheel import WheelTree

CACHE_VARIABLE = "MTP_TRACE_CACHE"
_TIMEOUT_SECONDS = 900
# Newer releases are built for one Python and one platform. We only read them, so any machine may take them.
_BUILT_FOR = tuple(
    argument
    for platform in ("manylinux_2_34_x86_64", "manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64")
    for argument in ("--platform", platform)
)
_BUILT_FOR_PYTHONS = ("3.11", "3.12", "3.10", "3.13")
_NO_MATCH = ("no matching distribution", "could not find a version")
# "from versions: none" is what a refused connection ends in: an index that was reached names other versions.
_OFFLINE = (
    "from versions: none",
    "newconnectionerror",
    "connection broken",
    "name resolution",
    "timed out",
    "failed to establish",
    "proxyerror",
)


def cache_folder() -> Path:
    """Where fetched releases are kept: ``$MTP_TRACE_CACHE``, else the platform's cache folder for this program."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("mtp-trace"))


def open_release(version: str) -> WheelTree:
    """The release of that version, from the cache or fetched; SourceError says why it cannot be had."""
    wanted = Version(version)
    root = f"{PACKAGE}=={wanted}"
    folder = cache_folder() / "releases" / str(wanted)
    wheel = _wheel_in(folder)
    if wheel is None:
        _fetch(wanted, folder)
        wheel = _wheel_in(folder)
        if wheel is None:
            raise SourceError("the fetched release is gone from the cache", str(folder), "run the command again")
    tree = WheelTree(wheel, root)
    try:
        _check(tree, wanted, wheel)
    except SourceError:
        tree.close()
        raise
    return tree


def _fetch(version: Version, folder: Path) -> None:
    """Download beside the final place, check, and move there in one step; a failed try leaves nothing behind."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=folder.parent))
    except OSError as error:
        hint = f"set {CACHE_VARIABLE} to a folder that can be written"
        raise SourceError(f"cannot write to the cache: {error.strerror}", str(folder.parent), hint) from None
    try:
        _download(version, staging)
        wheel = _wheel_in(staging)
        if wheel is None:
            raise SourceError(f"pip fetched no wheel of {PACKAGE} {version}", str(folder))
        tree = WheelTree(wheel, f"{PACKAGE}=={version}")
        try:
            _check(tree, version, wheel)
        finally:
            tree.close()
        _move(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move(staging: Path, folder: Path) -> None:
    try:
        os.rename(staging, folder)
    except OSError as error:
        if _wheel_in(folder) is None:  # else another process was first, and its copy serves
            raise SourceError(f"cannot move the release into the cache: {error.strerror}", str(folder)) from None


def _download(version: Version, folder: Path) -> None:
    """For this machine first, then for the Pythons that SGLang publishes for.

    Wheels only: pip prepares a source archive by running its build, and nothing of SGLang is ever run here.
    """
    said = _pip(version, folder, ())
    for python in _BUILT_FOR_PYTHONS:
        if said is None or not _mentions(said, _NO_MATCH) or _mentions(said, _OFFLINE):
            break
        said = _pip(version, folder, ("--python-version", python, "--implementation", "cp", *_BUILT_FOR))
    if said is None:
        return
    raise _explain(version, said)


def _pip(version: Version, folder: Path, target: tuple[str, ...]) -> str | None:
    """None where pip succeeded, else what it said."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"),
        *("--disable-pip-version-check", "--progress-bar", "off", "--dest", str(folder), *target),
        f"{PACKAGE}=={version}",
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"timed out after {_TIMEOUT_SECONDS} seconds"
    except OSError as error:
        return f"no module named pip ({error.strerror})"
    return None if done.returncode == 0 else done.stderr or done.stdout or f"exit code {done.returncode}"


def _explain(version: Version, said: str) -> SourceError:
    offline_way = "or give a folder or a wheel file, which need no network"
    root = f"{PACKAGE}=={version}"
    if _mentions(said, ("no module named pip",)):
        hint = f"install pip for {sys.executable} (python -m ensurepip), {offline_way}"
        return SourceError("fetching a release needs pip", root, hint)
    if _mentions(said, _OFFLINE):
        hint = f"check the network and pip's index settings, {offline_way}"
        return SourceError(f"pip could not reach its package index: {_last_line(said)}", root, hint)
    if _mentions(said, _NO_MATCH):
        hint = f"check the version; of a release published as source only, give the unpacked folder; {offline_way}"
        return SourceError("pip finds no wheel of this release", root, hint)
    return SourceError(f"pip could not fetch the release: {_last_line(said)}", root, offline_way.removeprefix("or "))


def _mentions(said: str, phrases: tuple[str, ...]) -> bool:
    lowered = said.lower()
    return any(phrase in lowered for phrase in phrases)


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or [""])[-1][:300]


def _wheel_in(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.whl"))), None)


def _check(tree: WheelTree, version: Version, wheel: Path) -> None:
    """Name and version, in the file's name and in its METADATA."""
    found = headers(facts.metadata(tree))
    stated_name, stated_version = "".join(found.get("name", [])[:1]), "".join(found.get("version", [])[:1])
    try:
        named, numbered, _, _ = parse_wheel_filename(wheel.name)
        right = named == PACKAGE == canonicalize_name(stated_name) and numbered == version == Version(stated_version)
    except (InvalidWheelFilename, InvalidVersion):
        right = False
    if not right:
        what = f"this is {stated_name or 'a nameless package'} {stated_version}, not {PACKAGE} {version}"
        raise SourceError(what, str(wheel), "remove the file and fetch it again; check pip's index settings")
