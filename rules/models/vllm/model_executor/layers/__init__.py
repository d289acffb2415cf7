"""vllm.model_executor.layers"""

from mtp_trace_host import symbol


def __getattr__(name):
    return symbol("vllm.model_executor.layers." + name)
