"""vllm.model_executor.layers.quantization.qqq."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class QQQConfig(QuantizationConfig):
    pass


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.qqq." + name)
