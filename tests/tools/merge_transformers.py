"""Make rules/models/transformers/ from what ``dump_transformers.py`` wrote for each release.

    python tests/tools/merge_transformers.py RAW_FOLDER [OUT_FOLDER]

Every class is then made again, with the table alone, for every recorded set of arguments. Where the result differs
from the real instance, the attribute is written down as one that the argument changes in a way not described: the
table says "not known" there, never something wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))
import msgspec  # noqa: E402
from packaging.version import Version  # noqa: E402

from mtp_trace.checkpoint.transformers_object import BASE_CLASS, ConfigObject, make_object  # noqa: E402
from mtp_trace.checkpoint.transformers_table import ClassInfo, TransformersTable, apply_change  # noqa: E402

ROUNDS = 5
LONGEST = 4000
"""A default of more JSON than this (a thousand class labels), or that JSON cannot hold, leaves the attribute opaque."""
SKIPPED = ("base_model_tp_plan",)
"""Attributes that are of no use here."""
BY_HAND = json.loads(Path(__file__).with_name("by_hand.json").read_text())
"""Parts read from the classes' source, each with the release that it holds from: no probing shows them."""
KEPT = tuple(ClassInfo.__struct_fields__)
EMPTY = (None, "", [], {}, False)


class RawTable(TransformersTable):
    """A release's table straight from its dump, with what checking added so far."""

    def __init__(self, raw: dict) -> None:
        base = raw["base"]
        self.asked = self.release = raw["release"]
        self.exact, self.base_class = True, base["class"]
        self.base_values, self.base_properties = base["values"], base["properties"]
        self.dropped, self.rope = frozenset(base["dropped"]), rope_style(raw)
        self.base_unsure: dict = {}
        self.fields = base["fields"]
        self.layer_names, self.redirects = raw["behaviours"]["layer_names"], raw["behaviours"]["redirects"]
        self.guesses_by_name = raw["behaviours"]["guesses_by_name"]
        self.registered_wins = raw["behaviours"]["registered_wins"]
        self.mapping = raw["mapping"]
        self.facts = {name: tidy(facts, self.rope) for name, facts in raw["classes"].items()}
        for name in raw["behaviours"]["checks_layer_types"]:
            self.facts[name]["checks_layer_types"] = True
        for since, by_class in BY_HAND.items():
            for name, facts in by_class.items() if Version(self.release) >= Version(since) else ():
                self.facts[name] = apply_change(self.facts[name], facts)
        for name, facts in self.facts.items():
            name_inner(facts, raw["probes"].get(name, []))
        self.facts[BASE_CLASS] = {"module": "configuration_utils"}
        if self.rope != "kept":
            self.facts[BASE_CLASS]["default_theta"] = 10000.0
        self.made: dict[str, ClassInfo] = {}

    def config_class(self, model_type: str) -> str | None:
        return self.mapping.get(model_type)

    def class_info(self, name: str) -> ClassInfo | None:
        if name not in self.made and name in self.facts:
            self.made[name] = msgspec.convert({**self.facts[name], "name": name}, ClassInfo)
        return self.made.get(name)


def rope_style(raw: dict) -> str:
    """How ``rope_parameters`` are filled: "kept" where the release leaves them as given."""
    if not raw["base"]["has_rope_scaling_property"]:
        return "kept"
    return "nested-theta" if any(facts.get("default_rope_type") for facts in raw["classes"].values()) else "flat-theta"


def tidy(facts: dict, rope: str) -> dict:
    """The parts that the table keeps, empty ones left out."""
    facts = dict(facts)
    holds_rope = "rope_parameters" in facts.get("params", {}) or "rope_parameters" in facts.get("constants", {})
    facts["standardises_rope"] = rope != "kept" and holds_rope
    facts["params"] = {key: facts["params"][key] for key in facts.get("order", ()) if key in facts["params"]} | {
        key: value for key, value in facts.get("params", {}).items() if key not in facts.get("order", ())
    }
    if isinstance(facts["base_config_key"], list):  # a stray comma in one class
        facts["base_config_key"] = facts["base_config_key"][0]
    # A property that gives a config is no config inside; what it gives (the object itself, in one family) is opaque.
    given = sorted(name for name in facts.get("subs", {}) if name in facts["properties"])
    facts["opaque"] = sorted({*facts.get("opaque", ()), *given})
    facts["subs"] = {name: sub for name, sub in facts.get("subs", {}).items() if name not in given}
    facts["attribute_map"] = dict(sorted(facts["attribute_map"].items()))
    for part in ("params", "constants", "derived"):
        facts[part] = {key: value for key, value in facts.get(part, {}).items() if key.split(".")[-1] not in SKIPPED}
    for part in ("params", "constants"):
        texts = {key: json.dumps(value) for key, value in facts.get(part, {}).items()}
        long = sorted(key for key, text in texts.items() if len(text) > LONGEST or "__object__" in text)
        facts["opaque"] = sorted({*facts.get("opaque", ()), *long})
        facts[part] = {key: value for key, value in facts.get(part, {}).items() if key not in long}
    return {part: facts[part] for part in KEPT if part in facts and facts[part] not in EMPTY}


