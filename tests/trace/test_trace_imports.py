"""Import forms over several modules: what the tracer makes of them is what the real Python makes."""

from __future__ import annotations

import textwrap

import pytest
from trace_support import call, engine_of, real, traced

from mtp_trace.trace.world import World

PROGRAMS: dict[str, dict[str, str]] = {
    "absolute and relative": {
        "pkg/__init__.py": "TOP = 1\nfrom .sub import value as from_sub\n",
        "pkg/sub/__init__.py": "from .. import TOP\nfrom .deep import VALUE as value\nfrom . import deep\n",
        "pkg/sub/deep.py": "from pkg.other import helper\nVALUE = helper(2)\n",
        "pkg/other.py": "def helper(x):\n    return x * 10\n",
        "app/main.py": """
            import pkg
            import pkg.sub.deep
            import pkg.sub.deep as d
            from pkg import sub, from_sub
            from pkg.sub import deep as e, value

            def test():
                return pkg.TOP, d.VALUE, sub.value, from_sub, e is d, pkg.sub is sub, value, pkg.other.helper(1)
            """,
    },
    "cycle between modules": {
        "app/a.py": "from app import b\nX = 1\ndef get():\n    return b.Y + X\n",
        "app/b.py": "import app.a\nY = 2\ndef back():\n    return app.a.X\n",
        "app/main.py": "from app.a import get\nfrom app.b import back\ndef test():\n    return get(), back()\n",
    },
    "cycle broken by a function-level import": {
        "app/a.py": "from app.b import make\nclass Thing:\n    kind = 'thing'\n",
        "app/b.py": "def make():\n    from app.a import Thing\n    return Thing()\n",
        "app/main.py": "from app.a import make\ndef test():\n    return make().kind\n",
    },
    "star imports": {
        "app/a.py": "__all__ = ['one', '_hidden']\none = 1\ntwo = 2\n_hidden = 3\n",
        "app/b.py": "three = 3\n_private = 4\nfrom app.a import *\n",
        "app/main.py": """
            from app.b import *

            def test():
                return one, three, "two" in globals(), "_hidden" in globals(), "_private" in globals()
            """,
    },
    "import star with what the package imports": {
        "app/names.py": "import os\nfrom app.vals import V\nclass K: ...\n",
        "app/vals.py": "V = 5\n",
        "app/main.py": "from app.names import *\ndef test():\n    return V, K.__name__, os.sep\n",
    },
    "module __getattr__": {
        "app/lazy.py": """
            import importlib

            _WHERE = {"heavy": "app.heavy"}

            def __getattr__(name):
                if name in _WHERE:
                    return getattr(importlib.import_module(_WHERE[name]), name)
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

            present = 1
            """,
        "app/heavy.py": "heavy = 'loaded'\n",
        "app/main.py": """
            from app import lazy
            from app.lazy import heavy

            def test():
                return heavy, lazy.present, hasattr(lazy, "absent"), lazy.heavy
            """,
    },
    "missing name": {
        "app/a.py": "x = 1\n",
        "app/main.py": """
            def test():
                from app.a import nothing
            """,
    },
    "missing module": {"app/main.py": "def test():\n    import app.nowhere\n"},
    "missing attribute of a module": {
        "app/a.py": "x = 1\n",
        "app/main.py": "import app.a\ndef test():\n    return app.a.nothing\n",
    },
    "try except ImportError": {
        "app/main.py": """
            try:
                from app.nowhere import fast
                HAVE = True
            except ImportError:
                fast = None
                HAVE = False

            def test():
                try:
                    import app.also_nowhere
                except ModuleNotFoundError as e:
                    return HAVE, fast, e.name
            """,
    },
    "importlib": {
        "app/a.py": "x = 1\n",
        "app/sub/__init__.py": "",
        "app/sub/b.py": "y = 2\n",
        "app/main.py": """
            import importlib
            import sys

            def test():
                a = importlib.import_module("app.a")
                b = importlib.import_module(".b", package="app.sub")
                c = importlib.import_module(f"app.{'a'}")
                return a.x, b.y, c is a, sys.modules["app.a"] is a, "app.nope" in sys.modules, a.__name__, b.__package__
            """,
    },
    "importlib of what is not there": {
        "app/main.py": """
            import importlib

            def test():
                return importlib.import_module("app.gone")
            """,
    },
    "find_spec": {
        "app/a.py": "",
        "app/main.py": """
            import importlib.util

            def test():
                return importlib.util.find_spec("app.a") is not None, importlib.util.find_spec("app.zzz") is None
            """,
    },
    "package attributes appear as submodules load": {
        "pkg/__init__.py": "",
        "pkg/a.py": "x = 1\n",
        "app/main.py": """
            import pkg

            def test():
                import pkg.a
                return pkg.a.x
            """,
    },
    "module-level state is shared": {
        "app/state.py": "items = []\ncount = 0\ndef add(x):\n    global count\n    items.append(x)\n    count += 1\n",
        "app/main.py": """
            from app import state
            from app.state import add, items

            def test():
                add(1)
                state.add(2)
                return items, state.count, state.items is items
            """,
    },
    "import of a value copies the binding": {
        "app/state.py": "flag = False\ndef turn_on():\n    global flag\n    flag = True\n",
        "app/main.py": """
            from app import state
            from app.state import flag, turn_on

            def test():
                turn_on()
                return flag, state.flag
            """,
    },
    "registering decorators in imported modules": {
        "app/registry.py": "TABLE = {}\ndef register(name):\n    def mark(fn):\n        TABLE[name] = fn\n        return fn\n    return mark\n",
        "app/one.py": "from app.registry import register\n@register('one')\ndef one():\n    return 1\n",
        "app/two.py": "from app.registry import register\n@register('two')\ndef two():\n    return 2\n",
        "app/main.py": """
            from app.registry import TABLE
            from app import one
            from app.two import two

            def test():
                return {k: f() for k, f in TABLE.items()}
            """,
    },
    "registering at import through a package": {
        "app/registry.py": "TABLE = []\n",
        "app/plugins/__init__.py": "from app.plugins import a, b\n",
        "app/plugins/a.py": "from app.registry import TABLE\nTABLE.append('a')\n",
        "app/plugins/b.py": "from app.registry import TABLE\nTABLE.append('b')\n",
        "app/main.py": "import app.plugins\nfrom app.registry import TABLE\ndef test():\n    return TABLE\n",
    },
    "subclasses registered by a base": {
        "app/base.py": "class Base:\n    found = []\n    def __init_subclass__(cls):\n        Base.found.append(cls.__name__)\n",
        "app/child.py": "from app.base import Base\nclass Child(Base): ...\n",
        "app/main.py": "from app.base import Base\nimport app.child\ndef test():\n    return Base.found\n",
    },
    "names bound by imports in functions are local": {
        "app/a.py": "x = 1\n",
        "app/main.py": """
            x = "global"

            def test():
                from app.a import x
                def inner():
                    return x
                return inner(), globals()["x"]
            """,
    },
    "an import that shadows later": {
        "app/a.py": "x = 1\n",
        "app/main.py": """
            x = "global"

            def test():
                y = x
                from app.a import x
                return y
            """,
    },
    "an error while importing": {
        "app/a.py": "x = 1\nraise ValueError('broken')\n",
        "app/main.py": """
            def test():
                try:
                    import app.a
                except ValueError as e:
                    first = str(e)
                import app.a
            """,
    },
    "conditional definitions and main guard": {
        "app/a.py": "import sys\nif sys.version_info >= (3, 0):\n    mode = 'new'\nelse:\n    mode = 'old'\nif __name__ == '__main__':\n    mode = 'main'\n",
        "app/main.py": "from app.a import mode\ndef test():\n    return mode, __name__\n",
    },
    "module dunders": {
        "app/a.py": "",
        "app/main.py": "import app.a\ndef test():\n    return app.a.__name__, app.a.__package__, __name__, app.__name__, app.a.__file__.endswith('app/a.py')\n",
    },
    "relative import above the top": {
        "app/main.py": "def test():\n    from ... import x\n",
    },
    "setattr on a module": {
        "app/a.py": "x = 1\ndef get():\n    return x\n",
        "app/main.py": """
            import app.a

            def test():
                app.a.x = 5
                setattr(app.a, "y", 6)
                return app.a.get(), app.a.y, getattr(app.a, "z", None), vars(app.a)["x"]
            """,
    },
    "__future__ and TYPE_CHECKING": {
        "app/main.py": """
            from __future__ import annotations
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from app.nowhere import Thing

            def f(x: Thing) -> Thing:
                return x

            def test():
                return f(3)
            """,
    },
    "a name imported twice through aliases": {
        "app/a.py": "class A: ...\n",
        "app/b.py": "from app.a import A as B\n",
        "app/main.py": "from app.a import A\nfrom app.b import B\ndef test():\n    return A is B, isinstance(B(), A)\n",
    },
    "namespace package": {
        "app/main.py": "from space.inner import x\ndef test():\n    return x\n",
        "space/__init__.py": "",
        "space/inner.py": "x = 1\n",
    },
    "import in a class body and as default": {
        "app/a.py": "x = 1\n",
        "app/main.py": """
            class C:
                from app.a import x as y
                import app.a as mod

            def test():
                return C.y, C.mod.x
            """,
    },
    "__import__": {
        "app/a.py": "x = 1\n",
        "app/main.py": "def test():\n    return __import__('app.a', fromlist=['x']).x, __import__('app.a').__name__\n",
    },
    "del of an imported name": {
        "app/a.py": "x = 1\n",
        "app/main.py": """
            from app.a import x
            y = x
            del x

            def test():
                return y, "x" in globals()
            """,
    },
    "globals hold lazily imported names": {
        "app/a.py": "def f():\n    return 'f'\n",
        "app/main.py": """
            from app.a import f

            def test():
                return globals()["f"](), "f" in globals(), {k for k in globals() if k == "f"}
            """,
    },
}


