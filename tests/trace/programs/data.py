from collections import ChainMap, Counter, OrderedDict, defaultdict, deque


def case_fstrings():
    x, y, name = 3.14159, 42, "né"
    d = {"k": [1, 2]}
    width = 8
    return (
        f"{x:.2f}|{y:>5}|{y:05d}|{y:x}|{y:,}|{name!r}|{name!s:>4}|{name!a}", f"{d['k'][1]}", f"{y=}", f"{x=:.1f}", f"{name=!r}",
        f"{x:{width}.{2}f}", f"{y:{'>'}{width}}", f"{{literal}} {y}", f"{'nested ' + f'{y}'}", f"{y!r:>6}", f"{None} {True} {[1, 'a']}",
        f"{y:%}", f"{1e10:g}", f"{-5:+d}", f"{255:#x}", f"{'a':*^5}", f"{d}", f"{x if y else name}", f"{y:b}" "joined",
    )


def case_percent_formatting():
    return (
        "%s %d %r" % ("a", 3, "b"), "%(a)s-%(b)02d" % {"a": 1, "b": 2}, "%5.2f|%-5s|%05d" % (3.14159, "x", 42), "%s" % [1, 2], "%%" % (),
        "%x %o %e" % (255, 8, 12345.678), "%s" % None, "%s" % ("one",), "%d%%" % 5, "%s" % {"a": 1}, "%c" % "z",
    )


def case_str_format():
    class A:
        x = [10, {"k": "v"}]

    return (
        "{} {}".format(1, "b"), "{1} {0} {1}".format("a", "b"), "{a}-{b:>4}".format(a=1, b=2), "{0.x[0]} {0.x[1][k]}".format(A()),
        "{!r} {!s}".format("a", "b"), "{:{}}".format("x", 5), "{:{w}.{p}f}".format(3.14159, w=8, p=2), "{{}} {}".format(1),
        "{a[0]}{a[1]}".format(a=[1, 2]), "{:,}".format(1234567), "{:>{w}}".format("r", w=4), "{x}".format_map({"x": 1}),
    )


def case_str_format_missing():
    return "{} {}".format(1)


def case_str_format_missing_key():
    return "{a}".format(b=1)


def case_string_methods():
    s = "Hello, World"
    return (
        s.lower(), s.upper(), s.split(", "), s.split(), s.replace("l", "L", 1), s.find("o"), s.rfind("o"), s.count("l"), s.startswith(("He", "x")),
        s.endswith("d"), s.strip("Hd"), "  a ".lstrip(), s.partition(","), s.rpartition("o"), s.index("W"), "-".join(["a", "b"]), s.title(),
        s.swapcase(), "a,b,,c".split(",", 2), "x=1=2".rsplit("=", 1), "abc".isalpha(), "12".isdigit(), "ab\ncd\n".splitlines(), "a".zfill(3),
        "prefix-x".removeprefix("prefix-"), "x.py".removesuffix(".py"), "a\tb".expandtabs(4), "abc".translate({97: "z"}), s.encode(),
        "ß".casefold(), "abc".center(7, "*"), "abc" < "abd", "b" in "abc", "abc"[1], "abc"[-1], "abc"[::-1], "abc" * 2, "a" "b", len("abc"),
        "snake_case".isidentifier(), " ".isspace(), "Ab".istitle(), "".join(reversed("abc")), "a-b_c".replace("-", "_").split("_"),
        "%s" in "%s", "abc".find("z"), str.lower("ABC"), list(map(str.strip, [" a", "b "])), "x".ljust(3) + "|", max("abc"), ord("a"),
        "a.b.c".rsplit(".", 1)[-1], "True".lower() in ("true", "1"), bool("0"), "é".encode("utf-8").decode("utf-8"), "abc".maketrans("a", "b"),
    )


def case_string_index_error():
    return "abc".index("z")


def case_string_join_error():
    return ",".join([1, 2])


def case_bytes():
    b = b"abc"
    return b[0], b[1:], b + b"d", b.decode(), b.hex(), bytes([65, 66]), b"a" in b, len(b), b.split(b"b"), list(b), bytes(3), b.upper()


