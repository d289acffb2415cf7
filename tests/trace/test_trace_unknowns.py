"""What nobody told: never false, kept apart by what it stands for, decided once and both ways."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from trace_support import call, message_text, one_module, shape

from mtp_trace.trace.engine import Engine
from mtp_trace.trace.explore import Exploration, explore
from mtp_trace.trace.values import External, Raised, TraceStop, Unknown, UnknownTruth
from mtp_trace.verdict.session import deep

U = Unknown("u", "nobody told u")
V = Unknown("v", "nobody told v")


def evaluate(expression: str, **values: Any) -> Any:
    """The value of an expression over unknowns ``u`` and ``v``."""
    names = {"u": U, "v": V, **values}
    engine = one_module(f"def test({', '.join(names)}):\n    return {expression}\n")
    return call(engine, args=tuple(names.values()))


def explored(source: str, *args: Any, limit: int = 64) -> Exploration[Any]:
    engine = one_module(textwrap.dedent(source))
    return deep(lambda: explore(engine, lambda: outcome(engine, *args), limit))


def outcome(engine: Engine, *args: Any) -> Any:
    try:
        return shape(engine.call(engine.getattr(engine.imports.load("app.main"), "test"), list(args), {}))
    except Raised as error:
        return ("raised", error.value.cls.name, message_text(engine, error.value))
    except TraceStop as stop:
        return ("stopped", stop.why)


def outcomes(source: str, *args: Any) -> list[Any]:
    found = explored(source, *args)
    assert found.complete
    return sorted((path.outcome for path in found.paths), key=repr)


def test_truth_of_an_unknown_raises() -> None:
    with pytest.raises(UnknownTruth):
        bool(U)
    with pytest.raises(UnknownTruth):
        _ = U or 1  # type: ignore[truthy-bool]


@pytest.mark.parametrize("expression", [
    "u + 1", "1 + u", "u - v", "u * 2", "u / 2", "u // 2", "u % 2", "u ** 2", "u << 1", "u >> 1", "u & 1", "u | 1",
    "u ^ 1", "-u", "+u", "~u",
    "u == 1", "1 == u", "u != 1", "u < 1", "u <= 1", "u > 1", "1 >= u", "u is None", "u is not None", "not u",
    "u in (1, 2)", "1 in u",
    "u not in [1]", "u[0]", "u[1:2]", "u['k']", "{'a': 1}[u]", "[1, 2][u]", "u.attribute", "u.method(1)", "u(1, k=2)",
    "len(u)", "str(u)",
    "repr(u)", "int(u)", "float(u)", "bool(u)", "abs(u)", "round(u)", "min(u, 1)", "max(1, u)", "sum([1, u])",
    "f'{u}'", "f'{u:>3}'",
    "'%s' % u", "'%d' % (u,)", "'{}'.format(u)", "','.join(['a', u])", "'abc'.startswith(u)", "u.startswith('a')",
    "isinstance(u, int)",
    "isinstance(u, (int, str))", "callable(u)", "hasattr(u, 'x')", "getattr(u, 'x')", "getattr(u, 'x', 1)", "type(u)",
    "list(u)", "tuple(u)",
    "set(u)", "dict(u)", "range(u)", "any([u])", "all([u])", "[u] == [1]", "(u, 1) == (1, 1)", "{'a': u} == {'a': 1}",
    "u in {'a': 1}",
    "{'a': 1}.get(u)", "hash(u)", "divmod(u, 2)", "u @ v", "'a' * u", "[x for x in u]", "{x: 1 for x in u}", "iter(u)",
    "dir(u)", "chr(u)",
    "'x' + u", "u + 'x'", "[1] + u", "'a' in u", "u in 'abc'", "u.x.y[0](1)", "round(1.5, u)", "pow(2, u)",
    "sorted([3, 1]) == u",
    "issubclass(u, int)", "format(u, '>3')", "not (u == 1)", "u == v", "[1, 2].index(u)", "'a,b'.split(u)", "b'a' + u",
    "complex(1, u)",
])  # fmt: skip
def test_every_operation_with_an_unknown_stays_unknown_under_one_key(expression: str) -> None:
    first, second = evaluate(expression), evaluate(expression)
    assert isinstance(first, Unknown), first
    assert first.key == second.key
    assert "u" in first.key
    assert first.why == U.why


@pytest.mark.parametrize(("expression", "expected"), [
    ("u is u", True), ("u == u", True), ("u in [u]", True), ("1 in [1, u]", True), ("any([u, 1])", True),
    ("all([u, 0])", False),
    ("(u, 1) == (u, 2)", False), ("[u] == [1, 2]", False), ("[u, 1] == [u, 1]", True), ("u in ()", False),
    ("1 in [2, u] or True", True),
    ("len([u, v])", 2), ("[u, 1][1]", 1), ("{'a': u}['a'] is u", True), ("{'a': u, 'b': 2}['b']", 2),
    ("(lambda *a: len(a))(u, v)", 2),
    ("isinstance([u], list)", True), ("isinstance({'a': u}, dict)", True), ("'a' in {'a': u}", True),
    ("'b' in {'a': u}", False),
    ("{'a': 1}.get('b', u) is u", True), ("[x for x in [u, 1] if x is not u]", [1]), ("bool([u])", True),
    ("[u] is None", False),
    ("u and False if False else 3", 3), ("(u, 1)[1] and 2", 2), ("False and u", False), ("True or u", True),
    ("0 * 1 or 'x'", "x"),
    ("u is (1, 2)", None), ("sum([1, 2], 0)", 3), ("dict(a=u)['a'] is u", True), ("list((u, 1))[1]", 1),
    ("[*[u], 2][1]", 2),
])  # fmt: skip
def test_what_is_known_in_spite_of_unknowns(expression: str, expected: Any) -> None:
    found = evaluate(expression)
    if expected is None:
        assert isinstance(found, Unknown)
    else:
        assert shape(found) == shape(expected)


def test_negation_of_a_negation_is_the_question_itself() -> None:
    assert evaluate("not (not u)").key == "u"
    assert evaluate("not (u != 1)").key == evaluate("u == 1").key
    assert evaluate("not (u is not None)").key == evaluate("u is None").key


def test_refined_truth_decides_but_does_not_become_a_value() -> None:
    something = Unknown("spec", "its content is not known", truthy=True)
    engine = one_module("def test(x):\n    return ('yes' if x else 'no'), x is None, not x, bool(x), x == 1\n")
    yes, is_none, negated, as_bool, equal = call(engine, args=(something,))
    assert (yes, is_none, negated, as_bool) == ("yes", False, False, True)
    assert isinstance(equal, Unknown)
    assert engine.decisions == []


@pytest.mark.parametrize("source", [
    "if u:\n        return 1\n    return 2",
    "if not u:\n        return 2\n    else:\n        return 1",
    "return 1 if u else 2",
    "x = 2\n    while u:\n        x = 1\n        break\n    return x",
    "return [1 for _ in (0,) if u][0] if u else 2",
    "try:\n        assert u\n        return 1\n    except AssertionError:\n        return 2",
    "match 0:\n        case 0 if u:\n            return 1\n    return 2",
    "return next((1 for _ in (0,) if u), 2)",
    "return (u and 1) or 2",
    "return 1 if any([u]) else 2",
    "return 1 if all([True, u]) else 2",
    "def inner(q):\n        if q:\n            return 1\n        return 2\n    return inner(u)",
    "return 1 if bool(u) else 2",
    "return {True: 1, False: 2}[True if u else False]",
    "return list(filter(lambda _: u, [1])) and 1 or 2",
    "return sorted([2, 1], key=lambda x: x if u else -x)[0]",
    "return 2 if not u is True and not u else 1",
])  # fmt: skip
def test_an_unknown_condition_is_followed_both_ways(source: str) -> None:
    assert set(outcomes(f"def test(u):\n    {source}\n", U)) == {1, 2}


def test_operand_values_of_and_and_or() -> None:
    source = "def test(u):\n    return (u and 'then'), (u or 'else')\n"
    assert outcomes(source, U) == [("tuple", "then", ("unknown", "u")), ("tuple", ("unknown", "u"), "else")]


def test_chained_comparison_asks_each_part() -> None:
    source = "def test(u):\n    return 'in' if 1 < u < 5 else 'out'\n"
    found = explored(source, U)
    assert [d.key for d in found.paths[-1].decisions] == ["1 < u", "u < 5"]
    assert {p.outcome for p in found.paths} == {"in", "out"}


def test_the_same_question_has_one_answer() -> None:
    source = """
        def ask(u):
            return u == 1

        def test(u):
            first = "a" if ask(u) else "b"
            second = "a" if u == 1 else "b"
            third = "b" if u != 1 else "a"
            fourth = "b" if not (u == 1) else "a"
            return first, second, third, fourth
        """
    found = explored(source, U)
    assert [p.outcome for p in found.paths] == [("tuple", "b", "b", "b", "b"), ("tuple", "a", "a", "a", "a")]
    assert all(len(p.decisions) == 1 for p in found.paths)


def test_a_decision_says_what_was_asked_and_where() -> None:
    found = explored("def test(u):\n    if (\n        u.flag\n    ):\n        return 1\n", U)
    decision = found.paths[0].decisions[0]
    assert (decision.key, decision.answer, decision.why) == ("u.flag", False, "nobody told u")
    assert decision.site is not None
    assert (decision.site.file, decision.site.line, decision.site.function) == ("app/main.py", 3, "test")


def test_nested_questions_give_every_combination_once() -> None:
    source = "def test(u, v):\n    return (1 if u else 0) + (2 if v else 0) + (4 if u and v else 0)\n"
    found = explored(source, U, V)
    assert sorted(p.outcome for p in found.paths) == [0, 1, 2, 7]
    assert found.complete


def test_questions_behind_a_question_are_only_asked_there() -> None:
    source = "def test(u, v):\n    if u:\n        return 'v' if v else 'not v'\n    return 'not u'\n"
    found = explored(source, U, V)
    assert sorted(p.outcome for p in found.paths) == ["not u", "not v", "v"]
    assert sorted(len(p.decisions) for p in found.paths) == [1, 2, 2]


def test_an_arm_that_raises_is_one_way_of_several() -> None:
    source = "def test(u):\n    if u:\n        raise ValueError('only if u')\n    return 'fine'\n"
    assert outcomes(source, U) == ["fine", ("raised", "ValueError", "only if u")]


def test_a_limit_leaves_the_exploration_open() -> None:
    source = "def test(u):\n    return [1 for i in range(10) if u.x[i]]\n"
    found = explored(source, U, limit=5)
    assert len(found.paths) == 5
    assert not found.complete


def test_flips_start_from_the_same_state() -> None:
    source = """
        log = []
        state = {"n": 0}

        def test(u, v):
            state["n"] += 1
            if u:
                log.append("u")
            if v:
                log.append("v")
            return log, state["n"]
        """
    assert outcomes(source, U, V) == sorted(
        [("tuple", ("list", *names), 1) for names in ([], ["u"], ["v"], ["u", "v"])], key=repr
    )


@pytest.mark.parametrize("body", [
    "for x in u: pass", "a = [*u]", "f(*u)", "f(**u)", "d = {**u}", "'%s' % 1; sorted(u)", "list(zip(u, [1]))",
    "{}.update(u)",
    "[].extend(u)", "setattr(f, u, 1)", "next(x for x in [1] for y in u)", "max(u)", "a, *b = [*u]", "sum(u)",
    "[1].pop(u)",
])  # fmt: skip
def test_what_cannot_go_on_stops_with_a_place(body: str) -> None:
    engine = one_module(f"def f(*a, **k):\n    return a\n\n\ndef test(u):\n    {body}\n    return 'went on'\n")
    with pytest.raises(TraceStop) as stop:
        call(engine, args=(U,))
    assert stop.value.site is not None
    assert (stop.value.site.file, stop.value.site.line, stop.value.site.function) == ("app/main.py", 6, "test")
    assert "u" in stop.value.why


def test_unpacking_an_unknown_gives_unknown_parts() -> None:
    source = "def test(u):\n    a, (b, c) = u\n    return a, b, c\n"
    keys = [x.key for x in call(one_module(source), args=(U,))]
    assert keys == ["u[0]", "u[1][0]", "u[1][1]"]


def test_an_unknown_exception_may_be_caught_or_not() -> None:
    source = "def test(u):\n    try:\n        raise u\n    except ValueError:\n        return 'value'\n    except Exception:\n        return 'other'\n"
    assert outcomes(source, U) == ["other", "value"]


def test_an_unknown_inside_a_message_is_marked() -> None:
    engine = one_module("def test(u):\n    raise ValueError(f'got {u}')\n")
    with pytest.raises(Raised) as raised:
        call(engine, args=(U,))
    assert str(message_text(engine, raised.value.value)) == "<unknown got <str(u)>>" or "u" in str(
        message_text(engine, raised.value.value)
    )


def test_names_of_the_outside_are_told_apart_by_their_path() -> None:
    source = """
        import zoo
        from zoo import cat, cat as tom
        from zoo.sub import cat as other

        def test():
            return cat is tom, zoo.cat is cat, cat is other, cat == other, isinstance(3, zoo.Cat), {cat: 1}[tom], zoo.f(1), zoo.f(2)
        """
    found = call(one_module(textwrap.dedent(source)))
    assert found[:2] == (True, True)
    assert all(isinstance(x, Unknown) for x in found[2:4])
    assert found[4] is False and found[5] == 1
    assert (found[6].key, found[7].key) == ("zoo.f(1)", "zoo.f(2)")


def test_a_class_of_the_outside_is_a_base_of_which_only_the_name_is_known() -> None:
    source = """
        import zoo

        class Cat(zoo.Animal):
            legs = 4

            def __init__(self, name):
                super().__init__()
                self.name = name

        def test():
            c = Cat("tom")
            return c.legs, c.name, isinstance(c, zoo.Animal), isinstance(c, Cat), c.sound, c.speak(1), isinstance(c, zoo.Other)
        """
    legs, name, is_animal, is_cat, sound, spoken, is_other = call(one_module(textwrap.dedent(source)))
    assert (legs, name, is_animal, is_cat) == (4, "tom", True, True)
    assert all(isinstance(x, Unknown) for x in (sound, spoken, is_other))


def test_decorators_and_context_managers_of_the_outside_keep_what_they_wrap() -> None:
    source = """
        import zoo

        @zoo.mark
        @zoo.make(1)
        def f(x):
            return x + 1

        @zoo.mark
        class A:
            y = 2

        def test():
            with zoo.guard() as g, zoo.other:
                return f(1), A.y, g
        """
    two, y, guard = call(one_module(textwrap.dedent(source)))
    assert (two, y) == (2, 2)
    assert isinstance(guard, Unknown)


def test_hasattr_of_the_outside_is_assumed_and_noted() -> None:
    engine = one_module("import zoo\ndef test():\n    return hasattr(zoo, 'cat')\n")
    assert call(engine, keep=True) is True
    assert list(engine.assumptions) == ["zoo.cat"]


def test_a_set_with_an_unknown_has_no_known_length() -> None:
    assert isinstance(evaluate("len({u, 1})"), Unknown)
    assert isinstance(evaluate("len({u: 1, v: 2})"), Unknown)
    assert evaluate("len({u})") == 1
    assert evaluate("len({1, 2})") == 2


def test_one_unknown_is_one_key() -> None:
    assert evaluate("len({u.a, u.a})") == 1
    assert evaluate("{u.a: 1}[u.a]") == 1
    assert evaluate("{u.a: 1}.get(u.a)") == 1
    assert evaluate("u.a in {u.a}") is True
    assert isinstance(evaluate("u.a in {u.b}"), Unknown)
    assert isinstance(evaluate("{u.a: 1}['known']"), Unknown)
    assert isinstance(evaluate("{u.a: 1}.get('known', 5)"), Unknown)


def test_external_is_an_unknown_with_a_path() -> None:
    assert External("zoo.cat").key == "zoo.cat"
    with pytest.raises(UnknownTruth):
        bool(External("zoo.cat"))


def test_isinstance_of_an_unknown_answered_once_narrows_nothing_else() -> None:
    source = "def test(u):\n    return 'int' if isinstance(u, int) else 'str' if isinstance(u, str) else 'other'\n"
    assert outcomes(source, U) == ["int", "other", "str"]


def test_defaults_are_part_of_what_is_asked() -> None:
    assert evaluate("{'a': 1}.get(u, 1)").key != evaluate("{'a': 1}.get(u, 2)").key
    assert evaluate("{'a': 1}.pop(u, 1)").key != evaluate("{'a': 1}.pop(u, 2)").key


def test_a_sentinel_of_the_program_is_met_only_where_it_was_handed_out() -> None:
    source = """
        def test(u):
            missing = object()
            return (
                u is missing, u.x is missing, u() is not missing, getattr(u, "x", missing) is missing,
                {"a": 1}.get(u, missing) is missing, u.get("k", missing) is missing,
            )
        """
    found = call(one_module(textwrap.dedent(source)), args=(U,))
    assert found[:3] == (False, False, True)
    assert all(isinstance(x, Unknown) for x in found[3:])


def test_a_search_among_keys_goes_both_ways_for_a_key_not_known() -> None:
    found = explored(
        """
        def test(u):
            table = {"a": 1, u: 2}
            hits = []
            for name in ["a", "b"]:
                if name not in table:
                    continue
                hits.append(name)
            return hits
        """,
        U,
    )
    assert {p.outcome for p in found.paths} == {("list", "a"), ("list", "a", "b")}


@pytest.mark.parametrize(("expression", "expected"), [
    ("'NEXTN' is a", None), ("a is not 'NEXTN'", None), ("1.5 is b", None), ("1000 is c", None), ("'x' is 'x'", True),
    ("3 is 3", True), ("'NEXTN' is 'EAGLE'", False), ("None is None", True),
])  # fmt: skip
def test_whether_equal_values_are_one_object_is_only_known_where_python_holds_one(
    expression: str, expected: bool | None
) -> None:
    engine = one_module(f"def test(a='NEXTN', b=1.5, c=1000):\n    return {expression}\n")
    found = call(engine)
    assert isinstance(found, Unknown) if expected is None else found is expected
