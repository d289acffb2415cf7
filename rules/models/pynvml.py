"""pynvml: what the driver says of the GPUs, from the profile; no confidential computing."""

from mtp_trace_host import gpu


class NVMLError(Exception):
    pass


class NVMLError_NotSupported(NVMLError):
    pass


def nvmlInit():
    if gpu.kind != "cuda":
        raise NVMLError("Driver Not Loaded")


def nvmlShutdown():
    return None


def nvmlDeviceGetCount():
    return gpu.count


def nvmlDeviceGetHandleByIndex(index):
    return index


def nvmlDeviceGetCudaComputeCapability(handle):
    return gpu.capability


def nvmlDeviceGetName(handle):
    return gpu.device_name


def nvmlSystemGetConfComputeSettings(settings):
    raise NVMLError_NotSupported("Not Supported")


def nvmlSystemGetConfComputeState():
    raise NVMLError_NotSupported("Not Supported")
