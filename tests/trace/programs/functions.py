import functools
import sys

counter = 0


def case_default_argument_time():
    n = 1

    def f(x=n, acc=[]):
        acc.append(x)
        return list(acc)

    n = 2
    return f(), f(5), f()


def case_closure_late_binding():
    return [f() for f in [lambda: i for i in range(3)]], [f() for f in [lambda i=i: i for i in range(3)]]


def case_closure_in_loop():
    out = []
    for i in range(3):
        def f():
            return i
        out.append(f)
    return [f() for f in out]


def case_nonlocal():
    n = 0

    def up(k=1):
        nonlocal n
        n += k
        return n

    up()
    up(5)
    return n, up()


def case_nonlocal_two_levels():
    def a():
        x = 1

        def b():
            def c():
                nonlocal x
                x *= 10
            c()
            return x
        return b(), x
    return a()


def case_global_statement():
    global counter
    counter += 1

    def inner():
        global counter
        counter += 10
        return counter

    return inner(), counter


def case_global_new_name():
    def make():
        global made_here
        made_here = 5

    make()
    return made_here, "made_here" in globals()


def case_recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(12)


def case_mutual_recursion():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    return even(10), odd(7)


def case_star_arguments():
    def f(a, b=2, *args, c, d=4, **kwargs):
        return a, b, args, c, d, kwargs

    return f(1, c=3), f(1, 2, 3, 4, c=5, e=6), f(*[1, 2, 3], **{"c": 1, "z": 2}), f(*(1,), *[9], c=0, **{}, **{"y": 1})


def case_positional_only():
    def f(a, b=2, /, c=3, **kw):
        return a, b, c, kw

    return f(1), f(1, 5, c=6, a=7)


def case_positional_only_as_keyword():
    def f(a, /):
        return a

    return f(a=1)


def case_missing_argument():
    def f(a, b):
        return a, b

    return f(1)


def case_missing_two_arguments():
    def f(a, b, c=1):
        return a

    return f()


def case_missing_three_arguments():
    def f(a, b, c):
        return a

    return f()


def case_missing_keyword_only():
    def f(*, key):
        return key

    return f()


def case_missing_two_keyword_only():
    def f(*, key, other):
        return key

    return f()


def case_unexpected_keyword():
    def f(a):
        return a

    return f(1, b=2)


def case_multiple_values():
    def f(a, b=0):
        return a

    return f(1, a=2)


def case_too_many_positional():
    def f(a):
        return a

    return f(1, 2)


def case_too_many_with_defaults():
    def f(a, b=1):
        return a

    return f(1, 2, 3)


def case_too_many_for_none():
    def f():
        return 1

    return f(1)


def case_method_argument_error():
    class A:
        def m(self, a):
            return a

    return A().m()


def case_method_too_many():
    class A:
        def m(self):
            return 1

    return A().m(1)


def case_repeated_keyword_in_spread():
    def f(**k):
        return k

    return f(a=1, **{"a": 2})


def case_lambda_forms():
    f = lambda a, *b, c=3, **d: (a, b, c, d)  # noqa: E731
    return f(1), f(1, 2, c=4, e=5), (lambda: 7)(), (lambda x, y=2: x * y)(5)


def case_decorators_order_and_arguments():
    log = []

    def tag(name):
        log.append(f"make {name}")

        def mark(fn):
            log.append(f"apply {name}")

            @functools.wraps(fn)
            def run(*a, **k):
                return (name, fn(*a, **k))

            return run

        return mark

    @tag("outer")
    @tag("inner")
    def f(x):
        return x

    return f(1), log, f.__name__, f.__wrapped__.__wrapped__(9)


def case_decorator_registers():
    table = {}

    def register(name, **extra):
        def mark(fn):
            table[name] = (fn, extra)
            return fn

        return mark

    @register("one", weight=2)
    def one():
        return 1

    @register("two")
    def two():
        return 2

    return [(n, f(), e) for n, (f, e) in table.items()]


