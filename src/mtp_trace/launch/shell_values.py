"""What parameter operators and arithmetic do to values, without a shell."""

from __future__ import annotations

import ast
import re

_LONGEST = 8192
_LONGEST_SEARCHED = 1024
_LONGEST_WITH_STARS = 200
_MOST_DIGITS = 18
_STAR = None
_MOST_COUNTED = 256
_SUM = re.compile(r"[0-9\s+\-*/%()]+")
_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")


def _tokens(pattern: str) -> list[re.Pattern[str] | str | None]:
    """A shell pattern as characters, classes of characters, and ``None`` for a star."""
    tokens: list[re.Pattern[str] | str | None] = []
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "*":
            if not tokens or tokens[-1] is not _STAR:
                tokens.append(_STAR)
        elif character == "?":
            tokens.append(re.compile(r"(?s:.)"))
        elif character == "[" and pattern.find("]", place + 2) > 0:
            end = pattern.find("]", place + 2)
            tokens.append(_class(pattern[place + 1 : end]))
            place = end
        elif character == "\\" and place + 1 < len(pattern):
            place += 1
            tokens.append(pattern[place])
        else:
            tokens.append(character)
        place += 1
    return tokens


def _class(inside: str) -> re.Pattern[str] | str:
    negated = "^" if inside[:1] in ("!", "^") else ""
    plain = inside[len(negated) :]
    for special in ("\\", "[", "^", "&", "~", "|"):
        plain = plain.replace(special, "\\" + special)
    try:
        return re.compile(f"[{negated}{plain}]", re.S)
    except re.error:
        return inside[:1]


def _fits(text: str, tokens: list[re.Pattern[str] | str | None]) -> bool:
    """Whether the whole text fits; never more steps than characters times tokens."""
    place = token = 0
    star, resume = -1, 0
    while place < len(text):
        current = tokens[token] if token < len(tokens) else ""
        if token < len(tokens) and current is _STAR:
            star, resume = token, place
            token += 1
        elif token < len(tokens) and (
            current == text[place] if isinstance(current, str) else current is not None and current.match(text[place])
        ):
            place += 1
            token += 1
        elif star >= 0:
            resume += 1
            place, token = resume, star + 1
        else:
            return False
    return all(rest is _STAR for rest in tokens[token:])


def _too_long(text: str, tokens: list[re.Pattern[str] | str | None]) -> bool:
    """Whether trying every part of the text would take long."""
    return len(text) > (_LONGEST_WITH_STARS if tokens.count(_STAR) > 1 else _LONGEST_SEARCHED)


def matches(text: str, pattern: str) -> bool | None:
    """Whether ``text`` fits the shell pattern; None where that is not found out."""
    if len(text) > _LONGEST or len(pattern) > _LONGEST_SEARCHED:
        return None
    return _fits(text, _tokens(pattern))


def without_prefix(text: str, pattern: str, longest: bool) -> str | None:
    """``${text#pattern}`` or, with ``longest``, ``${text##pattern}``; None where that is not found out."""
    return _without(text, pattern, longest, at_end=False)


def without_suffix(text: str, pattern: str, longest: bool) -> str | None:
    """``${text%pattern}`` or, with ``longest``, ``${text%%pattern}``; None where that is not found out."""
    return _without(text, pattern, longest, at_end=True)


def _without(text: str, pattern: str, longest: bool, at_end: bool) -> str | None:
    tokens = _tokens(pattern)
    if _too_long(text, tokens) or len(pattern) > _LONGEST_SEARCHED:
        return None
    lengths = range(len(text), -1, -1) if longest else range(len(text) + 1)
    for length in lengths:
        if _fits(text[len(text) - length :] if at_end else text[:length], tokens):
            return text[: len(text) - length] if at_end else text[length:]
    return text


def replaced(text: str, pattern: str, by: str, op: str) -> str | None:
    """``${text/pattern/by}``, with ``op`` one of ``/``, ``//``, ``/#``, ``/%``; None where that is not found out."""
    if not pattern or not text:
        return text
    tokens = _tokens(pattern)
    if all(isinstance(token, str) for token in tokens) and op in ("/", "//"):
        plain = "".join(token for token in tokens if isinstance(token, str))
        return text.replace(plain, by, -1 if op == "//" else 1)
    if len(text) > _LONGEST_WITH_STARS or len(pattern) > _LONGEST_WITH_STARS:
        return None
    out: list[str] = []
    place = 0
    while place < len(text):
        ends = (len(text),) if op == "/%" else range(len(text), place, -1)
        end = next((end for end in ends if _fits(text[place:end], tokens)), None)
        if end is None:
            if op == "/#":
                break
            out.append(text[place])
            place += 1
            continue
        out.append(by)
        place = end
        if op != "//":
            break
    return "".join(out) + text[place:]


def sequence(words: list[str]) -> list[str] | None:
    """The numbers of ``seq LAST``, ``seq FIRST LAST`` or ``seq FIRST STEP LAST``; None for any other use."""
    if not 1 <= len(words) <= 3 or any(calculated(word) is None for word in words):
        return None
    numbers = [calculated(word) or 0 for word in words]
    first, step, last = (1, 1, numbers[0]) if len(numbers) == 1 else (numbers[0], 1, numbers[-1])
    if len(numbers) == 3:
        step = numbers[1]
    return _counted(first, last, step)


def _counted(first: int, last: int, step: int) -> list[str] | None:
    if step == 0 or abs(last - first) // abs(step) >= _MOST_COUNTED:
        return None
    return [str(number) for number in range(first, last + (1 if step > 0 else -1), step)]


def braces(word: str) -> list[str] | None:
    """What ``a{1..3}`` or ``a{b,c}`` stands for; None where the word has no such pair of braces, or several."""
    match = _BRACES.fullmatch(word)
    if match is None:
        return None
    before, inside, after = match.groups()
    bounds = _RANGE.fullmatch(inside)
    if bounds is not None:
        first, last = int(bounds.group(1)), int(bounds.group(2))
        items = _counted(first, last, 1 if last >= first else -1)
    else:
        items = inside.split(",") if "," in inside else None
    return None if items is None else [f"{before}{item}{after}" for item in items]


def calculated(expression: str) -> int | None:
    """A sum of whole numbers as the shell works it out; None where a name is in it or it is no such sum."""
    if len(expression) > 200 or not _SUM.fullmatch(expression):
        return None
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _number(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError):
        return None


def _number(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _bounded(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _number(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.Add):
            return _bounded(left + right)
        if isinstance(node.op, ast.Sub):
            return _bounded(left - right)
        if isinstance(node.op, ast.Mult):
            return _bounded(left * right)
        if isinstance(node.op, (ast.Div, ast.Mod)):
            # The shell divides towards zero, and the remainder has the sign of the left side.
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if isinstance(node.op, ast.Div) else left - quotient * right
    raise ValueError("not a sum of whole numbers")


def _bounded(value: int) -> int:
    if abs(value) >= 10**_MOST_DIGITS:
        raise ValueError("too large")
    return value
