"""Finds how a configuration object's attributes follow from its arguments, by trying. Used by dump_transformers.py."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from probe_transformers import flat, make, others, parameters, plain, read_from_kwargs, trials
from taint_transformers import compared_texts, touched
from transformers.configuration_utils import PretrainedConfig

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from mtp_trace.checkpoint.transformers_forms import Opaque, evaluate

MISSING = object()
# Arguments that are tried on every class, whether it names them or not.
COMMON = ("tie_word_embeddings", "dtype", "bos_token_id", "eos_token_id", "pad_token_id", "hidden_size", "vocab_size")
# Handled by the base class's own rules, which the README describes.
ROPE = ("rope_parameters", "rope_scaling")
NESTED = ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim")
GUESSES = {
    "tie_word_embeddings": [True, False],
    "dtype": ["float16"],
    "hidden_size": [96, 192],
    "vocab_size": [96, 192],
}
SAMPLES = 10


def derivations(cls: type) -> dict[str, object]:
    """The parts of a class's facts that come from making instances: see rules/models/transformers/README.md."""
    params = parameters(cls)
    reads = [name for name in read_from_kwargs(cls) if name not in params]
    start = flat(make(cls, {}))
    base = flat(PretrainedConfig())
    alias = getattr(cls, "attribute_map", {})
    stored = {name: alias.get(name, name) for name in params}
    deps = dependencies(cls, params, reads, start, stored, {}) if speaks(start) else {}
    has_inner = any(_class_of(value) for value in start.values())
    for flag in (
        []
        if has_inner
        else sorted({cause for causes in deps.values() for cause in causes if isinstance(params.get(cause), bool)})
    ):
        # What only matters once a switch is thrown.
        turned = {flag: not params[flag]}
        if (made := make(cls, turned)) is not None:
            for path, causes in dependencies(cls, params, reads, flat(made), stored, turned).items():
                deps.setdefault(path, set()).update(causes | {flag})
    subs = sub_configs(cls, start)
    derived: dict[str, object] = {}
    for path, causes in sorted(deps.items()):
        owner = path.split(".")[0]
        if path in ROPE:
            continue
        if owner in subs and (path == owner or subs[owner].get("flat")):
            continue
        if owner not in subs and "." in path:
            continue
        form = fit(cls, path, sorted(causes), params, start, stored)
        form["when"] = when(cls, path, start, form)
        derived[path] = form
    for name, default in params.items():
        path = stored[name]
        if path in derived or path in subs or path not in start or path in ROPE:
            continue
        if plain(default) is None and start[path] is not None:
            derived[path] = {"value": start[path], "when": when(cls, path, start, {})}
        elif default is not None and speaks(start):
            none = make(cls, {name: None})
            value = flat(none).get(path) if none is not None else None
            if none is not None and value is not None:
                derived[path] = {**on_none(cls, path, name, params, stored), "when": "null"}
    kept_if(cls, params, stored, derived)
    own = {path: value for path, value in start.items() if "." not in path}
    raw = {stored[name]: plain(default) for name, default in params.items()}
    return {
        "params": raw,
        "order": list(params),
        "reads": reads,
        "constants": {
            path: value
            for path, value in own.items()
            if path not in raw and path not in subs and (path not in base or base[path] != value)
        },
        "absent": sorted(path for path in raw if path not in start),
        "missing_base": sorted(path for path in base if path not in start and "." not in path),
        "derived": derived,
        "subs": subs,
        "popped": popped(cls, reads, start, derived),
        "names_rope_type": names_rope_type(cls),
        "delegates": delegates(cls),
        "inputs": inputs(cls, params, reads, stored),
    }


def inputs(cls: type, params: dict, reads: list, stored: dict) -> dict[str, dict[str, list[str]]]:
    """The arguments that the class's code makes more of than an attribute of that name: {"tried", "touches"}.

    ``touches`` are the attributes that its code sets by them, ``tried`` the kinds of values that were tried.
    """
    found: dict[str, dict[str, list[str]]] = {}
    alias = getattr(cls, "attribute_map", {})
    for name, attributes in touched(cls, {*params, *reads}).items():
        own = stored.get(name, name)
        touches = sorted({alias.get(item, item) for item in attributes} - ({own} if name in params else set()))
        if name in reads or (touches and params[name] is None):
            values = [value for value in trials(name, params) if make(cls, {name: value}) is not None]
            found[name] = {"tried": sorted({kind_of(value) for value in values}), "touches": touches}
    return found