def case_decorator_class():
    class Count:
        def __init__(self, fn):
            self.fn, self.calls = fn, 0
            functools.update_wrapper(self, fn)

        def __call__(self, *a):
            self.calls += 1
            return self.fn(*a)

    @Count
    def f(x):
        return x + 1

    return f(1), f(2), f.calls, f.__name__


def case_optional_argument_decorator():
    def deco(fn=None, *, times=2):
        if fn is None:
            return lambda g: deco(g, times=times)
        return lambda *a: fn(*a) * times

    @deco
    def a():
        return "a"

    @deco(times=3)
    def b():
        return "b"

    return a(), b()


def case_decorated_method():
    def twice(fn):
        @functools.wraps(fn)
        def run(self, *a):
            return fn(self, *a) * 2

        return run

    class A:
        x = 4

        @twice
        def m(self, k):
            return self.x + k

        @classmethod
        @twice
        def c(cls):
            return cls.x

    return A().m(1), A.c()


def case_partial():
    def f(a, b, c=0):
        return a, b, c

    p = functools.partial(f, 1, c=3)
    return p(2), p(2, c=4), p.func is f, p.args, p.keywords, functools.partial(p, 9)()


def case_partialmethod():
    class A:
        def put(self, key, value):
            return key, value

        on = functools.partialmethod(put, "on")

    return A().on(1)


def case_lru_cache():
    calls = []

    @functools.lru_cache(maxsize=None)
    def f(x, y=0):
        calls.append((x, y))
        return x + y

    @functools.lru_cache
    def g(x):
        calls.append(x)
        return [x]

    out = f(1), f(1), f(1, 0), f(x=1), g(2) is g(2)
    f.cache_clear()
    f(1)
    return out, calls


def case_cache_of_exception_is_not_kept():
    calls = []

    @functools.cache
    def f(x):
        calls.append(x)
        raise ValueError(x)

    for _ in range(2):
        try:
            f(1)
        except ValueError:
            pass
    return calls


def case_reduce():
    return functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.reduce(lambda a, b: a + b, [], "start")


def case_reduce_empty():
    return functools.reduce(lambda a, b: a, [])


def case_singledispatch():
    @functools.singledispatch
    def f(x):
        return "any"

    @f.register
    def _(x: int):
        return "int"

    @f.register(str)
    def _(x):
        return "str"

    return f(1.0), f(1), f("s"), f(True)


def case_cmp_to_key():
    return sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))


def case_comprehension_scope():
    x = "outer"
    a = [x for x in range(3)]
    b = {x: y for x, y in zip("ab", (1, 2))}
    c = {x % 2 for x in range(5)}
    return x, a, b, sorted(c)


def case_nested_comprehension():
    rows = [[1, 2, 3], [4, 5], []]
    return (
        [x for row in rows for x in row], [x * y for x in range(4) if x % 2 for y in range(3) if y],
        [[c for c in row if c > 1] for row in rows], {k: [v for v in range(k)] for k in range(3)},
        [(i, j) for i in range(3) for j in range(i)],
    )


def case_comprehension_closure():
    base = 10
    return [(lambda k: k + base + i)(1) for i in range(3)]


def case_comprehension_first_iterable_is_outer():
    class A:
        items = [1, 2]
        doubled = [x * 2 for x in items]

    return A.doubled


def case_comprehension_class_scope_hides_names():
    class A:
        factor = 2
        try:
            out = [x * factor for x in range(3)]
        except NameError as error:
            out = str(error)

    return A.out


def case_walrus():
    if (n := len("abc")) > 2:
        n += 1
    data = [y for x in range(5) if (y := x * x) > 3]
    while (k := n) < 6:
        n += 1
    total = 0
    partial = [total := total + v for v in range(4)]
    return n, data, y, k, partial, total, any((hit := c) == "b" for c in "abc"), hit


def case_walrus_in_nested_comprehension():
    out = [[z := x + y for x in range(2)] for y in range(2)]
    return out, z


