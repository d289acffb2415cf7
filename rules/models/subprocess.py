"""subprocess: the memory queries that resolution makes, answered from the GPU profile; anything else is unknown."""

from mtp_trace_host import gpu, unknown

PIPE = -1
STDOUT = -2
DEVNULL = -3


class SubprocessError(Exception):
    pass


class CalledProcessError(SubprocessError):
    pass


class TimeoutExpired(SubprocessError):
    pass


class CompletedProcess:
    def __init__(self, stdout):
        self.stdout = stdout
        self.stderr = ""
        self.returncode = 0


def _answer(command):
    words = command if isinstance(command, list) and len(command) > 1 else str(command[0] if isinstance(command, list) else command).split()
    program = words[0]
    if program == "nvidia-smi":
        if gpu.kind != "cuda":
            raise FileNotFoundError("nvidia-smi")
        if any("memory.total" in w for w in words):
            return f"{gpu.memory_mib}\n" * 8
        return unknown("nvidia-smi", "what nvidia-smi prints is not known")
    if program in ("rocminfo", "rocm-smi", "amd-smi") and gpu.kind != "hip":
        raise FileNotFoundError(program)
    if program == "rocminfo":
        return f"{gpu.memory_mib * 1024}\n" * 8
    return unknown(f"{program} output", f"what {program} prints is not known")


def run(command, *args, **kwargs):
    return CompletedProcess(_answer(command))


def check_output(command, *args, **kwargs):
    return _answer(command)


def check_call(command, *args, **kwargs):
    return 0
