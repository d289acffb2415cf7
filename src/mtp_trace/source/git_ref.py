"""A tree at a git ref, its blobs read straight from the object store: no checkout, no worktree; bare ones too."""

from __future__ import annotations

import difflib
import os
import posixpath
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_trace.errors import SourceError
from mtp_trace.source.facts import version_of_tag
from mtp_trace.source.interface import MARKER, MAX_FILE_BYTES, SourceTree

if TYPE_CHECKING:
    from git import Repo
    from git.objects import Blob, Tree

_MAX_LINKS = 8
# Read what is there: never fetch a missing object, never ask on the terminal, never take a lock.
_GIT_ENVIRONMENT = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class GitTree(SourceTree):
    """Reads one commit of a repository. ``folder`` may be its working tree, a folder inside it, or a bare one."""

    def __init__(self, folder: str | os.PathLike[str], ref: str) -> None:
        super().__init__(os.fspath(folder), ref)
        self._repo = _open(Path(folder).expanduser())
        self._commit = _resolve(self._repo, ref, self.root)
        self._top: Tree = self._repo.commit(self._commit).tree
        self._children: dict[str, dict[str, Blob | Tree]] = {}
        self._prefix = self._find_prefix(Path(folder).expanduser())

    def identity(self) -> str:
        """The commit."""
        return f"git:{self._commit}:{self._prefix}"

    @property
    def commit(self) -> str:
        """The full hash of the commit that is read."""
        return self._commit

    @property
    def repo(self) -> Repo:
        """The repository, set to read what is there and to fetch nothing."""
        return self._repo

    def close(self) -> None:
        """End the git process that serves objects."""
        self._repo.close()

    def _tagged_version(self) -> str | None:
        names = self._repo.git.tag("--points-at", self._commit).splitlines()
        return next((version for version in map(version_of_tag, names) if version), None)

    def _find_prefix(self, folder: Path) -> str:
        candidates = ["", "python"]
        if self._repo.working_tree_dir is not None:
            top = os.path.realpath(self._repo.working_tree_dir)
            inner = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
            if inner != "." and not inner.startswith(".."):
                candidates = [inner, posixpath.join(inner, "python"), *candidates]
        for prefix in candidates:
            if self._object(posixpath.join(prefix, MARKER)) == "folder":
                return prefix
        places = ", ".join(posixpath.join(prefix, MARKER) for prefix in candidates)
        raise SourceError(
            f"no SGLang at {self.ref}: looked for {places}", self.root, "is this a clone of SGLang, and the right ref?"
        )

    def _object(self, path: str) -> str | None:
        found = self._find(path)
        return None if found is None else "folder" if found.type == "tree" else "file"

    def _find(self, path: str, links: int = 0) -> Blob | Tree | None:
        """The object at a path from the top of the repository, links followed; None if absent or a submodule."""
        here: Blob | Tree = self._top
        done: list[str] = []
        parts = [part for part in path.split("/") if part]
        for position, name in enumerate(parts):
            if here.type != "tree":
                return None
            child = self._held(here).get(name)
            if child is None:
                return None
            if child.type == "blob" and stat.S_ISLNK(child.mode):
                return self._follow(child, done, parts[position + 1 :], links)
            done.append(name)
            here = child
        return here

    def _held(self, tree: Tree) -> dict[str, Blob | Tree]:
        """What a folder of the repository holds, submodules left out; each folder's object is fetched once."""
        from git.objects import Blob, Tree

        if tree.hexsha not in self._children:
            self._children[tree.hexsha] = {item.name: item for item in tree if isinstance(item, (Blob, Tree))}
        return self._children[tree.hexsha]

    def _follow(self, link: Blob, folder: list[str], rest: list[str], links: int) -> Blob | Tree | None:
        target = self._blob(link, "/".join([*folder, link.name])).decode("utf-8", "replace")
        where = posixpath.normpath(posixpath.join("/".join(folder), target))
        if where.startswith(("/", "..")) or links >= _MAX_LINKS:
            raise SourceError("a link that leaves the tree", f"{self.root}/{'/'.join([*folder, link.name])}")
        return self._find("/".join([where, *rest]), links + 1)

    def _scan(self, folder: str) -> dict[str, bool] | None:
        found = self._find(posixpath.join(self._prefix, folder))
        if found is None or found.type != "tree":
            return None
        return {item.name: self._is_folder(folder, item) for item in self._held(found).values()}

    def _is_folder(self, folder: str, item: Blob | Tree) -> bool:
        if item.type == "tree":
            return True
        if not stat.S_ISLNK(item.mode):
            return False
        try:
            return self._object(posixpath.join(self._prefix, folder, item.name)) == "folder"
        except SourceError:
            return False

    def _read(self, path: str) -> bytes:
        found = self._find(posixpath.join(self._prefix, path))
        if found is None:
            raise SourceError("a link to nothing", f"{self.root}/{path}")
        return self._blob(found, path)

    def _blob(self, blob: Blob | Tree, path: str) -> bytes:
        try:
            if blob.size > MAX_FILE_BYTES:
                raise self._too_large(path, blob.size)
            data: bytes = blob.data_stream.read()
        except (ValueError, OSError, KeyError) as error:
            raise SourceError(
                f"cannot read the object {blob.hexsha[:12]}: {error}",
                f"{self.root}/{path}",
                "is the clone complete? A partial one lacks objects until they are checked out",
            ) from None
        return data


def _open(folder: Path) -> Repo:
    try:
        import git
    except ImportError as error:  # GitPython raises it where there is no git program
        raise SourceError(f"cannot read git refs: {error}", str(folder), "install git, or give a folder") from None
    try:
        repo = git.Repo(folder, search_parent_directories=True, expand_vars=False)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        raise SourceError("not a git repository", str(folder), "a ref needs a clone of SGLang") from None
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot open the git repository: {error}", str(folder)) from None
    repo.git.update_environment(**_GIT_ENVIRONMENT)
    return repo


def _resolve(repo: Repo, ref: str, root: str) -> str:
    """The full hash of the commit that a ref names, or SourceError with refs of similar names."""
    from git.exc import GitCommandError

    if ref and not ref.startswith("-") and "\0" not in ref:
        try:
            return str(repo.git.rev_parse("--verify", "--quiet", f"{ref}^{{commit}}"))
        except GitCommandError as error:
            if "dubious ownership" in str(error.stderr):
                raise SourceError("git refuses a repository of another user", root, str(error.stderr).strip()) from None
    near = _near(repo, ref)
    hint = f"near names: {', '.join(near)}" if near else "no such tag, branch or commit here; fetch it first"
    raise SourceError(f"git ref {ref!r} not found", root, hint)


def _near(repo: Repo, ref: str) -> list[str]:
    from git.exc import GitCommandError

    try:
        said = repo.git.for_each_ref("--format=%(refname:short)", "refs/tags", "refs/heads", "refs/remotes")
    except GitCommandError:
        return []
    return difflib.get_close_matches(ref, said.splitlines(), n=4, cutoff=0.6)
