import contextlib
import itertools

ids = itertools.count()
shared_pairs = zip("abc", [1, 2, 3])


def numbers(n, log=None):
    for i in range(n):
        if log is not None:
            log.append(i)
        yield i


def case_generator_is_lazy():
    log = []
    g = numbers(5, log)
    before = list(log)
    first = next(g)
    return before, first, list(log), list(g), log, next(g, "end")


def case_generator_interleaves():
    log = []

    def gen():
        log.append("start")
        yield 1
        log.append("middle")
        yield 2
        log.append("end")

    for x in gen():
        log.append(x)
    return log


def case_generator_left_by_break():
    log = []
    for x in numbers(100, log):
        if x == 2:
            break
    return log


def case_infinite_generator():
    def forever():
        n = 0
        while True:
            yield n
            n += 1

    return [x for x, _ in zip(forever(), "abc")], next(x for x in forever() if x > 3), list(itertools.islice(forever(), 2, 5))


def case_any_all_stop_early():
    seen = []

    def check(x):
        seen.append(x)
        return x > 1

    return any(check(x) for x in range(10)), all(check(x) for x in range(10)), seen


def case_next_with_condition_stops():
    seen = []

    def check(x):
        seen.append(x)
        return x == 2

    return next((x for x in range(100) if check(x)), None), next((x for x in [] if x), "none"), seen


def case_generator_expression_is_lazy():
    seen = []
    g = (seen.append(x) or x for x in range(3))
    before = list(seen)
    return before, next(g), list(seen), list(g), list(g)


def case_generator_expression_first_iterable_is_eager():
    data = [1, 2]
    g = (x for x in data)
    data = [9]
    return list(g)


def case_generator_expression_sees_later_names():
    k = 1
    g = (x * k for x in range(3))
    k = 10
    return list(g)


def case_map_filter_zip_are_lazy():
    seen = []

    def f(x):
        seen.append(x)
        return x

    m = map(f, [1, 2, 3])
    first = next(m)
    after = list(seen)
    fl = filter(f, [0, 5, 6])
    got = next(fl)
    z = zip(map(f, "ab"), "x")
    return first, after, got, list(z), seen, list(m)


def case_yield_from():
    def inner(n):
        got = yield from numbers(n)
        return f"inner {got}"

    def outer():
        result = yield from inner(2)
        yield result
        yield from "xy"
        yield from [10, 20]

    return list(outer())


def case_send():
    def acc():
        total = 0
        while True:
            got = yield total
            if got is None:
                return total
            total += got

    g = acc()
    out = [next(g), g.send(5), g.send(7)]
    try:
        g.send(None)
    except StopIteration as e:
        out.append(e.value)
    return out


def case_yield_in_expressions():
    def g():
        x = (yield 1) or "default"
        y = [(yield x), (yield "second")]
        yield (x, y)
        return y

    h = g()
    return next(h), h.send(None), h.send("a"), h.send("b")


def case_throw_into_generator():
    def g():
        try:
            yield 1
        except ValueError as e:
            yield f"caught {e}"
        yield "after"

    h = g()
    return next(h), h.throw(ValueError("v")), next(h)


def case_close_runs_finally():
    log = []

    def g():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    h = g()
    next(h)
    h.close()
    return log, list(h)


def case_return_value_of_generator():
    def g():
        yield 1
        return "result"

    def outer():
        value = yield from g()
        yield value

    return list(outer())


def case_generator_raises():
    def g():
        yield 1
        raise ValueError("inside")

    return list(g())


def case_stop_iteration_inside_generator():
    def g():
        yield next(iter([]))

    return list(g())


def case_try_in_generator():
    log = []

    def g():
        for i in range(4):
            try:
                if i == 1:
                    continue
                if i == 3:
                    raise KeyError(i)
                yield i
            except KeyError as e:
                yield f"caught {e}"
            else:
                log.append(f"else {i}")
            finally:
                log.append(f"finally {i}")
        return

    return list(g()), log


def case_with_in_generator():
    log = []

    class CM:
        def __enter__(self):
            log.append("in")
            return "value"

        def __exit__(self, *a):
            log.append("out")

    def g():
        with CM() as v:
            yield v
            yield 2
        yield 3

    out = []
    for x in g():
        log.append(x)
        out.append(x)
    return out, log


def case_match_and_while_in_generator():
    def g(x):
        while x:
            match x % 3:
                case 0:
                    yield "zero"
                case 1 | 2 as k:
                    yield k
            x -= 1
        else:
            yield "end"

    return list(g(5))


def case_recursive_generator():
    def walk(tree):
        for x in tree:
            if isinstance(x, list):
                yield from walk(x)
            else:
                yield x

    return list(walk([1, [2, [3, 4], []], 5]))


def case_generator_methods_and_closures():
    class A:
        def __init__(self):
            self.items = [1, 2]

        def __iter__(self):
            for x in self.items:
                yield x

        def pairs(self):
            yield from zip(self, self)

        @property
        def lazily(self):
            return (x * 2 for x in self)

    a = A()
    return list(a), list(a.pairs()), list(a.lazily), 2 in a, sum(a), dict(a.pairs()), [*a], max(a)


def case_contextmanager():
    log = []

    @contextlib.contextmanager
    def cm(name):
        log.append(f"in {name}")
        try:
            yield name.upper()
        finally:
            log.append(f"out {name}")

    with cm("a") as v, cm("b") as w:
        log.append((v, w))
    return log


