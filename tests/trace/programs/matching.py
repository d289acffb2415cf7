from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

LIMIT = 10


class Color(Enum):
    RED = "r"
    BLUE = "b"


@dataclass
class Point:
    x: int
    y: int = 0


class Pair(NamedTuple):
    a: int
    b: int


class Own:
    __match_args__ = ("first",)

    def __init__(self, first, second=None):
        self.first, self.second = first, second


class Constants:
    ONE = 1
    NAME = "name"


def describe(x):
    match x:
        case None:
            return "none"
        case True | False:
            return f"bool {x}"
        case 0 | 1 | 2 as small:
            return f"small {small}"
        case int(n) if n > 100:
            return f"big {n}"
        case int() | float():
            return "number"
        case "":
            return "empty"
        case "a" | "b":
            return "letter"
        case str() as s:
            return f"text {s}"
        case []:
            return "empty list"
        case [x]:
            return f"one {x}"
        case [1, *rest]:
            return f"starts with 1, {rest}"
        case (first, *_, last):
            return f"{first}..{last}"
        case {"kind": "point", "x": px, **rest}:
            return f"point {px} {rest}"
        case {"kind": k}:
            return f"kind {k}"
        case {}:
            return "dict"
        case Point(x=0, y=0):
            return "origin"
        case Point(px, y=py) if px == py:
            return f"diagonal {px}"
        case Point(px):
            return f"at {px}"
        case Color.RED:
            return "red"
        case Color():
            return "other color"
        case Own(f, second=[a, b]):
            return f"own {f} {a} {b}"
        case Own():
            return "own"
        case _:
            return "?"


def case_everything():
    subjects = [
        None, True, 1, 2, 50, 101, 1.5, "", "a", "zz", [], [5], [1, 2, 3], (7, 8, 9), {"kind": "point", "x": 1, "y": 2}, {"kind": "z"}, {"q": 1}, {},
        Point(0, 0), Point(3, 3), Point(4, 1), Color.RED, Color.BLUE, Own(1, [2, 3]), Own(1), {1, 2}, b"bytes", range(2),
    ]
    return [describe(s) for s in subjects]


def case_value_patterns():
    def f(x):
        match x:
            case Constants.ONE:
                return "one"
            case Constants.NAME:
                return "name"
            case -1:
                return "minus"
            case 1.5:
                return "float"
            case b"x":
                return "bytes"
            case 2 + 3j:
                return "complex"

    return f(1), f("name"), f(-1), f(1.5), f(b"x"), f(99), f(2 + 3j)


def case_nested():
    def f(x):
        match x:
            case {"a": [{"b": b}, *_], "c": (c1, c2)}:
                return b, c1, c2
            case [[a, b], [c, d]]:
                return a + b + c + d
            case [Point(x=x), Point(y=y)]:
                return x, y

    return f({"a": [{"b": 1}, 2], "c": [3, 4]}), f([[1, 2], (3, 4)]), f([Point(1), Point(2, 5)]), f(0)


def case_no_match_falls_through():
    match 5:
        case 1:
            return "one"
    return "after"


def case_bindings_stay():
    match (1, 2, 3):
        case (a, b):
            pass
        case (a, *b):
            pass
    return a, b


def case_guard_with_side_effects():
    log = []

    def check(x):
        log.append(x)
        return x > 1

    match 2:
        case x if check(x - 1):
            out = "first"
        case x if check(x):
            out = "second"
    return out, log


def case_builtin_class_patterns():
    def f(x):
        match x:
            case bool(b):
                return "bool", b
            case int(i):
                return "int", i
            case str(s):
                return "str", s
            case list([a, b]):
                return "pair", a, b
            case dict(d):
                return "dict", len(d)
            case tuple():
                return "tuple"
            case float(v):
                return "float", v

    return f(True), f(3), f("s"), f([1, 2]), f({"a": 1}), f((1,)), f(2.5), f([1])


def case_strings_are_no_sequences():
    match "ab":
        case [a, b]:
            return "sequence"
        case _:
            return "other"


def case_named_tuple_pattern():
    match Pair(1, 2):
        case Pair(a, b):
            return a, b


def case_return_break_continue():
    out = []
    for x in range(5):
        match x:
            case 0:
                continue
            case 3:
                break
            case n:
                out.append(n)
    return out


def case_mapping_keeps_extra():
    match {"a": 1, "b": 2, "c": 3}:
        case {"a": a, **rest}:
            return a, rest


def case_mapping_with_none_value():
    match {"a": None}:
        case {"a": None}:
            return "none"


def case_or_pattern_binding():
    def f(x):
        match x:
            case [1, y] | [y, 1]:
                return y
            case {"v": y} | (_, _, y):
                return y

    return f([1, 5]), f([6, 1]), f({"v": 7}), f((1, 2, 8))


def case_match_on_call_and_walrus():
    match len("abc"):
        case 3 if (n := 4) > LIMIT:
            return "no"
        case 3:
            return n


def case_too_many_positional_subpatterns():
    match Own(1):
        case Own(a, b):
            return a


def case_missing_attribute_does_not_match():
    match Own(1):
        case Own(third=x):
            return x
        case _:
            return "no"


def case_inherited_class_pattern():
    class Child(Point):
        pass

    match Child(1, 2):
        case Point(x, y):
            return x, y