def case_unpacking():
    a, b = 1, 2
    a, b = b, a
    (c, d), e = (1, 2), 3
    f, *g, h = range(5)
    *i, j = "xyz"
    [k, l] = {"p": 1, "q": 2}
    for m, (n, *o) in [(1, (2, 3, 4))]:
        pass
    first, *none = [1]
    return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, first, none


def case_unpack_too_many():
    a, b = 1, 2, 3


def case_unpack_too_few():
    a, b, c = [1, 2]


def case_unpack_star_too_few():
    a, *b, c = [1]


def case_unpack_not_iterable():
    a, b = 5


def case_chained_assignment():
    a = b = c = []
    a.append(1)
    x = y = 0
    y += 1
    return b, c is a, x, y


def case_augmented_assignments():
    a = [1]
    b = a
    a += [2]
    a += (3,)
    a *= 2
    d = {"n": 1}
    d["n"] += 5
    d |= {"m": 2}
    s = {1}
    t = s
    s |= {2}
    s -= {1}
    x = 7
    x //= 2
    x **= 3
    x <<= 1
    x ^= 5
    x %= 40
    text = "a"
    text += "b"
    text *= 2

    class A:
        n = 1

    A.n += 1
    o = A()
    o.n += 10
    tup = (1,)
    tup += (2,)
    return a, b is a, d, sorted(t), x, text, A.n, o.n, tup


def case_augmented_index_evaluates_once():
    calls = []

    def key():
        calls.append(1)
        return "k"

    def table():
        calls.append(2)
        return d

    d = {"k": 1}
    table()[key()] += 1
    return d, calls


def case_evaluation_order():
    log = []

    def t(x):
        log.append(x)
        return x

    {t("k1"): t("v1"), t("k2"): t("v2")}
    [t(1), t(2)]
    t(lambda *a, **k: 0)(t(3), *[t(4)], key=t(5))
    t([0])[t(0)] = t(6)
    (t(1) < t(2) < t(3))
    t(3) if t(0) else t(4)
    return [x for x in log if isinstance(x, (int, str))]


def case_global_read_before_local_assignment():
    def f():
        try:
            return counter
        finally:
            if False:
                counter = 1  # noqa: F841

    return f()


def case_unbound_local():
    def f():
        x += 1
        return x

    return f()


def case_undefined_name():
    return not_defined_anywhere


def case_free_variable_unassigned():
    def f():
        def g():
            return later
        out = g()
        later = 1
        return out

    return f()


def case_deleted_name():
    x = 1
    del x
    return x


def case_except_name_is_deleted():
    try:
        raise ValueError("x")
    except ValueError as e:
        pass
    return e


def case_locals_and_globals():
    a = 1
    b = 2
    return sorted(locals()), "case_locals_and_globals" in globals(), locals()["b"]


def case_function_metadata():
    def f(a: int, b: "str" = "x", *c, d=1, **e) -> bool: ...

    return f.__name__, f.__defaults__, f.__kwdefaults__, list(f.__annotations__), f.__code__.co_argcount, f.__qualname__


def case_builtin_calls_with_keywords():
    return (
        sorted([3, 1, 2], reverse=True), sorted(["b", "A"], key=str.lower), max([1, 5, 3], key=lambda x: -x),
        min(3, 1, 2), max([], default="none"), sum([1, 2], 10), sum([[1], [2]], []), list(enumerate("ab", start=1)),
        list(zip([1, 2], "ab")), list(map(lambda x, y: x + y, [1, 2], [3, 4])), list(filter(None, [0, 1, "", "x"])),
        list(reversed([1, 2])), round(2.567, 2), round(2.5), divmod(7, 3), pow(2, 5, 7), abs(-3), int("ff", 16), int(" 7 "),
        int(3.9), float("1e3"), bool([]), str(3.0), chr(65), ord("a"), hex(255), bin(5), list(range(5, 0, -2)),
        isinstance(print, object), any([]), all([]), dict([("a", 1)], b=2), tuple("ab"), sorted(set("aab")), list({}.items()),
        max("apple", "fig", key=len), min({"a": 3, "b": 1}.items(), key=lambda p: p[1]),
    )