def files_of(name: str) -> dict[str, str]:
    return {"app/__init__.py": "", **{p: textwrap.dedent(t).lstrip("\n") for p, t in PROGRAMS[name].items()}}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_python(name: str) -> None:
    files = files_of(name)
    expected = real(files)
    engine = engine_of(files)
    assert traced(engine) == expected
    assert traced(engine) == expected


@pytest.mark.parametrize("name", ["star imports", "registering at import through a package", "cycle between modules"])
def test_order_of_loading_does_not_matter(name: str) -> None:
    """What is imported lazily is the same as what is imported at once."""
    files = files_of(name)
    engine = engine_of(files)
    engine.lazy_imports = False
    assert traced(engine) == real(files)


def test_absent_package_is_not_found() -> None:
    source = "try:\n    import torch_npu\n    have = True\nexcept ImportError:\n    have = False\ndef test():\n    return have\n"
    files = {"app/__init__.py": "", "app/main.py": source}
    assert traced(engine_of(files, world=World(absent=frozenset({"torch_npu"})))) == ("value", False)
    assert traced(engine_of(files)) == ("value", True)


def test_outside_package_is_unknown_not_missing() -> None:
    engine = engine_of(
        {
            "app/__init__.py": "",
            "app/main.py": "import zoo.bear as b\nfrom zoo import cat\ndef test():\n    return b.x, cat(1)\n",
        }
    )
    assert traced(engine) == ("value", ("tuple", ("unknown", "zoo.bear.x"), ("unknown", "zoo.cat(1)")))


