"""vllm.model_executor.layers.quantization.gguf."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class GGUFConfig(QuantizationConfig):
    pass


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.gguf." + name)
