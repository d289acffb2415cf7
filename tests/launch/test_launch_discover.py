"""Walking folders, and refusing what must not be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from mtp_trace.errors import LaunchError
from mtp_trace.launch.discover import find_launches
from mtp_trace.launch.kinds import Kind, kind_of
from mtp_trace.launch.launchers import launchers
from mtp_trace.launch.yaml_nodes import YamlError, native, read_documents
from mtp_trace.rules.data import data_root

COMMAND = "python -m sglang.launch_server --model-path m\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_missing_path() -> None:
    with pytest.raises(LaunchError) as caught:
        find_launches([Path("/no/such/path")])
    assert caught.value.where == "/no/such/path"


def test_walk_is_bounded_and_stays_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root / "a.sh", COMMAND)
    write(root / ".git" / "hook.sh", COMMAND)
    write(root / "node_modules" / "x.sh", COMMAND)
    outside = write(tmp_path / "outside" / "b.sh", COMMAND)
    (root / "link.sh").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    (root / "loop").symlink_to(root)
    (root / "again.sh").symlink_to(root / "a.sh")
    (root / "dangling.sh").symlink_to(root / "nowhere")
    os.mkfifo(root / "pipe.sh")
    (root / "binary.sh").write_bytes(b"#!/bin/sh\n\0" + COMMAND.encode())
    (root / "large.sh").write_bytes(COMMAND.encode() + b"#" * (2 * 1024 * 1024 + 1))
    (root / "latin.sh").write_bytes(b"# \xe9\n" + COMMAND.encode())
    launches, notes = find_launches([root])
    assert [Path(launch.file).name for launch in launches] == ["a.sh", "latin.sh"]
    assert {(Path(note.file).name, note.text) for note in notes} == {
        ("binary.sh", "not a text file: not read"),
        ("large.sh", "larger than 2 MiB: not read"),
    }


def test_a_pipe_that_is_given_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    launches, notes = find_launches([tmp_path / "pipe"])
    assert not launches and "not a file" in notes[0].text


def test_deep_folders(tmp_path: Path) -> None:
    write(tmp_path.joinpath(*["d"] * 40, "a.sh"), COMMAND)
    launches, notes = find_launches([tmp_path])
    assert not launches and "deeper" in notes[0].text


def test_a_file_twice_is_read_once(tmp_path: Path) -> None:
    script = write(tmp_path / "a.sh", COMMAND)
    assert len(find_launches([tmp_path, script, tmp_path])[0]) == 1


def test_a_file_without_a_telling_name_is_a_script_if_it_is_given(tmp_path: Path) -> None:
    plain = write(tmp_path / "command.txt", COMMAND)
    assert len(find_launches([plain])[0]) == 1
    assert not find_launches([tmp_path])[0]
    assert not find_launches([write(tmp_path / "README.md", COMMAND)])[0]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("run.sh", "sglang", Kind.SHELL),
        ("run", "#!/usr/bin/env bash\nsglang", Kind.SHELL),
        ("run", "#!/bin/sh\nsglang", Kind.SHELL),
        ("run", "#!/usr/bin/env python3\nsglang", None),
        ("run", "sglang", None),
        ("run.sh.j2", "sglang", Kind.SHELL),
        ("job.sbatch", "sglang", Kind.SHELL),
        ("Dockerfile", "FROM sglang", Kind.DOCKERFILE),
        ("Dockerfile.cuda", "FROM sglang", Kind.DOCKERFILE),
        ("image", "FROM sglang\nCMD x", Kind.DOCKERFILE),
        ("x.service", "sglang", Kind.SYSTEMD),
        ("unit", "[Service]\nExecStart=/bin/sglang", Kind.SYSTEMD),
        ("a.service.d/x.conf", "sglang", Kind.SYSTEMD),
        ("nginx.conf", "sglang", None),
        ("x.yaml", "sglang", Kind.YAML),
        ("x.yaml", "model-path: x", Kind.YAML),
        ("x.yaml", "a: 1", None),
        ("x.json", '{"image": "sglang"}', Kind.YAML),
        ("x.py", "sglang", None),
        ("x.md", "sglang", None),
        ("run.sh", "nothing here", None),
    ],
)
def test_kinds(name: str, text: str, kind: Kind | None) -> None:
    assert kind_of(name, text, launchers()) is kind


def test_json_manifest(tmp_path: Path) -> None:
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c",\n'
    pod += '"command": ["sglang", "serve", "m"]}]}}'
    (launch,) = find_launches([write(tmp_path / "pod.json", pod)])[0]
    assert (launch.line, launch.name, launch.source) == (2, "Pod/p/c", "kubernetes")


def test_environment_file_below_the_audited_folder(tmp_path: Path) -> None:
    unit = (
        "[Service]\nEnvironmentFile=/etc/default/sglang-test-only\nExecStart=/usr/bin/sglang serve --model-path ${M}\n"
    )
    write(tmp_path / "units" / "x.service", unit)
    write(tmp_path / "etc" / "default" / "sglang-test-only", "M=/models/a\n")
    (launch,) = find_launches([tmp_path])[0]
    assert launch.argv == ("--model-path", "/models/a")


def test_drop_in_makes_a_server_of_another_unit(tmp_path: Path) -> None:
    write(tmp_path / "llm.service", "[Service]\nEnvironment=A=1\nExecStart=/usr/bin/vllm serve m\n")
    write(tmp_path / "llm.service.d" / "a.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/sglang serve m\n")
    (launch,) = find_launches([tmp_path])[0]
    assert (Path(launch.file).name, launch.line, launch.env) == ("a.conf", 3, {"A": "1"})


def test_script_that_another_one_calls(tmp_path: Path) -> None:
    write(
        tmp_path / "bin" / "serve.sh", "#SBATCH --gres=gpu:h100:4\nsglang serve --model-path $1 --tp ${TP:-1} $EXTRA\n"
    )
    write(
        tmp_path / "run.sh",
        'export TP=4 EXTRA="--port 1"\nbash "$(dirname "$0")/bin/serve.sh" m\nsbatch bin/serve.sh n\n',
    )
    first, second = find_launches([tmp_path])[0]
    assert first.argv == ("--model-path", "m", "--tp", "4", "--port", "1") and second.argv[1] == "n"
    assert Path(first.file).name == "serve.sh" and first.line == 2 and (first.gpu, first.gpu_count) == ("h100", 4)
    assert first.conditions == (f"called from {tmp_path / 'run.sh'}:2",)
    assert second.conditions == (f"called from {tmp_path / 'run.sh'}:3",)


def test_script_that_a_unit_starts(tmp_path: Path) -> None:
    write(tmp_path / "start.sh", "#!/bin/sh\nexec sglang serve --model-path $MODEL\n")
    write(tmp_path / "x.service", "[Service]\nEnvironment=MODEL=m A=sglang\nExecStart=/start.sh\n")
    (launch,) = find_launches([tmp_path])[0]
    assert launch.argv == ("--model-path", "m") and launch.env == {"MODEL": "m", "A": "sglang"}
    assert launch.source == "shell"


def test_named_files_that_are_none(tmp_path: Path) -> None:
    names = ["/proc/kmsg", "/dev/zero", "//etc//", "/", ".", "..", "x" * 5000, "a\\0b"]
    text = "".join(f"source {name}\n" for name in names) + COMMAND
    assert len(find_launches([write(tmp_path / "run.sh", text)])[0]) == 1


def test_template_of_a_script(tmp_path: Path) -> None:
    text = "{% if x %}\nsglang serve --model-path {{ model }} --tp {{ tp | default(8) }}\n{% endif %}\n"
    (launch,) = find_launches([write(tmp_path / "run.sh.j2", text)])[0]
    assert (launch.line, launch.argv) == (2, ("--model-path", "{{ model }}", "--tp", "{{ tp | default(8) }}"))


def test_configuration_that_a_script_writes_is_part_of_its_launch(tmp_path: Path) -> None:
    text = "cat > /tmp/c.yaml <<EOF\nmodel-path: a # sglang\ntp: 2\nEOF\nsglang serve --config /tmp/c.yaml --port 1\n"
    (launch,) = find_launches([write(tmp_path / "run.sh", text)])[0]
    assert (launch.line, launch.argv) == (5, ("--model-path", "a", "--tp", "2", "--port", "1"))


def test_script_of_a_workflow(tmp_path: Path) -> None:
    text = "kind: Workflow\nspec:\n  templates:\n  - name: t\n    script:\n      image: sglang\n"
    text += "      command: [bash]\n      source: |\n        sglang serve m --tp 2\n"
    (launch,) = find_launches([write(tmp_path / "w.yaml", text)])[0]
    assert (launch.line, launch.argv) == (9, ("--model-path", "m", "--tp", "2"))


def test_malformed_files_are_notes(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "sglang: [")
    write(tmp_path / "b.yaml", "sglang: " + "[" * 100 + "]" * 100)
    write(tmp_path / "c.sh", "sglang serve 'm")
    write(tmp_path / "d.yaml", "sglang: *nothing")
    launches, notes = find_launches([tmp_path])
    assert not launches
    assert [Path(note.file).name for note in notes] == ["a.yaml", "b.yaml", "d.yaml", "c.sh"]
    assert all(note.line in (1, 2) for note in notes)


def test_yaml_bounds() -> None:
    laughs = "a: &a [x, x]\n" + "".join(f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'}, *{'a' if n == 0 else f'k{n - 1}'}]\n" for n in range(40))  # fmt: skip  # noqa: E501
    with pytest.raises(YamlError, match="aliases"):
        read_documents(laughs)
    with pytest.raises(YamlError, match="no anchor"):
        read_documents("a: &a [*a]")
    with pytest.raises(YamlError, match="levels"):
        read_documents("[" * 80)
    with pytest.raises(YamlError):
        read_documents("a: !!python/object/apply:os.system [x]\n- b")


def test_yaml_values_are_as_the_safe_loader_makes_them() -> None:
    text = "a: 1\nb: 1.5\nc: yes\nd: null\ne: '1'\nf: 0x10\ng: 2024-01-01\nh: [1, x]\n"
    text += "i: {<<: {j: 1}, k: 2}\nl: 1e3\nm: 12:30\n"
    assert native(read_documents(text)[0]) == yaml.safe_load(text)


def test_profiles_of_the_table_exist() -> None:
    profiles = yaml.safe_load((data_root() / "gpus.yaml").read_text(encoding="utf-8"))["gpus"]
    assert {profile for _, profile in launchers().gpu_products} <= set(profiles)