def case_numbers():
    return (
        7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 / 2, 2**10, 2**-1, 0.1 + 0.2, 1e3, 10**20, 0xFF, 0b11, 1_000, round(2.675, 2), round(1234, -2),
        int("0x1f", 16), int(-3.7), float("inf") > 1, float("nan") != float("nan"), 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 256 >> 2, abs(-2.5),
        divmod(-7, 3), (5).bit_length(), (2.0).is_integer(), 3 == 3.0, True + True, not 0, 1 if 0.0 else 2, -2**2, min(1.5, 1), max(2, 2.0),
        (1024).to_bytes(2, "big"), int.from_bytes(b"\x04\x00", "big"), hex(10), 7.0 // 2, 1 / 3, complex(1, 2).real, 5 .real,
    )


def case_list_methods():
    a = [3, 1, 2]
    a.append(5)
    a.extend((7, 8))
    a.insert(1, 9)
    a.remove(7)
    popped = a.pop(), a.pop(0)
    a.sort()
    b = a.copy()
    b.reverse()
    c = sorted(a, reverse=True, key=lambda x: x % 3)
    a[1:3] = [100, 200, 300]
    b[::2] = ["x"] * len(b[::2])
    d = [0] * 3
    d[-1] = 9
    e = [[]] * 2
    e[0].append(1)
    f = [1, 2, 3, 4]
    f[1:1] = ["in"]
    f.clear()
    return a, b, c, popped, d, e, f, [1, 2] + [3], [1, 2] == [1, 2], [1, [2]] < [1, [3]], 2 in [1, 2], [1, 2, 1].count(1), [5, 6].index(6)


def case_list_slices():
    a = list(range(10))
    return a[2:5], a[:3], a[-3:], a[::3], a[::-1], a[8:2:-2], a[100:], a[-100:2], a[slice(1, 4)], a[1:-1][0], (1, 2, 3)[1:], "abcdef"[1:5:2]


def case_list_pop_empty():
    return [].pop()


def case_list_remove_missing():
    [1].remove(2)


def case_list_index_missing():
    return [1, 2].index(3)


def case_list_bad_index():
    return [1]["a"]


def case_list_sort_variants():
    rows = [("b", 2), ("a", 2), ("c", 1)]
    rows.sort(key=lambda r: (r[1], r[0]))
    other = ["bb", "a", "ccc"]
    other.sort(key=len, reverse=True)
    return rows, other, sorted({"b": 1, "a": 2}), sorted("bca"), sorted([True, False]), sorted([(1, "b"), (1, "a")]), sorted([[2], [1, 5]])


def case_dict_methods():
    d = {"a": 1, "b": 2}
    d.update({"c": 3}, d=4)
    d.update([("e", 5)])
    d.setdefault("a", 100)
    d.setdefault("z", []).append(1)
    got = d.get("q"), d.get("q", 7), d.pop("b"), d.pop("nope", None), d.popitem()
    e = dict(d)
    e["new"] = 1
    del e["a"]
    f = {**d, "a": 10}
    return (
        d, got, list(e), f, list(d.keys()), list(d.values()), list(d.items()), "a" in d, len(d), d | {"x": 1}, dict.fromkeys("ab", 0),
        {k: v for k, v in d.items() if v}, dict(zip("ab", [1, 2])), d == dict(d), d != {}, sorted(d), max(d, key=lambda k: str(d[k])),
        d.keys() & {"a", "q"} == {"a"}, d.keys() - {"a"} == {"c", "d", "e"}, set(d) >= {"a"}, next(iter(d)), list(reversed(d)),
        d.keys() == {"a", "c", "d", "e"}, ("a", 1) in d.items(), 1 in d.values(), {1: "i", 1.0: "f", True: "b"},
    )


def case_dict_pop_missing():
    return {}.pop("x")


def case_dict_del_missing():
    d = {}
    del d["x"]


def case_dict_popitem_empty():
    {}.popitem()


def case_dict_views_follow_the_dict():
    d = {"a": 1}
    keys, items = d.keys(), d.items()
    d["b"] = 2
    return list(keys), list(items), len(keys), "b" in keys


def case_dict_delete_while_iterating_a_copy():
    d = {"a": 1, "b": 2, "c": 3}
    for k in list(d):
        if d[k] != 2:
            del d[k]
    return d


def case_dict_unpack_order():
    return list({**{"b": 1}, "a": 2, **{"b": 3, "c": 4}}.items())


