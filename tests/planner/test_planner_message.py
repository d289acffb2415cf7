"""What an error's words are taken to advise."""

from __future__ import annotations

import pytest

from mtp_trace.verdict.planner_message import Mention, advice, refused_flags, refused_value

ADVICE = [
    (
        "X is not compatible with radix cache when using --strategy no_buffer.To keep it, please use --strategy "
        "extra_buffer and set SPEC_OVERLAP=1.",
        [Mention("flag", "--strategy", "extra_buffer"), Mention("env", "SPEC_OVERLAP", "1")],
    ),
    ("no_buffer has no overlap. Try to set disable_overlap=True.", [Mention("field", "disable_overlap", "True")]),
    ("It needs --draft-path.", [Mention("flag", "--draft-path", None)]),
    ("Please set page_size to 64.", [Mention("field", "page_size", "64")]),
    ("Please remove --enable-lora.", [Mention("flag", "--enable-lora", None, away=True)]),
    (
        "Use --strategy extra, or --no-cache.",
        [Mention("flag", "--strategy", "extra"), Mention("flag", "--no-cache", None)],
    ),
    ("--a b was given and the cache is on.", []),
    ("", []),
]


@pytest.mark.parametrize(("message", "expected"), ADVICE)
def test_advice_is_what_stands_after_a_word_of_advice(message: str, expected: list[Mention]) -> None:
    assert advice(message) == expected


def test_refused_flags_keep_their_values() -> None:
    text = "unrecognized arguments: --a 1 2 --switch --joined=3"
    assert refused_flags(text) == [("--a", "1 2"), ("--switch", ""), ("--joined", "3")]
    assert refused_flags("something else") == []


def test_a_refused_value_names_what_is_offered() -> None:
    refusal = refused_value("argument --algo/--algorithm: invalid choice: 'nextn' (choose from 'EAGLE', 'NEXTN')")
    assert refusal is not None
    assert (refusal.flag, refusal.value, refusal.choices) == ("--algo", "nextn", ("EAGLE", "NEXTN"))
    newer = refused_value("argument --algo: invalid choice: 'x' (choose from EAGLE, NEXTN)")
    assert newer is not None and newer.choices == ("EAGLE", "NEXTN")
    wrong = refused_value("argument --tp-size: invalid int value: 'two'")
    assert wrong is not None and wrong.flag == "--tp-size" and wrong.choices == ()
