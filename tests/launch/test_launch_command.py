"""One command, as a string or as words."""

from __future__ import annotations

import pytest

from mtp_trace.errors import LaunchError
from mtp_trace.launch.command import parse_command

ARGUMENTS = ("--model-path", "M", "--tp", "2")


@pytest.mark.parametrize(
    "command",
    [
        "python -m sglang.launch_server --model-path M --tp 2",
        "python3.11 -u -W ignore -m sglang.launch_server --model-path M --tp 2",
        "/opt/venv/bin/python3 -msglang.launch_server --model-path M --tp 2",
        "sglang serve --model-path M --tp 2",
        "sglang serve M --tp 2",
        "sglang serve --model-type llm --model-path M --tp 2",
        "python -m sglang serve --model-path M --tp 2",
        "python -m sglang.cli.main serve --model-path M --tp 2",
        "python3 /sgl-workspace/python/sglang/launch_server.py --model-path M --tp 2",
        "--model-path M --tp 2",
        "$ python -m sglang.launch_server --model-path M --tp 2",
        "python -m sglang.launch_server \\\n  --model-path M \\\n  --tp 2\n",
        "python -m sglang.launch_server --model-path 'M' --tp \"2\" > log 2>&1 &",
        "python -m sglang.launch_server --model-path M --tp 2 | tee -a server.log",
        "python -m sglang.launch_server --model-path M --tp 2 >>log 2>>err </dev/null",
        "exec nohup python -m sglang.launch_server --model-path M --tp 2",
        "time python -m sglang.launch_server --model-path M --tp 2",
        "numactl --cpunodebind 0 -m 0 --interleave=all python -m sglang.launch_server --model-path M --tp 2",
        "taskset -c 0-15 python -m sglang.launch_server --model-path M --tp 2",
        "nice -n 5 ionice -c 2 -n 0 stdbuf -oL -eL python -m sglang.launch_server --model-path M --tp 2",
        "timeout --signal=KILL 1h python -m sglang.launch_server --model-path M --tp 2",
        "timeout -k 5 3600 python -m sglang.launch_server --model-path M --tp 2",
        "sudo -E python -m sglang.launch_server --model-path M --tp 2",
        "sudo -u sglang -H python -m sglang.launch_server --model-path M --tp 2",
        "torchrun --nproc_per_node 1 -m sglang.launch_server --model-path M --tp 2",
        "python -m torch.distributed.run --nproc-per-node 1 -m sglang.launch_server --model-path M --tp 2",
        "python -m debugpy --listen 5678 -m sglang.launch_server --model-path M --tp 2",
        "nsys profile -o out --trace-fork-before-exec=true python -m sglang.launch_server --model-path M --tp 2",
        "srun -N 1 --gpus-per-node=8 python -m sglang.launch_server --model-path M --tp 2",
        "bash -c 'python -m sglang.launch_server --model-path M --tp 2'",
        'bash -lc "cd /x && source venv/bin/activate && exec python -m sglang.launch_server --model-path M --tp 2"',
        "docker run --gpus all -it -p 1:1 -v a:b --ipc=host img python3 -m sglang.launch_server --model-path M --tp 2",
        "docker container run --entrypoint python3 img -m sglang.launch_server --model-path M --tp 2",
        "docker run lmsysorg/sglang:latest --model-path M --tp 2",
        "docker exec -it box bash -c 'python -m sglang.launch_server --model-path M --tp 2'",
        "podman run --device nvidia.com/gpu=all img sglang serve M --tp 2",
        "uv run --with sglang python -m sglang.launch_server --model-path M --tp 2",
        "conda run -n sgl --no-capture-output python -m sglang.launch_server --model-path M --tp 2",
        "ssh -p 22 host python -m sglang.launch_server --model-path M --tp 2",
        "ssh host 'cd /x; python -m sglang.launch_server --model-path M --tp 2'",
        "kubectl exec -it pod -c main -- python -m sglang.launch_server --model-path M --tp 2",
        "tmux new-session -d -s x 'python -m sglang.launch_server --model-path M --tp 2'",
        "some-unknown-wrapper --flag python -m sglang.launch_server --model-path M --tp 2",
        "${PYTHON:-python3} -m sglang.launch_server --model-path M --tp 2",
        "$PYTHON -m sglang.launch_server --model-path M --tp 2",
        "eval 'python -m sglang.launch_server --model-path M --tp 2'",
        "python -m sglang.bench_one_batch --batch-size 1 4 16 --model-path M --input-len 128 --tp 2 --run-name=x",
        "python -m sglang.bench_offline_throughput --model-path M --tp 2 --num-prompts 10",
        "python -m dynamo.sglang --model-path M --tp 2 --migration-limit 3",
    ],
)
def test_forms_of_one_launch(command: str) -> None:
    assert parse_command(command).argv == ARGUMENTS