def case_nested_dict_update():
    def merge(a, b):
        for k, v in b.items():
            if isinstance(v, dict) and isinstance(a.get(k), dict):
                merge(a[k], v)
            else:
                a[k] = v
        return a

    return merge({"x": {"y": 1}, "z": 2}, {"x": {"w": 3}, "z": {"q": 1}})


def case_set_methods():
    s = {1, 2}
    s.add(3)
    s.discard(9)
    s.update([4], (5,))
    t = s & {1, 9}
    u = s - {1}
    v = {1} ^ {1, 2}
    s.remove(2)
    w = s.copy()
    w.clear()
    return (
        s, t, u, v, w, {1} <= {1, 2}, {1} < {1}, {1, 2} >= {2}, {1}.isdisjoint({2}), {1}.union([2], [3]), {1, 2}.intersection([2, 3]),
        {1, 2}.difference([1]), {1}.issubset([1, 2]), frozenset([1, 2]) == {1, 2}, {frozenset([1]): "f"}[frozenset([1])], len({1, 1.0, True}),
        set("hello") == {"h", "e", "l", "o"}, 3 in s, {x % 3 for x in range(10)}, set() == set(), {1} | {2}, {1, 2}.symmetric_difference([2, 3]),
        {1}.issuperset([]), sorted({3, 1, 2}), not set(), {(1, 2), (1, 2)}, {1} == {2},
    )


def case_set_remove_missing():
    {1}.remove(2)


def case_set_pop_empty():
    set().pop()


def case_set_wrong_operand():
    return {1} | [2]


def case_tuples():
    t = (1, "a", 1)
    return t.count(1), t.index("a"), t + (2,), t * 2, t[0], t[-1], t[1:], len(t), (1,) < (1, 0), () == (), (1, 2) == [1, 2], hash((1, 2)) == hash((1, 2)), 1 in t


def case_ordered_dict():
    d = OrderedDict([("a", 1), ("b", 2)])
    d["c"] = 3
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    first = d.popitem(last=False)
    return list(d.items()), first, d == {"a": 1, "b": 2}, isinstance(d, dict), OrderedDict(x=1)["x"]


def case_default_dict():
    d = defaultdict(list)
    d["a"].append(1)
    d["a"].append(2)
    n = defaultdict(int)
    for c in "abca":
        n[c] += 1
    nested = defaultdict(lambda: defaultdict(int))
    nested["x"]["y"] += 1
    f = defaultdict(lambda: "dflt", a=1)
    return (
        dict(d), dict(n), nested["x"]["y"], f["q"], f["a"], "zz" in d, d.get("zz"), len(d), sorted(n.items()), isinstance(d, dict), list(d),
        {k: dict(v) for k, v in nested.items()}, f.setdefault("w", 5), d.pop("a"),
    )


def case_default_dict_without_factory():
    return defaultdict(None)["x"]


def case_counter():
    c = Counter("banana")
    c.update("bb")
    c["q"] += 1
    e = Counter(a=1) + Counter(a=2, b=1)
    return c["a"], c["zz"], c.most_common(2), sorted(c.items()), sum(c.values()), dict(e), Counter([1, 1, 2])[1], sorted(Counter("aab").elements()), "zz" in c


def case_deque():
    d = deque([1, 2, 3], maxlen=3)
    d.append(4)
    d.appendleft(0)
    e = deque("abc")
    e.extend("d")
    left, right = e.popleft(), e.pop()
    e.rotate(1)
    return list(d), list(e), left, right, len(d), d[0], d[-1], 3 in d, list(reversed(e)), deque(maxlen=2).maxlen, bool(deque())


def case_chain_map():
    c = ChainMap({"a": 1}, {"a": 2, "b": 3})
    return c["a"], c["b"], sorted(c), "b" in c, c.get("z")


def case_truth():
    return [bool(x) for x in (0, 1, "", "0", [], [0], {}, {1: 1}, (), (0,), None, 0.0, set(), range(0), range(1), b"", b"0")]


def case_equality_across_types():
    return 1 == 1.0, 1 == True, "1" == 1, None == False, [] == (), {} == [], 0 == "", 1.5 == 1.5, (1, [2]) == (1, [2]), {1: [2]} == {1: [2]}, range(3) == range(3)


