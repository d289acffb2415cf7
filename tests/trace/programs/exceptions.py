class Custom(Exception):
    def __init__(self, code, detail="none"):
        super().__init__(f"code {code}")
        self.code, self.detail = code, detail


class Shown(Custom):
    def __str__(self):
        return f"<{self.code}:{self.detail}>"


class Bare(Exception):
    def __init__(self, a, b):
        self.a = a


def case_return_in_every_place():
    def f(how):
        try:
            if how == "body":
                return "body"
            if how == "raise":
                raise ValueError("v")
        except ValueError:
            return "except"
        else:
            if how == "else":
                return "else"
        finally:
            if how == "final":
                return "final"
        return "after"

    return [f(h) for h in ("body", "raise", "else", "final", "none")]


def case_finally_overrides_return():
    def f():
        try:
            return 1
        finally:
            return 2

    return f()


def case_finally_swallows_exception():
    def f():
        try:
            raise ValueError("lost")
        finally:
            return "swallowed"

    return f()


def case_finally_break_and_continue():
    out = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            out.append(i)
        finally:
            out.append(f"f{i}")
    for i in range(3):
        try:
            raise ValueError
        except ValueError:
            continue
        finally:
            out.append("c")
    while True:
        try:
            raise KeyError
        finally:
            break
    for i in range(2):
        try:
            1 / 0
        finally:
            continue
    return out


def case_finally_sees_return_value_change():
    def f():
        x = 1
        try:
            return x
        finally:
            x = 2

    def g():
        x = [1]
        try:
            return x
        finally:
            x.append(2)

    return f(), g()


def case_nested_finally():
    log = []

    def f():
        try:
            try:
                try:
                    raise ValueError("a")
                finally:
                    log.append(1)
            except KeyError:
                log.append("never")
            finally:
                log.append(2)
        except ValueError as e:
            log.append(str(e))
            return "done"
        finally:
            log.append(3)

    return f(), log


def case_exception_in_finally_replaces():
    try:
        raise ValueError("first")
    finally:
        raise KeyError("second")


def case_exception_in_handler():
    try:
        raise ValueError("first")
    except ValueError as e:
        raise RuntimeError(f"second after {e}") from e


def case_exception_in_else_is_not_caught():
    try:
        pass
    except ValueError:
        return "caught"
    else:
        raise ValueError("from else")


def case_cause_and_context():
    try:
        try:
            raise ValueError("inner")
        except ValueError as e:
            raise RuntimeError("outer") from e
    except RuntimeError as e:
        first = (type(e.__cause__).__name__, str(e.__cause__), e.__suppress_context__)
    try:
        try:
            raise ValueError("inner")
        except ValueError:
            raise RuntimeError("outer")
    except RuntimeError as e:
        second = (e.__cause__, str(e.__context__))
    try:
        try:
            raise ValueError("inner")
        except ValueError:
            raise RuntimeError("outer") from None
    except RuntimeError as e:
        third = (e.__cause__, e.__suppress_context__)
    return first, second, third


def case_except_tuple_and_order():
    def f(error):
        try:
            raise error
        except (KeyError, IndexError) as e:
            return "lookup", type(e).__name__
        except ArithmeticError:
            return "arithmetic"
        except Exception as e:
            return "other", str(e)

    return f(KeyError("k")), f(IndexError), f(ZeroDivisionError()), f(Custom(3)), f(RuntimeError("r"))


def case_bare_reraise():
    try:
        try:
            raise Custom(5)
        except Custom:
            raise
    except Custom as e:
        return e.code


def case_reraise_place():
    try:
        int("x")
    except ValueError:
        raise


def case_reraise_in_function():
    def again():
        raise

    try:
        try:
            raise KeyError("k")
        except KeyError:
            again()
    except KeyError as e:
        return str(e)


def case_reraise_outside():
    raise


def case_reraise_by_name():
    try:
        raise ValueError("v")
    except ValueError as e:
        raise e


def case_custom_exception_init():
    try:
        raise Custom(7, detail="d")
    except Custom as e:
        return str(e), e.args, e.code, e.detail, repr(e)


def case_custom_exception_str():
    raise Shown(9, "x")


def case_custom_exception_without_super_init():
    try:
        raise Bare(1, 2)
    except Bare as e:
        return e.args, str(e), e.a


def case_raise_class():
    raise ValueError


def case_raise_with_several_arguments():
    raise ValueError("a", 1)


def case_key_error_message():
    return {}["missing"]


def case_index_error():
    return [1][5]


def case_zero_division():
    x = 0
    return 1 / x


def case_attribute_of_none():
    return None.x


def case_type_error_concat():
    return "a" + 1


def case_type_error_none_arith():
    return None + 1


def case_type_error_compare():
    return 1 < "a"


def case_type_error_not_iterable():
    for _ in 5:
        pass


def case_type_error_not_subscriptable():
    return None[0]


def case_type_error_item_assignment():
    (1, 2)[0] = 3


def case_type_error_unhashable():
    return {[]: 1}


def case_type_error_unhashable_lookup():
    return {}[[]]


def case_type_error_len():
    return len(5)


def case_raise_non_exception():
    raise "text"


def case_stop_iteration():
    return next(iter([]))


def case_multi_line_raise():
    raise ValueError(
        "a long"
        " message"
    )


