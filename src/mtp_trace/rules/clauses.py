"""Reads the matching parts of a rule: site clauses, event clauses, conditions and captures."""

from __future__ import annotations

from typing import Any

from mtp_trace.rules.document import Mapping, Value
from mtp_trace.rules.model import (
    Capture,
    Condition,
    EventClause,
    Further,
    Match,
    SiteClause,
    SiteMatch,
    ValueTest,
    When,
)

SITE_FORMS = {
    "write": ("write", "item"),
    "item": ("item",),
    "raise": ("raise",),
    "call": ("call",),
    "log": ("log",),
    "return": ("return",),
    "read": ("read",),
    "condition": ("condition",),
    "class": ("class",),
    "define": ("define",),
    "bind": ("bind",),
}
_MESSAGE_FORMS = {"raise", "log"}
SPELLINGS = ("attribute", "item", "key", "keyword")
EVENT_FORMS = ("write", "item", "raise", "log", "call", "env", "outside")
EXTRACTORS = ("texts", "numbers", "compared", "guard", "sets", "reads", "text")
_NEED_WHAT = {"compared", "sets", "reads", "guard"}
ROOTS = (
    "verdict",
    "stage",
    "error",
    "error_type",
    "algorithm",
    "architecture",
    "model_type",
    "draft",
    "draft_class",
    "worker",
    "gpu",
    "argv",
    "version",
    "resolved",
    "config",
    "text_config",
    "env",
    "target",
    "draft_config",
    "flags",
    "log",
    "unknown_flag",
    "successor",
    "successor_why",
    "successor_at",
    "error_file",
    "error_line",
    "draft_file",
    "target_file",
    "refused_value",
    "wrong_flag",
    "wrong_flag_at",
    "choices",
    "near_choice",
)
"""First parts of a path to a fact of the launch."""
MAPS = ("resolved", "config", "text_config", "env", "target", "draft_config", "flags")


def read_match(value: Value) -> Match:
    """The ``match`` part of a rule."""
    m = value.mapping()
    when = m.get("when")
    event, no_event, site = m.get("event"), m.get("no-event"), m.get("site")
    also = m.get("also")
    where = m.get("where")
    silent, before = m.get("silent-if"), m.get("runs-before")
    no_site, each, launch, at = m.get("no-site"), m.get("each"), m.get("launch"), m.get("at")
    m.finish()
    if event is None and site is None and when is None:
        m.place.fail("nothing to match: give 'when', 'event' or 'site'")
    read_site = read_site_match(site) if site else None
    if before is not None and site is None:
        before.place.fail("only a site can run before another", "give 'site' too")
    places = tuple(_further(name, part) for name, part in also.mapping()) if also else ()
    anchor = at.choice([place.name for place in places]) if at else ""
    return Match(
        when=When(tuple(read_test(k, v) for k, v in when.mapping())) if when else When(),
        event=read_event(event) if event else None,
        no_event=read_event(no_event) if no_event else None,
        site=read_site,
        before=read_site_match(before) if before else None,
        no_site=no_site.boolean() if no_site else False,
        site_where=tuple((k, read_condition(v)) for k, v in where.mapping()) if where else (),
        also=places,
        silent_if=tuple(v.text() for v in silent.one_or_many()) if silent else (),
        at=anchor,
        launch=launch.boolean() if launch else True,
        each=each.boolean() if each else False,
    )


def _further(name: str, value: Value) -> Further:
    m = value.mapping()
    where, file, optional = m.get("where"), m.get("file"), m.get("optional")
    if (where or file) and "words" not in m:
        m.place.fail("only a site has 'where' and 'file'", "give 'words'")
    if file is not None and (not file.text().startswith("$") or file.text()[1:].partition(".")[0] not in ROOTS):
        file.place.fail(f"{file.text()!r} is no fact of the launch", "write $draft_file or $target_file")
    return Further(
        name,
        site_of(m) if "words" in m else event_of(m),
        tuple((k, read_condition(v)) for k, v in where.mapping()) if where else (),
        file.text()[1:] if file else "",
        optional.boolean() if optional else False,
    )


def read_test(path: str, value: Value) -> tuple[str, Condition]:
    """A test on a fact of the launch."""
    root, _, rest = path.partition(".")
    if root not in ROOTS:
        from mtp_trace.rules.document import near_hint

        value.place.fail(f"the launch has no fact {root!r}", near_hint(root, ROOTS))
    if root in MAPS and not rest:
        value.place.fail(f"{root!r} needs a key, as in {root}.NAME")
    if root not in MAPS and rest:
        value.place.fail(f"{root!r} has no parts")
    return path, read_condition(value)


def read_condition(value: Value) -> Condition:
    """A test on a value: a single value, a list of allowed ones, or a mapping of tests."""
    if not isinstance(value.data, dict):
        return Condition(equals=tuple(v.scalar() for v in value.one_or_many()))
    m = value.mapping()
    parts: dict[str, Any] = {}
    for key, name in (("is", "equals"), ("not", "none_of")):
        if found := m.get(key):
            parts[name] = tuple(v.scalar() for v in found.one_or_many())
    for key in ("matches", "lacks"):
        if found := m.get(key):
            parts[key] = found.regex()
    if found := m.get("given"):
        parts["given"] = found.boolean()
    for key in ("above", "below"):
        if found := m.get(key):
            parts[key] = _number(found)
    for key in ("contains", "near", "same", "differs", "divides", "indivisible"):
        if found := m.get(key):
            parts[key] = found.text()
    m.finish()
    if not parts:
        m.place.fail("the test is empty")
    return Condition(**parts)


