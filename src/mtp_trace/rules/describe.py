"""What a rule matches, in words, made from the rule itself so that it cannot go out of date."""

from __future__ import annotations

from collections.abc import Iterator

from mtp_trace.rules.model import Condition, EventClause, Rule, SiteClause, SiteMatch, ValueTest

_FORMS = {
    ("write", "item"): "writes the field",
    ("item",): "writes an item of the field",
    ("raise",): "raises or asserts with a message",
    ("call",): "calls",
    ("log",): "logs a line",
    ("return",): "returns a value",
    ("read",): "reads",
    ("condition",): "tests a condition",
    ("class",): "defines the class",
    ("define",): "defines the function",
    ("bind",): "binds the name",
}


def described(rule: Rule) -> Iterator[str]:
    """Lines of Markdown."""
    match = rule.match
    if match.site is not None:
        start = "It speaks where no code of the tree" if match.no_site else "It looks for code that"
        yield from _listed(start, match.site)
    if match.before is not None:
        yield from _listed("Only that counts which runs before code that", match.before)
    if match.event is not None:
        yield f"{'And' if match.site else 'It looks'} in the traced launch for an event that {_event(match.event)}."
    if match.no_event is not None:
        yield f"It is silent if there is an event that {_event(match.no_event)}."
    for further in match.also:
        name = further.name.replace("-", " ") + (", where there is one" if further.optional else "")
        if isinstance(further.part, SiteMatch):
            there = f" in `{further.file}`" if further.file else ""
            yield from _listed(f"It also shows ({name}) code{there} that", further.part)
        else:
            yield f"It also shows ({name}) an event that {_event(further.part)}."
    if match.silent_if:
        yield f"It is silent where {' or '.join(f'`{r}`' for r in match.silent_if)} speaks."
    if not match.launch:
        yield "It is part of `scan` only."
        return
    tests = [f"`{path}` {_condition(test)}" for path, test in match.when.tests]
    tests += [f"`{path}` {_condition(test)}" for path, test in match.site_where]
    if tests:
        yield ""
        yield "It speaks about a launch if " + "; ".join(tests) + "."


def _listed(start: str, match: SiteMatch) -> Iterator[str]:
    clauses = [_clause(c) for c in match.any_of]
    if len(clauses) == 1:
        yield f"{start} {clauses[0]}."
        return
    yield f"{start}"
    yield ""
    yield from (f"- {c}" for c in clauses)


def _clause(clause: SiteClause) -> str:
    parts = [_FORMS[clause.kinds]]
    if clause.name is not None:
        parts.append(f"{'of type ' if clause.kinds == ('raise',) else ''}`{clause.name.pattern}`")
    if clause.message is not None:
        parts.append(f"`{clause.message.pattern}`")
    if clause.value is not None:
        parts.append(_value(clause.value))
    if clause.owner is not None:
        parts.append(f"on `{clause.owner.pattern}`")
    if clause.cls is not None:
        parts.append(f"in a class `{clause.cls.pattern}`")
    if clause.function is not None:
        parts.append(
            f"in a function `{clause.function.pattern}`" if clause.function.pattern else "outside of functions"
        )
    parts += [f"under a condition `{g.pattern}`" for g in clause.guard]
    parts += [f"under no condition `{g.pattern}`" for g in clause.unless_guard]
    if clause.exported:
        parts.append(f"and lists it in `{clause.exported}`")
    if clause.beside is not None:
        parts.append(f"beside code that {_clause(clause.beside)}")
    if clause.without is not None:
        parts.append(f"with none beside it that {_clause(clause.without)}")
    return " ".join(parts)


def _value(test: ValueTest) -> str:
    parts = []
    if test.constant is not None:
        parts.append("to " + " or ".join(f"`{c!r}`" for c in test.constant))
    if test.text is not None:
        parts.append(f"with a value like `{test.text.pattern}`")
    if test.texts is not None:
        parts.append("with constant text" if test.texts else "without constant text")
    if test.numbers is not None:
        parts.append(f"of {test.numbers} numbers")
    if test.reads is not None:
        parts.append(f"from a value that reads `{test.reads.pattern}`")
    if test.avoids is not None:
        parts.append(f"from a value that does not read `{test.avoids.pattern}`")
    if test.calls is not None:
        parts.append(f"from a call of `{test.calls.pattern}`")
    return " ".join(parts)


def _event(clause: EventClause) -> str:
    kinds = {"write": "writes", "item": "writes an item of", "raise": "raises", "log": "logs", "call": "calls"}
    parts = [kinds.get(clause.kinds[0], clause.kinds[0])]
    if clause.name is not None:
        parts.append(f"`{clause.name.pattern}`")
    if clause.text is not None:
        parts.append(f"`{clause.text.pattern}`")
    if clause.value is not None:
        parts.append(f"with a value that {_condition(clause.value)}")
    if clause.guard is not None:
        parts.append(f"under a condition `{clause.guard.pattern}`")
    return " ".join(parts)


def _condition(test: Condition) -> str:
    parts = []
    if test.given is not None:
        parts.append("is given" if test.given else "is not given")
    if test.equals is not None:
        parts.append("is " + " or ".join(f"`{v}`" for v in test.equals))
    if test.none_of is not None:
        parts.append("is not " + " or ".join(f"`{v}`" for v in test.none_of))
    for word, regex in (("matches", test.matches), ("does not match", test.lacks)):
        if regex is not None:
            parts.append(f"{word} `{regex.pattern}`")
    for word, number in (("is above", test.above), ("is below", test.below)):
        if number is not None:
            parts.append(f"{word} {number:g}")
    for word, other in (
        ("contains", test.contains),
        ("is close to, but not", test.near),
        ("is the same as", test.same),
        ("differs from", test.differs),
        ("divides", test.divides),
        ("does not divide", test.indivisible),
    ):
        if other is not None:
            parts.append(f"{word} `{other}`")
    return " and ".join(parts)
