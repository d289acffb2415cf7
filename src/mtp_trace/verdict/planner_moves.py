"""The changes that a launch's own failure offers: from its message, its condition, the rules and the flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtp_trace.report.model import Change, Report, Severity, Verdict
from mtp_trace.rules.flags import Flag, FlagTable
from mtp_trace.rules.sites import Sites
from mtp_trace.verdict.planner_data import CHOSEN, DROPPED, NAMED, READ, REPLACED, SWITCHED, TRIED, Move, PlannerData
from mtp_trace.verdict.planner_edit import Arguments, takes
from mtp_trace.verdict.planner_guard import GuardFacts, guard_facts
from mtp_trace.verdict.planner_message import advice, refused_flags, refused_value, words

_MOST_CHOICES = 6
_TRUTHS = {"true": "", "false": None, "none": None}


class Moves:
    """Candidate changes of one launch that does not come to ``active``.

    ``user`` names the fields that the user's own launch gives: taking one of those away costs more.
    """

    def __init__(self, report: Report, sites: Sites, table: FlagTable, data: PlannerData, user: frozenset[str]) -> None:
        self.report, self.table, self.data, self.user = report, table, data, user
        self.arguments = Arguments(report.launch.argv, table)
        self.env: Mapping[str, str] = report.launch.env
        self.message = report.error.message if report.error is not None else ""
        self.sites = sites

    def all(self) -> Iterator[Move]:
        """Every candidate, each once, the best founded first."""
        seen: set[frozenset[tuple[str, str, str | None]]] = set()
        for move in self._all():
            key = frozenset((c.kind, c.name, c.new) for c in move.changes)
            if key and key not in seen:
                seen.add(key)
                yield move

    def _all(self) -> Iterator[Move]:
        if self.report.stage == "cli":
            yield from self._refused()
            return
        if self.report.verdict is Verdict.INACTIVE:
            yield from self._asked()
        yield from self._named()
        yield from self._ruled()
        facts = guard_facts(self.report.error, self.sites)
        yield from self._together(facts)
        yield from self._read(facts)
        yield from self._left_out()

    # --- what the parser refuses -----------------------------------------------------------------------------------

    def _refused(self) -> Iterator[Move]:
        unknown = refused_flags(self.message)
        if unknown:
            renamed = [self._renamed(name, value) for name, value in unknown]
            dropped = [self._unknown(name, value) for name, value in unknown]
            yield _all_of([r or d for r, d in zip(renamed, dropped)])
            yield _all_of(dropped)
            return
        refusal = refused_value(self.message)
        if refusal is None or self.arguments.value(refusal.flag) is None:
            return
        field = self.arguments.field(refusal.flag)
        same = [c for c in refusal.choices if c.lower() == refusal.value.lower()]
        wanted = same or [c for c in self.data.asked.get(field, refusal.choices) if c in refusal.choices]
        for index, choice in enumerate(wanted[:_MOST_CHOICES]):
            why = "as this tree spells it" if same else f"this tree does not know {refusal.value}"
            yield from self._set(refusal.flag, choice, why, NAMED + 0.1 * index)
        yield from self._drop(refusal.flag, "this tree does not take its value", NAMED)

    def _renamed(self, name: str, value: str) -> Move | None:
        """The flag that took the place of one that is gone: told by its help, or named alike and taking the value."""
        near = self.table.nearest(name, value)
        if near is None:
            return None
        flag, why = near
        told = name in flag.help
        gone, own = (set(n.lstrip("-").split("-")) for n in (name, flag.name))
        if (
            self._held(flag.name, self.data.fixed)
            or self.arguments.value(flag.name) is not None
            or not takes(flag, value)
        ):
            return None
        if not told and (own < gone or not (value and flag.choices)):
            return None
        reason = f"takes the place of {name}: {why}"
        return Move((*self._unknown(name, value).changes, Change("flag", flag.name, None, value, reason)), 1.0)

    def _unknown(self, name: str, value: str) -> Move:
        return Move((Change("flag", name, value, None, "this tree does not know it"),), 1.5)

    # --- what the tree and the rules say -----------------------------------------------------------------------------

    def _asked(self) -> Iterator[Move]:
        for field, values in self.data.asked.items():
            flag = self._flag(field)
            for index, value in enumerate(values if flag is not None else ()):
                assert flag is not None
                yield from self._set(flag.name, value, "nothing asks for speculation without it", NAMED + 0.1 * index)

    def _named(self) -> Iterator[Move]:
        """What the message says to set: all of it together, then each alone."""
        moves: list[Move] = []
        for mention in advice(self.message):
            if mention.kind == "env":
                moves += self._variable(mention.name, mention.value, mention.away)
                continue
            flag = self.table.by_name.get(mention.name) or self._flag(mention.name.lstrip("-"))
            if flag is None:
                continue
            value = mention.value
            new = _TRUTHS.get((value or "").lower(), value) if mention.kind == "field" else value
            if mention.away or (mention.kind == "field" and new is None):
                moves += self._drop(flag.name, "the error says so", NAMED)
            elif mention.kind == "flag" and value is not None and not takes(flag, value):
                moves += self._set(flag.name, "", "the error names it", NAMED)
            else:
                moves += self._set(flag.name, new or "", "the error names it", NAMED)
        by_name = {(c.kind, c.name): m for m in reversed(moves) for c in m.changes}
        if len(by_name) > 1:
            yield _all_of(list(reversed(by_name.values())))
        yield from moves

    def _variable(self, name: str, value: str | None, away: bool) -> Iterator[Move]:
        old = self.env.get(name)
        new = None if away else value if value is not None else "1"
        if new != old and (new is not None or name in self.env):
            yield Move((Change("env", name, old, new, "the error names it"),), 1 + NAMED)

    def _ruled(self) -> Iterator[Move]:
        """The rules' fixes, of findings that tell why it fails; of all where nothing fails."""
        for finding in self.report.findings:
            telling = finding.severity is Severity.ERROR or self.report.verdict in (Verdict.INACTIVE, Verdict.ACTIVE)
            if finding.fix is None or not finding.fix.changes or not telling:
                continue
            parts: list[Move] = []
            for change in finding.fix.changes:
                if change.kind == "env":
                    if change.new != self.env.get(change.name):
                        parts.append(Move((change,), 1 + NAMED))
                elif change.new is None:
                    parts += self._drop(change.name, change.why, NAMED)
                else:
                    parts += self._set(change.name, change.new, change.why, NAMED)
            if parts:
                yield _all_of(parts)
            if len(parts) > 1:
                yield from parts

    # --- what the condition reads ------------------------------------------------------------------------------------

    def _together(self, facts: GuardFacts) -> Iterator[Move]:
        """Fields that are given together or not at all: all left out, or those that are missing added."""
        why = "given together with the others or not at all"
        for group in self.data.together:
            if not any(field in facts.names or field in self.message for field in group):
                continue
            known = {flag: value for field, value in group.items() if (flag := self._flag(field)) is not None}
            given = [name for flag in known if (name := self.arguments.given(flag.field)) is not None]
            parts = [m for name in given for m in self._drop(name, why, READ)]
            if parts:
                # Left to the tree they are one choice, not several.
                yield Move(_all_of(parts).changes, 1 + DROPPED)
            if len(given) < len(known):
                absent = [flag for flag in known if self.arguments.given(flag.field) is None]
                added = [m for flag in absent for m in self._set(flag.name, known[flag], why, NAMED)]
                if added:
                    # Completing what was begun is one choice, too.
                    yield Move(_all_of(added).changes, 1 + READ)

    def _read(self, facts: GuardFacts) -> Iterator[Move]:
        spoken = " ".join(self.message.lower().replace("-", " ").replace("_", " ").split())
        said = words([self.message])
        compared = set(facts.texts)
        concerned = self._concerned(facts, spoken, {*said, *compared})
        yield from self._alike(concerned)
        failing = {self.arguments.value(flag.name) for flag in concerned.values()} & {*said, *compared}
        for name, flag in concerned.items():
            written = self.arguments.given(flag.field)
            current = self.arguments.value(flag.name) if written else self.report.resolved.get(flag.field)
            offered = [c for c in flag.choices if c != current and c not in failing]
            named = [c for c in offered if c in said or c in compared]
            others = [c for c in offered if c not in named] if written and flag.field not in self.data.asked else []
            wanted = [v for v in self.data.asked.get(flag.field, ()) if takes(flag, v) and v != current]
            for value in wanted or [*named[:_MOST_CHOICES], *others[: _MOST_CHOICES - len(named)]]:
                yield from self._set(
                    flag.name,
                    value,
                    "the failing check reads it",
                    READ if value in named or value in wanted else CHOSEN,
                )
            for number in facts.numbers.get(name, []):
                yield from self._set(flag.name, str(number), "the failing check compares it with this", READ)
            if written:
                yield from self._drop(written, "the failing check reads it", READ)
            elif not flag.choices and name in facts.names and name not in facts.numbers:
                quality = TRIED if name in facts.absent else SWITCHED
                yield from self._set(flag.name, "", "the failing check reads it", quality)

    def _alike(self, concerned: Mapping[str, Flag]) -> Iterator[Move]:
        """Flags of the user's that give one value, which one choice may have spread: all left out."""
        by_value: dict[str, list[str]] = {}
        for flag in concerned.values():
            written = self.arguments.given(flag.field)
            value = self.arguments.value(written) if written else None
            if written and value:
                by_value.setdefault(value, []).append(written)
        for names in by_value.values():
            parts = [m for name in names for m in self._drop(name, "the failing check reads it", READ)]
            if len(parts) > 1:
                yield Move(_all_of(parts).changes, 1 + READ + len(parts) * DROPPED)

    def _concerned(self, facts: GuardFacts, spoken: str, texts: set[str]) -> dict[str, Flag]:
        """The flags that a failure is about, by name: read by its condition, or spoken of in its message.

        Spoken of is also one whose choice by the tree stands in the message, beside others that it could be given.
        """
        found: dict[str, Flag] = {}
        for name in facts.names:
            if (flag := self._flag(name)) is not None:
                found[name] = flag
        known = {flag.field for flag in found.values()}
        for flag in self.table.by_field.values():
            given = self.arguments.given(flag.field)
            value = self.arguments.value(given) if given else None
            telling = bool(flag.choices) and "_" in flag.field and flag.field.replace("_", " ") in spoken
            said = given is not None and (given in self.message or flag.field in self.message)
            chosen = self.report.resolved.get(flag.field) if given is None else None
            offered = isinstance(chosen, str) and chosen in texts and len(texts & set(flag.choices)) > 1
            if flag.field not in known and (telling or said or offered or (value and value in texts)):
                found[flag.field] = flag
        return {name: flag for name, flag in found.items() if not self._held(flag.name, self.data.fixed)}

    def _flag(self, name: str) -> Flag | None:
        """The flag of a field, or of a name that is one of the flag's other spellings."""
        return self.table.flag_of(name) or self.table.by_name.get("--" + name.replace("_", "-"))

    def _left_out(self) -> Iterator[Move]:
        """Each of the user's own flags left out."""
        if self.report.error is None:
            return
        for name in self.arguments.names():
            field = self.arguments.field(name)
            if field in self.user and not self._held(name, self.data.sizes):
                yield from self._drop(name, "it starts without it", TRIED)

    # --- single changes ----------------------------------------------------------------------------------------------

    def _set(self, name: str, value: str, why: str, quality: float) -> Iterator[Move]:
        flag = self.table.by_name.get(name)
        if flag is None or self._held(name, self.data.fixed) or (value and not takes(flag, value)):
            return
        if not value and (flag.choices or flag.field.rpartition("_")[2] in self.data.valued):
            return
        old = self.arguments.value(name)
        if old != value:
            cost = 1 + quality + (REPLACED if flag.field in self.user else 0)
            yield Move((Change("flag", self.arguments.given(flag.field) or flag.name, old, value, why),), cost)

    def _held(self, name: str, fields: frozenset[str]) -> bool:
        """Whether a flag is, under any of its names, one of some fields."""
        flag = self.table.by_name.get(name)
        names = (name,) if flag is None else (flag.field, flag.name, *flag.aliases)
        return any(n.lstrip("-").replace("-", "_") in fields for n in names)

    def _drop(self, name: str, why: str, quality: float) -> Iterator[Move]:
        field = self.arguments.field(name)
        old = self.arguments.value(name)
        if old is None or self._held(name, self.data.fixed) or field in self.data.asked:
            return
        cost = 1 + quality + (DROPPED if field in self.user else 0)
        yield Move((Change("flag", self.arguments.given(field) or name, old, None, why),), cost)


def _all_of(moves: list[Move]) -> Move:
    return Move(tuple(c for m in moves for c in m.changes), sum(m.cost for m in moves))
