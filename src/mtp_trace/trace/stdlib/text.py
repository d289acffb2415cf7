"""Text and data formats: re, json, ast, hashlib, base64, shlex."""

from __future__ import annotations

import ast
import base64
import fnmatch
import hashlib
import json
import re
import shlex
from typing import Any

from mtp_trace.trace import ops
from mtp_trace.trace.errors import EXCEPTIONS, throw, throw_host
from mtp_trace.trace.stdlib.tools import natives, real
from mtp_trace.trace.values import Class, Instance, Raised, Unknown, Value, first_unknown

PATTERN_ERROR = Class("error", (EXCEPTIONS["Exception"],))
PATTERN_ERROR.mro = [PATTERN_ERROR, *EXCEPTIONS["Exception"].mro]


def _re(engine: Any) -> dict[str, Value]:
    def compiled(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if isinstance(a[0], (Unknown, re.Pattern)):
            return a[0]
        flags = a[1] if len(a) > 1 else k.get("flags", 0)
        try:
            return re.compile(a[0], flags if isinstance(flags, int) else 0)
        except (re.error, RecursionError, OverflowError) as error:
            value = Instance(PATTERN_ERROR)
            value.attrs.update(
                {"args": (str(error),), "msg": getattr(error, "msg", str(error)), "pos": getattr(error, "pos", None)}
            )
            raise Raised(value) from None

    def method(name: str) -> Any:
        def run(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
            pattern = compiled(e, a[:1], {"flags": k.pop("flags", 0)})
            if isinstance(pattern, Unknown):
                return pattern.derive(f"re.{name}({pattern.key}, ...)")
            return e.call(e.getattr(pattern, name), a[1:], k)

        return run

    table = natives(compile=compiled, **{n: method(n) for n in ("match", "search", "fullmatch", "findall", "finditer",
                                                                "split",
                                                                           "sub", "subn")})  # fmt: skip
    table.update({n: int(getattr(re, n)) for n in ("IGNORECASE", "I", "MULTILINE", "M", "DOTALL", "S", "VERBOSE", "X")})
    table["escape"] = real("re.escape", re.escape)
    table["Pattern"], table["Match"] = re.Pattern, re.Match
    table["error"] = table["PatternError"] = PATTERN_ERROR
    return table


JSON_DECODE_ERROR = Class("JSONDecodeError", (EXCEPTIONS["ValueError"],))
JSON_DECODE_ERROR.mro = [JSON_DECODE_ERROR, *EXCEPTIONS["ValueError"].mro]


def loads(text: Value) -> Value:
    """``json.loads``; raises the traced JSONDecodeError."""
    if isinstance(text, Unknown):
        return text.derive(f"json.loads({text.key})")
    try:
        return json.loads(ops.payload(text))
    except json.JSONDecodeError as error:
        value = Instance(JSON_DECODE_ERROR)
        value.attrs.update({"args": (str(error),), "msg": error.msg, "pos": error.pos, "doc": error.doc})
        raise Raised(value) from None
    except (TypeError, ValueError, RecursionError) as error:
        throw_host(error)


def _json(engine: Any) -> dict[str, Value]:
    def dumps(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        if k.get("cls") is not None:
            return Unknown("json.dumps(...)", "an object is written as JSON by an encoder of its own")
        plain = jsonable(e, a[0], k.get("default"))
        unknown = first_unknown(plain, 40)
        if unknown is not None:
            return unknown.derive(f"json.dumps({unknown.key})")
        options = {n: k[n] for n in ("indent", "sort_keys", "ensure_ascii", "separators", "skipkeys") if n in k}
        try:
            return json.dumps(plain, **options)
        except (TypeError, ValueError) as error:
            throw_host(error)

    def dump(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
        e.call(e.getattr(a[1], "write"), [dumps(e, [a[0]], k)], {})

    return {
        **natives(loads=lambda e, a, k: loads(a[0]), dumps=dumps, dump=dump,
                  load=lambda e, a, k: loads(e.call(e.getattr(a[0], "read"), [], {}))),
        "JSONDecodeError": JSON_DECODE_ERROR,
    }  # fmt: skip


def jsonable(e: Any, value: Value, default: Value = None) -> Value:
    """A value as the data that JSON is written from; ``default`` is asked about what is none."""
    plain = ops.payload(value)
    if plain is None or isinstance(plain, (bool, int, float, str, Unknown)):
        return plain
    if isinstance(plain, (list, tuple)):
        return [jsonable(e, x, default) for x in plain]
    if isinstance(plain, dict):
        return {ops.payload(k): jsonable(e, v, default) for k, v in plain.items()}
    if default is not None:
        return jsonable(e, e.call(default, [value], {}), default)
    throw("TypeError", f"Object of type {ops.type_name(value)} is not JSON serializable")


def _orjson(engine: Any) -> dict[str, Value]:
    return {
        **natives(loads=lambda e, a, k: loads(a[0]),
                  dumps=lambda e, a, k: Unknown("orjson.dumps(...)", "an object is written as JSON")),
        "JSONDecodeError": JSON_DECODE_ERROR, "OPT_NON_STR_KEYS": 4, "OPT_SERIALIZE_NUMPY": 16,
    }  # fmt: skip


def _ast(engine: Any) -> dict[str, Value]:
    return {"literal_eval": real("ast.literal_eval", ast.literal_eval)}


def _hashlib(engine: Any) -> dict[str, Value]:
    def hasher(name: str) -> Any:
        def make(e: Any, a: list[Value], k: dict[str, Value]) -> Value:
            from mtp_trace.trace.errors import OBJECT

            made = Instance(Class(name, (OBJECT,)))
            state = hashlib.new(name)
            if a and isinstance(a[0], bytes):
                state.update(a[0])
            made.attrs.update(natives(
                update=lambda e, a, k: state.update(a[0]) if isinstance(a[0], bytes) else None,
                hexdigest=lambda e, a, k: state.hexdigest(), digest=lambda e, a, k: state.digest()))  # fmt: skip
            return made

        return make

    return natives(**{n: hasher(n) for n in ("md5", "sha1", "sha256", "sha512")})


def _shlex(engine: Any) -> dict[str, Value]:
    return {n: real(f"shlex.{n}", getattr(shlex, n)) for n in ("split", "quote", "join")}


def _fnmatch(engine: Any) -> dict[str, Value]:
    return {n: real(f"fnmatch.{n}", getattr(fnmatch, n)) for n in ("fnmatch", "fnmatchcase", "filter")}


def _base64(engine: Any) -> dict[str, Value]:
    names = ("b64encode", "b64decode", "urlsafe_b64encode", "urlsafe_b64decode", "b16encode", "b32encode")
    return {n: real(f"base64.{n}", getattr(base64, n)) for n in names}


MODULES = {
    "base64": _base64,
    "re": _re,
    "regex": _re,
    "json": _json,
    "json.decoder": _json,
    "orjson": _orjson,
    "ast": _ast,
    "hashlib": _hashlib,
    "shlex": _shlex,
    "fnmatch": _fnmatch,
}
