"""vllm.model_executor.layers.quantization.gptq_marlin_24."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class GPTQMarlin24Config(QuantizationConfig):
    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        if hf_quant_cfg.get("checkpoint_format") == "marlin_24" and user_quant in (None, "gptq", "gptq_marlin_24"):
            return "gptq_marlin_24"
        return None


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.gptq_marlin_24." + name)