def name_inner(facts: dict, probes: list) -> None:
    """Whether a config inside that was given without a model_type gets one."""
    for key, sub in facts.get("subs", {}).items():
        bare = next((changed for kwargs, changed, _ in probes if kwargs == {key: {}}), {})
        sub["named"] = f"{key}.model_type" in bare


def check(table: RawTable, name: str, probes: list, start: dict) -> int:
    """Compare with the recorded instances and write down what differs; returns how often something did."""
    failures = 0
    for kwargs, changed, gone in probes:
        wanted = {key: value for key, value in {**start, **changed}.items() if key not in gone}
        got, opaque = picture(make_object(table, name, kwargs))
        for path in sorted(set(wanted) | set(got)):
            if hidden(path, opaque) or path.split(".")[-1] in SKIPPED:
                continue
            if wanted.get(path, EMPTY) != got.get(path, EMPTY):
                failures += 1
                note(table, name, path, kwargs, wanted)
    return failures


def give_up(table: RawTable, name: str, probes: list, start: dict) -> None:
    """Make unsure what still differs, and opaque what differs even then."""
    facts = table.facts[name]
    for part in ("unsure", "opaque"):
        for kwargs, changed, gone in probes:
            wanted = {key: value for key, value in {**start, **changed}.items() if key not in gone}
            got, opaque = picture(make_object(table, name, kwargs))
            for path in sorted(set(wanted) | set(got)):
                if (
                    path.split(".")[-1] in SKIPPED
                    or hidden(path, opaque)
                    or wanted.get(path, EMPTY) == got.get(path, EMPTY)
                ):
                    continue
                short = ".".join(path.split(".")[:2])
                if part == "unsure" and kwargs:
                    unsure = facts.setdefault("unsure", {})
                    unsure[short] = sorted({*unsure.get(short, ()), *kwargs})
                else:
                    facts["opaque"] = sorted({*facts.get("opaque", ()), short})
                    print(f"{table.release} {name}: {short} is opaque", file=sys.stderr)
                table.made.pop(name, None)


def hidden(path: str, opaque: set) -> bool:
    """Whether an attribute, or the config that it is in, is not known."""
    return any(path == unknown or path.startswith(f"{unknown}.") for unknown in opaque)


def collapse(table: RawTable, name: str) -> None:
    """Where many attributes of a config inside are unsure, all of it is."""
    unsure = table.facts[name].get("unsure", {})
    owners = [path.split(".")[0] for path in unsure if "." in path]
    for owner in {owner for owner in owners if owners.count(owner) > 5}:
        inner = [path for path in unsure if path.startswith(f"{owner}.")]
        causes = {cause for path in inner for cause in unsure.pop(path)}
        unsure[owner] = sorted({*unsure.get(owner, ()), *causes})
    table.made.pop(name, None)


def note(table: RawTable, name: str, path: str, kwargs: dict, wanted: dict) -> None:
    """One difference: an argument that leaves no attribute, an alias that is not heard, or an unsure attribute."""
    facts = table.facts[name]
    single = next(iter(kwargs)) if len(kwargs) == 1 else None
    alias = facts.get("attribute_map", {})
    if single and single in alias and path == alias[single]:
        facts["lost_aliases"] = sorted({*facts.get("lost_aliases", ()), single})
    elif single == path and path not in wanted and path not in facts.get("params", {}):
        facts["popped"] = {**facts.get("popped", {}), path: []}
    elif not kwargs and path == "rope_parameters" and not any(isinstance(item, dict) for item in wanted[path].values()):
        filled = {key: value for key, value in wanted[path].items() if key != "rope_theta" and value != "default"}
        facts["default_partial"] = filled.pop("partial_rotary_factor", None)
        facts["params"] = {**facts.get("params", {}), path: filled or None}
        if facts.setdefault("tries", 0):
            facts["opaque"] = sorted({*facts.get("opaque", ()), path})
        facts["tries"] += 1
    elif not kwargs:
        facts["opaque"] = sorted({*facts.get("opaque", ()), ".".join(path.split(".")[:2])})
    else:
        depth = path.split(".")
        path = ".".join(depth[:2])
        unsure = facts.setdefault("unsure", {})
        unsure[path] = sorted({*unsure.get(path, ()), *kwargs})
    table.made.pop(name, None)


def picture(made: ConfigObject, prefix: str = "") -> tuple[dict, set]:
    """Flat attributes and the names that are not known, as ``probe_transformers.flat`` draws an instance."""
    out: dict = {}
    opaque = {prefix + name for name in made.opaque}
    for key, value in made.values.items():
        if key.startswith("_"):
            continue
        if isinstance(value, ConfigObject):
            out[prefix + key] = {"__config__": value.cls}
            inner, unknown = picture(value, f"{prefix}{key}.")
            out.update(inner)
            opaque |= unknown
        else:
            out[prefix + key] = value
    return out, opaque


