"""vllm.model_executor.layers.quantization.marlin."""

from mtp_trace_host import symbol
from vllm.model_executor.layers.quantization import QuantizationConfig


class MarlinConfig(QuantizationConfig):
    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        packed = hf_quant_cfg.get("checkpoint_format") == "marlin" or hf_quant_cfg.get("is_marlin_format", False)
        return "marlin" if packed and user_quant in (None, "gptq", "marlin") else None


def __getattr__(name):
    return symbol("vllm.model_executor.layers.quantization.marlin." + name)