def case_int_of_bad_text():
    return int("seven")


def case_float_of_bad_text():
    return float("x1")


def case_min_empty():
    return min([])


def case_call_of_non_callable():
    x = 3
    return x()


def case_zip_strict():
    return list(zip([1], [1, 2], strict=True))


def case_sort_mixed():
    return sorted([1, "a"])


def case_while_else_break_continue():
    out = []
    i = 0
    while i < 10:
        i += 1
        if i % 2:
            continue
        if i > 6:
            break
        out.append(i)
    else:
        out.append("else")
    while i < 0:
        pass
    else:
        out.append("no loop")
    return out


def case_for_else():
    def find(xs, x):
        for y in xs:
            if y == x:
                break
        else:
            return "none"
        return y

    return find([1, 2], 2), find([1, 2], 3), find([], 1)


def case_nested_loops_break():
    out = []
    for i in range(3):
        for j in range(3):
            if j == 2:
                break
            if i == 1:
                continue
            out.append((i, j))
        else:
            out.append("never")
    return out


def case_return_inside_loops():
    def f():
        for i in range(3):
            while True:
                for k in range(5):
                    if k == 3:
                        return i, k

    return f()


def case_list_changed_while_iterating():
    a = [1, 2, 3]
    seen = []
    for x in a:
        seen.append(x)
        if x < 3 and len(a) < 6:
            a.append(x * 10)
    return seen


def case_dict_changed_while_iterating():
    d = {"a": 1}
    for k in d:
        d[k + "x"] = 1


def case_conditional_expression_nesting():
    def f(x):
        return "neg" if x < 0 else "zero" if x == 0 else "pos"

    return f(-1), f(0), f(1)


def case_short_circuit_values():
    return 0 or "a", 1 and "b", None or [] or "last", "x" and 0 and 1, not "", not 1, (1 or 1 / 0), (0 and 1 / 0)


def case_chained_comparison():
    calls = []

    def mid():
        calls.append(1)
        return 5

    return 1 < mid() < 10, 1 < mid() > 7, 10 < 5 < 1 / 1, 1 == 1 != 2, "a" in "abc" in ["abc"], len(calls)


def case_is_operator():
    a = []
    return a is a, a is [], None is None, a is not None, True is True, type(a) is list, 1 is 1  # noqa: F632


def case_docstring_only_function():
    def f():
        """Says nothing."""

    return f()


def case_print_returns_none():
    return print("x", file=sys.stderr)


def case_conditional_function_definition():
    if sys.version_info >= (3, 8):
        def f():
            return "new"
    else:
        def f():
            return "old"
    return f()


def case_inner_function_default_refers_outer():
    def make(k):
        def f(x, k=k + 1):
            return x, k
        return f
    return make(1)(0), make(5)(0)


def case_immediately_keyword_dict():
    return dict(a=1, **{"b": 2}), {**{"a": 1}, "a": 2, **{"c": 3}}, [*range(3), *"ab"], (*[], 1), {*[1, 1]}


def case_getattr_builtin_forms():
    class A:
        x = 1

    return getattr(A, "x"), getattr(A, "y", None), getattr("abc", "upper")(), hasattr([], "append"), hasattr(3, "zzz")


def case_ellipsis_and_notimplemented():
    return ..., [...][0] is Ellipsis


def case_assert_passes():
    assert 1 + 1 == 2, "never"
    assert (True, "tuple")
    return "ok"


def case_assert_fails():
    assert 1 > 2, f"one is not {1 + 1}"


def case_assert_without_message():
    x = []
    assert x


def case_del_statements():
    d = {"a": 1, "b": 2}
    x = [1, 2, 3, 4]
    del d["a"], x[0]
    del x[1:]
    return d, x


def case_type_alias_and_annotations_are_ignored():
    x: int = "text"
    y: "undefined_name"
    return x


def case_star_expression_in_return_and_index():
    a = [1, 2]
    return *a, 3
