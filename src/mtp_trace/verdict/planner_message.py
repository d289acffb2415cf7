"""What an error's own words offer: the flags, values and switches that it tells the user to set or to leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ADVICE = re.compile(
    r"\b(please|try|set|use|enable|add|specify|switch to|change|must|should|need(?:s|ed)?|requires?|required|only"
    r"|instead|choose|pass|remove|disable|unset|drop|without|or)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(r"\b(remove|unset|drop|without|do not (?:set|use|pass)|don't (?:set|use|pass)|omit)\b[^,;]*$", re.I)
_SENTENCE = re.compile(r"(?<=[.;!?])\s*(?=[A-Z])|\n+|; ")
_FLAG = re.compile(r"(--[a-z][\w-]*[\w])(?:(?:[ =]|\s+to\s+)[`'\"]?([\w.]+))?")
_FIELD = re.compile(r"\b([a-z]+(?:_[a-z0-9]+)+)\s*(?:==|=|\bto\b)\s*[`'\"]?(\w+)")
_ENV = re.compile(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?:\s*=\s*[`'\"]?(\w+))?")
_REFUSED = re.compile(r"unrecognized arguments: (.*)", re.S)
_CHOICE = re.compile(r"argument ([^:]+): invalid choice: '?([^']*?)'? \(choose from (.*)\)", re.S)
_ARGUMENT = re.compile(r"^argument ([^:]+): ")
_PLAIN = re.compile(
    r"and|or|is|are|to|for|with|in|on|as|be|has|when|if|must|should|not|only|instead|the|flag|option|argument|cannot"
    r"|requires|manually|explicitly"
)
_WORD = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Mention:
    """One thing that a message tells: ``kind`` "flag", "field" or "env"; ``value`` None where it gives none."""

    kind: str
    name: str
    value: str | None
    away: bool = False


@dataclass(frozen=True)
class Refusal:
    """A flag whose value the parser refuses; ``choices`` are what it offers in place of it."""

    flag: str
    value: str
    choices: tuple[str, ...]


def advice(message: str) -> list[Mention]:
    """What a message says to do, in its order: only what stands after a word of advice in its sentence."""
    found: dict[Mention, None] = {}
    for sentence in _SENTENCE.split(message):
        start = _ADVICE.search(sentence)
        if start is None:
            continue
        for pattern, kind in ((_FLAG, "flag"), (_FIELD, "field"), (_ENV, "env")):
            for match in pattern.finditer(sentence, start.start()):
                value = match.group(2)
                if kind == "flag" and value is not None and _PLAIN.fullmatch(value.lower()):
                    value = None
                away = _AWAY.search(sentence[: match.start()]) is not None
                found[Mention(kind, match.group(1), value, away)] = None
    return list(found)


def refused_flags(message: str) -> list[tuple[str, str]]:
    """The flags that the parser does not know, with their values as one text."""
    match = _REFUSED.search(message)
    found: list[tuple[str, str]] = []
    for word in match.group(1).split() if match is not None else ():
        if word.startswith("--"):
            name, _, value = word.partition("=")
            found.append((name, value))
        elif found:
            name, value = found[-1]
            found[-1] = (name, f"{value} {word}".strip())
    return found


def refused_value(message: str) -> Refusal | None:
    """The flag whose value is refused: not one of its choices, or not of its type."""
    match = _CHOICE.search(message)
    if match is not None:
        choices = tuple(c.strip().strip("'\"") for c in match.group(3).split(","))
        return Refusal(match.group(1).split("/")[0].strip(), match.group(2), choices)
    other = _ARGUMENT.search(message)
    return Refusal(other.group(1).split("/")[0].strip(), "", ()) if other is not None else None


def words(texts: Iterable[str]) -> list[str]:
    """Every word of some texts, in order and once each."""
    return list(dict.fromkeys(word.rstrip(".") for text in texts for word in _WORD.findall(text)))
