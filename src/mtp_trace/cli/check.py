"""``mtp-trace check``: one launch on one tree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mtp_trace.cli.options import cache_for, environment, gpu_options, output_options, told_drift, tree_options, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.launch.model import Launch
    from mtp_trace.report.model import Report
    from mtp_trace.source import SourceTree
    from mtp_trace.verdict.case import Case
    from mtp_trace.verdict.remembered import Answer, Remembered
    from mtp_trace.verdict.session import Session

FORMATS = ("terminal", "json", "sarif", "junit", "github", "markdown")


@click.command(context_settings={"ignore_unknown_options": False})
@tree_options
@click.option(
    "--model",
    default=None,
    metavar="PATH",
    help="config.json, its folder, or ORG/NAME in the local Hugging Face cache.",
)
@click.option(
    "--launch",
    default=None,
    metavar="COMMAND",
    help='The command, as one string: "python -m sglang.launch_server ...".',
)
@click.option("--env", "pairs", multiple=True, metavar="K=V", help="Environment of the launch; may be repeated.")
@gpu_options
@click.option(
    "--rules", "rule_dirs", multiple=True, type=click.Path(), help="A folder of your own rules; may be repeated."
)
@click.option(
    "--also",
    multiple=True,
    metavar="TREE",
    help="Another tree; what is wrong says whether it is mended there. May be repeated.",
)
@click.option("--baseline", type=click.Path(dir_okay=False), default=None, help="Known findings to pass over.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "note", "never"]), default="error", show_default=True)
@click.option("--no-suggestion", is_flag=True, help="Do not search for a launch that works.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of parsed files.")
@output_options(FORMATS)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def check(
    sglang: str,
    ref: str | None,
    model: str | None,
    launch: str | None,
    pairs: tuple[str, ...],
    gpu: str | None,
    gpu_count: int | None,
    rule_dirs: tuple[str, ...],
    also: tuple[str, ...],
    baseline: str | None,
    fail_on: str,
    no_suggestion: bool,
    no_cache: bool,
    form: str,
    output: str | None,
    quiet: bool,
    arguments: tuple[str, ...],
) -> None:
    """Say whether speculative decoding will run, with file and line, and what to change.

    The launch is --launch "COMMAND", or SGLang's arguments after --, or only --model.

    \b
    mtp-trace check --sglang ./sglang --model ./Qwen3.5/config.json
    mtp-trace check --sglang 0.5.18 --model ./Qwen3.5 --gpu h200 -- --speculative-algorithm NEXTN --tp 8
    mtp-trace check --sglang ./sglang --ref v0.5.9 --gpu b200 --launch "python -m sglang.launch_server --model-path ./m"

    Exit status: 0 active, 1 not active or findings at --fail-on, 2 bad input, 3 undetermined or it depends.
    """
    from mtp_trace.checkpoint.folder import ModelFolder
    from mtp_trace.errors import LaunchError
    from mtp_trace.source import open_tree
    from mtp_trace.verdict.case import Case, model_path_of

    if launch is not None and arguments:
        raise LaunchError("both --launch and arguments after -- were given", "--launch", "give the launch once")
    found = _launch(launch, arguments)
    argv = list(found.argv) if found is not None else []
    env = {**(found.env if found is not None else {}), **environment(pairs)}
    if model is None:
        named = model_path_of(argv)
        if named is None:
            raise LaunchError("no model was given", "--model", "give --model PATH, or --model-path in the launch")
        model = named
    folder = ModelFolder.open(model)
    folder.require_architectures()
    tree = open_tree(sglang, ref)
    case = Case("", tuple(argv), env, gpu, gpu_count, str(folder.config_file if folder.bare else folder.path))
    memory = None if no_cache or also else _memory(tree, rule_dirs, no_suggestion)
    answer = memory.get(case) if memory is not None else None
    if answer is None:
        with _progress(quiet or form != "terminal"):
            answer = _judged(tree, case, folder, rule_dirs, no_suggestion, also, no_cache)
        if memory is not None:
            memory.put(case, answer)
    report = answer.report if baseline is None else _without_known(answer.report, baseline)
    write(render(tree, report, form, fail_on, quiet, output), output)
    sys.exit(_exit(report, fail_on) if not told_drift(answer.drift) else 3)


def _memory(tree: SourceTree, rule_dirs: tuple[str, ...], no_suggestion: bool) -> Remembered | None:
    """The answers kept for this tree under the rules and settings that are in force here."""
    from mtp_trace.verdict.remembered import Remembered, rules_state

    rules = rules_state(Path.cwd(), [Path(folder) for folder in rule_dirs])
    return None if rules is None else Remembered(tree, f"check\0{no_suggestion}\0{rules}")


def _judged(
    tree: SourceTree,
    case: Case,
    folder: ModelFolder,
    rule_dirs: tuple[str, ...],
    no_suggestion: bool,
    also: tuple[str, ...],
    no_cache: bool,
) -> Answer:
    """The launch traced, with what would mend it."""
    from mtp_trace.rules.loader import load_pack
    from mtp_trace.rules.settings import find_settings
    from mtp_trace.verdict.remembered import Answer
    from mtp_trace.verdict.session import Session

    pack = load_pack(rule_dirs, find_settings(Path.cwd()))

    def session_of(tree: SourceTree) -> Session:
        made = Session(tree, cache_for(no_cache), pack)
        made.weigher.estimating = True
        return made

    session = session_of(tree)
    card = session.gpus.find(case.gpu, case.gpu_count) if case.gpu else None
    argv, env = list(case.argv), dict(case.env)
    report = session.check(argv, env, card, folder)
    session.weigher.estimating = False  # of the launches that are tried out, only the verdict is asked
    if not no_suggestion:
        report = _with_suggestion(session, report, folder, card)
    if also:
        report = _with_mended(report, also, session_of, (argv, env, card, folder))
    return Answer(report, tuple(rule.id for rule in session.drift()))


def _launch(launch: str | None, arguments: tuple[str, ...]) -> Launch | None:
    """What is launched: a command to take apart, or SGLang's own arguments as they stand."""
    if launch is None and not arguments:
        return None
    if launch is None and arguments[0].startswith("-") and not any(a.startswith("--config") for a in arguments):
        from mtp_trace.launch.model import Launch

        return Launch(argv=arguments)
    from mtp_trace.launch.command import parse_command

    return parse_command(launch if launch is not None else list(arguments))


