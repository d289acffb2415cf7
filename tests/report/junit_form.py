"""The form of JUnit reports that build servers check them against, written down as a table.

It is what the schema of Jenkins' xUnit plugin (version 10) allows, less the parts for tests that ran more than once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, fromstring

_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")
_COUNT = re.compile(r"[0-9]+")
_COUNTS = ("tests", "failures", "errors", "skipped")
_TEXT_ONLY: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """What an element must have and may have, and whether text may stand in it."""

    children: tuple[str, ...]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    text: bool = False


_OUTCOME = Form(_TEXT_ONLY, (), ("type", "message"), text=True)
_OUTPUT = Form(_TEXT_ONLY, text=True)
FORMS = {
    "testsuites": Form(("testsuite",), (), ("name", "time", "tests", "failures", "errors")),
    "testsuite": Form(
        ("testsuite", "properties", "testcase", "system-out", "system-err"),
        ("name", "tests", "failures", "errors"),
        ("group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"),
    ),
    "testcase": Form(
        ("skipped", "error", "failure", "system-out", "system-err"), ("name",), ("time", "classname", "group")
    ),
    "properties": Form(("property",)),
    "property": Form((), ("name", "value")),
    "failure": _OUTCOME,
    "error": _OUTCOME,
    "skipped": _OUTCOME,
    "system-out": _OUTPUT,
    "system-err": _OUTPUT,
}


def faults(text: str) -> list[str]:
    """What a report has that the form does not allow, or lacks; its sums among it."""
    root = fromstring(text)
    found = [] if root.tag in ("testsuites", "testsuite") else [f"the root is {root.tag}"]
    return [*found, *_of(root), *_sums(root)]


def _of(element: Element) -> Iterator[str]:
    form = FORMS.get(element.tag)
    if form is None:
        yield f"{element.tag} is no element of a report"
        return
    for name in form.required:
        if name not in element.attrib:
            yield f"{element.tag} lacks {name}"
    for name, value in element.attrib.items():
        if name not in (*form.required, *form.optional):
            yield f"{element.tag} has {name}"
        elif (name == "time" and not _TIME.fullmatch(value)) or (name in _COUNTS and not _COUNT.fullmatch(value)):
            yield f"{element.tag} has {name}={value!r}"
    if not form.text and any((part or "").strip() for part in (element.text, *(child.tail for child in element))):
        yield f"{element.tag} has text"
    for child in element:
        if child.tag not in form.children:
            yield f"{element.tag} holds {child.tag}"
        yield from _of(child)


def _sums(root: Element) -> Iterator[str]:
    for suite in root.iter("testsuite"):
        tags = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
        for name, path in {**tags, "skipped": "testcase/skipped"}.items():
            if name in suite.attrib and suite.attrib[name] != str(len(suite.findall(path))):
                yield f"{suite.attrib.get('name')}: {name} is {suite.attrib[name]}"
