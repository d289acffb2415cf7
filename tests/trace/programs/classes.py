from abc import ABC, abstractmethod
from functools import cached_property, total_ordering


class Base:
    kind = "base"
    shared: list = []

    def __init__(self, x=1):
        self.x = x

    def name(self):
        return "base"

    def hello(self):
        return f"hello {self.name()}"

    @classmethod
    def make(cls, *args):
        return cls(*args)

    @staticmethod
    def add(a, b=2):
        return a + b

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value // 2

    @double.deleter
    def double(self):
        self.x = -1


class Left(Base):
    def name(self):
        return "left>" + super().name()


class Right(Base):
    kind = "right"

    def name(self):
        return "right>" + super().name()


class Both(Left, Right):
    def name(self):
        return "both>" + super(Both, self).name()


def case_mro_and_super():
    return Both().hello(), [c.__name__ for c in Both.__mro__], Both.kind, Both.make(7).x


def case_class_and_static_methods():
    return Left.make(3).x, Left(4).make(5).x, Base.add(1), Base().add(1, 1), type(Left.make()).__name__


def case_property_get_set_delete():
    b = Base()
    b.double = 10
    before = b.x, b.double
    del b.double
    return before, b.x


def case_property_without_setter():
    class A:
        @property
        def p(self):
            return 1

    A().p = 2


def case_property_on_class():
    return type(Base.double) is property, Base.double.fget(Base(4))


def case_property_inherited_setter():
    class Child(Base):
        @Base.double.getter
        def double(self):
            return 100 + self.x

    c = Child()
    c.double = 6
    return c.double, c.x


def case_property_overridden_by_attribute_is_not_possible():
    class A:
        @property
        def p(self):
            return "from property"

    a = A()
    a.__dict__["p"] = "from dict"
    return a.p


def case_property_calls_super():
    class Child(Base):
        @property
        def double(self):
            return super().double + 1

    return Child(5).double


def case_property_function_form():
    class A:
        def get(self):
            return self._v

        def put(self, v):
            self._v = v + 1

        v = property(get, put)

    a = A()
    a.v = 1
    return a.v


def case_cached_property_runs_once():
    class A:
        runs = 0

        @cached_property
        def value(self):
            A.runs += 1
            return A.runs * 10

    a, b = A(), A()
    return a.value, a.value, b.value, A.runs, a.__dict__


def case_cached_property_can_be_set_and_deleted():
    class A:
        @cached_property
        def value(self):
            return "made"

    a = A()
    a.value = "set"
    first = a.value
    del a.value
    return first, a.value


class Typed:
    def __init__(self, kind):
        self.kind = kind

    def __set_name__(self, owner, name):
        self.slot = "_" + name
        self.owner = owner.__name__

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.slot, None)

    def __set__(self, obj, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.slot} of {self.owner} wants {self.kind.__name__}")
        setattr(obj, self.slot, value)


class Holder:
    a = Typed(int)
    b = Typed(str)


def case_data_descriptor():
    h = Holder()
    h.a = 3
    h.b = "x"
    return h.a, h.b, h._a, Holder.a.owner, Holder.b.slot


def case_data_descriptor_refuses():
    Holder().a = "text"


def case_non_data_descriptor_is_shadowed():
    class D:
        def __get__(self, obj, owner=None):
            return "descriptor"

    class A:
        d = D()

    a = A()
    first = a.d
    a.d = "own"
    return first, a.d, A.d


def case_getattr_fallback():
    class A:
        known = 1

        def __getattr__(self, name):
            if name.startswith("x"):
                return name.upper()
            raise AttributeError(f"no {name} here")

    a = A()
    return a.known, a.xyz, hasattr(a, "other"), getattr(a, "other", "default")


def case_getattr_raises_its_own_message():
    class A:
        def __getattr__(self, name):
            raise AttributeError(f"no {name} here")

    return A().other


def case_getattr_after_property_attribute_error():
    class A:
        @property
        def p(self):
            raise AttributeError("inner")

        def __getattr__(self, name):
            return f"fallback {name}"

    return A().p


