"""compressed_tensors.config."""

from enum import Enum


class CompressionFormat(str, Enum):
    dense = "dense"
    sparse_bitmask = "sparse-bitmask"
    sparse_24_bitmask = "sparse-24-bitmask"
    int_quantized = "int-quantized"
    float_quantized = "float-quantized"
    naive_quantized = "naive-quantized"
    pack_quantized = "pack-quantized"
    marlin_24 = "marlin-24"
    mixed_precision = "mixed-precision"
    nvfp4_pack_quantized = "nvfp4-pack-quantized"
    mxfp4_pack_quantized = "mxfp4-pack-quantized"


class SparsityStructure(str, Enum):
    TWO_FOUR = "2:4"
    UNSTRUCTURED = "unstructured"
    ZERO_ZERO = "0:0"


class SparsityCompressionConfig:
    def __init__(self, **kwargs):
        self.format = kwargs.get("format")
        self.targets = kwargs.get("targets")
        self.ignore = kwargs.get("ignore")
        self.global_sparsity = kwargs.get("global_sparsity", 0.0)
        self.sparsity_structure = kwargs.get("sparsity_structure", "unstructured")

    @classmethod
    def model_validate(cls, value):
        return cls(**value)
