"""compressed_tensors: the names that a quantization config is read with."""

from compressed_tensors.config import CompressionFormat, SparsityCompressionConfig, SparsityStructure
from compressed_tensors.quantization import ActivationOrdering, QuantizationArgs, QuantizationStrategy, QuantizationType