@pytest.mark.parametrize(
    ("command", "env"),
    [
        ("A=1 B='x y' python -m sglang.launch_server --model-path M", {"A": "1", "B": "x y"}),
        ("env -u Z A=1 python -m sglang.launch_server --model-path M", {"A": "1"}),
        ("A=1 env B=2 nohup python -m sglang.launch_server --model-path M", {"A": "1", "B": "2"}),
        ("export A=1; python -m sglang.launch_server --model-path M", {"A": "1"}),
        ("A=1; python -m sglang.launch_server --model-path M", {}),
        ("sudo A=1 python -m sglang.launch_server --model-path M", {"A": "1"}),
        ("export A=1 && sudo -E python -m sglang.launch_server --model-path M", {"A": "1"}),
        ("A=1 docker run -e B=2 --env=C=3 -eD=4 img python -m sglang.launch_server --model-path M",
         {"B": "2", "C": "3", "D": "4"}),
        ("A=1 docker run -e A img python -m sglang.launch_server --model-path M", {"A": "1"}),
        ("bash -c 'export A=1; B=2 python -m sglang.launch_server --model-path M'", {"A": "1", "B": "2"}),
        ("srun --export=ALL,A=1 python -m sglang.launch_server --model-path M", {"A": "1"}),
    ],
)  # fmt: skip
def test_environment(command: str, env: dict[str, str]) -> None:
    launch = parse_command(command)
    assert launch.env == env
    assert launch.argv == ("--model-path", "M")


def test_what_is_not_known_is_named() -> None:
    launch = parse_command(
        'python -m sglang.launch_server --model-path $M/x --tp ${T} --host $(hostname -i) $MORE "$@"'
    )
    assert launch.argv == ("--model-path", "${M}/x", "--tp", "${T}", "--host", "$(hostname -i)")
    assert launch.unresolved == ("M", "T", "$(hostname -i)", "MORE", "@")
    assert launch.unresolved_at == (1, 3, 5)


def test_words_are_taken_as_they_are() -> None:
    launch = parse_command(
        ["python3", "-m", "sglang.launch_server", "--model-path", "a b", "--x", "$HOME", "{}", "'q'"]
    )
    assert launch.argv == ("--model-path", "a b", "--x", "$HOME", "{}", "'q'")
    assert parse_command(["--model-path", "M", "--tp", "2"]).argv == ARGUMENTS
    assert parse_command(["env", "A=1", "sglang", "serve", "M", "--tp", "2"]).env == {"A": "1"}


def test_quotes_and_json() -> None:
    command = """python -m sglang.launch_server --model-path M --json-model-override-args '{"a": {"b": [1, 2]}}'"""
    assert parse_command(command).argv[-1] == '{"a": {"b": [1, 2]}}'


def test_slurm_request_is_a_gpu() -> None:
    launch = parse_command("srun --gres=gpu:h200:4 -n1 python -m sglang.launch_server --model-path M")
    assert (launch.gpu, launch.gpu_count) == ("h200", 4)


def test_sudo_without_environment_says_so() -> None:
    launch = parse_command("export A=1; sudo python -m sglang.launch_server --model-path M")
    assert launch.env == {}
    assert "sudo does not pass on A" in launch.notes


@pytest.mark.parametrize(
    "command",
    [
        "python -m sglang.launch_server --model-path 'M",
        'python -m sglang.launch_server --model-path "M',
        "python -m sglang.launch_server --model-path $(cat x",
        "python -m sglang.launch_server --model-path ${M",
        "python -m sglang.launch_server --model-path A; python -m sglang.launch_server --model-path B",
        "sglang serve A & sglang serve B",
        "for t in 1 2; do sglang serve A --tp $t; done",
        "",
        "  \n ",
        "python -m sglang.check_env",
        "python -m sglang.launch_server --help",
        "python -m sglang.bench_serving --backend sglang",
        "python -m sglang_router.launch_server --model-path M",
        "python -m sglang.bench_one_batch_server --model-path none --base-url http://x",
        "python -c 'import sglang'",
        "sglang version",
        "sglang serve --model-type diffusion --model-path M",
        "pip install sglang",
        "echo python -m sglang.launch_server --model-path M",
        "# python -m sglang.launch_server --model-path M",
        "pkill -f sglang.launch_server",
        "docker pull lmsysorg/sglang",
        "docker run vllm/vllm-openai --model-path M",
        "ls",
    ],
)  # fmt: skip
def test_no_single_launch(command: str) -> None:
    with pytest.raises(LaunchError) as caught:
        parse_command(command)
    assert caught.value.what and caught.value.where == "--launch" and caught.value.hint


def test_no_words() -> None:
    with pytest.raises(LaunchError):
        parse_command([])
