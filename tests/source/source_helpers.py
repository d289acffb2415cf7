"""Small SGLang-like trees, in each of the forms that a tree comes in."""

from __future__ import annotations

import zipfile
from pathlib import Path

import git

FILES = {
    "sglang/version.py": '__version__ = "0.5.9"\n',
    "sglang/srt/__init__.py": "",
    "sglang/srt/server_args.py": "class ServerArgs:\n    pass\n",
    "sglang/srt/models/qwen3_next.py": "EntryClass = None\n",
}
METADATA = """\
Metadata-Version: 2.4
Name: sglang
Version: {version}
License:   A licence
        
           of several lines
Requires-Dist: transformers==4.57.1
Requires-Dist: torch; extra == "runtime"
Provides-Extra: runtime

Requires-Dist: not-a-header
"""  # noqa: W293
PYPROJECT = """\
[project]
name = "sglang"
version = "0.4.6"
dependencies = ["aiohttp", "numpy; python_version > '3.8'"]
[project.optional-dependencies]
runtime = ["transformers==4.51.1", "torch; sys_platform == 'linux'"]
test = []
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder


def make_wheel(path: Path, files: dict[str, str] | None = None, version: str = "0.5.9", name: str = "sglang") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = METADATA.format(version=version).replace("Name: sglang", f"Name: {name}")
    with zipfile.ZipFile(path, "w") as file:
        for member, content in (FILES if files is None else files).items():
            file.writestr(member, content)
        file.writestr(f"{info}/METADATA", metadata)
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return path


def commit(folder: Path, files: dict[str, str], tags: tuple[str, ...] = (), annotated: bool = False) -> Path:
    """Write files, commit everything in the folder, and tag the commit."""
    if not (folder / ".git").exists():
        git.Repo.init(folder, initial_branch="main").close()
    write(folder, files)
    repo = git.Repo(folder)
    with repo.config_writer() as config:
        config.set_value("user", "name", "Tester")
        config.set_value("user", "email", "tester@example.invalid")
        config.set_value("commit", "gpgsign", "false")
    repo.git.add("--all")
    repo.git.commit("-q", "-m", "A commit")
    for tag in tags:
        repo.create_tag(tag, message="A release" if annotated else None)
    repo.close()
    return folder