def test_model_of_the_outside_is_interpreted() -> None:
    models = {"zoo/__init__.py": "KEEPERS = 3\ndef count(x):\n    return x + KEEPERS\n"}
    engine = engine_of(
        {"app/__init__.py": "", "app/main.py": "import zoo\ndef test():\n    return zoo.count(1), zoo.other\n"}, models
    )
    assert traced(engine) == ("value", ("tuple", 4, ("unknown", "zoo.other")))


def test_missing_name_raised_at_top_level_is_placed_in_the_tree() -> None:
    files = {
        "app/__init__.py": "",
        "app/a.py": "x = 1\n",
        "app/main.py": "from app.a import (\n    nothing,\n)\ndef test():\n    return nothing\n",
    }
    kind, name, message, place = traced(engine_of(files))
    assert (kind, name, place) == ("raised", "ImportError", ("app/main.py", 5))
    assert "nothing" in message


def test_pkgutil_lists_a_package_of_the_tree() -> None:
    source = (
        "import pkgutil\nimport app.models\n"
        "def test():\n    return [(m.name, m.ispkg) for m in pkgutil.iter_modules(app.models.__path__, 'app.models.')]\n"
    )
    files = {"app/__init__.py": "", "app/models/__init__.py": "", "app/models/a.py": "",
             "app/models/sub/__init__.py": "",
             "app/main.py": source}  # fmt: skip
    assert traced(engine_of(files)) == (
        "value", ("list", ("tuple", "app.models.a", False), ("tuple", "app.models.sub", True))
    )  # fmt: skip


def test_what_is_not_installed_is_absent_though_a_model_describes_it() -> None:
    source = "def test():\n    try:\n        import other.deep\n    except ImportError as e:\n        return e.name\n"
    models = {"other/__init__.py": "", "other/deep.py": ""}
    files = {"app/__init__.py": "", "app/main.py": source}
    assert call(engine_of(files, models, World(absent=frozenset({"other"})))) == "other"
    assert call(engine_of(files, models)) is None
