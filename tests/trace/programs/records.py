import copy
import dataclasses
from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, List, NamedTuple, Optional

import msgspec


@dataclass
class Point:
    x: int
    y: int = 0
    tags: List[str] = field(default_factory=list)

    def total(self):
        return self.x + self.y


@dataclass
class Deep(Point):
    z: int = 5
    y: int = 9

    def __post_init__(self):
        self.sum = self.x + self.y + self.z


@dataclass(frozen=True)
class Key:
    a: str
    b: Any = None


@dataclass(order=True)
class Ranked:
    rank: int
    name: str = field(compare=False, default="")


@dataclass(kw_only=True)
class Named:
    a: int
    b: int = 2


@dataclass
class Mixed:
    a: int
    _: KW_ONLY
    b: int = 1
    c: str


@dataclass
class WithInit:
    base: int
    scale: InitVar[int] = 2
    limit: ClassVar[int] = 100
    made: int = field(init=False)
    hidden: str = field(default="h", repr=False)

    def __post_init__(self, scale):
        self.made = self.base * scale


def case_dataclass_basics():
    p = Point(1)
    q = Point(1, 2, tags=["t"])
    p.tags.append("mine")
    return p.x, p.y, p.tags, Point(3).tags, q.total(), p == Point(1, 0, ["mine"]), p == q, p != q, repr(q)


def case_dataclass_inheritance():
    d = Deep(1)
    return d.sum, [f.name for f in fields(Deep)], Deep(1, 2, [], 3).z, repr(d), isinstance(d, Point), d == Point(1), Deep(1) == Deep(1)


def case_dataclass_missing_argument():
    return Point()


def case_dataclass_unexpected_argument():
    return Point(1, w=2)


def case_dataclass_too_many():
    return Key("a", 2, 3)


def case_frozen():
    table = {Key("a"): 1, Key("a", 2): 2}
    return table[Key("a")], table[Key("a", 2)], Key("a") == Key("a"), len({Key("x"), Key("x"), Key("y")}), hash(Key("q")) == hash(Key("q"))


def case_frozen_refuses_writes():
    Key("a").b = 1


def case_frozen_refuses_deletes():
    del Key("a").b


def case_frozen_error_is_an_attribute_error():
    try:
        Key("a").a = 2
    except AttributeError as e:
        return type(e).__name__, str(e), isinstance(e, dataclasses.FrozenInstanceError)


def case_frozen_with_nested_records():
    return Key("a", Key("b")) == Key("a", Key("c")), {Key("a", Key("b")): 1}.get(Key("a", Key("c")))


def case_object_setattr_on_frozen():
    @dataclass(frozen=True)
    class F:
        x: int
        y: int = 0

        def __post_init__(self):
            object.__setattr__(self, "y", self.x * 2)

    return F(4).y


def case_eq_makes_unhashable():
    return {Point(1): 1}


def case_order():
    return Ranked(1, "b") < Ranked(2, "a"), sorted([Ranked(3), Ranked(1), Ranked(2)])[0].rank, Ranked(1, "x") == Ranked(1, "y"), max(Ranked(1), Ranked(5)).rank


def case_kw_only():
    return Named(a=1).b, Mixed(1, c="x").b, repr(Mixed(1, b=3, c="y"))


def case_kw_only_positional():
    return Named(1)


def case_init_var_and_no_init():
    w = WithInit(5)
    return w.made, WithInit(5, 3).made, WithInit.limit, [f.name for f in fields(w)], repr(w), hasattr(w, "scale")


def case_field_details():
    f = {f.name: f for f in fields(WithInit)}
    g = {f.name: f for f in fields(Point)}
    return (
        f["made"].init, f["hidden"].repr, f["hidden"].default, g["x"].default is dataclasses.MISSING,
        g["tags"].default_factory is list, g["y"].default, g["y"].name, is_dataclass(Point), is_dataclass(Point(1)),
        is_dataclass(3), g["y"].type is int,
    )


def case_metadata():
    @dataclass
    class M:
        x: int = field(default=1, metadata={"help": "text", "n": 3})

    f = fields(M)[0]
    return f.metadata["help"], f.metadata.get("n"), dict(f.metadata), "zz" in f.metadata


