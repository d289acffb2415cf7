"""A rule's page: what it finds, why it matters, an example, what to do. The same text for the docs and the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mtp_trace.report.ruletext import RuleText
from mtp_trace.rules.describe import described
from mtp_trace.rules.model import Pack, Rule


def page(rule: Rule) -> str:
    """The rule's page in Markdown."""
    return "\n".join(_lines(rule)).rstrip() + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    every = "yes, in every tree"
    of_kind = f"one rule of kind {rule.kind} must"
    required = {"nothing": "no", "site": every, "tree-site": every, "any-of-kind": of_kind}
    yield f"# {rule.name}"
    yield ""
    yield f"`{rule.id}` · {rule.kind} · {rule.severity.value} · must find a site: {required[rule.requires]}"
    yield ""
    yield "## What it does"
    yield ""
    yield from described(rule)
    yield ""
    yield f"It says: {' '.join(rule.message.split())}"
    yield ""
    yield "## Why it matters"
    yield ""
    yield " ".join(rule.why.split())
    if rule.example:
        yield ""
        yield "## Example"
        yield ""
        yield "```python"
        yield from rule.example.split("\n")
        yield "```"
    yield ""
    yield "## What to do"
    yield ""
    if rule.fix is None:
        yield "Nothing: this tells how the tree works." if rule.severity.value == "note" else "See what it says."
    else:
        yield " ".join(rule.fix.text.split())
        for change in rule.fix.changes:
            name = change.name or " or ".join("--" + f.replace("_", "-") for f in change.fields)
            to = "leave it out" if change.to is None else f"set it to `{change.to}`" if change.to else "add it"
            yield f"- `{name}`: {to}{f' ({change.why})' if change.why else ''}"
    if rule.references:
        yield ""
        yield "## References"
        yield ""
        yield from (f"- {r}" for r in rule.references)


def index_table(pack: Pack) -> str:
    """All rules as a Markdown table, with links to their pages."""
    rows = [f"| [`{r.id}`](rules/{r.id}.md) | {r.kind} | {r.severity.value} | {r.name} |" for r in pack.rules]
    return "\n".join(["| rule | kind | severity | |", "|---|---|---|---|", *rows]) + "\n"


def rule_texts(pack: Pack) -> dict[str, RuleText]:
    """What the formats that carry rules apart from their findings need."""
    return {r.id: RuleText(r.name, "\n\n".join([" ".join(r.why.split()), _advice(r)]).strip()) for r in pack.rules}


def _advice(rule: Rule) -> str:
    return " ".join(rule.fix.text.split()) if rule.fix is not None else ""
