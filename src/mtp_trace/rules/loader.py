"""Rules from YAML files, checked key by key; a wrong file is refused with file, line and key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from mtp_trace.errors import RuleError
from mtp_trace.report.model import Severity
from mtp_trace.rules.clauses import MAPS, ROOTS, read_match
from mtp_trace.rules.data import data_root
from mtp_trace.rules.document import Value, near_hint, read_document
from mtp_trace.rules.message import placeholders
from mtp_trace.rules.model import KINDS, REQUIRES, SCHEMA, ChangeSpec, FixSpec, Match, Pack, Rule, Settings, SiteMatch

FOLDER = "activation"
LAUNCH_SUFFIX = ".launch.yaml"
"""How the name of a miniature of launches ends."""
MAX_FILES = 500
_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
SITE_NAMES = (
    "file",
    "line",
    "end_line",
    "function",
    "cls",
    "guard",
    "field",
    "value",
    "message",
    "type",
    "condition",
    "name",
)
"""Placeholders that every site and event fills."""


def load_pack(extra_dirs: Iterable[str | Path] = (), settings: Settings | None = None) -> Pack:
    """The shipped rules, then those of the settings' folders and of ``extra_dirs``; a later one replaces its id.

    Raises RuleError naming file, line and key.
    """
    settings = settings or Settings()
    rules: dict[str, Rule] = {}
    for folder in (data_root() / FOLDER, *settings.rules, *(Path(d) for d in extra_dirs)):
        rules.update(load_folder(folder))
    known = list(rules)
    for rule_id in [*(s.rule for s in settings.disabled), *settings.severity]:
        if rule_id not in rules:
            raise RuleError(f"there is no rule {rule_id!r}", settings.file, near_hint(rule_id, known))
    for rule in rules.values():
        for other in rule.match.silent_if:
            if other not in rules:
                where = f"{rule.file}:{rule.line}: match.silent-if"
                raise RuleError(f"there is no rule {other!r}", where, near_hint(other, known))
    changed = [_with_severity(r, settings.severity.get(r.id)) for r in rules.values()]
    return Pack(tuple(sorted(changed, key=lambda r: r.id)), settings)


def load_folder(folder: Path) -> dict[str, Rule]:
    """The rules of a folder's ``*.yaml`` files (or of one file), by id; miniatures beside them are left out."""
    if os.path.isfile(folder):
        files = [folder]
    elif os.path.isdir(folder):
        found = (p for p in folder.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
        files = sorted(p for p in found if not p.name.endswith(LAUNCH_SUFFIX))
        if not files:
            raise RuleError("there is no rule file here", str(folder), "rule files end in .yaml")
    else:
        raise RuleError("there is no such folder", str(folder))
    if len(files) > MAX_FILES:
        raise RuleError(f"there are more than {MAX_FILES} rule files", str(folder))
    rules: dict[str, Rule] = {}
    for file in files:
        for rule in load_file(file):
            if rule.id in rules:
                first = rules[rule.id]
                raise RuleError(
                    f"the id {rule.id!r} is taken",
                    f"{rule.file}:{rule.line}: id",
                    f"first in {first.file}:{first.line}",
                )
            rules[rule.id] = rule
    return rules


def load_file(path: Path) -> list[Rule]:
    """The rules of one file."""
    return read_rules(read_document(path))


def read_rules(document: Value) -> list[Rule]:
    """The rules of a document."""
    m = document.mapping()
    schema = m.need("schema")
    if schema.integer() > SCHEMA or schema.integer() < 1:
        schema.place.fail(f"schema {schema.integer()} is not known", f"this program reads schema 1 to {SCHEMA}")
    listed = m.need("rules")
    m.finish()
    rules = [_rule(v) for v in listed.items()]
    if not rules:
        listed.place.fail("the list is empty")
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in seen:
            raise RuleError(
                f"the id {rule.id!r} is taken", f"{rule.file}:{rule.line}: id", f"first in line {seen[rule.id].line}"
            )
        seen[rule.id] = rule
    return rules


def _rule(value: Value) -> Rule:
    m = value.mapping()
    rule_id = m.need("id")
    if not _ID.match(rule_id.text()):
        rule_id.place.fail(f"{rule_id.text()!r} is no id", "small letters and digits, joined by hyphens")
    match_value = m.need("match")
    match = read_match(match_value)
    message, why = m.need("message"), m.need("why")
    names = _names(match)
    fix, scan, requires = m.get("fix"), m.get("scan"), m.get("requires")
    general = m.get("general")
    references, example, since = m.get("references"), m.get("example"), m.get("since-schema")
    since_schema = since.integer() if since else 1
    if since and not 1 <= since_schema <= SCHEMA:
        since.place.fail(f"schema {since_schema} is not known", f"this program reads schema 1 to {SCHEMA}")
    _check_text(message, names)
    found = Rule(
        id=rule_id.text(),
        name=m.need("name").text(),
        kind=m.need("kind").choice(KINDS),
        severity=Severity(m.need("severity").choice(s.value for s in Severity)),
        message=message.text().strip(),
        why=why.text().strip(),
        match=match,
        fix=_fix(fix, names) if fix else None,
        requires=requires.choice(REQUIRES) if requires else "nothing",
        references=tuple(v.text() for v in references.items()) if references else (),
        since_schema=since_schema,
        scan=_scan(scan, match, names) if scan else None,
        general=general.boolean() if general else False,
        example=example.text().rstrip() if example else "",
        file=value.place.file,
        line=rule_id.place.line,
    )
    m.finish()
    if found.requires != "nothing" and match.site is None:
        (requires or value).place.fail("only a rule with a site can be required")
    for path, _ in match.site_where:
        _check_name(path, match_value, names)
    for further in match.also:
        part = further.part
        own = names | set(SITE_NAMES) | (_captured(part) if isinstance(part, SiteMatch) else set())
        for path, _ in further.where:
            _check_name(path, match_value, own)
    return found


def _fix(value: Value, names: set[str]) -> FixSpec:
    m = value.mapping()
    text, changes = m.need("text"), m.get("changes")
    m.finish()
    _check_text(text, names)
    return FixSpec(text.text().strip(), tuple(_change(v, names) for v in changes.items()) if changes else ())


def _change(value: Value, names: set[str]) -> ChangeSpec:
    m = value.mapping()
    flag, env, fields, to, why = m.get("flag"), m.get("env"), m.get("field"), m.get("to"), m.get("why")
    m.finish()
    if sum(x is not None for x in (flag, env, fields)) != 1:
        m.place.fail("exactly one of flag, field, env is needed")
    for part in (flag, env, to, why):
        if part is not None and isinstance(part.data, str) and part.data:
            _check_text(part, names)
    target = "" if to is not None and to.data == "" else None if to is None or to.data is None else str(to.scalar())
    reason = why.text() if why else ""
    if env is not None:
        return ChangeSpec("env", env.text(), (), target, reason)
    if fields is not None:
        return ChangeSpec("flag", "", tuple(v.text() for v in fields.one_or_many()), target, reason)
    assert flag is not None
    if not flag.text().startswith(("-", "{")):
        flag.place.fail("a flag starts with '--'", "give a field's name as 'field'")
    return ChangeSpec("flag", flag.text(), (), target, reason)


def _scan(value: Value, match: Match, names: set[str]) -> dict[str, str]:
    if match.site is None:
        value.place.fail("only a rule with a site can be part of a scan")
    out: dict[str, str] = {}
    for key, item in value.mapping():
        if isinstance(item.data, str):
            _check_text(item, names)
        out[key] = str(item.scalar())
    return out


def _names(match: Match) -> set[str]:
    names = set(ROOTS) - set(MAPS)
    if match.site is not None or match.event is not None:
        names |= set(SITE_NAMES)
    names |= _captured(match.site) | ({"before"} if match.before is not None else set())
    for further in match.also:
        own = set(SITE_NAMES) | (_captured(further.part) if isinstance(further.part, SiteMatch) else set())
        names |= {f"{further.name}.{n}" for n in own}
    return names


def _captured(site: SiteMatch | None) -> set[str]:
    if site is None:
        return set()
    names = {c.name for c in site.captures}
    for clause in site.any_of:
        tests = clause.value
        for regex in (clause.name, clause.message, tests.text if tests else None, *clause.guard):
            names |= set(regex.groups) if regex else set()
    return names


def _check_text(value: Value, names: set[str]) -> None:
    try:
        found = placeholders(value.text())
    except ValueError as error:
        value.place.fail(f"the text is wrong: {error}", "write {{ and }} for braces that are meant as such")
    for name in found:
        _check_name(name, value, names)


def _check_name(name: str, value: Value, names: set[str]) -> None:
    root, _, rest = name.partition(".")
    part_of_list = root in names and rest.isdigit()
    if name not in names and not part_of_list and not (root in MAPS and rest):
        value.place.fail(f"the placeholder {{{name}}} is never filled", near_hint(name, sorted(names)))


def _with_severity(rule: Rule, severity: Severity | None) -> Rule:
    from dataclasses import replace

    return rule if severity is None else replace(rule, severity=severity)