def case_asdict_and_replace():
    p = Point(1, 2, ["a"])
    d = asdict(p)
    d["tags"].append("b")
    q = replace(p, y=7)
    outer = Key("k", Point(3))
    return d, p.tags, q.y, q.x, astuple(p), asdict(outer), replace(Deep(1), z=0).sum


def case_replace_of_no_init_field():
    return replace(WithInit(1), made=3)


def case_default_factory_lambda_and_order():
    log = []

    @dataclass
    class A:
        a: int = field(default_factory=lambda: log.append("a") or 1)
        b: int = field(default_factory=lambda: log.append("b") or 2)

    A()
    A(b=3)
    return log


def case_mutable_default_is_refused():
    @dataclass
    class A:
        x: list = []


def case_non_default_after_default():
    @dataclass
    class A:
        x: int = 1
        y: int


def case_dataclass_with_own_init():
    @dataclass
    class A:
        x: int = 1

        def __init__(self, v):
            self.x = v * 10

    return A(2), A(2).x


def case_dataclass_own_repr_and_eq():
    @dataclass
    class A:
        x: int

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

    return repr(A(1)), A(1) == A(2)


def case_dataclass_property_and_classmethod():
    @dataclass
    class A:
        x: Optional[int] = None

        @classmethod
        def of(cls, v):
            return cls(x=v)

        @property
        def known(self):
            return self.x is not None

    return A.of(3).known, A().known, A.x


def case_subclass_without_decorator():
    class Sub(Point):
        extra = 1

        def total(self):
            return super().total() * 10

    return Sub(1, 2).total(), repr(Sub(1)).endswith("Sub(x=1, y=0, tags=[])"), Sub(1) == Sub(1), Sub(1) == Point(1)


def case_post_init_chain():
    @dataclass
    class A:
        x: int = 1

        def __post_init__(self):
            self.log = ["a"]

    @dataclass
    class B(A):
        y: int = 2

        def __post_init__(self):
            super().__post_init__()
            self.log.append("b")

    return B().log


def case_dataclass_dict_and_vars():
    p = Point(1, 2)
    return vars(p), p.__dict__, list(Point.__annotations__), "x" in Point.__dict__, "y" in Point.__dict__


def case_dataclass_slots():
    @dataclass(slots=True)
    class S:
        x: int = 1

    return S().x, S(2) == S(2)


def case_setattr_hook_on_dataclass():
    log = []

    @dataclass
    class A:
        x: int = 1
        y: int = 2

        def __setattr__(self, name, value):
            log.append(name)
            super().__setattr__(name, value)

    a = A()
    a.x = 5
    return log, a.x


def case_make_dataclass():
    made = dataclasses.make_dataclass("Made", ["a", ("b", int), ("c", int, field(default=3))])
    return made(1, 2).c, repr(made(1, 2))


def case_dataclass_match_args():
    match Point(1, 2):
        case Point(1, y):
            return y


def case_dataclass_deepcopy():
    p = Point(1, tags=["a"])
    q = copy.deepcopy(p)
    r = copy.copy(p)
    q.tags.append("b")
    r.tags.append("c")
    return p.tags, q.tags, r.tags is p.tags, p == r


class Pair(NamedTuple):
    a: int
    b: str = "x"

    def both(self):
        return f"{self.a}{self.b}"


Old = namedtuple("Old", "x y z", defaults=[3])


def case_named_tuple():
    p = Pair(1)
    a, b = p
    return p, a, b, p.both(), p[0], p._fields, p._asdict(), p._replace(a=5), repr(p), len(p), p == (1, "x"), isinstance(p, tuple), p + (2,)


def case_namedtuple_function():
    o = Old(1, 2)
    return o.x, o.z, Old._fields, o._replace(z=9), Old._make([7, 8, 9]), [*o], o[1:], Old(*[1, 2, 3]) == Old(x=1, y=2), {o: 1}[Old(1, 2)], sorted([Old(2, 1), Old(1, 5)])[0].y


def case_namedtuple_missing():
    return Old(1)


