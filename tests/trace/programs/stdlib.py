import argparse
import ast
import collections.abc
import contextvars
import copy
import functools
import json
import logging
import math
import operator
import os
import os.path
import re
import string
import sys
import textwrap
import threading
import types
import warnings
from pathlib import Path
from urllib.parse import urlparse

logger = logging.getLogger(__name__)


def case_json():
    text = '{"a": [1, 2.5, null, true], "b": {"c": "é"}}'
    data = json.loads(text)
    return (
        data, json.dumps(data), json.dumps({"b": 1, "a": [None, True]}, sort_keys=True), json.dumps([1, "x"], indent=2), json.dumps("é"),
        json.dumps("é", ensure_ascii=False), json.loads("[]"), json.loads("3"), json.dumps({1: "int key"}), json.dumps((1, 2)),
        json.dumps({"a": 1}, separators=(",", ":")), json.loads(b'{"x": 1}'), json.loads("1e3"), json.loads('"\\u00e9"'),
    )


def case_json_error():
    try:
        json.loads("{bad")
    except json.JSONDecodeError as e:
        return str(e), e.msg, e.pos, isinstance(e, ValueError), type(e).__name__


def case_json_of_none():
    return json.loads(None)


def case_json_dumps_default():
    return json.dumps({"x": {1}}, default=lambda o: sorted(o))


def case_json_not_serializable():
    return json.dumps({"x": {1}})


def case_re():
    m = re.match(r"(?P<name>\w+)-(\d+)", "abc-12 rest")
    pattern = re.compile(r"\d+", re.IGNORECASE)
    return (
        m.group(0), m.group("name"), m.group(1, 2), m.groups(), m.groupdict(), m.start(2), m.span(), bool(re.match("x", "y")),
        re.findall(r"\d", "a1b2"), re.sub(r"\d", "#", "a1b2"), re.sub(r"\d", lambda m: str(int(m.group()) + 1), "a1b2"), re.split(r"[,;]", "a,b;c"),
        pattern.search("ab12").group(), pattern.findall("1 22"), re.fullmatch("a+", "aaa") is not None, re.escape("a.b"), pattern.pattern,
        [x.group() for x in re.finditer(r"\w", "ab")], re.search(r"(?i)ABC", "xabc").start(), re.sub("a", "b", "aaa", count=2), m[1], m["name"],
        re.compile(r"^v?(\d+)\.(\d+)").match("v1.20").groups(), re.subn("a", "b", "aa"), re.match("a|b", "b").end(),
    )


def case_re_error():
    try:
        re.compile("(")
    except re.error as e:
        return type(e).__name__, isinstance(e, ValueError)


def case_os_path():
    return (
        os.path.join("a", "b", "../c"), os.path.basename("/x/y.txt"), os.path.dirname("/x/y.txt"), os.path.splitext("a/b.tar.gz"),
        os.path.split("/a/b"), os.path.normpath("a/./b/../c"), os.path.isabs("/a"), os.path.join("a", "/b"), os.path.join("", "a"), os.sep,
        os.path.commonprefix(["/a/b", "/a/c"]), os.path.relpath("/a/b", "/a"), os.fspath(Path("a/b")), os.path.join(Path("x"), "y"),
    )


def case_pathlib():
    p = Path("/models") / "org" / "name.safetensors"
    return (
        str(p), p.name, p.stem, p.suffix, str(p.parent), p.parts, str(p.with_suffix(".json")), str(p.parent.parent), p.is_absolute(),
        Path("a") / "b" == Path("a/b"), str(Path("a", "b")), f"{p}", p.as_posix(), str(p.relative_to("/models")), Path("x").joinpath("y").name,
        [str(x) for x in Path("/a/b/c").parents], {Path("a"): 1}[Path("a")], str(Path("a/../b")), p.match("*.safetensors"), str("x" / Path("y")),
        isinstance(p, Path), Path("a.tar.gz").suffixes, str(Path(p)),
    )


def case_math():
    return (
        math.ceil(1.2), math.floor(-1.2), math.sqrt(16), math.log2(8), math.gcd(12, 18), math.inf > 10**9, math.isnan(math.nan), math.prod([2, 3]),
        math.log(math.e), math.pi, math.trunc(-2.7), math.isclose(0.1 + 0.2, 0.3), math.lcm(4, 6), math.comb(5, 2), math.factorial(5), math.log(8, 2),
        math.fabs(-2), math.exp(0), math.hypot(3, 4), math.copysign(1, -0.0),
    )


def case_math_domain_error():
    return math.sqrt(-1)


