"""Rules against annotated miniatures: what a comment says must fire, fires; what must stay silent, does.

In a ``*.py`` miniature, ``# ruleid: X`` above a line says that the site of rule X is there, ``# ok: X`` that none is.
In a ``*.launch.yaml`` miniature, the comments stand above the launches of a list, each a mapping of ``facts``,
``events`` and ``source`` (the tree's one module). ``todoruleid:`` and ``todook:`` mark what is known to be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_trace.errors import RuleError, SourceError
from mtp_trace.rules.context import Context, flags_of
from mtp_trace.rules.document import Value, near_hint, parse_document
from mtp_trace.rules.findings import findings_for
from mtp_trace.rules.loader import LAUNCH_SUFFIX
from mtp_trace.rules.model import Pack, Rule
from mtp_trace.rules.order import places_of
from mtp_trace.rules.sites import Sites
from mtp_trace.syntax.form import Node

_MARK = re.compile(r"\s*#\s*(todoruleid|todook|ruleid|ok):\s*([\w-]+(?:\s*,\s*[\w-]+)*)\s*\Z")
_MODULE = "tree.py"


@dataclass(frozen=True)
class Expectation:
    """What a comment says: ``fires`` or not, of a rule, at a line."""

    rule: str
    fires: bool
    file: str
    line: int
    todo: bool = False


@dataclass(frozen=True)
class Result:
    """An expectation and whether it holds."""

    expectation: Expectation
    holds: bool

    @property
    def failed(self) -> bool:
        """Whether this is a failure (a ``todo`` that holds is one too: the mark is out of date)."""
        return self.holds is self.expectation.todo


class MemoryPrograms:
    """Modules held as text, lowered when asked for."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def list(self, path: str) -> tuple[str, ...]:
        """Names in the only folder."""
        return tuple(sorted(self._files)) if not path else ()

    def is_dir(self, path: str) -> bool:
        """There are no folders."""
        return False

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return path in self._files

    def read(self, path: str) -> bytes | None:
        """A file's bytes."""
        return self._files[path].encode() if path in self._files else None

    def module(self, path: str) -> Lowered:
        """A file's program form."""
        from mtp_trace.syntax.lower_ast import lower_module

        try:
            return Lowered(lower_module(self._files[path]))
        except SyntaxError as error:
            raise SourceError(f"not valid Python: {error.msg}", f"{path}:{error.lineno}") from None


@dataclass(frozen=True)
class Lowered:
    """A module's program form."""

    form: list[Node]


def run_tests(pack: Pack, folder: Path) -> list[Result]:
    """The results of every miniature of a folder (or of one file).  Raises RuleError for a wrong miniature."""
    files = [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if p.is_file())
    results: list[Result] = []
    for path in files:
        if path.suffix == ".py":
            results += _module_results(pack, path)
        elif path.name.endswith(LAUNCH_SUFFIX):
            results += _launch_results(pack, path)
    if not results:
        raise RuleError("no comment says what must fire", str(folder), "write '# ruleid: RULE' above a line")
    return results


def _module_results(pack: Pack, path: Path) -> Iterator[Result]:
    text = _read(path)
    sites = Sites(MemoryPrograms({_MODULE: text}), [_MODULE])
    if sites.form(_MODULE) is None:
        raise RuleError(f"the miniature is not Python: {sites.unreadable.get(_MODULE)}", str(path))
    lines: dict[str, set[int]] = {}
    for expected in _expectations(text, str(path), pack):
        rule = pack.get(expected.rule)
        assert rule is not None
        if expected.rule not in lines:
            lines[expected.rule] = set(_site_lines(rule, sites, path))
        yield Result(expected, (expected.line in lines[expected.rule]) is expected.fires)


def _site_lines(rule: Rule, sites: Sites, path: Path) -> Iterator[int]:
    if rule.match.site is None:
        raise RuleError(f"the rule {rule.id!r} has no site", str(path), f"test it in a *{LAUNCH_SUFFIX}")
    for found in places_of(sites, rule.match):
        yield found.line


def _launch_results(pack: Pack, path: Path) -> Iterator[Result]:
    text = _read(path)
    items = parse_document(text.encode(), str(path)).items()
    starts = [item.place.line for item in items]
    for expected in _expectations(text, str(path), pack):
        launch = next((i for i, line in zip(items, starts) if line == expected.line), None)
        if launch is None:
            raise RuleError("the comment stands above no launch", f"{path}:{expected.line - 1}")
        fired = {f.rule for f in findings_for(pack, _context(launch))}
        yield Result(expected, (expected.rule in fired) is expected.fires)


def _context(launch: Value) -> Context:
    m = launch.mapping()
    source, facts, events = m.get("source"), m.get("facts"), m.get("events")
    m.finish()
    sites = Sites(MemoryPrograms({_MODULE: source.text() if source else ""}), [_MODULE])
    given: dict[str, Any] = {k: v.plain() for k, v in facts.mapping()} if facts else {}
    given.setdefault("text_config", given.get("config", {}))
    for name in ("resolved", "config", "env", "target", "draft_config"):
        given.setdefault(name, {})
    given.setdefault("flags", flags_of(str(given.get("argv", "")).split()))
    return Context(sites, given, tuple(_event(e) for e in events.items()) if events else ())


def _event(value: Value) -> tuple[str, Any]:
    from mtp_trace.syntax.lower_ast import lower_module
    from mtp_trace.trace.events import Event, Guard
    from mtp_trace.trace.values import Site

    m = value.mapping()
    kinds = [k for k in ("write", "item", "log", "env") if k in m]
    if len(kinds) != 1:
        m.place.fail("exactly one of write, item, log, env is needed")
    name = m.need(kinds[0]).text()
    stage, given, line, guard = m.get("stage"), m.get("value"), m.get("line"), m.get("guard")
    m.finish()
    site = Site(_MODULE, line.integer() if line else 1, line.integer() if line else 1, "")
    guards = (Guard(site, lower_module(guard.text())[0][3], True),) if guard else ()
    data = name if kinds[0] == "log" else given.plain() if given else None
    return (stage.text() if stage else "args", Event(kinds[0], site, name, data, guards))


def _expectations(text: str, file: str, pack: Pack) -> Iterator[Expectation]:
    lines = text.split("\n")
    for index, line in enumerate(lines):
        mark = _MARK.match(line)
        if mark is None:
            continue
        target = index + 1
        while target < len(lines) and (not lines[target].strip() or lines[target].lstrip().startswith("#")):
            target += 1
        kind = mark.group(1)
        for rule in re.split(r"\s*,\s*", mark.group(2)):
            if pack.get(rule) is None:
                hint = near_hint(rule, [r.id for r in pack.rules])
                raise RuleError(f"there is no rule {rule!r}", f"{file}:{index + 1}", hint)
            yield Expectation(rule, kind.endswith("ruleid"), file, target + 1, kind.startswith("todo"))


def untested(pack: Pack, results: Iterable[Result]) -> list[str]:
    """Rules that no miniature shows firing, or none shows silent."""
    seen = {(r.expectation.rule, r.expectation.fires) for r in results}
    return [r.id for r in pack.rules if (r.id, True) not in seen or (r.id, False) not in seen]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"the miniature cannot be read: {error}", str(path)) from None
