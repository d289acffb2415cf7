"""``rules/weights.yaml`` as a dataclass."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from mtp_trace.errors import RuleError
from mtp_trace.rules.yamlfile import shipped
from mtp_trace.verdict.entry import Step


@dataclass(frozen=True)
class WeightRules:
    """How a class is built and fed; see the comments of the file."""

    group_module: str
    groups: tuple[str, ...]
    globals: dict[str, dict[str, Any]]
    tables: tuple[dict[str, Any], ...]
    setup: tuple[Step, ...]
    load_config: str
    class_lookup: str
    quantization: str
    build: str
    load: str
    share: tuple[str, ...]
    dtype_field: str
    load_format_field: str
    without_weights: frozenset[str]
    renames_first: str
    telling: tuple[str, ...]
    optional: re.Pattern[str]
    scale: re.Pattern[str]
    quantized_name: re.Pattern[str]
    packed: re.Pattern[str]
    unquantizes: re.Pattern[str]
    hidden_mark: str
    hidden_field: str
    hidden_for: frozenset[str]
    dtypes: dict[str, str]
    fronts: dict[str, list[str]]
    backs: dict[str, list[str]]


@functools.cache
def weight_rules() -> WeightRules:
    """The shipped rules.  Raises RuleError naming a missing key."""
    data = shipped("weights.yaml")
    try:
        return WeightRules(
            group_module=data["groups"]["module"],
            groups=tuple(data["groups"]["names"]),
            globals=data["globals"],
            setup=tuple(Step(s["call"], tuple(s.get("args", ())), dict(s.get("kwargs", {}))) for s in data["setup"]),
            tables=tuple(data["tables"]),
            load_config=data["load-config"],
            class_lookup=data["class-lookup"],
            quantization=data["quantization"],
            build=data["build"],
            load=data["load"],
            share=tuple(data["share"]),
            dtype_field=data["dtype-field"],
            load_format_field=data["load-format-field"],
            without_weights=frozenset(data["without-weights"]),
            renames_first=data["renames-first"],
            telling=tuple(data["telling"]),
            optional=re.compile(data["optional"]),
            scale=re.compile(data["scale"]),
            quantized_name=re.compile(data["quantized-name"]),
            packed=re.compile(data["packed"]),
            hidden_mark=data["handed-over"]["mark"],
            hidden_field=data["handed-over"]["field"],
            hidden_for=frozenset(data["handed-over"]["algorithms"]),
            unquantizes=re.compile(data["unquantizes"]),
            dtypes=data["dtypes"],
            fronts=data["fronts"],
            backs=data["backs"],
        )
    except KeyError as error:
        raise RuleError(f"the key {error} is missing", "rules/weights.yaml") from None