def case_contextmanager_swallows():
    @contextlib.contextmanager
    def cm():
        try:
            yield
        except ValueError:
            pass

    with cm():
        raise ValueError("gone")
    return "after"


def case_contextmanager_changes_exception():
    @contextlib.contextmanager
    def cm():
        try:
            yield
        except ValueError as e:
            raise RuntimeError(f"from {e}") from e

    with cm():
        raise ValueError("v")


def case_contextmanager_passes_exception():
    @contextlib.contextmanager
    def cm():
        yield

    with cm():
        raise ValueError("passes")


def case_contextmanager_with_return_inside():
    log = []

    @contextlib.contextmanager
    def cm():
        log.append("in")
        yield 5
        log.append("out")

    def f():
        for i in range(3):
            with cm() as v:
                if i == 1:
                    return v + i
                continue

    return f(), log


def case_contextmanager_as_decorator():
    log = []

    @contextlib.contextmanager
    def cm():
        log.append("in")
        yield
        log.append("out")

    @cm()
    def f(x):
        log.append(x)
        return x

    return f(1), f(2), log


def case_contextmanager_method_and_restore():
    class A:
        mode = "plain"

        @contextlib.contextmanager
        def as_(self, mode):
            old, self.mode = self.mode, mode
            try:
                yield self
            finally:
                self.mode = old

    a = A()
    seen = []
    with a.as_("x"):
        seen.append(a.mode)
        with a.as_("y") as b:
            seen.append(b.mode)
        seen.append(a.mode)
    return seen, a.mode


def case_contextmanager_without_yield():
    @contextlib.contextmanager
    def cm():
        if False:
            yield

    with cm():
        pass


def case_exit_stack():
    log = []

    @contextlib.contextmanager
    def cm(n):
        log.append(f"in {n}")
        yield n
        log.append(f"out {n}")

    with contextlib.ExitStack() as stack:
        got = [stack.enter_context(cm(i)) for i in range(2)]
        stack.callback(log.append, "callback")
    return got, log


def case_nullcontext_and_closing():
    class C:
        closed = False

        def close(self):
            self.closed = True

    c = C()
    with contextlib.nullcontext(3) as x, contextlib.closing(c) as d:
        pass
    return x, d is c, c.closed


def case_itertools():
    return (
        list(itertools.chain([1], "ab", (2,))), list(itertools.chain.from_iterable([[1], [2, 3]])),
        list(itertools.product("ab", [1, 2])), list(itertools.product([0, 1], repeat=2)), list(itertools.combinations("abc", 2)),
        list(itertools.permutations([1, 2, 3], 2)), list(itertools.islice(itertools.count(3, 2), 3)),
        list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([1, 2, 3], lambda a, b: a * b)),
        [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 1])], [(k, list(g)) for k, g in itertools.groupby("aAb", str.lower)],
        list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])),
        list(itertools.zip_longest([1], "ab", fillvalue="-")), list(itertools.repeat("x", 2)), list(itertools.pairwise([1, 2, 3])),
        list(itertools.starmap(lambda a, b: a + b, [(1, 2), (3, 4)])), list(itertools.compress("abc", [1, 0, 1])),
        [x for x, _ in zip(itertools.cycle("ab"), range(3))], list(itertools.filterfalse(None, [0, 1])),
        list(itertools.islice("abcdef", 1, None, 2)),
    )


def case_module_level_iterators_start_anew():
    return next(ids), next(ids), list(shared_pairs)


def case_iter_protocol():
    it = iter([1, 2, 3])
    return next(it), iter(it) is it, list(it), list(it), list(iter({"a": 1})), [*iter("ab")]


def case_iter_with_sentinel():
    data = iter([1, 2, 0, 3])
    return list(iter(lambda: next(data), 0))


def case_unpack_generator():
    a, b, *c = numbers(4)
    return a, b, c


def case_star_arguments_from_generator():
    def f(*a):
        return a

    return f(*(x for x in range(3)), *numbers(2))


def case_membership_consumes():
    g = numbers(5)
    return 2 in g, list(g)


def case_sum_of_generator_with_condition():
    return sum(x for x in numbers(10) if x % 2), sorted(x % 3 for x in numbers(5)), ",".join(str(x) for x in numbers(3))


def case_dict_and_set_from_generator():
    return dict((k, len(k)) for k in ["a", "bb"]), {k: v for k, v in zip("ab", numbers(2))}, set(x % 2 for x in numbers(4))


def case_nested_generator_expressions():
    return [sum(y for y in range(x)) for x in range(4)], list((x, y) for x in range(3) for y in range(x))


def case_generator_in_class_body():
    class A:
        items = list(x * 2 for x in range(3))
        first = next(x for x in items if x)

    return A.items, A.first


def case_reversed_enumerate():
    return list(reversed(range(3))), list(enumerate(numbers(2), 5)), [i for i, _ in enumerate(reversed("ab"))]


def case_generator_expression_error_place():
    g = (1 // x for x in [1, 0])
    return list(g)


def case_generator_type_checks():
    import types
    from collections.abc import Iterable, Iterator

    g = numbers(1)
    return isinstance(g, Iterator), isinstance(g, Iterable), isinstance(g, list), isinstance(g, types.GeneratorType), callable(g)


def case_conditions_in_generator_come_and_go():
    def g(flag):
        if flag:
            yield "inside"
        yield "outside"

    out = []
    for x in g(True):
        if x == "inside":
            out.append(x)
        else:
            out.append("o")
    return out