def kind_of(value: object) -> str:
    """The JSON kind of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    kinds = {str: "text", list: "list", tuple: "list", dict: "object"}
    return kinds.get(type(value), "null")


def speaks(start: dict) -> bool:
    """Whether the class is, or holds, one of a language model: only those are looked into."""
    return any(path.split(".")[-1] == "vocab_size" for path in start)


def dependencies(cls: type, params: dict, reads: list, start: dict, stored: dict, fixed: dict) -> dict[str, set[str]]:
    """Which attributes change with which argument, the argument's own left out."""
    found: dict[str, set[str]] = {}
    for name in [*params, *reads, *(common for common in COMMON if common not in params)]:
        if name in fixed:
            continue
        for value in guesses(name, params)[:2]:
            made = make(cls, {**fixed, name: value})
            if made is None:
                continue
            got = flat(made)
            own = stored.get(name, name)
            alias = getattr(cls, "attribute_map", {}).get(name, name)
            for path in set(start) | set(got):
                changed = start.get(path, MISSING) != got.get(path, MISSING)
                elsewhere = path not in (own, alias, name) and not path.startswith(own + ".")
                if changed and elsewhere and (path in start or "." in path):
                    found.setdefault(path, set()).add(name)
    for sub in [] if fixed else [key for key, value in start.items() if _class_of(value)]:
        for name in NESTED:
            made = make(cls, {sub: {name: 96}})
            got = flat(made) if made is not None else {}
            reference = flat(other) if (other := make(cls, {sub: {}})) is not None else start
            for path in set(reference) & set(got):
                if reference[path] != got[path] and not path.startswith(sub) and "." not in path:
                    found.setdefault(path, set()).add(f"{sub}.{name}")
    return found


def guesses(name: str, params: dict) -> list[object]:
    """Values to try for an argument."""
    if params.get(name) is not None:
        return others(params[name], name)[:4]
    if "pattern" in name:
        return ["M*M", "MEM*E", "M*-ME", "*M-"]
    if name not in params and name not in GUESSES:
        counts = any(word in name for word in ("interval", "freq", "period", "num_", "layers"))
        return [2, 3, 6, 8] if counts else [2, 0.5, 3, 6]
    return GUESSES.get(name) or others(None, name)[:4]


def samples(cls: type, causes: list, params: dict, stored: dict, number: int = SAMPLES) -> Iterator[tuple[dict, dict]]:
    """(arguments, attributes) with the causes drawn at random; a cause that is dotted goes into that sub-config."""
    draw = random.Random(len(causes) * 7 + len(params))
    for _ in range(number * 3):
        kwargs: dict = {}
        for cause in causes:
            sub, _, inner = cause.rpartition(".")
            choices = guesses(cause, params)
            if sub:
                kwargs.setdefault(sub, {})[inner] = draw.choice([96, 48, 24, 12])
            elif choices and draw.random() < 0.7:
                kwargs[cause] = draw.choice(choices)
        made = make(cls, kwargs)
        if made is not None:
            number -= 1
            yield kwargs, flat(made)
        if number <= 0:
            return


def fit(cls: type, path: str, causes: list, params: dict, start: dict, stored: dict) -> dict[str, object]:
    """The first form that holds for all samples, else opaque."""
    seen = [({}, start), *samples(cls, causes, params, stored)]
    if len(seen) < 4:
        return {"opaque": causes, "default": start.get(path)}
    for form in candidates(causes, start.get(path), seen, path):
        if all(_holds(form, path, kwargs, got) for kwargs, got in seen):
            return form
    return {"opaque": causes, "default": start.get(path)}


def candidates(causes: list, default: object, seen: list, path: str) -> Iterator[dict[str, object]]:
    """The forms worth trying for these causes, simplest first."""
    for cause in causes:
        yield {"copy": cause}
        yield {"copy": [cause, default]}
    names = causes[:6]
    for left, right in itertools.permutations(names, 2):
        yield {"div": [left, right]}
        yield {"ceildiv": [left, right]}
        yield {"mul": [left, right]}
        yield {"add": [left, right]}
        yield {"sub": [left, right]}
    for name in names:
        for literal in _literals(name, path, seen):
            yield {"mul": [name, literal]}
            yield {"add": [name, literal]}
            yield {"div": [name, literal]}
            yield {"ceildiv": [name, literal]}
        yield {"len": name}
        if pattern := _pattern(name, path, seen):
            yield pattern
        if spelling := _spelling(name, path, seen):
            yield spelling
    if isinstance(default, list) and default:
        yield from _lists(names, [got[path] for _, got in seen if isinstance(got.get(path), list)], default)


