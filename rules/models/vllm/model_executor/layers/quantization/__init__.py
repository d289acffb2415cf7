"""vllm.model_executor.layers.quantization."""

from mtp_trace_host import symbol


class QuantizationConfig:
    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        return None


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization." + name)