def case_operator():
    rows = [{"n": 2, "m": {"x": 1}}, {"n": 1, "m": {"x": 2}}]

    class A:
        def __init__(self, v):
            self.v = v

    return (
        sorted(rows, key=operator.itemgetter("n"))[0]["n"], operator.itemgetter(0, 2)("abc"), operator.attrgetter("v")(A(3)), operator.add(1, 2),
        functools.reduce(operator.mul, [1, 2, 3]), operator.eq(1, 1), operator.not_([]), operator.contains([1], 1), operator.getitem({"a": 1}, "a"),
        operator.methodcaller("upper")("a"), operator.lt(1, 2), operator.truth([0]), operator.neg(3), operator.or_(1, 2), operator.floordiv(7, 2),
    )


def case_copy():
    class A:
        def __init__(self):
            self.items = [[1]]

        def __eq__(self, other):
            return self.items == other.items

    a = A()
    b, c = copy.copy(a), copy.deepcopy(a)
    a.items[0].append(2)
    d = copy.deepcopy({"k": [1, {"z": (1, [2])}]})
    shared = [1]
    e = copy.deepcopy([shared, shared])
    e[0].append(2)
    return b.items, c.items, b is a, d, e, copy.copy([1, [2]]), copy.deepcopy((1, 2)), copy.copy({"a": 1}), copy.deepcopy({1, 2})


def case_module_of_the_standard_library_without_the_name():
    try:
        return copy.nothing
    except AttributeError as error:
        return str(error)


def case_deepcopy_hook():
    class A:
        def __deepcopy__(self, memo):
            return "copied"

        def __copy__(self):
            return "shallow"

    return copy.deepcopy([A()]), copy.copy(A())


def case_string_and_textwrap():
    return string.ascii_lowercase[:3], string.digits, textwrap.dedent("  a\n  b"), textwrap.indent("a\nb", "> ")


def case_ast_literal_eval():
    return ast.literal_eval("{'a': [1, (2, None)], 'b': True}"), ast.literal_eval("-3")


def case_ast_literal_eval_error():
    try:
        ast.literal_eval("f()")
    except ValueError as e:
        return "refused"


def case_urlparse():
    u = urlparse("http://host:30000/path?x=1#f")
    return u.scheme, u.netloc, u.hostname, u.port, u.path, u.query, u.fragment


def case_environ():
    before = os.environ.get("MTP_TRACE_TEST_VARIABLE"), os.getenv("MTP_TRACE_TEST_VARIABLE", "dflt"), "MTP_TRACE_TEST_VARIABLE" in os.environ
    os.environ["MTP_TRACE_TEST_VARIABLE"] = "1"
    during = os.environ["MTP_TRACE_TEST_VARIABLE"], os.getenv("MTP_TRACE_TEST_VARIABLE"), int(os.environ.get("MTP_TRACE_TEST_VARIABLE", "0"))
    os.environ.setdefault("MTP_TRACE_TEST_VARIABLE", "2")
    got = os.environ.pop("MTP_TRACE_TEST_VARIABLE")
    after = os.environ.get("MTP_TRACE_TEST_VARIABLE")
    os.environ.update({"MTP_TRACE_TEST_VARIABLE": "3"})
    del os.environ["MTP_TRACE_TEST_VARIABLE"]
    return before, during, got, after, os.environ.get("MTP_TRACE_TEST_VARIABLE", 5)


def case_environ_missing():
    return os.environ["MTP_TRACE_TEST_VARIABLE"]


def case_environ_wrong_type():
    os.environ["MTP_TRACE_TEST_VARIABLE"] = 1


def case_sys():
    return sys.version_info >= (3, 8), sys.version_info[0], sys.version_info.major, sys.maxsize > 2**32, sys.platform.startswith("linux"), sys.byteorder, "sys" in sys.modules


def case_sys_exit():
    sys.exit(3)


def case_simple_namespace():
    n = types.SimpleNamespace(a=1, b="x")
    n.c = 2
    return n.a, n.c, vars(n), n == types.SimpleNamespace(a=1, b="x", c=2), repr(n), hasattr(n, "zz")


def case_types():
    m = types.ModuleType("made")
    m.x = 1

    class A:
        pass

    a = A()
    a.f = types.MethodType(lambda self, y: (self is a, y), a)
    proxy = types.MappingProxyType({"a": 1})
    return m.x, m.__name__, a.f(2), proxy["a"], dict(proxy), isinstance(case_types, types.FunctionType), isinstance(len, types.FunctionType)


