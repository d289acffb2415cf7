"""vllm.model_executor.layers.quantization.bitsandbytes."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class BitsAndBytesConfig(QuantizationConfig):
    pass


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.bitsandbytes." + name)
