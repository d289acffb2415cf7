"""The commit that brought a difference, found by halving a git history and tracing again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from mtp_trace.errors import SourceError

MAX_COMMITS = 20_000


@dataclass(frozen=True)
class Commit:
    """One commit of the line from the old ref to the new one."""

    sha: str
    subject: str

    def __str__(self) -> str:
        return f"{self.sha[:12]} {self.subject}".rstrip()


@dataclass(frozen=True)
class Line:
    """The commits after ``base`` up to the new ref, oldest first; ``from_old`` where the base is the old ref itself."""

    base: str
    commits: tuple[Commit, ...]
    from_old: bool = True


@dataclass
class Search:
    """A bounded search. ``probe`` traces one commit: True like the new tree, False not, None where it cannot say."""

    probe: Callable[[str], bool | None]
    traces: int = 0
    _known: dict[str, bool | None] = field(default_factory=dict)

    def find(self, line: Line) -> str | None:
        """The commit in words, a span of commits where some between cannot be traced, or None.

        The last commit is known to be like the new tree, and the base like the old one where it is the old ref. At most
        ``budget(len(commits))`` traces are made.
        """
        commits = line.commits
        if not commits:
            return None
        limit = budget(len(commits))
        if not line.from_old and self._ask(line.base) is not False:
            return None  # the old ref differs by commits of its own: this line does not hold the change
        low, high = -1, len(commits) - 1
        while high - low > 1:
            found = self._middle(commits, low, high, limit)
            if found is None:
                return f"between {commits[low].sha[:12] if low >= 0 else line.base[:12]} and {commits[high]}"
            if self._known[commits[found].sha]:
                high = found
            else:
                low = found
        return str(commits[high])

    def _middle(self, commits: tuple[Commit, ...], low: int, high: int, limit: int) -> int | None:
        """A commit near the middle that can be traced; None where the budget is used up or none can be."""
        middle = (low + high) // 2
        near = sorted(range(low + 1, high), key=lambda index: abs(index - middle))
        for index in near:
            sha = commits[index].sha
            if sha not in self._known and self.traces >= limit:
                return None
            if self._ask(sha) is not None:
                return index
        return None

    def _ask(self, sha: str) -> bool | None:
        if sha not in self._known:
            self.traces += 1
            self._known[sha] = self.probe(sha)
        return self._known[sha]


def budget(commits: int) -> int:
    """How many traces a history of that length may cost."""
    return math.ceil(math.log2(commits)) + 1 if commits > 1 else 1


def line_between(folder: str, old: str, new: str) -> Line | None:
    """The first parents of ``new`` that ``old`` does not reach; None where there is no history between them.

    Raises SourceError where the repository or a ref cannot be read.
    """
    from git.exc import GitCommandError

    from mtp_trace.source.git_ref import GitTree

    ends = [GitTree(folder, ref) for ref in (old, new)]
    try:
        first, last = (tree.commit for tree in ends)
        git = ends[1].repo.git
        listed = git.rev_list("--first-parent", "--reverse", f"--max-count={MAX_COMMITS}", last, f"^{first}",
                              "--format=%H %s", "--no-commit-header").splitlines()  # fmt: skip
        if not listed:
            return None
        commits = tuple(Commit(*_parted(entry)) for entry in listed)
        base = git.rev_parse(f"{commits[0].sha}^")
    except GitCommandError as error:
        if "unknown revision" in str(error.stderr) or "bad revision" in str(error.stderr):
            return None
        raise SourceError("git cannot list the history", folder, str(error.stderr).strip()[:200]) from None
    finally:
        for tree in ends:
            tree.close()
    return Line(base, commits, base == first)


def _parted(entry: str) -> tuple[str, str]:
    sha, _, subject = entry.partition(" ")
    return sha, subject