def _number(value: Value) -> float:
    if not isinstance(value.data, (int, float)) or isinstance(value.data, bool):
        value.place.fail(f"a number is needed, not {value.name()}")
    return float(value.data)


def read_event(value: Value) -> EventClause:
    """An event clause."""
    return event_of(value.mapping())


def event_of(m: Mapping) -> EventClause:
    """The event clause of a mapping whose other keys were read."""
    form = _form(m, EVENT_FORMS)
    first = m.need(form)
    parts: dict[str, Any] = {}
    if form in _MESSAGE_FORMS:
        parts["text"] = first.regex()
    else:
        parts["name"] = first.regex()
    if found := m.get("type"):
        parts["name"] = found.regex()
    if found := m.get("value"):
        parts["value"] = read_condition(found)
    for key in ("guard", "function"):
        if found := m.get(key):
            parts[key] = found.regex()
    if found := m.get("stage"):
        parts["stage"] = tuple(v.text() for v in found.one_or_many())
    if found := m.get("pick"):
        parts["pick"] = found.choice(("first", "last"))
    m.finish()
    # A field is written by an assignment, an item of it, or a declaring call's keyword.
    kinds = ("write", "item", "call") if form == "write" else (form,)
    return EventClause(kinds, **parts)


def read_site_match(value: Value) -> SiteMatch:
    """A site with its words, its clauses and its captures."""
    return site_of(value.mapping())


def site_of(m: Mapping) -> SiteMatch:
    """The site of a mapping whose other keys were read."""
    words = tuple(v.text() for v in m.need("words").one_or_many())
    whole = m.get("file-words")
    file_words = tuple(v.text() for v in whole.one_or_many()) if whole else ()
    clauses = m.get("any")
    captures = m.get("capture")
    if clauses is not None:
        m.finish()
        any_of = tuple(read_clause(v.mapping()) for v in clauses.items())
        if not any_of:
            clauses.place.fail("the list is empty")
    else:
        any_of = (read_clause(m),)
    taken = tuple(_capture(k, v) for k, v in captures.mapping()) if captures else ()
    return SiteMatch(words, any_of, taken, file_words)


def read_clause(m: Mapping) -> SiteClause:
    """One site clause."""
    form = _form(m, tuple(SITE_FORMS))
    first = m.need(form)
    parts: dict[str, Any] = {"kinds": SITE_FORMS[form]}
    if form in _MESSAGE_FORMS:
        parts["message"] = first.regex()
    elif form == "return":
        parts["value"] = _value_test(first)
    else:
        parts["name"] = first.regex()
    if found := m.get("type"):
        parts["name"] = found.regex()
    if form != "return" and (found := m.get("value")):
        parts["value"] = _value_test(found)
    for key, name in (("owner", "owner"), ("in-function", "function"), ("in-class", "cls")):
        if found := m.get(key):
            parts[name] = found.regex()
    if found := m.get("spelling"):
        parts["spelling"] = tuple(v.choice(SPELLINGS) for v in found.one_or_many())
    for key, name in (("guard", "guard"), ("unless-guard", "unless_guard")):
        if found := m.get(key):
            parts[name] = tuple(v.regex() for v in found.one_or_many())
    if found := m.get("guard-implied"):
        parts["guard_implied"] = found.boolean()
    if found := m.get("exported-as"):
        parts["exported"] = found.text()
    for key in ("beside", "without"):
        if found := m.get(key):
            parts[key] = read_clause(found.mapping())
    m.finish()
    return SiteClause(**parts)


def _form(m: Mapping, forms: tuple[str, ...]) -> str:
    found = [f for f in forms if f in m]
    if len(found) != 1:
        said = " and ".join(found) if found else "none"
        m.place.fail(f"exactly one of {', '.join(forms)} is needed, not {said}")
    return found[0]


def _value_test(value: Value) -> ValueTest:
    if not isinstance(value.data, dict):
        return ValueTest(constant=tuple(v.scalar() for v in value.one_or_many()))
    m = value.mapping()
    parts: dict[str, Any] = {}
    for key in ("text", "reads", "avoids", "calls"):
        if found := m.get(key):
            parts[key] = found.regex()
    if found := m.get("texts"):
        parts["texts"] = found.boolean()
    if found := m.get("numbers"):
        parts["numbers"] = found.integer()
    if found := m.get("is"):
        parts["constant"] = tuple(v.scalar() for v in found.one_or_many())
    m.finish()
    if not parts:
        m.place.fail("the test is empty")
    return ValueTest(**parts)


def _capture(name: str, value: Value) -> Capture:
    if not name.isidentifier():
        value.place.fail(f"{name!r} cannot be the name of a placeholder", "use letters, digits and _")
    if not isinstance(value.data, dict):
        how = value.choice(EXTRACTORS)
        if how in _NEED_WHAT:
            value.place.fail(f"{how!r} needs a regular expression, as in '{{{how}: REGEX}}'")
        return Capture(name, how)
    m = value.mapping()
    how = _form(m, EXTRACTORS)
    argument = m.need(how)
    m.finish()
    if how == "numbers":
        return Capture(name, how, fields=tuple(v.regex() for v in argument.one_or_many()))
    return Capture(name, how, argument.regex())
