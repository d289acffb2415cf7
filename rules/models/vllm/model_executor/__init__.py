"""vllm.model_executor"""

from mtp_trace_host import symbol


def __getattr__(name):
    return symbol("vllm.model_executor." + name)
