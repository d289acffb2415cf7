"""Damage to texts, bytes and JSON values, drawn from a random source so that a seed gives the same input again."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

ODD_NUMBERS = [0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.5, 1e308, float("nan"), float("inf")]
ODD_VALUES: list[Any] = [
    *ODD_NUMBERS,
    None,
    True,
    False,
    "",
    "\x00",
    "\ud800",
    "\u202e",
    "a" * 5000,
    "../../x",
    "$(x)",
    "auto",
    [],
    {},
    [[]],
    {"": {}},
    [None],
    ["x", 1],
    {"a": [1, {"b": None}]},
]
PIECES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"'",
    b",",
    b":",
    b"\\",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"-",
    b"&a ",
    b"*a",
    b"!!python/x ",
    b"null",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"1e999",
    b"-0",
    b"${",
    b"$(",
    b"`",
    b"|",
    b">",
    b"#",
    b"<<: ",
]


def damaged(chance: random.Random, seed: bytes, others: Sequence[bytes], pieces: Sequence[bytes] = PIECES) -> bytes:
    """A seed with one to four blows."""
    data = seed
    for _ in range(chance.choice((1, 1, 2, 4))):
        first, second = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        second = min(second, first + chance.choice((1, 4, 40, len(data))))
        kind = chance.randrange(9)
        if kind == 0:
            data = data[:first]
        elif kind == 1:
            data = data[:first] + data[second:]
        elif kind == 2:
            data = data[:second] + data[first:second] * chance.choice((1, 1, 3, 50)) + data[second:]
        elif kind == 3 and data:
            at = chance.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        elif kind == 4:
            data = data[:first] + chance.choice(pieces) * chance.choice((1, 1, 1, 2, 300)) + data[first:]
        elif kind == 5:
            other = chance.choice(others)
            begin = chance.randrange(len(other) + 1)
            data = data[:first] + other[begin : begin + chance.choice((5, 50, 500))] + data[second:]
        elif kind == 6:
            data = data[:first] + chance.randbytes(chance.choice((1, 3, 20))) + data[second:]
        elif kind == 7:
            data = data[:first] + str(chance.choice(ODD_NUMBERS)).encode() + data[second:]
        else:
            lines = data.split(b"\n")
            chance.shuffle(lines) if chance.random() < 0.1 else lines.pop(chance.randrange(len(lines)))
            data = b"\n".join(lines)
    return data[:200_000]


def garbage(chance: random.Random, pieces: Sequence[bytes] = PIECES) -> bytes:
    """Bytes that nobody meant: noise, tokens in any order, one token a great many times."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.randrange(200))
    if kind == 1:
        return b"".join(chance.choice(pieces) for _ in range(chance.randrange(60)))
    if kind == 2:
        return chance.choice(pieces) * chance.choice((10, 1000, 50_000))
    return "".join(chr(chance.randrange(0x20, 0x2500)) for _ in range(chance.randrange(80))).encode("utf-8", "replace")


def bent(chance: random.Random, value: Any) -> Any:
    """A JSON value with some of its parts replaced, dropped, renamed or moved elsewhere."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.choice((1, 1, 2, 5))):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(chance.choice(ODD_VALUES))
        owner, key = chance.choice(places)
        kind = chance.randrange(5)
        if kind == 0:
            owner[key] = copy.deepcopy(chance.choice(ODD_VALUES))
        elif kind == 1:
            del owner[key]
        elif kind == 2 and isinstance(owner, dict):
            owner[chance.choice(("", "x", str(key) + "_", str(key).upper()))] = owner.pop(key)
        elif kind == 3:
            other, at = chance.choice(places)
            owner[key] = copy.deepcopy(other[at])
        else:
            owner[key] = [owner[key]] if chance.random() < 0.5 else {"x": owner[key]}
    return value


def json_bytes(value: Any) -> bytes:
    """A JSON text, lone surrogates and NaN as Python writes them."""
    return json.dumps(value).encode()


def _places(value: Any) -> Any:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def either(chance: random.Random, seeds: Sequence[bytes], pieces: Sequence[bytes] = PIECES) -> bytes:
    """A damaged seed mostly, garbage at times."""
    return garbage(chance, pieces) if chance.random() < 0.15 else damaged(chance, chance.choice(seeds), seeds, pieces)


Maker = Callable[[random.Random], bytes]
