"""A launch judged on the miniature, and the verdict held against what the miniature really does."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
from fuzz_real import Run, really_run

from mtp_trace.checkpoint.folder import ModelFolder
from mtp_trace.report.formats import Format, RenderOptions, render_check
from mtp_trace.report.model import Report, Verdict
from mtp_trace.source import open_tree
from mtp_trace.verdict.case import model_path_of
from mtp_trace.verdict.session import Session

ROOT = Path(__file__).resolve().parents[2]
MINIATURE = ROOT / "fixtures" / "demo" / "sglang"
DEMO_MODEL = ROOT / "fixtures" / "demo" / "model"
GPUS = {"h200": 9, "b200": 10}
# What transformers adds to any configuration, of what the miniature reads.
_DEFAULTS = {"num_hidden_layers": 32, "architectures": None}
# Whatever else a server does, with these verdicts it comes through all the stages.
_STARTS = (Verdict.ACTIVE, Verdict.DEGRADED, Verdict.INACTIVE)


@functools.cache
def miniature() -> Session:
    """One session on the sound miniature, shared by all inputs of a process."""
    return Session(open_tree(str(MINIATURE)))


@functools.cache
def _schema() -> Any:
    return jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "report.schema.json").read_text()))


def well_formed(report: Report) -> None:
    """The report has the documented form, in every format there is."""
    options = RenderOptions(tool_version="0")
    _schema().validate(json.loads(render_check(report, Format.JSON, options)))
    for form in (Format.TERMINAL, Format.SARIF, Format.MARKDOWN):
        assert render_check(report, form, options).endswith("\n")
    assert msgspec.convert(msgspec.to_builtins(report), Report) == report
    assert (report.error is not None) == (report.verdict in (Verdict.STARTUP_ERROR, Verdict.UNDETERMINED))


def judged(
    session: Session, root: Path, argv: list[str], env: dict[str, str], gpu: str, model: ModelFolder,
    held: tuple[Verdict, ...] = (*_STARTS, Verdict.STARTUP_ERROR),
) -> Report:  # fmt: skip
    """The report on a launch. AssertionError where it is not well formed or not what the miniature really does.

    ``held`` are the verdicts that are held against what really happens.
    """
    report = session.check(argv, env, session.gpus.find(gpu), model)
    well_formed(report)
    if report.verdict in held:
        place = str(model.config_file if model.bare else model.path)
        named = model_path_of(argv)
        paths = {place} if named is None else {place, named}
        run = really_run(root, list(report.launch.argv), env, {**_DEFAULTS, **model.config}, paths, GPUS[gpu])
        disagreement = _compared(report, run)
        assert not disagreement, f"{report.verdict.value} {report.error or ''}, but really {disagreement}"
    return report


def _compared(report: Report, run: Run) -> str:
    if report.verdict is Verdict.STARTUP_ERROR:
        return "" if run.error or run.draft is None or run.draft not in run.registered else "it starts"
    if run.error:
        return "" if _beyond(report, run) else f"{run.error} at {run.stage}"
    for name, value in report.resolved.items():
        known = not (isinstance(value, dict) and "unknown" in value)
        if known and name in run.fields and not _same(value, run.fields[name]):
            return f"{name} is {run.fields[name]!r} and not {value!r}"
    if report.verdict is Verdict.INACTIVE:
        return "" if run.fields.get("speculative_algorithm") is None else "it speculates"
    if report.worker is not None and report.worker != run.worker:
        return f"the worker is {run.worker}"
    if run.draft is not None and report.draft is not None and report.draft.architecture != run.draft:
        return f"the draft is {run.draft}"
    if run.fields.get("speculative_algorithm") is None:
        return "it does not speculate"
    # A draft that is the target again is as registered as the target is, which is for the target to fail on.
    unregistered = report.verdict is Verdict.ACTIVE and run.draft is not None and run.draft not in run.registered
    return f"nothing exports {run.draft}" if unregistered else ""


def _beyond(report: Report, run: Run) -> bool:
    """Whether an error is one of which docs/design.md says, or the report itself, that it is not looked for.

    Modules are read when a name of theirs is used, and count as importable; what other packages hold, and make of odd
    arguments, is not known; a guard that fails by anything but an assertion is named among the assumptions.
    """
    unfollowed = any(a.what.endswith("stage attention") for a in report.assumptions)
    return run.importing or run.outside or (run.stage == "attention" and unfollowed)


def _same(told: Any, value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return isinstance(told, (list, tuple)) and [repr(x) for x in told] == [repr(x) for x in value]
    return repr(told) == repr(value) or not isinstance(value, (str, int, float, bool, type(None)))
