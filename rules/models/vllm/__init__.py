"""vllm, as far as reading a quantization config asks it (sources: the package's own releases 0.6 to 0.9)."""

from mtp_trace_host import symbol


def __getattr__(name):
    return symbol("vllm." + name)