def case_raise_in_called_function():
    def check(x):
        if x > 1:
            raise ValueError(
                f"{x} is too much"
            )

    check(1)
    check(2)


def case_exception_hierarchy():
    return (
        issubclass(KeyError, LookupError), issubclass(FileNotFoundError, OSError), issubclass(ModuleNotFoundError, ImportError),
        issubclass(KeyboardInterrupt, Exception), IOError is OSError, issubclass(UnicodeDecodeError, ValueError),
        issubclass(NotImplementedError, RuntimeError), issubclass(RecursionError, RuntimeError),
    )


def case_isinstance_of_caught():
    try:
        raise FileNotFoundError("f")
    except OSError as e:
        return isinstance(e, FileNotFoundError), type(e) is FileNotFoundError, e.__class__.__name__


def case_system_exit():
    raise SystemExit(3)


def case_except_base_exception():
    try:
        raise SystemExit("bye")
    except BaseException as e:
        return type(e).__name__, e.code


def case_exception_as_value():
    e = ValueError("kept")
    errors = [e, KeyError("k")]
    return [str(x) for x in errors], [type(x).__name__ for x in errors], e.args


def case_try_in_loop_collects():
    out = []
    for text in ["1", "x", "3", None]:
        try:
            out.append(int(text))
        except ValueError:
            out.append("bad")
        except TypeError:
            out.append("none")
        else:
            out.append("ok")
    return out


def case_exception_leaves_state():
    out = []

    def f():
        out.append(1)
        raise ValueError
        out.append(2)

    try:
        f()
    except ValueError:
        pass
    return out


def case_exception_through_several_frames():
    def a():
        b()

    def b():
        c()

    def c():
        raise LookupError("deep")

    a()


def case_exception_in_comprehension():
    return [int(x) for x in ["1", "b"]]


def case_exception_in_property():
    class A:
        @property
        def p(self):
            raise ValueError("in property")

    return A().p


def case_exception_in_init():
    class A:
        def __init__(self):
            raise ValueError("in init")

    A()


def case_exception_in_default():
    def f(x=int("no")):
        return x


def case_exception_args_equality():
    return ValueError("a").args == ValueError("a").args, ValueError("a") == ValueError("a")


def case_with_traceback_and_notes():
    try:
        raise ValueError("x").with_traceback(None)
    except ValueError as e:
        return str(e)


def case_os_error_fields():
    e = OSError(2, "No such file")
    return e.errno, e.strerror, str(e)


def case_unicode_error():
    return b"\xff".decode("utf-8")


def case_assertion_message_is_object():
    try:
        assert False, ["a", 1]
    except AssertionError as e:
        return e.args


def case_exception_with_kwargs_class():
    class E(Exception):
        def __init__(self, *args, hint=None):
            super().__init__(*args)
            self.hint = hint

    try:
        raise E("m", hint="h")
    except E as e:
        return str(e), e.hint


def case_except_expression_evaluated_lazily():
    def kinds():
        raise RuntimeError("evaluated")

    try:
        return "no error"
    except kinds():
        pass


def case_handler_variable_scope():
    e = "outer"
    try:
        raise ValueError
    except ValueError as e:
        pass
    try:
        return e
    except UnboundLocalError:
        return "gone"


def case_exception_context_after_handler():
    try:
        raise ValueError("one")
    except ValueError:
        pass
    try:
        raise KeyError("two")
    except KeyError as e:
        return e.__context__


def case_import_error_fields():
    try:
        import app.nonexistent  # noqa: F401
    except ImportError as e:
        return type(e).__name__, str(e), e.name


def case_suppressed_by_contextlib():
    import contextlib

    with contextlib.suppress(KeyError, ValueError):
        raise ValueError
    return "after"


def case_loop_else_with_exception():
    out = []
    for i in range(2):
        try:
            if i:
                raise ValueError
        except ValueError:
            out.append("e")
            break
    else:
        out.append("else")
    return out


def case_nested_try_in_except():
    try:
        raise ValueError("a")
    except ValueError:
        try:
            raise KeyError("b")
        except KeyError:
            pass
        try:
            raise
        except ValueError as e:
            return str(e)


def case_negative_shift():
    return 1 << -1


def case_bad_format():
    return "%d" % "x"


def case_bad_format_count():
    return "%s %s" % ("x",)


def case_bad_enum_lookup():
    import enum

    class E(enum.Enum):
        A = 1

    return E("zzz")


def refusal(call):
    try:
        return call()
    except TypeError as error:
        return str(error)


def case_type_error_for_the_number_of_arguments():
    return [
        refusal(call)
        for call in (
            lambda: len(), lambda: len([], []), lambda: isinstance(1), lambda: isinstance(1, int, int),
            lambda: issubclass(int), lambda: callable(), lambda: getattr(1), lambda: getattr(1, "a", 2, 3),
            lambda: setattr(1, "a"), lambda: delattr(1), lambda: hasattr(1), lambda: id(), lambda: hash(1, 2),
            lambda: repr(), lambda: ascii(1, 2), lambda: format(), lambda: format(1, "", ""), lambda: iter(),
            lambda: iter(1, 2, 3), lambda: next(), lambda: next(iter([]), 1, 2), lambda: any(), lambda: all([], []),
            lambda: len(obj=[]), lambda: all(iterable=[]), lambda: getattr(1, name="real"),
        )
    ]  # fmt: skip