def case_repr_of_containers():
    return repr([1, "a", None, (1,), {"k": {1}}, 1.0, b"x", True, range(3), frozenset([1]), set(), ()]), str({"a": [1]}), repr("it's"), repr('q"')


def case_repr_of_recursive_list():
    a = [1]
    a.append(a)
    return repr(a)


def case_copies_are_shallow():
    a = [[1], {"k": [2]}]
    b, c, d = a[:], list(a), a.copy()
    a[0].append(9)
    a.append("new")
    return b, c is a, len(d), b[0] is a[0]


def case_aliasing():
    a = {"list": []}
    b = a
    c = dict(a)
    b["list"].append(1)
    b["x"] = 1
    return a, c, a is b, a["list"] is c["list"]


def case_multiplication_table():
    return [[i * j for j in range(3)] for i in range(3)], sum(i * j for i in range(3) for j in range(3))


def case_range_operations():
    r = range(2, 20, 3)
    return list(r), len(r), r[1], r[-1], 5 in r, 6 in r, r[1:3] == range(5, 11, 3), r.start, r.stop, r.step, r.index(8), max(r), sum(r), list(range(0)), bool(range(3, 1))


def case_range_zero_step():
    return range(1, 2, 0)


def case_enumerate_zip_star():
    a, b = zip(*[(1, "a"), (2, "b")])
    return a, b, list(zip(range(3), "ab", [True, False])), dict(enumerate("ab")), [(i, x, y) for i, (x, y) in enumerate(zip("ab", "cd"))]


def case_min_max_variants():
    return min("b", "a"), max([(1, "a"), (1, "b")]), min([3, 1], default=0), max({"a": 1, "b": 0}, key={"a": 1, "b": 0}.get), min(x for x in (3, 2)), max(-1, 1, key=abs), min([], default=None)


def case_sum_and_any():
    return sum([]), sum([0.1] * 3), sum([1, 2], start=5), any([0, "", "x"]), all([1, "", 2]), any(x > 2 for x in [1, 2, 3]), sum([[1], [2]], [])


def case_slice_objects():
    s = slice(1, 5, 2)
    return s.start, s.stop, s.step, list(range(10))[s], s.indices(4), "abcdef"[s], slice(3) == slice(None, 3)


def case_delete_slices():
    a = list(range(6))
    del a[1:3], a[-1]
    return a


def case_str_conversions():
    return str(1), str(1.0), str(1e100), str(None), str([1, "a"]), str((1,)), str(True), str({1: 2}), str(b"x"), int("12"), float("1.5"), bool("False"), list("ab"), tuple([1]), set([1]), dict(a=1), str(1.23456789012345678), float(3), int(True)


def case_int_errors():
    return int("1.5")


def case_none_errors():
    return int(None)


def case_chained_methods():
    return " A,b ;C ".strip().lower().replace(" ", "").split(";")[0].split(",")[-1].upper(), "a-b".replace("-", "_").upper().split("_")


def case_string_comparisons_and_sorting():
    return sorted(["b", "A", "a", "B"]), sorted(["b", "A", "a", "B"], key=str.lower), "Z" < "a", "" < "a", "abc" >= "abd", sorted(["10", "9", "1"])


def case_walrus_and_dict_get():
    d = {"a": None}
    return (x := d.get("a")) is None, d.get("a", 5), d.get("b", 5), x, "a" in d and d["a"] is None


def case_format_builtin():
    return format(3.14159, ".2f"), format(255, "x"), format("a", ">4"), format(1234, ","), format(None), format(True)


def case_bytearray_and_memory():
    b = bytearray(b"ab")
    b.append(99)
    b[0] = 65
    return bytes(b), len(b), b.decode()


def case_global_constants_stay():
    return CONSTANTS["list"], CONSTANTS["nested"]["a"], len(CONSTANTS)


CONSTANTS = {"list": [1, 2], "nested": {"a": 1}}


def case_global_constants_changed():
    CONSTANTS["list"].append(3)
    CONSTANTS["nested"]["a"] += 1
    CONSTANTS["more"] = True
    CONSTANTS["nested"].setdefault("b", []).append(1)
    return CONSTANTS["list"], CONSTANTS["nested"], len(CONSTANTS)