def case_mapping_proxy_refuses():
    types.MappingProxyType({"a": 1})["b"] = 2


def case_context_var():
    v = contextvars.ContextVar("v", default=1)
    token = v.set(2)
    inside = v.get()
    v.reset(token)
    return inside, v.get()


def case_lock():
    lock = threading.Lock()
    with lock:
        x = 1
    with threading.RLock():
        x += 1
    return x, lock.locked()


def case_thread_local():
    local = threading.local()
    local.x = 1
    return local.x, hasattr(local, "y")


def case_logging_returns_none():
    return logger.info("hello %s", "x"), logger.isEnabledFor(logging.ERROR), logging.getLogger("a") is logging.getLogger("a"), logger.name


def case_logging_bad_format_does_not_raise():
    handler = logging.NullHandler()
    quiet = logging.getLogger("quiet")
    quiet.addHandler(handler)
    quiet.propagate = False
    return quiet.debug("%d %d", 1)


def case_logging_levels():
    return logging.INFO, logging.getLevelName(20), logging.getLevelName("ERROR"), logging.WARNING > logging.DEBUG


def case_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("careful", DeprecationWarning)
    return "after"


def case_abc_checks():
    abc = collections.abc

    class Iter:
        def __iter__(self):
            return iter([])

    class Seq(abc.Sequence):
        def __getitem__(self, i):
            return [1, 2][i]

        def __len__(self):
            return 2

    class Map(abc.Mapping):
        def __getitem__(self, k):
            return {"a": 1}[k]

        def __iter__(self):
            return iter(["a"])

        def __len__(self):
            return 1

    s, m = Seq(), Map()
    return (
        isinstance([], abc.Sequence), isinstance("", abc.Sequence), isinstance({}, abc.Mapping), isinstance(set(), abc.Set), isinstance((), abc.Iterable),
        isinstance(Iter(), abc.Iterable), isinstance(5, abc.Hashable), isinstance([], abc.Hashable), isinstance(len, abc.Callable), isinstance(s, abc.Sequence),
        list(s), 2 in s, s.index(2), list(reversed(s)), dict(m), m.get("z", 5), "a" in m, list(m.items()), isinstance(m, abc.Mapping), m == {"a": 1},
        isinstance({}.keys(), abc.KeysView), issubclass(dict, abc.Mapping), issubclass(list, abc.MutableSequence),
    )


def parser_of():
    p = argparse.ArgumentParser(prog="x")
    p.add_argument("--model-path", "--model", type=str, required=True)
    p.add_argument("--tp-size", "-t", type=int, default=1)
    p.add_argument("--flag", action="store_true")
    p.add_argument("--no-thing", dest="thing", action="store_false")
    p.add_argument("--ratio", type=float)
    p.add_argument("--kind", choices=["a", "b"], default="a")
    p.add_argument("--many", nargs="+", type=int)
    p.add_argument("--maybe", nargs="?", const="given", default="absent")
    p.add_argument("--any", nargs="*")
    p.add_argument("--append", action="append")
    p.add_argument("--const", action="store_const", const=5)
    p.add_argument("--config", type=json.loads, default={})
    p.add_argument("--verbose", "-v", action="count", default=0)
    p.add_argument("--boolean", action=argparse.BooleanOptionalAction, default=None)
    return p


def case_argparse_values():
    p = parser_of()
    n = p.parse_args(
        ["--model", "m", "-t", "4", "--flag", "--no-thing", "--ratio=0.5", "--kind", "b", "--many", "1", "2", "--maybe", "--any", "--append", "x",
         "--append", "y", "--const", "--config", '{"k": 1}', "-vv", "--no-boolean"]
    )
    return sorted(vars(n).items())


def case_argparse_defaults():
    n = parser_of().parse_args(["--model-path", "m"])
    return sorted(vars(n).items(), key=lambda x: x[0]), hasattr(n, "zz"), "flag" in n, n.tp_size


def case_argparse_abbreviation():
    n = parser_of().parse_args(["--model-p", "m", "--tp", "2"])
    return n.model_path, n.tp_size


def case_argparse_known_args():
    n, rest = parser_of().parse_known_args(["--model", "m", "--unknown", "5", "positional"])
    return n.model_path, rest


def case_argparse_errors():
    out = []
    for argv in (
        [], ["--model", "m", "--kind", "z"], ["--model", "m", "--tp-size", "x"], ["--model", "m", "--zzz"], ["--model"],
        ["--model", "m", "--no", "x"], ["--model", "m", "--many"],
    ):
        try:
            parser_of().parse_args(argv)
            out.append("ok")
        except SystemExit as e:
            out.append(e.code)
    return out