def case_getattribute():
    class A:
        x = 1

        def __getattribute__(self, name):
            if name == "secret":
                return 42
            return super().__getattribute__(name)

    a = A()
    return a.secret, a.x


def case_getattribute_with_getattr():
    class A:
        def __getattribute__(self, name):
            return object.__getattribute__(self, name)

        def __getattr__(self, name):
            return "fallback " + name

    return A().missing


def case_setattr_hook():
    class A:
        def __init__(self):
            self.log = []
            self.x = 1

        def __setattr__(self, name, value):
            if name != "log":
                self.log.append((name, value))
            super().__setattr__(name, value)

    a = A()
    a.y = 2
    setattr(a, "z", 3)
    object.__setattr__(a, "w", 4)
    return a.log, a.x, a.y, a.z, a.w


def case_delattr_hook():
    class A:
        deleted = []

        def __delattr__(self, name):
            A.deleted.append(name)
            object.__delattr__(self, name)

    a = A()
    a.x = 1
    del a.x
    return hasattr(a, "x"), A.deleted


def case_delete_missing_attribute():
    class A:
        pass

    del A().nothing


def case_slots():
    class A:
        __slots__ = ("a", "b")

        def __init__(self):
            self.a = 1

    x = A()
    return x.a, hasattr(x, "b"), hasattr(x, "c"), hasattr(x, "__dict__")


def case_slots_refuse_others():
    class A:
        __slots__ = ("a",)

    A().b = 1


def case_missing_attribute_message():
    return Base().nothing


def case_missing_class_attribute_message():
    return Base.nothing


def case_missing_method_call_on_none():
    value = None
    return value.strip()


class Meta(type):
    registry = []

    def __new__(mcls, name, bases, namespace, tag="none"):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.tag = tag
        return cls

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)
        Meta.registry.append(name)

    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.via = cls.__name__
        return made

    def __len__(cls):
        return 7

    def __contains__(cls, item):
        return item == "in"

    def __iter__(cls):
        return iter(["a", "b"])

    def __getitem__(cls, key):
        return key * 2

    @property
    def upper(cls):
        return cls.__name__.upper()


class WithMeta(metaclass=Meta, tag="given"):
    def __init__(self, x=0):
        self.x = x


class ChildOfMeta(WithMeta):
    pass


def case_metaclass():
    return WithMeta.tag, ChildOfMeta.tag, Meta.registry, WithMeta(3).via, WithMeta(3).x, type(WithMeta).__name__


def case_metaclass_protocols():
    return len(WithMeta), "in" in WithMeta, "out" in WithMeta, list(WithMeta), WithMeta[4], ChildOfMeta.upper


def case_metaclass_getattr():
    class M(type):
        def __getattr__(cls, name):
            return f"{cls.__name__}.{name}"

    class A(metaclass=M):
        x = 1

    return A.x, A.anything


def case_singleton_metaclass():
    class M(type):
        made = {}

        def __call__(cls, *args):
            if cls not in M.made:
                M.made[cls] = super().__call__(*args)
            return M.made[cls]

    class A(metaclass=M):
        def __init__(self, v=0):
            self.v = v

    return A(1) is A(2), A().v


def case_init_subclass():
    class Plugin:
        found = {}

        def __init_subclass__(cls, key=None, **kwargs):
            super().__init_subclass__(**kwargs)
            Plugin.found[key or cls.__name__] = cls

    class One(Plugin, key="one"):
        pass

    class Two(One):
        pass

    return list(Plugin.found), Plugin.found["one"].__name__


def case_type_with_three_arguments():
    made = type("Made", (Base,), {"y": 5, "name": lambda self: "made"})
    return made().hello(), made.y, made.__name__, isinstance(made(), Base)


def case_new_and_init():
    class A:
        def __new__(cls, x):
            made = super().__new__(cls)
            made.early = x
            return made

        def __init__(self, x):
            self.late = self.early + x

    a = A(2)
    return a.early, a.late


