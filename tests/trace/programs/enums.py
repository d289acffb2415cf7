import enum
from enum import Enum, Flag, IntEnum, IntFlag, auto


class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    @property
    def pretty(self):
        return self.name.title()

    @classmethod
    def default(cls):
        return cls.GREEN

    def is_red(self):
        return self is Color.RED

    @staticmethod
    def parse(text):
        return Color[text.upper()]


class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"

    def __str__(self):
        return self.value


class Plain(str, Enum):
    A = "a"


class Level(IntEnum):
    LOW = 1
    HIGH = auto()


class Text(enum.StrEnum):
    ONE = auto()
    TWO = "second"


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


class Bits(IntFlag):
    A = 1
    B = 2


class Auto(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()

    FIRST = auto()
    SECOND = auto()


class Algorithm(Enum):
    EAGLE = auto()
    EAGLE3 = auto()
    NONE = auto()

    @classmethod
    def from_string(cls, name):
        table = {"EAGLE": cls.EAGLE, None: cls.NONE}
        return table[name]

    def is_eagle(self):
        return self in (Algorithm.EAGLE, Algorithm.EAGLE3)

    def is_none(self):
        return self == Algorithm.NONE


class Shape(Enum):
    SQUARE = (4, "s")
    CIRCLE = (0, "c")

    def __init__(self, corners, letter):
        self.corners = corners
        self.letter = letter

    @property
    def shown(self):
        return f"{self.letter}{self.corners}"


class Missing(Enum):
    A = "a"
    OTHER = "other"

    @classmethod
    def _missing_(cls, value):
        if isinstance(value, str):
            for m in cls:
                if m.value == value.lower():
                    return m
        return cls.OTHER


class WithNew(str, Enum):
    X = ("x", 10)
    Y = ("y", 20)

    def __new__(cls, text, weight):
        made = str.__new__(cls, text)
        made._value_ = text
        made.weight = weight
        return made


def case_basics():
    return (
        Color.RED, Color.RED.value, Color.RED.name, Color(2), Color["GREEN"], Color.CRIMSON is Color.RED, list(Color), len(Color),
        Color.RED.pretty, Color.default(), Color.RED.is_red(), Color.parse("green"), Color.RED == Color.CRIMSON, Color.RED == 1,
        Color.RED in Color, isinstance(Color.RED, Color), list(Color.__members__), [c.name for c in Color],
    )


def case_bad_value():
    return Color(9)


def case_bad_name():
    return Color["BLUE"]


def case_bad_attribute():
    return Color.BLUE


def case_text():
    return (
        str(Color.RED), repr(Color.RED), f"{Color.RED}", "%s" % Color.RED, str(Mode.FAST), f"{Mode.FAST}", repr(Mode.FAST),
        str(Plain.A), str(Level.LOW), f"{Level.LOW}", str(Text.ONE), repr(Level.HIGH), "{}".format(Mode.SLOW), str([Color.RED]),
    )


def case_str_mixin():
    return (
        Mode.FAST == "fast", "fast" == Mode.FAST, Mode("slow") is Mode.SLOW, Mode.FAST in ("fast", "x"), {"fast": 1}[Mode.FAST],
        {Mode.FAST: 1}["fast"], Mode.FAST.upper(), Mode.FAST + "er", isinstance(Mode.FAST, str), len(Mode.FAST), "a" in Mode.FAST,
        ",".join([Mode.FAST, Mode.SLOW]), Mode.FAST.startswith("f"), Mode.FAST != "slow", sorted([Mode.SLOW, Mode.FAST])[0].name,
        Mode.FAST is Mode("fast"), "fast" in [Mode.FAST], "fast" in {Mode.FAST},
    )


def case_int_mixin():
    return (
        Level.LOW < Level.HIGH, Level.LOW + 1, Level.HIGH == 2, Level(2), int(Level.HIGH), [10, 20, 30][Level.LOW], max(Level).name,
        Level.LOW in (1, 2), isinstance(Level.LOW, int), Level.HIGH * 2, sorted([Level.HIGH, Level.LOW])[0].name, bool(Level.LOW),
        range(Level.HIGH)[-1], "%d" % Level.HIGH, hash(Level.LOW) == hash(1),
    )


def case_str_enum():
    return Text.ONE, Text.ONE.value, Text.TWO == "second", Text("one"), f"{Text.TWO}!"


def case_flag():
    both = Perm.R | Perm.W
    return (
        both == Perm.RW, Perm.R in both, Perm.X in both, bool(both & Perm.X), (both & Perm.R) == Perm.R, both.value, (both ^ Perm.R),
        Perm(1), Perm.R.value, Perm.X.value, bool(Perm(0)), (~Perm.R).value, [p.name for p in Perm],
    )


def case_int_flag():
    return Bits.A | Bits.B == 3, int(Bits.A | Bits.B), Bits.A in (Bits.A | Bits.B), Bits(3).value, bool(Bits.A & Bits.B), Bits.B + 1


def case_auto():
    return [(m.name, m.value) for m in Auto], [m.value for m in Algorithm]


def case_methods():
    return (
        Algorithm.from_string("EAGLE").is_eagle(), Algorithm.EAGLE3.is_eagle(), Algorithm.NONE.is_eagle(), Algorithm.from_string(None).is_none(),
    )


def case_tuple_values():
    return Shape.SQUARE.corners, Shape.CIRCLE.shown, Shape.SQUARE.value, Shape((0, "c"))


def case_missing():
    return Missing("A"), Missing("zzz"), Missing("a")


def case_own_new():
    return WithNew.X.weight, WithNew.X == "x", WithNew("y"), WithNew.Y.value


def case_functional_form():
    e = Enum("E", "A B C")
    f = Enum("F", {"X": 10, "Y": 20})
    g = IntEnum("G", ["P", "Q"])
    return [m.value for m in e], f.X.value, g.Q + 1, e.B.name


def case_members_in_collections():
    table = {Color.RED: "r", Color.GREEN: "g"}
    return table[Color(1)], Color.RED in table, Color.RED in {Color.GREEN}, [Color.RED, Color.GREEN].index(Color.GREEN), set(Color) == {Color.RED, Color.GREEN}


def case_iteration_and_comprehension():
    return {m.value: m.name for m in Mode}, [m for m in Level if m > 1], "fast" in [m.value for m in Mode], [*map(str, Mode)]


def case_enum_in_match():
    match Color.GREEN:
        case Color.RED:
            return "red"
        case Color.GREEN:
            return "green"


def case_comparison_between_enums():
    return Color.RED == Level.LOW, Color.RED != Mode.FAST, Color.RED is not Color.GREEN


def case_no_order_for_plain_enum():
    return Color.RED < Color.GREEN


def case_attributes_cannot_be_changed():
    Color.RED.value = 3


def case_members_cannot_be_reassigned():
    Color.RED = 3


def case_extending_members_is_refused():
    class More(Color):
        BLUE = 3


def case_inheriting_an_empty_enum():
    class Base(Enum):
        def hello(self):
            return f"hello {self.value}"

    class Child(Base):
        A = 1

    return Child.A.hello(), isinstance(Child.A, Base), issubclass(Child, Base)


def case_mixin_with_methods():
    class Helper:
        @classmethod
        def names(cls):
            return [m.name for m in cls]

    class E(Helper, Enum):
        A = 1
        B = 2

    return E.names()


def case_unique_and_dunder_members():
    @enum.unique
    class E(Enum):
        A = 1
        _private = 2

    return [m.name for m in E]


def case_getattr_by_name():
    return getattr(Color, "RED"), hasattr(Color, "BLUE"), getattr(Color, "BLUE", None)


def case_truth_of_members():
    return bool(Color.RED), [bool(x) for x in Plain], bool(Bits(0))


def case_nested_values():
    class E(Enum):
        A = [1, 2]
        B = {"k": "v"}

    return E.A.value[1], E.B.value["k"], E([1, 2])


def case_name_and_value_are_not_members():
    return "name" in Color.__members__, Color.RED.name, Mode.FAST.value


def case_none_value():
    class E(Enum):
        NOTHING = None
        SOME = 0

    return E(None), E.NOTHING.value, E(0)


def case_enum_call_with_member():
    return Color(Color.RED), Mode(Mode.FAST)


def case_isinstance_enum():
    return isinstance(Color.RED, Enum), issubclass(Mode, str), issubclass(Level, Enum), type(Color.RED) is Color


def case_class_attributes_on_enum():
    class E(Enum):
        A = 1

        @property
        def two(self):
            return self.value * 2

        def __eq__(self, other):
            return self.value == getattr(other, "value", other)

        def __hash__(self):
            return hash(self.value)

    return E.A.two, E.A == 1, {E.A: 1}[E.A]


def case_member_through_a_member():
    class E(Enum):
        A = 1
        B = 2

        def is_a(self):
            return self is self.A

    return [member.is_a() for member in E], E.A.B, E.B.A.value
