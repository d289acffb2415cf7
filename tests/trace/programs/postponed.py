from __future__ import annotations

from dataclasses import InitVar, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, ClassVar, Dict, List, Literal, Optional, get_args, get_type_hints

import msgspec

if TYPE_CHECKING:
    from nowhere import Missing


@dataclass
class Record:
    a: int
    b: Optional[str] = None
    later: Optional[Later] = None
    c: Annotated[int, "meta"] = 3
    k: ClassVar[int] = 5
    i: InitVar[int] = 1
    kind: Literal["x", "y"] = "x"

    def __post_init__(self, i):
        self.seen = i


@dataclass
class Later:
    x: List[int] = field(default_factory=list)
    m: Dict[str, "Record"] = None


class Struct(msgspec.Struct):
    a: int
    b: Optional[Later] = None
    LIMIT: ClassVar[int] = 3


def case_annotations_are_text():
    return Record.__annotations__["a"], Record.__annotations__["b"], Record.__annotations__["c"], [f.type for f in fields(Record)][:2]


def case_hints_evaluate():
    hints = get_type_hints(Record)
    return hints["a"] is int, hints["b"] == Optional[str], hints["later"] == Optional[Later], hints["c"] is int, get_args(hints["kind"])


def case_hints_with_extras():
    hints = get_type_hints(Record, include_extras=True)
    return get_args(hints["c"])[1], get_args(get_type_hints(Later)["m"])[1] is Record


def case_class_var_and_init_var():
    return [f.name for f in fields(Record)], Record(1, i=7).seen, Record.k


def case_struct():
    return Struct.__struct_fields__, Struct(1).b, Struct.LIMIT


def case_function_annotations_are_text():
    def f(a: int, b: Missing = None) -> Missing: ...

    return f.__annotations__


def case_names_only_for_checking():
    return Missing


def case_undefined_annotation_is_never_evaluated():
    x: undefined_name = 3

    class A:
        y: also.undefined[0] = 1

    return x, A.y