def case_new_returning_other_type_skips_init():
    class A:
        def __new__(cls, x):
            return [x]

        def __init__(self, x):
            raise RuntimeError("never")

    return A(1)


def case_singleton_new():
    class A:
        _one = None

        def __new__(cls):
            if cls._one is None:
                cls._one = super().__new__(cls)
            return cls._one

    return A() is A()


def case_object_takes_no_arguments():
    class A:
        pass

    return A(1)


def case_abstract_class():
    class A(ABC):
        @abstractmethod
        def run(self): ...

        def twice(self):
            return self.run() * 2

    class B(A):
        def run(self):
            return 4

    return B().twice()


def case_abstract_property():
    class A(ABC):
        @property
        @abstractmethod
        def value(self): ...

    class B(A):
        value = 3

    return B().value


def case_abstract_class_cannot_be_made():
    class A(ABC):
        @abstractmethod
        def run(self): ...

    try:
        A()
    except TypeError as error:
        return str(error).split(" with")[0].startswith("Can't instantiate abstract class A")


def case_total_ordering():
    @total_ordering
    class V:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    a, b = V(1), V(2)
    return a < b, a <= b, a > b, a >= b, a == V(1), a <= V(1), a >= V(1), max(a, b).n


def case_operator_methods():
    class V:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return V(self.n + (other.n if isinstance(other, V) else other))

        __radd__ = __add__

        def __mul__(self, k):
            return V(self.n * k)

        def __neg__(self):
            return V(-self.n)

        def __iadd__(self, k):
            self.n += k * 100
            return self

        def __eq__(self, other):
            return isinstance(other, V) and self.n == other.n

        def __hash__(self):
            return hash(self.n)

        def __bool__(self):
            return self.n != 0

        def __repr__(self):
            return f"V({self.n})"

        def __getitem__(self, key):
            return (self.n, key)

        def __call__(self, *a, **k):
            return a, k

        def __len__(self):
            return self.n

        def __contains__(self, x):
            return x == self.n

        def __iter__(self):
            return iter(range(self.n))

    v = V(3)
    out = [repr(v + 1), repr(1 + v), repr(v * 2), repr(-v), v == V(3), v != V(3), bool(V(0)), v[1:2][1] == slice(1, 2)]
    out += [v(1, a=2), len(v), 3 in v, 4 in v, list(v), {V(1): "x"}[V(1)], repr([v]), f"{v}", str(v), sum([v, v]).n]
    v += 2
    return out, v.n


def case_not_implemented_falls_back():
    class A:
        def __eq__(self, other):
            return NotImplemented

        def __add__(self, other):
            return NotImplemented

    class B:
        def __radd__(self, other):
            return "radd"

    return A() == A(), A() + B(), A() != 1


def case_unsupported_operand():
    class A:
        pass

    return A() + 1


def case_unsupported_comparison():
    class A:
        pass

    return A() < A()


def case_eq_without_hash_is_unhashable():
    class A:
        def __eq__(self, other):
            return True

    return {A(): 1}


def case_class_attribute_is_shared():
    a, b = Left(), Right()
    a.shared.append(1)
    a.kind = "own"
    return b.shared, Base.shared, a.kind, b.kind, Base.kind


def case_class_body_runs_code():
    class A:
        table = {}
        for i in range(3):
            table[i] = i * i
        total = sum(table.values())
        if total > 4:
            big = True
        names = [n for n in ("a", "b")]

        def later(self):
            return self.i

    return A.table, A.total, A.big, A.i, A.names, A().later()


def case_class_scope_is_not_closed_over():
    y = "outer"

    class A:
        y = "class"

        def get(self):
            return y

        copy = y

    return A().get(), A.copy


def case_name_mangling():
    class A:
        def __init__(self):
            self.__hidden = 1

        def get(self):
            return self.__hidden

    class B(A):
        def __init__(self):
            super().__init__()
            self.__hidden = 2

        def own(self):
            return self.__hidden

    b = B()
    return b.get(), b.own(), sorted(b.__dict__)


