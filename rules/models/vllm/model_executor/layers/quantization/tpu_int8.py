"""vllm.model_executor.layers.quantization.tpu_int8."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class Int8TpuConfig(QuantizationConfig):
    pass


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.tpu_int8." + name)