def case_namedtuple_immutable():
    Pair(1).a = 3


class Struct(msgspec.Struct):
    a: int
    b: str = "b"
    c: list = []
    d: dict = msgspec.field(default_factory=dict)


class Child(Struct, kw_only=True):
    e: int
    b: str = "child"


class Frozen(msgspec.Struct, frozen=True, order=True):
    x: int
    y: int = 0


class Post(msgspec.Struct, kw_only=True):
    x: int = 1
    y: int = 0

    def __post_init__(self):
        self.y = self.x + 1


def case_struct():
    s = Struct(1)
    t = Struct(1, "q", [1], d={"k": 1})
    s.c.append(5)
    s.a = 10
    return s.a, s.b, s.c, Struct(2).c, t.d, s == Struct(10, "b", [5]), repr(t), Struct.__struct_fields__, s != t


def case_struct_inheritance():
    c = Child(1, e=4)
    return c.a, c.b, c.e, Child.__struct_fields__, isinstance(c, Struct), repr(c)


def case_struct_post_init():
    return Post().y, Post(x=5).y


def case_struct_frozen():
    return Frozen(1) < Frozen(2), {Frozen(1): "v"}[Frozen(1)], Frozen(1, 2) == Frozen(1, 2), hash(Frozen(1)) == hash(Frozen(1))


def case_struct_frozen_refuses():
    Frozen(1).x = 2


def case_struct_missing():
    return Struct()


def case_struct_unexpected():
    return Struct(1, zz=2)


def case_struct_kw_only_positional():
    return Post(1)


def case_struct_unknown_attribute():
    Struct(1).other = 2


def case_struct_with_dict():
    class D(msgspec.Struct, dict=True):
        x: int = 1

    d = D()
    d.extra = 5
    return d.extra, d.__dict__


def case_struct_unhashable():
    return {Struct(1): 1}


def case_struct_functions():
    s = Struct(1, d={"k": 2})
    return (
        msgspec.structs.asdict(s), msgspec.structs.replace(s, b="new").b, [f.name for f in msgspec.structs.fields(Struct)],
        [f.required for f in msgspec.structs.fields(Struct)], msgspec.structs.astuple(s),
        msgspec.structs.fields(Struct)[0].default is msgspec.NODEFAULT, msgspec.structs.fields(Struct)[1].default,
    )


def case_force_setattr():
    f = Frozen(1)
    msgspec.structs.force_setattr(f, "x", 9)
    return f.x


def case_defstruct():
    made = msgspec.defstruct("Made", ["a", ("b", int), ("c", str, "z"), ("d", list, msgspec.field(default_factory=list))], kw_only=True)
    m = made(a=1, b=2)
    return m.c, m.d, made.__struct_fields__, repr(m), made.__name__


def case_defstruct_with_bases_and_namespace():
    made = msgspec.defstruct("Made", [("n", int, 1)], bases=(Struct,), namespace={"twice": lambda self: self.n * 2})
    return made(5, n=4).twice(), made.__struct_fields__, issubclass(made, Struct)


def case_struct_setattr_override():
    log = []

    class S(msgspec.Struct):
        x: int = 1

        def __setattr__(self, name, value):
            log.append((name, value))
            super().__setattr__(name, value)

    s = S(2)
    s.x = 3
    return log, s.x


def case_struct_properties_and_class_vars():
    class S(msgspec.Struct):
        LIMIT: ClassVar[int] = 5
        x: int = 1

        @property
        def over(self):
            return self.x > self.LIMIT

    return S().over, S(9).over, S.__struct_fields__, S.LIMIT


def case_struct_copy():
    s = Struct(1)
    t = copy.copy(s)
    u = copy.deepcopy(s)
    s.c.append(1)
    return t.c, u.c, t == s


def case_struct_getattr_hook():
    class S(msgspec.Struct):
        x: int = 1

        def __getattr__(self, name):
            return f"no {name}"

    return S().x, S().zzz


def case_named_tuple_by_call():
    from typing import NamedTuple

    made = NamedTuple("Made", [("a", int), ("b", str)])
    return made(1, "x").b, made(a=2, b="y")._asdict(), made.__name__