def case_bound_method_objects():
    b = Base(5)
    method = b.hello
    return method(), method.__self__ is b, method.__func__ is Base.hello, method.__name__, b.hello == b.hello


def case_unbound_call():
    return Base.hello(Left()), Base.name(Left())


def case_super_in_classmethod():
    class A:
        @classmethod
        def make(cls):
            return [cls.__name__]

    class B(A):
        @classmethod
        def make(cls):
            return ["b", *super().make()]

    class C(B):
        pass

    return C.make(), C().make()


def case_super_in_nested_function_and_comprehension():
    class A:
        def value(self, n):
            return n + 1

    class B(A):
        def value(self, n):
            def inner():
                return super(B, self).value(n)

            return inner() + sum(super(B, self).value(i) for i in range(2))

    return B().value(10)


def case_dunder_class_cell():
    class A:
        def who(self):
            return __class__.__name__

    class B(A):
        pass

    return B().who()


def case_isinstance_forms():
    class Strange:
        pass

    left = Left()
    return (
        isinstance(left, Base), isinstance(left, (int, Base)), isinstance(left, int | Base), isinstance(3, int | str),
        isinstance(True, int), isinstance(1, bool), isinstance(1.0, (int, float)), isinstance(None, type(None)),
        issubclass(Both, Right), issubclass(bool, int), isinstance(Base, type), isinstance(Strange(), Base),
        issubclass(Left, (Right, Base)), isinstance([], list), isinstance("x", str), type(left) is Left, type(3) is int,
    )


def case_class_dunders():
    return Both.__name__, Both.__qualname__, [b.__name__ for b in Both.__bases__], Both.__module__, Base.__dict__["kind"]


def case_instance_dunders():
    b = Base(2)
    b.extra = 1
    return b.__class__.__name__, b.__dict__, vars(b), sorted(b.__dict__.items())


def case_local_class_qualname():
    class A:
        class B:
            def m(self): ...

    return A.B.__qualname__, A.B.m.__qualname__


def case_changing_class_attribute_later():
    class A:
        x = 1

    a = A()
    A.x = 2
    A.added = lambda self: "added"
    return a.x, a.added()


def case_dict_update_on_instance():
    b = Base()
    b.__dict__.update(x=10, y=20)
    return b.x, b.y


def case_reassigned_class():
    b = Left()
    b.__class__ = Right
    return b.name()


def case_inconsistent_mro():
    class A: ...

    class B(A): ...

    class C(A, B): ...


def case_classes_as_dict_keys():
    table = {Left: "l", Right: "r", int: "i"}
    return table[type(Right())], table[type(3)], Base in table


def case_subclasses():
    class A: ...

    class B(A): ...

    class C(A): ...

    return [c.__name__ for c in A.__subclasses__()]


def case_instancecheck():
    class M(type):
        def __instancecheck__(cls, value):
            return value == 3

    class A(metaclass=M): ...

    return isinstance(3, A), isinstance(4, A)


def case_str_and_repr_fallbacks():
    class A:
        def __repr__(self):
            return "<A>"

    class B(A):
        def __str__(self):
            return "b"

    return str(A()), str(B()), repr(B()), f"{B()!r} {B()}", "%s %r" % (B(), B()), [A()].__repr__()


def case_format_method():
    class A:
        def __format__(self, spec):
            return f"<{spec}>"

    return f"{A():x>3}", format(A(), "y"), "{:z}".format(A())


def case_int_and_index_methods():
    class A:
        def __int__(self):
            return 7

        def __index__(self):
            return 2

        def __float__(self):
            return 1.5

    return int(A()), [1, 2, 3][A()], float(A()), list(range(A()))


