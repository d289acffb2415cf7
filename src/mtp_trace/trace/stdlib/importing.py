"""importlib, pkgutil and packaging: modules and versions asked for by name."""

from __future__ import annotations

from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import EXCEPTIONS, OBJECT, throw
from mtp_trace.trace.stdlib.tools import constant, natives
from mtp_trace.trace.values import TREE_PREFIX, Class, Instance, Raised, Unknown, Value

PACKAGE_NOT_FOUND = Class("PackageNotFoundError", (EXCEPTIONS["ModuleNotFoundError"],))
PACKAGE_NOT_FOUND.mro = [PACKAGE_NOT_FOUND, *EXCEPTIONS["ModuleNotFoundError"].mro]


def _importlib(engine: Any) -> dict[str, Value]:
    def import_module(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        name = ops.payload(a[0])
        if isinstance(name, Unknown):
            return name.derive(f"import_module({name.key})")
        package = a[1] if len(a) > 1 else k.get("package")
        if name.startswith(".") and isinstance(package, str):
            name = package + name
        return e.imports.load(name)

    return natives(import_module=import_module, reload=lambda e, a, k: a[0], invalidate_caches=constant(None))


def _util(engine: Any) -> dict[str, Value]:
    def find_spec(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        name = ops.payload(a[0])
        if isinstance(name, Unknown):
            return name.derive(f"find_spec({name.key})")
        if e.imports.is_tree(name) or e.imports.locate(name) is not None:
            return _spec(e, name)
        return (
            Unknown(f"find_spec({name!r})", "module specs have no content here", True)
            if e.imports.is_installed(name)
            else None
        )

    return natives(find_spec=find_spec)


_SPEC = Class("ModuleSpec", (OBJECT,))
_SPEC.mro = [_SPEC, OBJECT]


def _spec(e: Any, name: str) -> Value:
    found = e.imports.locate(name)
    if found is None:
        return None
    _, path, is_package = found
    made = Instance(_SPEC)
    made.attrs.update({
        "name": name, "origin": None if path.endswith("/") else TREE_PREFIX + path,
        "has_location": not path.endswith("/"),
        "submodule_search_locations": [
            TREE_PREFIX + path.removesuffix("/__init__.py").rstrip("/")] if is_package else None,
    })  # fmt: skip
    return made


def version_of(e: Any, name: Value) -> Value:
    """The installed version of a distribution: what the tree pins, or what the world says."""
    name = ops.payload(name)
    if isinstance(name, Unknown):
        return name.derive(f"version({name.key})")
    known = e.world.versions.get(name.lower().replace("_", "-"))
    if known is not None:
        return known
    if e.imports.outside_absent(name.replace("-", "_")):
        value = Instance(PACKAGE_NOT_FOUND)
        value.attrs["args"] = (name,)
        raise Raised(value)
    return Unknown(f"version of {name}", f"the installed version of {name} is not known")


def _metadata(engine: Any) -> dict[str, Value]:
    return {
        "PackageNotFoundError": PACKAGE_NOT_FOUND,
        **natives(version=lambda e, a, k: version_of(e, a[0]), entry_points=lambda e, a, k: [], distributions=lambda e,
                  a, k: [],
                  requires=lambda e, a, k: Unknown("requires()", "package metadata"),
                  distribution=lambda e, a, k: Unknown(f"distribution({a[0]!r})", "package metadata")),
    }  # fmt: skip


def _pkgutil(engine: Any) -> dict[str, Value]:
    def iter_modules(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        path = a[0] if a else k.get("path")
        prefix = a[1] if len(a) > 1 else k.get("prefix", "")
        info = Class("ModuleInfo", (OBJECT,))
        info.mro = [info, OBJECT]
        e.classes.named_tuple(info, ["module_finder", "name", "ispkg"], {})
        out: list[Value] = []
        for folder in ops.iterate(e, path):
            folder = str(folder).removeprefix(TREE_PREFIX)
            for name in e.imports.tree.list(folder):
                stem, dot, ending = name.partition(".")
                if ending == "py" and stem != "__init__":
                    out.append(Instance(info, (None, prefix + stem, False)))
                elif not dot and e.imports.tree.exists(f"{folder}/{name}/__init__.py"):
                    out.append(Instance(info, (None, prefix + stem, True)))
        return out

    return natives(iter_modules=iter_modules, walk_packages=iter_modules)


VERSION = Class("Version", (OBJECT,))
VERSION.mro = [VERSION, OBJECT]


def _version_init(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
    from packaging.version import InvalidVersion, Version

    text = ops.payload(a[1])
    if isinstance(text, Unknown):
        e.set_entry(a[0].attrs, "_unknown", text)
        return None
    try:
        parsed = Version(str(text))
    except InvalidVersion as error:
        throw("ValueError", str(error))
    e.set_entry(a[0].attrs, "_version", parsed)
    for name in ("major", "minor", "micro", "release", "is_prerelease", "is_devrelease", "base_version", "public",
                 "local", "dev",
                 "post", "pre", "is_postrelease", "epoch"):  # fmt: skip
        e.set_entry(a[0].attrs, name, getattr(parsed, name))


def _version_compare(sign: str) -> Any:
    def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if not (isinstance(a[1], Instance) and VERSION in a[1].cls.mro):
            return NotImplemented
        for x in a[:2]:
            if "_unknown" in x.attrs:
                return x.attrs["_unknown"].derive(f"{_shown(a[0])} {sign} {_shown(a[1])}")
        left, right = a[0].attrs["_version"], a[1].attrs["_version"]
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "==": left == right}[
            sign
        ]

    return run


def _shown(version: Instance) -> str:
    return version.attrs["_unknown"].key if "_unknown" in version.attrs else str(version.attrs["_version"])


VERSION.attrs.update(natives(
    __init__=_version_init, __lt__=_version_compare("<"), __le__=_version_compare("<="), __gt__=_version_compare(">"),
    __ge__=_version_compare(">="), __eq__=_version_compare("=="), __hash__=lambda e, a, k: hash(_shown(a[0])),
    __str__=lambda e, a, k: _shown(a[0]), __repr__=lambda e, a, k: f"<Version('{_shown(a[0])}')>",
))  # fmt: skip


def _packaging_version(engine: Any) -> dict[str, Value]:
    invalid = Class("InvalidVersion", (EXCEPTIONS["ValueError"],))
    invalid.mro = [invalid, *EXCEPTIONS["ValueError"].mro]
    return {"Version": VERSION, "InvalidVersion": invalid, **natives(parse=lambda e, a, k: e.call(VERSION, [a[0]], {}))}


def _packaging(engine: Any) -> dict[str, Value]:
    return {}


MODULES = {
    "importlib": _importlib,
    "importlib.util": _util,
    "importlib.metadata": _metadata,
    "importlib_metadata": _metadata,
    "pkgutil": _pkgutil,
    "packaging": _packaging,
    "packaging.version": _packaging_version,
}
