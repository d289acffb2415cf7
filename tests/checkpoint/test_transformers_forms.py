"""The forms that an attribute may follow from others by."""

from __future__ import annotations

from typing import Any

import pytest

from mtp_trace.checkpoint.transformers_forms import Opaque, evaluate

ATTRIBUTES: dict[str, Any] = {
    "hidden": 4096,
    "heads": 33,
    "layers": 5,
    "interval": 2,
    "window": None,
    "flag": True,
    "pattern": "M*-",
    "kinds": ["mamba", "mlp"],
    "text_config.hidden": 8,
}


def look(name: str) -> Any:
    if name not in ATTRIBUTES:
        raise Opaque(name)
    return ATTRIBUTES[name]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ({"value": [1]}, [1]),
        ({"copy": "hidden"}, 4096),
        ({"copy": "text_config.hidden"}, 8),
        ({"copy": ["absent", 7]}, 7),
        ({"copy": ["window", 7]}, None),
        ({"div": ["hidden", "heads"]}, 124),
        ({"ceildiv": ["hidden", "heads"]}, 125),
        ({"mul": ["hidden", 2]}, 8192),
        ({"add": ["hidden", "heads"]}, 4129),
        ({"sub": ["hidden", 96]}, 4000),
        ({"len": "pattern"}, 3),
        ({"chars": "pattern", "map": {"M": "mamba", "*": "attention", "-": "mlp"}}, ["mamba", "attention", "mlp"]),
        ({"spell": "kinds", "map": {"mamba": "M", "mlp": "-"}}, "M-"),
        ({"repeat": "full", "times": "layers"}, ["full"] * 5),
        ({"every": "interval", "times": "layers", "hit": "F", "miss": "L"}, list("LFLFL")),
        ({"every": ["absent", 4], "times": "layers", "hit": "F", "miss": "L"}, list("LLLFL")),
        ({"every": 2, "at": 0, "times": "layers", "hit": "F", "miss": "L"}, list("FLFLF")),
        ({"first": 2, "times": "layers", "head": "D", "tail": "S"}, list("DDSSS")),
        ({"first": 2, "times": "layers", "head": "D", "tail": "S", "guard": "flag"}, list("DDSSS")),
        ({"first": 2, "times": "layers", "head": "D", "tail": "S", "guard": "window"}, list("DDDDD")),
    ],
)
def test_forms(form: dict[str, Any], value: Any) -> None:
    assert evaluate(form, look) == value


@pytest.mark.parametrize(
    "form",
    [
        {"copy": "absent"},
        {"div": ["hidden", 0]},
        {"div": ["hidden", "window"]},
        {"mul": ["flag", 2]},
        {"len": "hidden"},
        {"chars": "pattern", "map": {"M": "mamba"}},
        {"every": 0, "times": "layers", "hit": 1, "miss": 2},
        {"repeat": 1, "times": "absent"},
        {"unheard_of": 1},
    ],
)
def test_what_cannot_be_told(form: dict[str, Any]) -> None:
    with pytest.raises(Opaque):
        evaluate(form, look)
