"""The fleet file: the deployments that an upgrade must not break.  ``docs/upgrade-gate.md`` describes it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_trace.errors import CheckpointError, LaunchError
from mtp_trace.launch.command import parse_command
from mtp_trace.launch.model_map import ModelMap, find_model
from mtp_trace.rules.document import Value, read_document
from mtp_trace.verdict.case import Case

if TYPE_CHECKING:
    from mtp_trace.launch.model import Launch
    from mtp_trace.rules.document import Mapping

SCHEMA = 1


def read_fleet(path: Path, gpu: str | None = None, gpu_count: int | None = None) -> list[Case]:
    """The deployments of a fleet file; ``gpu`` is for those that name none.

    Raises InputError naming file, line and key.
    """
    if os.path.isfile(path) and not path.read_bytes().strip():
        raise LaunchError("the file is empty", f"{path}:1", "a fleet file holds 'schema: 1' and 'deployments:'")
    top = read_document(path).mapping()
    schema = top.need("schema")
    if schema.integer() != SCHEMA:
        schema.place.fail(f"schema {schema.integer()} is not known", f"this program reads schema {SCHEMA}")
    reader = _Reader(path, top.get("defaults"), top.get("models"), gpu, gpu_count)
    listed = top.need("deployments")
    top.finish()
    cases: list[Case] = []
    lines: dict[str, int] = {}
    for item in listed.items():
        case = reader.deployment(item)
        if case.id in lines:
            item.place.fail(f"the id {case.id!r} is taken", f"first in line {lines[case.id]}")
        lines[case.id] = item.place.line
        cases.append(case)
    if not cases:
        listed.place.fail("the list is empty", "a deployment has an id, and argv or command")
    return cases


class _Reader:
    """Reads deployments with what the file says of all of them."""

    def __init__(
        self, path: Path, defaults: Value | None, models: Value | None, gpu: str | None, gpu_count: int | None
    ) -> None:
        self.folder, self.file = path.parent, path
        self.gpu, self.gpu_count, self.env = gpu, gpu_count, dict[str, str]()
        if defaults is not None:
            m = defaults.mapping()
            self.gpu, self.gpu_count = self._gpu(m, gpu, gpu_count)
            self.env = _variables(m.get("env"))
            m.finish()
        self.models = self._models(models)

    def deployment(self, item: Value) -> Case:
        """One entry of the list."""
        m = item.mapping()
        name = m.need("id").text()
        argv, command = m.get("argv"), m.get("command")
        model, env = m.get("model"), _variables(m.get("env"))
        if (argv is None) == (command is None):
            item.place.fail("a deployment needs argv or command, one of them")
        given = argv or command
        assert given is not None
        launch = self._launch(given, is_list=argv is not None)
        gpu, count = self._gpu(m, launch.gpu or self.gpu, launch.gpu_count or self.gpu_count)
        m.finish()
        variables = {**self.env, **launch.env, **env}
        place = self._model(launch, model, given)
        return Case(name, launch.argv, variables, gpu, count, place)

    def _launch(self, value: Value, is_list: bool) -> Launch:
        words = [_word(part) for part in value.items()] if is_list else value.text()
        where = f"{value.place.file}:{value.place.line}: {value.place.path}"
        launch = parse_command(words, where, near=self.file)
        if launch.unresolved_at:
            names = ", ".join(launch.unresolved) or launch.argv[launch.unresolved_at[0]]
            value.place.fail(f"the command leaves {names} open", "write the value out: a gate judges what is written")
        return replace(launch, argv=tuple(launch.argv))

    def _model(self, launch: Launch, model: Value | None, given: Value) -> str | None:
        """Where the model is here: as the deployment says, by the file's map, or at the path that is launched."""
        from mtp_trace.checkpoint.folder import ModelFolder

        if model is not None:
            place, asked = self._path(model.text()), model
        else:
            named = find_model(launch.argv)
            if named is None:
                given.place.fail("the launch names no model", "add --model-path, or a 'model' key")
            place, asked = self.models.apply(named.value) or self._path(named.value), given
        try:
            ModelFolder.open(place)
        except CheckpointError as error:
            asked.place.fail(
                f"the model {place}: {error.what}", "say where its config.json is: 'model' here, or 'models' for all"
            )
        return place

    def _models(self, value: Value | None) -> ModelMap:
        if value is None:
            return ModelMap()
        return ModelMap(tuple((key.rstrip("/") or "/", self._path(new.text())) for key, new in value.mapping()))

    def _path(self, text: str) -> str:
        """A path beside the fleet file; what is not there stays as written (a name in the local model cache)."""
        beside = self.folder / Path(text).expanduser()
        return os.path.abspath(beside) if os.path.exists(beside) else text

    def _gpu(self, m: Mapping, gpu: str | None, count: int | None) -> tuple[str | None, int | None]:
        from mtp_trace.launch.gpus import GpuTable
        from mtp_trace.rules.yamlfile import shipped

        named, number = m.get("gpu"), m.get("gpu_count")
        if named is not None:
            try:
                GpuTable(shipped("gpus.yaml")).find(named.text())
            except LaunchError as error:
                named.place.fail(error.what, error.hint)
            gpu = named.text()
        if number is not None:
            count = number.integer()
            if count < 1:
                number.place.fail("there must be at least one GPU")
        return gpu, count


def _word(value: Value) -> str:
    found = value.scalar()
    if isinstance(found, bool) or found is None:
        value.place.fail("quote the word", f"write '{str(found).lower()}'")
    return str(found)


def _variables(value: Value | None) -> dict[str, str]:
    """Variables as text; a number is taken as written, a truth value must be quoted."""
    return {key: _word(item) for key, item in value.mapping()} if value is not None else {}
