import typing
from dataclasses import dataclass, fields
from typing import Annotated, Any, Callable, ClassVar, Dict, Final, Generic, List, Literal, Optional, Tuple, Type, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Kind = Literal["a", "b"]
NAMES = ("x", "y")


class Meta:
    def __init__(self, help, aliases=()):
        self.help, self.aliases = help, aliases


@dataclass
class Record:
    a: int
    b: Optional[str] = None
    c: Annotated[int, Meta("help c", aliases=("cc",))] = 3
    d: List[int] = None
    e: Union[int, str, None] = None
    f: "int" = 1
    g: Dict[str, Any] = None
    h: Literal["x", "y"] = "x"
    i: list[int] | None = None
    j: Annotated[Optional[float], "unit", Meta("j")] = None
    k: ClassVar[int] = 5


def case_hints():
    hints = get_type_hints(Record)
    return list(hints), hints["a"] is int, hints["f"] is int, hints["c"] is int, hints["b"] == Optional[str]


def case_hints_with_extras():
    hints = get_type_hints(Record, include_extras=True)
    c = hints["c"]
    return get_origin(c) is Annotated, get_args(c)[0] is int, get_args(c)[1].help, c.__metadata__[0].aliases, get_args(hints["j"])[1]


def case_origins_and_args():
    return (
        get_origin(Optional[int]) is Union, get_args(Optional[int]) == (int, type(None)), get_origin(List[int]) is list, get_args(Dict[str, int]) == (str, int),
        get_origin(list[int]) is list, get_args(list[int]) == (int,), get_origin(int), get_args(int), get_args(Kind), get_origin(Kind) is Literal,
        get_origin(Tuple[int, ...]) is tuple, get_args(Tuple[int, ...])[1] is ..., get_origin(Type[int]) is type, get_args(Union[int, str, None])[2] is type(None),
        get_origin(Annotated[int, 1]) is Annotated, type(None) in get_args(Optional[str]), get_args(Callable[[int], str])[1] is str, get_origin(dict[str, list[int]]) is dict,
        Optional[int] == Union[int, None], Union[int] is int, get_args(Optional[Literal["a"]])[0] == Literal["a"], get_origin(list) is None,
    )


def case_pep604():
    u = int | None
    return get_args(u) == (int, type(None)), type(None) in get_args(u), isinstance(3, int | str), isinstance("x", int | None), str in get_args(int | str | None)


def case_optional_unwrapping():
    def unwrap(t):
        if get_origin(t) is Union:
            inner = [a for a in get_args(t) if a is not type(None)]
            return inner[0] if len(inner) == 1 else inner
        return t

    return unwrap(Optional[int]) is int, unwrap(int) is int, unwrap(Union[int, str, None]) == [int, str], unwrap(Optional[List[str]]) == List[str]


def case_field_types():
    table = {f.name: f.type for f in fields(Record)}
    return table["a"] is int, table["f"], table["b"] == Optional[str], "k" in table


def case_annotations_dict():
    return list(Record.__annotations__)[:3], Record.__annotations__["a"] is int, Record.__annotations__["f"]


def case_generic_class():
    class Box(Generic[T]):
        def __init__(self, v: T):
            self.v = v

        def get(self) -> T:
            return self.v

    class IntBox(Box[int]):
        pass

    return Box[int](3).get(), IntBox(4).get(), issubclass(IntBox, Box), Box("x").v


def case_function_hints():
    def f(a: int, b: "str" = "x", *, c: Optional[int] = None) -> bool: ...

    hints = get_type_hints(f)
    return hints["a"] is int, hints["b"] is str, hints["return"] is bool, list(f.__annotations__)


def case_typed_dict_and_protocol():
    class TD(typing.TypedDict, total=False):
        a: int
        b: str

    class Closes(typing.Protocol):
        def close(self): ...

    @typing.runtime_checkable
    class Opens(typing.Protocol):
        def open(self): ...

    class Door:
        def open(self): ...

    return TD(a=1), TD(a=1, b="x")["b"], isinstance(Door(), Opens), isinstance(3, Opens)


def case_cast_and_new_type():
    Id = typing.NewType("Id", int)
    return typing.cast(int, "3"), Id(5), typing.TYPE_CHECKING


def case_type_alias_use():
    Pair = Tuple[int, str]
    return get_args(Pair) == (int, str), get_origin(Pair) is tuple


def case_literal_values():
    return get_args(Literal["a", 1, None]), "a" in get_args(Kind), list(get_args(Kind)), Literal["a"] == Literal["a"]


def case_nested_annotated():
    inner = Annotated[int, "one"]
    return get_args(Annotated[inner, "two"])[1:], get_args(Optional[inner])[0] == inner


def case_inherited_hints():
    class A:
        x: int
        y: str

    class B(A):
        y: float
        z: List["A"]

    hints = get_type_hints(B, localns={"A": A})
    return sorted(hints), hints["y"] is float


def case_final_and_class_var():
    class A:
        x: Final = 3
        y: ClassVar[Dict[str, int]] = {}

    return A.x, list(A.__annotations__)


def case_overload_and_final_are_inert():
    @typing.overload
    def f(x: int) -> int: ...
    @typing.overload
    def f(x: str) -> str: ...
    def f(x):
        return x

    @typing.final
    class A: ...

    return f(3), A.__name__


def case_isinstance_of_typing_constructs():
    return isinstance([], List), isinstance({}, Dict), isinstance((), Tuple), isinstance(3, (int, type(None)))


def case_type_checks_by_identity():
    def kind(t):
        if t is bool:
            return "bool"
        if t in (int, float):
            return "number"
        if t is str or t == Optional[str]:
            return "text"
        if get_origin(t) in (list, List):
            return "list"
        return "other"

    return [kind(t) for t in (bool, int, float, str, Optional[str], List[int], list[str], dict, None)]
