"""Which modules a deferred import must still run, because running them changes what other modules see.

A name imported at a module's top level is looked up only when used. That is safe unless running the imported module, or
one that it imports, registers something elsewhere: a decorator that fills a registry, a call at top level. Those
modules are found from the text of their top level, without parsing them.
"""

from __future__ import annotations

import re
from typing import Any

# A line that begins so, by the line end before it: a literal is found far faster than the start of any line, and every
# text gets one in front.
_DECORATOR = re.compile(rb"\n@([A-Za-z_][\w.]*)")
_CALL = re.compile(rb"\n([A-Za-z_][\w.]*)\(")
_NAMES = rb"\s+([.\w]+)\s+import\s+(\([^)]*\)|[^\n;#]*)"
_FROM = re.compile(rb"\nfrom" + _NAMES)
_TRY_FROM = re.compile(rb"\ntry:\s*\n\s+from" + _NAMES)
_IMPORT = re.compile(rb"\nimport\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)")
_WRITE = re.compile(
    rb"\]\s*=[^=]|\.append\(|\.update\(|\.add\(|\.setdefault\(|\.extend\(|\.insert\(|\bsetattr\(|\.register\w*\("
)
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\(")
_NAME = re.compile(rb"[\w.]+")
_HARMLESS_CALLS = frozenset({b"print", b"warnings.filterwarnings", b"del", b"assert"})


def _from_imports(text: bytes) -> list[re.Match[bytes]]:
    """The ``from`` imports of a text in their order, those that open a ``try`` included."""
    found = list(_FROM.finditer(text))
    guarded = list(_TRY_FROM.finditer(text))
    return sorted([*found, *guarded], key=lambda m: m.start()) if guarded else found


class Effects:
    """Answers, from text, which modules under an import must run at once."""

    def __init__(self, read: Any) -> None:
        self._read = read  # path -> bytes | None
        self._own: dict[str, bool] = {}
        self._imports: dict[str, list[str]] = {}
        self._settled: set[str] = set()
        self._writers: dict[tuple[str, str], bool] = {}

    def to_run(self, target: str, names: list[str], imports: Any) -> list[str]:
        """Modules reached from ``from target import names`` that must run now, in import order."""
        roots = [target]
        roots += [full for n in names if imports.locate(full := f"{target}.{n}") is not None]
        out: list[str] = []
        seen: set[str] = set()
        for root in roots:
            self._visit(root, imports, seen, out)
        # The caller runs what is in ``out``; nothing that was passed on the way can reach an effect any more.
        self._settled |= seen
        return out

    def _visit(self, name: str, imports: Any, seen: set[str], out: list[str]) -> None:
        """Post-order, as Python would import; never through a module that is already there or on its way."""
        if name in seen or name in self._settled or name in imports.modules:
            return
        seen.add(name)
        parent = name.rpartition(".")[0]
        if parent:
            self._visit(parent, imports, seen, out)
        for child in self._children(name, imports):
            self._visit(child, imports, seen, out)
        if self._is_effectful(name, imports):
            out.append(name)

    def _children(self, name: str, imports: Any) -> list[str]:
        found = imports.locate(name) if imports.is_tree(name) else None
        if found is None or found[1].endswith("/"):
            return []
        return self._direct(name, found[1], found[2], imports)

    def _text(self, path: str) -> bytes:
        return b"\n" + (self._read(path) or b"")

    def _direct(self, name: str, path: str, is_package: bool, imports: Any) -> list[str]:
        known = self._imports.get(name)
        if known is not None:
            return known
        text = self._text(path)
        out: list[str] = []
        package = name if is_package else name.rpartition(".")[0]
        for match in _from_imports(text):
            base = _absolute(match.group(1).decode(), package)
            if not imports.is_tree(base):
                continue
            out.append(base)
            listed = re.sub(rb"#[^\n]*", b"", match.group(2).strip(b"()"))
            for item in listed.split(b","):
                word = _NAME.match(item.strip())
                if word and imports.locate(f"{base}.{word.group().decode()}") is not None:
                    out.append(f"{base}.{word.group().decode()}")
        for match in _IMPORT.finditer(text):
            for item in match.group(1).split(b","):
                dotted = item.split()[0].decode()
                if imports.is_tree(dotted):
                    out.append(dotted)
        self._imports[name] = out
        return out

    def _is_effectful(self, name: str, imports: Any) -> bool:
        known = self._own.get(name)
        if known is None:
            found = imports.locate(name)
            inside = found is not None and not found[1].endswith("/")
            known = self._own[name] = inside and self._scan(found[1], self._text(found[1]), imports)
        return known

    def _scan(self, path: str, text: bytes, imports: Any) -> bool:
        if any(
            m.group(1) not in _HARMLESS_CALLS and not m.group(1).startswith(b"logger.") for m in _CALL.finditer(text)
        ):
            return True
        origins: dict[bytes, str] | None = None
        for match in _DECORATOR.finditer(text):
            root = match.group(1).split(b".")[0]
            if origins is None:
                origins = self._origins(path, text, imports)
            source = origins.get(root)
            if source is not None and self._registers(source, root, imports):
                return True
        return False

    def _origins(self, path: str, text: bytes, imports: Any) -> dict[bytes, str]:
        """Which tree module each imported name comes from."""
        package = path.rsplit("/", 1)[0].replace("/", ".")
        out: dict[bytes, str] = {}
        for match in _from_imports(text):
            base = _absolute(match.group(1).decode(), package)
            if imports.is_tree(base):
                listed = re.sub(rb"#[^\n]*", b"", match.group(2).strip(b"()"))
                for item in listed.split(b","):
                    words = item.split()
                    if words:
                        out[words[-1]] = base
        return out

    def _registers(self, module: str, name: bytes, imports: Any) -> bool:
        """Whether the decorator ``name`` of ``module`` writes into something that outlives it."""
        key = (module, name.decode())
        known = self._writers.get(key)
        if known is None:
            self._writers[key] = False  # cuts cycles
            known = self._writers[key] = self._decorator_writes(module, name, imports)
        return known

    def _decorator_writes(self, module: str, name: bytes, imports: Any) -> bool:
        found = imports.locate(module)
        if found is None or found[1].endswith("/"):
            return True
        text = self._text(found[1])
        start = re.search(rb"^(?:def|class)\s+" + re.escape(name) + rb"\b[^\n]*\n(?:[ \t)\]][^\n]*\n|\n)*", text, re.M)
        if start is None:
            origins = self._origins(found[1], text, imports)
            source = origins.get(name)
            return self._registers(source, name, imports) if source is not None and source != module else True
        block = start.group()
        if _WRITE.search(block) is not None:
            return True
        # It may hand on to one that does: defined beside it, or imported from the tree.
        origins = self._origins(found[1], text, imports)
        for called in set(_CALLED.findall(block)) - {name}:
            if re.search(rb"^def\s+" + re.escape(called) + rb"\b", text, re.M):
                if self._registers(module, called, imports):
                    return True
            elif called in origins and self._registers(origins[called], called, imports):
                return True
        return False


def _absolute(dotted: str, package: str) -> str:
    if not dotted.startswith("."):
        return dotted
    level = len(dotted) - len(dotted.lstrip("."))
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    rest = dotted.lstrip(".")
    return f"{package}.{rest}" if rest else package