def render(tree: SourceTree, report: Report, form: str, fail_on: str, quiet: bool, output: str | None) -> str:
    """The report in the format asked for."""
    from mtp_trace import __version__
    from mtp_trace.report.exitcode import FailOn
    from mtp_trace.report.formats import Format, RenderOptions, render_check
    from mtp_trace.report.terminal_console import Screen, screen_for
    from mtp_trace.source.decode import source_lines

    screen = screen_for(sys.stdout) if output is None else Screen()
    options = RenderOptions(
        screen=screen, quiet=quiet, source_lines=source_lines(tree), fail_on=FailOn(fail_on), tool_version=__version__
    )
    return render_check(report, Format(form), options)


def _with_suggestion(session: Session, report: Report, model: Any, gpu: Any) -> Report:
    try:
        from mtp_trace.verdict.planner import with_suggestion
    except ImportError:
        return report
    return with_suggestion(session, report, model, gpu)


def _with_mended(
    report: Report, trees: tuple[str, ...], session_of: Callable[[SourceTree], Session], launch: tuple[Any, ...]
) -> Report:
    """The report with what the other trees say, judged by the same rules and as closely."""
    from mtp_trace.compare.mended import with_mended
    from mtp_trace.source import open_tree

    others = [(tree, session_of(open_tree(tree)).check(*launch)) for tree in trees]
    return with_mended(report, [(other.sglang.version or tree, other) for tree, other in others])


def _without_known(report: Report, path: str) -> Report:
    from datetime import date

    from mtp_trace.report.baseline import apply_baseline, load_baseline
    from mtp_trace.report.fingerprint import report_scope

    applied = apply_baseline(load_baseline(Path(path)), [(report_scope(report), report)], date.today())
    return applied.reports[0]


def _exit(report: Report, fail_on: str) -> int:
    from mtp_trace.report.exitcode import FailOn, exit_code

    return int(exit_code(report, FailOn(fail_on)))


class _progress:
    """A spinner on standard error while a cold tree is read, where somebody is there to see it."""

    def __init__(self, silent: bool) -> None:
        self._status: Any = None
        if not silent and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("reading the tree and following the launch ...")

    def __enter__(self) -> None:
        if self._status is not None:
            self._status.__enter__()

    def __exit__(self, *details: object) -> None:
        if self._status is not None:
            self._status.__exit__(*details)
