"""What a script's variables, branches and quotes come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.launch.context import Context, settled
from mtp_trace.launch.files import Files
from mtp_trace.launch.model import Launch
from mtp_trace.launch.shell import read_shell
from mtp_trace.launch.shell_values import calculated, matches, replaced, without_prefix, without_suffix
from mtp_trace.launch.text import Text

SERVER = "python -m sglang.launch_server"


def launches(script: str) -> list[Launch]:
    context = Context(Files(), "x.sh", Path("x.sh"), source="shell")
    read_shell(Text.of_file(script), context)
    return settled(context.launches)


def arguments(script: str) -> list[tuple[str, ...]]:
    return [launch.argv for launch in launches(script)]


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("M=a", "$M", ("a",)),
        ("M='a b'", "$M", ("a", "b")),
        ("M='a b'", '"$M"', ("a b",)),
        ("M=", "$M", ()),
        ("M=", '"$M"', ("",)),
        ("", "${M:-d}", ("d",)),
        ("", "${M:-a b}", ("a", "b")),
        ("", '${M:-"a b"}', ("a b",)),
        ("M=", "${M:-d}", ("d",)),
        ("M=", '"${M-d}"', ("",)),
        ("M=$1", "${M:-d}", ("d",)),
        ("M=x", "${M:+y}", ("y",)),
        ("", "${M:+y}", ()),
        ("", "${M:-${N:-z}}", ("z",)),
        (": ${M:=v}", "$M", ("v",)),
        ("M=a/b/c", "${M##*/}", ("c",)),
        ("M=a/b/c", "${M#*/}", ("b/c",)),
        ("M=a.b.c", "${M%.*}", ("a.b",)),
        ("M=a.b.c", "${M%%.*}", ("a",)),
        ("M=a/b/c", "${M//\\//_}", ("a_b_c",)),
        ("M=a/b/c", "${M/\\//_}", ("a_b/c",)),
        ("M=abc", "${#M}", ("3",)),
        ("M=abc", "${M:1}", ("bc",)),
        ("M=abc", "${M:0:2}", ("ab",)),
        ("M=abc", "${M^^}", ("ABC",)),
        ("M=ABC", "${M,,}", ("abc",)),
        ("N=M M=v", "${!N}", ("v",)),
        ("A=(x 'y z')", '"${A[@]}"', ("x", "y z")),
        ("A=(x 'y z')", "${A[@]}", ("x", "y", "z")),
        ("A=(x 'y z')", '"${A[*]}"', ("x y z",)),
        ("A=(x 'y z')", "${A[1]}", ("y", "z")),
        ("A=(x y z)", '"${A[@]:1}"', ("y", "z")),
        ("A=(x y z)", "${#A[@]}", ("3",)),
        ("A=()", '"${A[@]}"', ()),
        ("A=(x y)", '"${A[@]:-none}"', ("x", "y")),
        ("A=('x y')", '${A[@]+"${A[@]}"}', ("x y",)),
        ("A=(x); A+=(y)", '"${A[@]}"', ("x", "y")),
        ("A=(\n x # one\n 'y'\n)", '"${A[@]}"', ("x", "y")),
        ("A[0]=x; A[1]=y", '"${A[@]}"', ("x", "y")),
        ("declare -A D=([k]=v [j]='w x')", '"${D[k]}" "${D[j]}"', ("v", "w x")),
        ("M=a; M+=b", "$M", ("ab",)),
        ("N=2", "$((N * 4 + 1))", ("9",)),
        ("", "a\\ b", ("a b",)),
        ("", "'a'\"b\"c", ("abc",)),
        ("", "$'a\\tb'", ("a\tb",)),
        ("M=x", "'$M'", ("$M",)),
        ("M=x", '"\\$M $M"', ("$M x",)),
        ("", "a\\\nb", ("ab",)),
        ("set -- p q", '$2 "$@" $#', ("q", "p", "q", "2")),
        ("set -- p q; shift", '"$@"', ("q",)),
        ("", "{1..3} a{b,c}d {x}", ("1", "2", "3", "abd", "acd", "{x}")),
        ("", "'{1..3}' \"{a,b}\"", ("{1..3}", "{a,b}")),
        ("", "$(seq 2 4)", ("2", "3", "4")),
        ("A=(x y)", "${!A[@]}", ("0", "1")),
        ("declare -A D=([k]=v)", '"${!D[@]}"', ("k",)),
        ("IFS=, read -ra A <<< 'x,y z'", '"${A[@]}"', ("x", "y z")),
        ("read -r -a A <<< 'x y'", '"${A[@]}"', ("x", "y")),
        ("M=a; f() { local M=b; N=$M; }; f", "$M $N", ("a", "b")),
        ("M=a; f() { M=b; }; f", "$M", ("b",)),
        ("M=$(basename /a/b)", "$M", ("b",)),
        ("M=$(echo x y)", '"$M"', ("x y",)),
        ("read -r -d '' M <<E\nx\nE", "$M", ("x",)),
        ("M=$(cat <<'E'\n$x y\nE\n)", "$M", ("$x", "y")),
    ],
)
def test_words(before: str, word: str, expected: tuple[str, ...]) -> None:
    assert arguments(f"{before}\n{SERVER} --model-path m --x v {word}") == [
        ("--model-path", "m", "--x", "v", *expected)
    ]


@pytest.mark.parametrize(
    ("word", "shown", "name"),
    [
        ("$M", "${M}", "M"),
        ("${M}", "${M}", "M"),
        ('"$M/x"', "${M}/x", "M"),
        ("$1", "${1}", "1"),
        ("${000}", "${000}", "000"),
        ("${12345678901}", "${12345678901}", "12345678901"),
        ("${M##*/}", "${M##*/}", "M"),
        ("${M:?needed}", "${M}", "M"),
        ("$(hostname -i)", "$(hostname -i)", "$(hostname -i)"),
        ("`hostname`", "$(hostname)", "$(hostname)"),
        ("$((N + 1))", "$((N + 1))", "$((N + 1))"),
        ("$HOSTNAME", "${HOSTNAME}", "HOSTNAME"),
    ],
)
def test_what_the_file_does_not_tell(word: str, shown: str, name: str) -> None:
    (launch,) = launches(f"{SERVER} --model-path {word}")
    assert launch.argv == ("--model-path", shown)
    assert launch.unresolved == (name,)
    assert launch.unresolved_at == (1,)


def test_an_unknown_word_that_no_flag_waits_for_is_left_out() -> None:
    (launch,) = launches(f'{SERVER} --model-path m $EXTRA "$@" "${{MORE[@]}}"')
    assert launch.argv == ("--model-path", "m")
    assert launch.unresolved == ("EXTRA", "@", "MORE")


@pytest.mark.parametrize(
    ("script", "count"),
    [
        (f"if [ -d x ]; then {SERVER} --a; else {SERVER} --b; fi", 2),
        (f"if [ $1 = x ]; then F=--a; else F=--b; fi; {SERVER} --model-path m --k v $F", 2),
        (f"X=1; if [ $X = 1 ]; then F=--a; else F=--b; fi; {SERVER} --model-path m --k v $F", 1),
        (f"if [ -z $1 ]; then exit 1; fi; {SERVER} --a", 1),
        (f"[ -f x ] && F=--a; {SERVER} --model-path m --k v $F", 2),
        (f"[ -f x ] || exit 1; {SERVER} --a", 1),
        (f"cd x && {SERVER} --a", 1),
        (f"cd x || {SERVER} --a", 1),
        (f"{SERVER} --a || {SERVER} --b", 2),
        (f"case $1 in a) {SERVER} --a;; b|c) {SERVER} --b;; *) exit 1;; esac", 2),
        (f"X=a; case $X in a) F=--a;; *) F=--b;; esac; {SERVER} --model-path m --k v $F", 1),
        (f"for t in 1 2 3; do {SERVER} --tp $t; done", 3),
        (f"for t in $LIST; do {SERVER} --tp $t; done", 1),
        (f"for ((i=0; i<8; i++)); do {SERVER} --port $i; done", 1),
        (f"while true; do {SERVER} --a; sleep 5; done", 1),
        (f"until curl x; do {SERVER} --a; done", 1),
        (f"f() {{ {SERVER} --tp $1; }}; f 1; f 2", 2),
        (f"function f {{ {SERVER} --tp $1; }}", 1),
        (f"f() {{ g; }}; g() {{ f; {SERVER} --a; }}; f", 1),
        (f'run() {{ "$@"; }}; run {SERVER} --a', 1),
        (f"({SERVER} --a) & {{ {SERVER} --b; }}", 2),
        (f"PID=$({SERVER} --a & echo $!)", 1),
        (f"if {SERVER} --a; then :; fi", 1),
        (f"{SERVER} --a | tee log", 1),
        (f"echo {SERVER} --a", 0),
        (f"echo '{SERVER} --a' >> notes", 0),
        (f"# {SERVER} --a", 0),
        (f": {SERVER} --a", 0),
        (f"x='{SERVER} --a'", 0),
        (f"exit 0; {SERVER} --a", 0),
        (f"for t in 1 2 3; do {SERVER} --tp $t; break; done", 1),
        (f"for t in 1 2 3; do continue; {SERVER} --tp $t; done", 0),
        (f"for t in {{0..3}}; do {SERVER} --tp $t; done", 4),
        (f"ON=true; $ON && F=--a; {SERVER} --model-path m --k v $F", 1),
        (f"if $ON; then F=--a; fi; {SERVER} --model-path m --k v $F", 2),
        ("python -m sglang.launch_server_x --a", 0),
        ("my-python-m sglang.launch_server", 0),
        ("sglang serve", 1),
    ],
)
def test_branches(script: str, count: int) -> None:
    assert len(launches(script)) == count


def test_and_or_take_one_side() -> None:
    found = arguments(f"[ -f x ] && F=--a || F=--b\n{SERVER} --k v $F")
    assert found == [("--k", "v", "--a"), ("--k", "v", "--b")]
    assert arguments(f"X=1; [ $X = 1 ] && F=--a || F=--b\n{SERVER} --k v $F") == [("--k", "v", "--a")]


def test_options_that_nobody_gave_leave_nothing() -> None:
    script = 'OPTS=$(getopt -o m: -- "$@")\neval set -- "$OPTS"\nM=default\nwhile true; do\n case "$1" in\n'
    script += f" -m) M=$2; shift 2;;\n --) shift; break;;\n esac\ndone\n{SERVER} --model-path $M"
    assert arguments(script) == [("--model-path", "default")]


def test_a_check_of_arguments_does_not_hide_what_comes_after() -> None:
    script = 'usage() { echo use; exit 1; }\nR=""\nM=m\n'
    script += "while [[ $# -gt 0 ]]; do case $1 in --role) R=$2; shift 2;; esac; done\n"
    script += 'if [[ -z "$R" ]]; then usage; fi\n[[ -n "$R" ]] || usage\n'
    script += f'if [[ "$R" == prefill ]]; then\n{SERVER} --mode "$R" $M\nelse\n{SERVER} --mode "$R" $M\nfi'
    found = launches(script)
    assert [launch.argv for launch in found] == [("--mode", "prefill", "m"), ("--mode", "${R}", "m")]
    assert [launch.line for launch in found] == [8, 10]


def test_arguments_of_a_function_are_stepped_through() -> None:
    script = "f() { while [ $# -gt 0 ]; do case $1 in --tp) T=$2; shift 2;; *) M=$1; shift;; esac; done\n"
    assert arguments(f"{script}{SERVER} --model-path $M --tp $T; }}\nf a --tp 4") == [
        ("--model-path", "a", "--tp", "4")
    ]


def test_arms_say_how_they_are_reached() -> None:
    first, second = launches(f"if [ $1 = mtp ]; then\n{SERVER} --a\nelse\n{SERVER} --b\nfi")
    assert first.conditions == ("line 1: `if` taken",) and first.line == 2
    assert second.conditions == ("line 1: `if` not taken",) and second.line == 4


def test_an_arm_that_the_values_rule_out_sets_nothing() -> None:
    script = f"D=''\nARGS='--model-path m'\nif [ -n \"$D\" ]; then ARGS=\"$ARGS --draft $D\"; fi\n{SERVER} $ARGS"
    assert arguments(script) == [("--model-path", "m")]


def test_a_test_on_an_unknown_variable_settles_it() -> None:
    (first, second) = launches(f'if [ "$ALGO" = EAGLE ]; then :; else ALGO=NEXTN; fi\n{SERVER} --algo $ALGO')
    assert {first.argv[-1], second.argv[-1]} == {"EAGLE", "NEXTN"}


def test_environment_is_what_is_exported() -> None:
    (launch,) = launches(f"A=1\nexport B=2 C=3\nexport A\nD=4\ndeclare -x E=5\nexport -n C\nF=6 {SERVER} --a")
    assert launch.env == {"A": "1", "B": "2", "E": "5", "F": "6"}


def test_a_prefix_lasts_for_one_command() -> None:
    first, second = launches(f"f() {{ {SERVER} --x $1; }}\nA=1 f a\nf b")
    assert first.env == {"A": "1"} and second.env == {}


def test_single_quotes_keep_variables_for_the_inner_shell() -> None:
    (launch,) = launches(f"M=outer; export N=inner; bash -c '{SERVER} --model-path $M --n $N'")
    assert launch.argv == ("--model-path", "${M}", "--n", "inner")


def test_a_search_path_is_no_open_question() -> None:
    (launch,) = launches(f"export PATH=/opt/bin:$PATH\n{SERVER} --a")
    assert launch.unresolved == () and launch.env == {}


def test_line_of_an_array_and_of_a_wrapped_command() -> None:
    (launch,) = launches(f'A=(\n  {SERVER}\n  --a\n)\nnohup "${{A[@]}}" &')
    assert launch.line == 2
    (launch,) = launches(f"\nA=1 nohup \\\n  {SERVER} --a")
    assert launch.line == 2


def test_state_does_not_explode() -> None:
    tests = "\n".join(f"if [ $X{n} = 1 ]; then A{n}=1; else A{n}=2; fi" for n in range(60))
    assert 0 < len(launches(f"{tests}\n{SERVER} --a $A1 $A59")) <= 16


def test_growth_is_bounded() -> None:
    doubling = "A=x\n" + "A=$A$A\n" * 60
    assert len(launches(f"{doubling}{SERVER} --model-path $A")) == 1
    assert len(launches(f"f() {{ f; f; }}\nf\n{SERVER} --a")) <= 1


def test_sourced_file(tmp_path: Path) -> None:
    (tmp_path / "env.sh").write_text("export M=/models/x\nTP=4\n")
    script = tmp_path / "run.sh"
    text = f'source "$(dirname "${{BASH_SOURCE[0]}}")/env.sh"\n{SERVER} --model-path $M --tp $TP\n'
    context = Context(Files([tmp_path]), "run.sh", script, source="shell")
    read_shell(Text.of_file(text), context)
    assert context.launches[0].argv == ("--model-path", "/models/x", "--tp", "4")


def test_values() -> None:
    assert calculated(" 2 * (3 + 4) ") == 14 and calculated("-7 / 2") == -3 and calculated("-7 % 2") == -1
    assert calculated("x") is None and calculated("9 ** 9") is None and calculated("1 / 0") is None
    assert calculated("9" * 300) is None and calculated("(" * 150) is None
    assert matches("abc", "a*c") and not matches("abc", "b*") and matches("x1", "x[0-9]")
    assert without_prefix("aXbX", "*X", longest=False) == "bX" and without_suffix("aXbX", "X*", longest=True) == "a"
    assert replaced("a.b", ".", "-", "//") == "a-b" and replaced("aa", "a", "b", "/#") == "ba"