def _literals(name: str, path: str, seen: list) -> set[int]:
    found = set()
    for _, got in seen:
        left, value = got.get(name), got.get(path)
        if type(left) is int and type(value) is int and left and value:
            found |= {value // left, value - left, left // value}
    return {literal for literal in found if literal} if len(found) < 12 else set()


def _pattern(name: str, path: str, seen: list) -> dict[str, object] | None:
    """A list spelt as a string, one letter an entry."""
    letters: dict[str, object] = {}
    for kwargs, got in seen:
        spelt, value = kwargs.get(name, got.get(name)), got.get(path)
        if isinstance(spelt, str) and isinstance(value, list) and len(spelt) == len(value):
            letters.update(zip(spelt, value, strict=True))
    return {"chars": name, "map": letters} if letters else None


def _spelling(name: str, path: str, seen: list) -> dict[str, object] | None:
    """A string with one letter an entry of a list."""
    letters: dict[str, object] = {}
    for kwargs, got in seen:
        entries, spelt = got.get(name, kwargs.get(name)), got.get(path)
        if isinstance(spelt, str) and isinstance(entries, list) and len(spelt) == len(entries):
            letters.update(zip(map(str, entries), spelt, strict=True))
    return {"spell": name, "map": letters} if letters else None


def _lists(names: list, lists: list[list], default: list) -> Iterator[dict[str, object]]:
    values = sorted({str(item): item for one in lists for item in one}.items())
    kinds = [item for _, item in values]
    if len(kinds) == 1:
        for name in names:
            yield {"repeat": kinds[0], "times": name}
    if len(kinds) != 2:
        return
    for hit, miss in itertools.permutations(kinds, 2):
        for times in names:
            for step in [*names, *([name, literal] for name in names for literal in range(1, 9)), *range(2, 9)]:
                yield {"every": step, "times": times, "hit": hit, "miss": miss}
                for at in [0, *names]:
                    yield {"every": step, "at": at, "times": times, "hit": hit, "miss": miss}
            for first in [*names, *range(1, 5)]:
                yield {"first": first, "times": times, "head": hit, "tail": miss}
                for guard in names:
                    yield {"first": first, "times": times, "head": hit, "tail": miss, "guard": guard}


def _holds(form: dict, path: str, kwargs: dict, got: dict) -> bool:
    def look(name: str) -> object:
        if name in got:
            return got[name]
        if name in kwargs:
            return kwargs[name]
        raise Opaque(name)

    try:
        return path in got and evaluate(form, look) == got[path]
    except Opaque:
        return path not in got  # a property that raises there


def when(cls: type, path: str, start: dict, form: dict) -> str:
    """ "none": given values are kept, None counts as not given; "absent": None is kept too; "always": never kept."""
    if "." in path:
        owner, inner = path.split(".", 1)
        value = _other(start.get(path))
        return "none" if "." not in inner and _keeps(cls, {owner: {inner: value}}, path, value) else "always"
    value = _other(start.get(path))
    if not _keeps(cls, {path: value}, path, value):
        return "always"
    return "absent" if _keeps(cls, {path: None}, path, None) else "none"


def _keeps(cls: type, kwargs: dict, path: str, value: object) -> bool:
    made = make(cls, kwargs)
    return made is not None and flat(made).get(path, MISSING) == plain(value)


def _other(value: object) -> object:
    if isinstance(value, list) and value:
        return [value[-1]] * len(value) if len(set(map(str, value))) > 1 else list(value)
    choices = others(value)
    return choices[0] if choices else value


def on_none(cls: type, path: str, name: str, params: dict, stored: dict) -> dict[str, object]:
    """What an explicit None turns into, for an argument whose default is something else."""
    seen = []
    for other, default in params.items():
        for value in others(default, other)[:2]:
            made = make(cls, {name: None, other: value}) if other != name else None
            if made is not None:
                seen.append((other, {}, flat(made)))
    reference = flat(make(cls, {name: None}))
    causes = sorted({other for other, _, got in seen if got.get(path) != reference.get(path)})
    if not causes:
        return {"value": reference.get(path)}
    pool = [(kwargs, got) for _, kwargs, got in seen] + [({}, reference)]
    for form in candidates(causes, reference.get(path), pool, path):
        if all(_holds(form, path, kwargs, got) for kwargs, got in pool):
            return form
    return {"opaque": causes, "default": reference.get(path)}


def kept_if(cls: type, params: dict, stored: dict, derived: dict) -> None:
    """Arguments that are kept only while another one is true (``sliding_window if use_sliding_window else None``)."""
    flags = [name for name, default in params.items() if isinstance(default, bool)]
    for name, default in params.items():
        path = stored[name]
        for value in others(default, name)[:1]:
            made = make(cls, {name: value})
            if made is None or flat(made).get(path, value) is not None:
                continue
            for flag in flags:
                both = make(cls, {name: value, flag: True})
                if both is not None and flat(both).get(path) == plain(value):
                    derived[path] = {"keep_if": flag, "when": "always"}
                    break


def popped(cls: type, reads: list, start: dict, derived: dict) -> dict[str, list[str]]:
    """Keys that leave no attribute, each with the attributes that keep it from being taken when they are given."""
    found: dict[str, list[str]] = {}
    for name in reads:
        values = guesses(name, {})
        made = [made for value in values if (made := make(cls, {name: value})) is not None]
        if not made or any(name in flat(one) for one in made):
            continue
        found[name] = [
            path
            for path, form in sorted(derived.items())
            if name in str(form)
            and any(
                (one := make(cls, {name: value, path: start[path]})) is not None and name in flat(one)
                for value in values
                if path in start
            )
        ]
    return found


def names_rope_type(cls: type) -> str:
    """Whether ``rope_scaling`` gets a "rope_type" beside its "type", and what becomes of "mrope"."""
    linear = make(cls, {"rope_scaling": {"type": "linear", "factor": 2.0}})
    got = flat(linear).get("rope_scaling") if linear is not None else None
    if got != {"type": "linear", "rope_type": "linear", "factor": 2.0}:
        return ""
    mrope = make(cls, {"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})
    got = flat(mrope).get("rope_scaling") if mrope is not None else None
    return "mrope" if isinstance(got, dict) and got.get("rope_type") == "default" else "plain"


def sub_configs(cls: type, start: dict) -> dict[str, dict[str, object]]:
    """The configs inside: which class is made of nothing, of {}, and whether a ``model_type`` inside chooses."""
    found: dict[str, dict[str, object]] = {}
    names = set(declared_subs(cls)) | {
        key for key, value in start.items() if isinstance(value, dict) and "__config__" in value and "." not in key
    }
    for name in sorted(names):
        facts: dict[str, object] = {"none": _class_of(start.get(name))}
        empty = make(cls, {name: {}})
        facts["empty"] = _class_of(flat(empty).get(name)) if empty is not None else None
        facts["by_model_type"] = all(
            (made := make(cls, {name: {"model_type": kind}})) is not None and _class_of(flat(made).get(name)) == wanted
            for kind, wanted in (("llama", "LlamaConfig"), ("qwen3", "Qwen3Config"))
        )
        given = make(cls, {"hidden_size": 96, "num_hidden_layers": 6, "zz_other": 1})
        got = flat(given) if given is not None else {}
        if empty is None and facts["none"] is None:
            facts["empty"] = "?"  # not any dict will do: the model type inside has to tell
        for kind in {getattr(cls, "model_type", ""), *compared_texts(cls)} - {""}:
            made = make(cls, {name: {"model_type": kind}})
            renamed = flat(made).get(f"{name}.model_type", kind) if made is not None else kind
            if isinstance(renamed, str) and renamed != kind:
                facts.setdefault("renames", {})[kind] = renamed
        facts["flat"] = got.get(f"{name}.zz_other") == 1
        if facts["none"]:
            nested = make(type(getattr(make(cls, {}), name)), {})
            alone = flat(nested, f"{name}.") if nested is not None else {}
            facts["differs"] = {
                path.split(".", 1)[1]: value
                for path, value in start.items()
                if path.startswith(f"{name}.") and path.count(".") == 1 and alone.get(path, MISSING) != value
            }
        found[name] = facts
    return found


def declared_subs(cls: type) -> dict[str, type]:
    """The class's ``sub_configs``; {} where it is computed by the instance."""
    declared = getattr(cls, "sub_configs", {})
    return declared if isinstance(declared, dict) else {}


def _class_of(value: object) -> str | None:
    return value.get("__config__") if isinstance(value, dict) else None


def delegates(cls: type) -> dict[str, object] | None:
    """Whether reading an attribute of the outer object looks into a config inside, and whether that one goes first."""
    made = make(cls, {})
    for name, inner in list(vars(made).items()):
        if not isinstance(inner, PretrainedConfig):
            continue
        inner.__dict__["zz_inner"] = 1
        if getattr(made, "zz_inner", None) != 1:
            continue
        made.__dict__["zz_both"], inner.__dict__["zz_both"] = 1, 2
        own = sorted(
            key
            for key in flat(PretrainedConfig())
            if "." not in key and key in vars(made) and key in vars(inner) and _reads_own(made, inner, key)
        )
        return {"to": name, "inner_first": made.zz_both == 2, "own": own if made.zz_both == 2 else []}
    return None


def _reads_own(made: object, inner: object, key: str) -> bool:
    marks = {"own": "zz_own", "inner": "zz_inner"}
    made.__dict__[key], inner.__dict__[key] = marks["own"], marks["inner"]
    try:
        return getattr(made, key) == marks["own"]
    except Exception:
        return True