def checked(raw: dict) -> RawTable:
    """The release's table after checking it against every probe."""
    table = RawTable(raw)
    base = [[{}, {}, []], *raw["probes"][BASE_CLASS]]
    start = raw["base"]["values"]
    for _ in range(ROUNDS):
        if not check(table, BASE_CLASS, base, start):
            break
    table.base_unsure = {path: tuple(causes) for path, causes in table.facts[BASE_CLASS].get("unsure", {}).items()}
    # Classes without configs inside first: the others are made of them.
    for name, probes in sorted(raw["probes"].items(), key=lambda item: bool(table.facts[item[0]].get("subs"))):
        if name == BASE_CLASS or table.facts[name].get("no_instance"):
            continue
        wanted = [[{}, {}, []], *sorted(probes, key=lambda probe: len(probe[0]))]
        for _ in range(ROUNDS):
            if not check(table, name, wanted, raw["starts"][name]):
                break
        else:
            give_up(table, name, wanted, raw["starts"][name])
        collapse(table, name)
    for facts in table.facts.values():
        facts.pop("tries", None)
        if facts.get("default_partial", 0) is None:
            del facts["default_partial"]
    return table


def changes(before: dict, after: dict) -> dict:
    """What ``apply_change`` needs to turn one into the other."""
    out: dict = {}
    for part in KEPT:
        old, new = before.get(part), after.get(part)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            patch = {
                "set": {key: value for key, value in new.items() if key not in old or old[key] != value},
                "drop": sorted(key for key in old if key not in new),
            }
            out[part] = {key: value for key, value in patch.items() if value}
        else:
            out[part] = new
    assert apply_change(before, out) == after, (before, after, out)
    return out


def main() -> None:
    """Read the dumps, check, and write index.json and classes.json."""
    folder = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "rules" / "models" / "transformers"
    raws = sorted(map(read, folder.glob("*[0-9].json")), key=lambda raw: Version(raw["release"]))
    errors: dict[str, list] = {}
    releases: dict = {}
    model_types: dict[str, list] = {}
    classes: dict[str, list] = {}
    last: dict[str, dict] = {}
    for raw in raws:
        table = checked(raw)
        release = table.release
        releases[release] = {
            "base_class": table.base_class,
            "base_values": table.base_values,
            "dropped": sorted(table.dropped),
            "base_properties": table.base_properties,
            "rope": table.rope,
            "fields": table.fields,
            "guesses_by_name": table.guesses_by_name,
            "registered_wins": table.registered_wins,
            "redirects": table.redirects,
            "layer_names": table.layer_names,
            "base_unsure": {path: list(causes) for path, causes in sorted(table.base_unsure.items())},
        }
        for kind in sorted({*raw["behaviours"]["errors"], *errors}):
            words = raw["behaviours"]["errors"].get(kind, {"type": "", "text": ""})
            stages = errors.setdefault(kind, [])
            if not stages or stages[-1][1:] != [words["type"], words["text"]]:
                stages.append([release, words["type"], words["text"]])
        for kind in sorted({*table.mapping, *model_types}):
            now = table.mapping.get(kind)
            stages = model_types.setdefault(kind, [])
            if (stages[-1][1] if stages else None) != now:
                stages.append([release, now])
        for name in sorted({*table.facts, *last} - {BASE_CLASS}):
            now, before = table.facts.get(name), last.get(name)
            if now is None and before is not None:
                classes[name].append([release, None])
                del last[name]
            elif now is not None and now != before:
                classes.setdefault(name, []).append([release, changes(before or {}, now)])
                last[name] = now
        report(release, table)
    write(target, releases, model_types, classes, errors)


def report(release: str, table: RawTable) -> None:
    """A line for the person who runs this."""
    unsure = sum(len(facts.get("unsure", {})) for facts in table.facts.values())
    opaque = sum(len(facts.get("opaque", ())) for facts in table.facts.values())
    print(f"{release}: {len(table.facts)} classes, {unsure} unsure attributes, {opaque} opaque", file=sys.stderr)


def read(path: Path) -> dict:
    """One release's dump and, beside it, its behaviours."""
    return {**json.loads(path.read_text()), "behaviours": json.loads(path.with_suffix(".behaviours.json").read_text())}


def write(target: Path, releases: dict, model_types: dict, classes: dict, errors: dict) -> None:
    """One line a model type, one line a class."""
    target.mkdir(parents=True, exist_ok=True)
    kinds = ",\n".join(f"{json.dumps(kind)}: {compact(stages)}" for kind, stages in sorted(model_types.items()))
    heads = ",\n".join(f"{json.dumps(release)}: {compact(facts)}" for release, facts in releases.items())
    words = ",\n".join(f"{json.dumps(kind)}: {compact(stages)}" for kind, stages in sorted(errors.items()))
    parts = {"releases": heads, "errors": words, "model_types": kinds}
    body = ",\n".join(f"{json.dumps(name)}: {{\n{text}\n}}" for name, text in parts.items())
    (target / "index.json").write_text(f"{{{body}}}\n")
    lines = ",\n".join(f"{json.dumps(name)}: {compact(stages)}" for name, stages in sorted(classes.items()))
    (target / "classes.json").write_text(f"{{\n{lines}\n}}\n")


def compact(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


if __name__ == "__main__":
    main()