def case_argparse_custom_action_and_type():
    log = []

    class Upper(argparse.Action):
        def __init__(self, option_strings, dest, extra=None, **kwargs):
            super().__init__(option_strings, dest, **kwargs)
            self.extra = extra

        def __call__(self, parser, namespace, values, option_string=None):
            log.append((self.dest, option_string, self.extra))
            setattr(namespace, self.dest, values.upper())

    class Deprecated(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            raise argparse.ArgumentError(self, "gone")

    def positive(text):
        if int(text) < 1:
            raise argparse.ArgumentTypeError("must be positive")
        return int(text)

    p = argparse.ArgumentParser()
    p.add_argument("--up", action=Upper, extra=7, default="d")
    p.add_argument("--old", action=Deprecated, nargs=0)
    p.add_argument("--n", type=positive, default=3)
    p.add_argument("--listed", type=lambda s: s.split(","), default=[])
    out = [p.parse_args([]).up, p.parse_args(["--up", "abc"]).up, p.parse_args(["--n", "5"]).n, p.parse_args(["--listed", "a,b"]).listed]
    for argv in (["--n", "0"], ["--old"], ["--n", "x"]):
        try:
            p.parse_args(argv)
        except SystemExit as e:
            out.append(e.code)
    return out, log


def case_argparse_groups_and_defaults():
    p = argparse.ArgumentParser(add_help=False)
    g = p.add_argument_group("group")
    g.add_argument("--a", default=1, type=int)
    m = p.add_mutually_exclusive_group()
    m.add_argument("--x", action="store_true")
    m.add_argument("--y", action="store_true")
    p.set_defaults(z="set", a=9)
    p.add_argument("pos", nargs="?", default="p")
    n = p.parse_args(["--x"])
    out = [n.a, n.x, n.y, n.z, n.pos, p.get_default("a")]
    try:
        p.parse_args(["--x", "--y"])
    except SystemExit as e:
        out.append(e.code)
    return out


def case_argparse_actions_listing():
    p = parser_of()
    return [a.dest for a in p._actions if a.dest != "help"][:4], [a.option_strings for a in p._actions if a.dest == "tp_size"], {a.dest: a.default for a in p._actions}["kind"]


def case_argparse_namespace():
    n = argparse.Namespace(a=1, b=2)
    n.c = 3
    return vars(n), n.a, "a" in n, n == argparse.Namespace(a=1, b=2, c=3), getattr(n, "d", None)


def case_argparse_string_default_goes_through_type():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default="5")
    p.add_argument("--m", type=int, default=5.5)
    return p.parse_args([]).n, p.parse_args([]).m


def case_argparse_parser_error():
    argparse.ArgumentParser().error("own")


def case_argparse_existing_namespace():
    p = argparse.ArgumentParser()
    p.add_argument("--a", default=1, type=int)
    n = argparse.Namespace(a=7)
    return p.parse_args([], namespace=n).a, p.parse_args(["--a", "2"], n).a


def case_open_of_missing_file():
    try:
        open("/nowhere/at/all.json")
    except FileNotFoundError as e:
        return type(e).__name__, os.path.exists("/nowhere/at/all.json"), Path("/nowhere/at").is_dir()


def case_shlex_and_fnmatch():
    import fnmatch
    import shlex

    return shlex.split("a 'b c' d\\ e"), shlex.quote("a b"), fnmatch.fnmatch("model-1.bin", "*.bin"), fnmatch.filter(["a.py", "b.c"], "*.py")


def case_hashlib_base64():
    import base64
    import hashlib

    return hashlib.md5(b"x").hexdigest(), hashlib.sha256("a".encode()).hexdigest()[:8], base64.b64encode(b"abc").decode()


def case_inspect():
    import inspect

    def f(a, b=2, *args, c, d=4, **kwargs): ...

    s = inspect.signature(f)
    return (
        list(s.parameters), s.parameters["b"].default, s.parameters["a"].default is inspect.Parameter.empty, [p.kind.name for p in s.parameters.values()],
        inspect.isclass(int), inspect.isfunction(f), inspect.ismodule(inspect), s.parameters["c"].kind == inspect.Parameter.KEYWORD_ONLY,
    )


def case_inspect_method_and_class():
    import inspect

    class A:
        def __init__(self, x, y=1): ...

        def m(self, z): ...

    return list(inspect.signature(A).parameters), list(inspect.signature(A().m).parameters), list(inspect.signature(A.m).parameters)
