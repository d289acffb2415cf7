"""compressed_tensors.quantization: QuantizationArgs as its validators leave it."""

from enum import Enum


class QuantizationType(str, Enum):
    INT = "int"
    FLOAT = "float"


class QuantizationStrategy(str, Enum):
    TENSOR = "tensor"
    CHANNEL = "channel"
    GROUP = "group"
    BLOCK = "block"
    TOKEN = "token"
    TENSOR_GROUP = "tensor_group"
    ATTN_HEAD = "attn_head"


class ActivationOrdering(str, Enum):
    GROUP = "group"
    WEIGHT = "weight"
    DYNAMIC = "dynamic"
    STATIC = "static"


class DynamicType(str, Enum):
    LOCAL = "local"


class QuantizationArgs:
    def __init__(self, **kwargs):
        self.num_bits = kwargs.get("num_bits", 8)
        self.type = QuantizationType(kwargs.get("type", "int"))
        self.symmetric = kwargs.get("symmetric", True)
        self.group_size = kwargs.get("group_size")
        strategy = kwargs.get("strategy")
        if strategy is None:
            if self.group_size is None:
                strategy = "tensor"
            elif self.group_size > 0:
                strategy = "group"
            else:
                strategy = "channel"
        self.strategy = QuantizationStrategy(strategy)
        self.block_structure = kwargs.get("block_structure")
        dynamic = kwargs.get("dynamic", False)
        self.dynamic = DynamicType(dynamic) if isinstance(dynamic, str) else dynamic
        order = kwargs.get("actorder")
        self.actorder = ActivationOrdering(order) if isinstance(order, str) else order
        self.observer = kwargs.get("observer")
        self.observer_kwargs = kwargs.get("observer_kwargs", {})
        self.scale_dtype = kwargs.get("scale_dtype")
        self.zp_dtype = kwargs.get("zp_dtype")

    @classmethod
    def model_validate(cls, value):
        return value if value is None or isinstance(value, QuantizationArgs) else cls(**value)

    def model_dump(self):
        return dict(self.__dict__)