def case_subclass_of_builtins():
    class D(dict):
        def __missing__(self, key):
            return key * 2

        def extra(self):
            return len(self)

    class L(list):
        def first(self):
            return self[0]

    class S(str):
        def shout(self):
            return self.upper() + "!"

    class I(int):
        def __new__(cls, v):
            return super().__new__(cls, v + 1)

    d = D(a=1)
    d["b"] = 2
    s = L([1, 2])
    s.append(3)
    return d["a"], d["zz"], d.extra(), dict(d), s.first(), len(s), list(s), S("hi").shout(), S("hi") == "hi", I(4) + 1


def case_subclass_of_dict_with_init():
    class D(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.tag = "t"

        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setitem__(self, key, value):
            super().__setitem__(key, value * 10)

    d = D({"a": 1}, b=2)
    d["c"] = 3
    return d.a, d.b, d.c, d.tag, hasattr(d, "zzz"), sorted(d.items()), "a" in d, d.get("q", 0), len(d)


def case_iterator_class():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    c = Count(5)
    first = next(c)
    return first, list(c), next(c, "done"), [x for x in Count(3)], sum(Count(4)), dict(zip("ab", Count(2)))


def case_getitem_iteration():
    class Seq:
        def __getitem__(self, i):
            if i >= 3:
                raise IndexError(i)
            return i * 10

    return list(Seq()), 20 in Seq()


def case_getitem_with_len_reversed():
    class Seq:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return i * 10

    return list(reversed(Seq()))


def case_context_manager_class():
    log = []

    class CM:
        def __init__(self, swallow):
            self.swallow = swallow

        def __enter__(self):
            log.append("in")
            return self

        def __exit__(self, kind, value, tb):
            log.append(kind.__name__ if kind else None)
            return self.swallow

    with CM(True) as c:
        log.append(c.swallow)
        raise ValueError("x")
    with CM(False):
        pass
    try:
        with CM(True), CM(False):
            raise KeyError("k")
    finally:
        log.append("end")
    return log


def case_class_getitem():
    class A:
        def __class_getitem__(cls, item):
            return (cls.__name__, item)

    return A[int][0], A["x"]


def case_class_decorator():
    def register(name):
        def mark(cls):
            cls.registered = name
            return cls

        return mark

    @register("n")
    class A: ...

    return A.registered


def case_function_attributes():
    def f(): ...

    f.tag = 1
    f.tag += 1
    return f.tag, hasattr(f, "other"), f.__name__, f.__dict__


def case_method_assigned_from_function():
    def outer(self, y):
        return self.x + y

    class A:
        x = 1
        m = outer
        s = staticmethod(outer)

    return A().m(2), A.s(A(), 5)


def case_callable_checks():
    class A:
        def __call__(self): ...

    return callable(A()), callable(Base()), callable(len), callable(3), callable(Base), callable(lambda: 0)


def case_lambda_attribute_on_instance_is_not_bound():
    class A: ...

    a = A()
    a.f = lambda *args: args
    return a.f(1)


def case_inheriting_property_through_two_levels():
    class A:
        @property
        def v(self):
            return self.make()

        def make(self):
            return "a"

    class B(A):
        def make(self):
            return "b" + super().make()

    return B().v


def case_attribute_error_inside_property_escapes():
    class A:
        @property
        def v(self):
            return self.missing

    a = A()
    return hasattr(a, "v"), getattr(a, "v", "default")


def case_private_class_attribute_via_class():
    class A:
        __count = 0

        @classmethod
        def bump(cls):
            cls.__count += 1
            return cls.__count

    return A.bump(), A.bump(), "_A__count" in A.__dict__


def case_del_class_attribute():
    class A:
        x = 1

    del A.x
    return hasattr(A, "x")


def case_super_attribute_missing():
    class A:
        def f(self):
            return super().nothing

    return A().f()


def case_dir_contains():
    return "hello" in dir(Base()), "x" in dir(Base()), "zzz" in dir(Base)


def case_hash_of_instance_is_identity():
    a, b = Base(), Base()
    return {a: 1, b: 2}[a], len({a, b, a}), a == b, a != b, a in [b, a]
