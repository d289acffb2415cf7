"""torch.cuda: device questions, answered from the GPU profile (CUDA and ROCm alike)."""

from mtp_trace_host import gpu, unknown


def is_available():
    return gpu.kind == "cuda" or gpu.kind == "hip"


def _required():
    if not is_available():
        raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU.")


def device_count():
    return gpu.count if is_available() else 0


def current_device():
    _required()
    return 0


def get_device_capability(device=None):
    _required()
    return gpu.capability


def get_device_name(device=None):
    _required()
    return gpu.device_name


class _Properties:
    def __init__(self):
        self.name = gpu.device_name
        self.major = gpu.capability[0]
        self.minor = gpu.capability[1]
        self.total_memory = gpu.memory_mib * 1024 * 1024
        self.gcnArchName = gpu.arch if gpu.arch is not None else ""
        self.multi_processor_count = unknown("gpu.multi_processor_count", "the GPU's processor count is not modelled")
        self.is_integrated = False
        self.warp_size = 32 if gpu.kind == "cuda" else 64
        self.shared_memory_per_multiprocessor = unknown("gpu.shared_memory", "the GPU's shared memory is not modelled")


def get_device_properties(device=None):
    _required()
    return _Properties()


def mem_get_info(device=None):
    _required()
    total = gpu.memory_mib * 1024 * 1024
    return (total, total)


def is_initialized():
    return False


def set_device(device):
    return None


def synchronize(device=None):
    return None


def empty_cache():
    return None


def is_bf16_supported(including_emulation=True):
    return gpu.kind == "hip" or gpu.capability >= (8, 0)


def _get_nvml_device_index(device):
    return 0
