"""vllm.model_executor.layers.quantization.deepspeedfp."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class DeepSpeedFPConfig(QuantizationConfig):
    pass


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.deepspeedfp." + name)
