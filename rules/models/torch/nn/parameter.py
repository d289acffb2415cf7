"""torch.nn.parameter."""

from torch import Tensor


# Replaced by whoever wants to know where parameters are made.
def _made(parameter):
    return None


class Parameter(Tensor):
    def __new__(cls, data=None, requires_grad=True, *args, **kwargs):
        self = object.__new__(cls)
        self.shape = getattr(data, "shape", ())
        self.dtype = getattr(data, "dtype", None)
        self.names = ()
        self.owner = self
        _made(self)
        return self

    def __init__(self, data=None, requires_grad=True, *args, **kwargs):
        pass


class UninitializedParameter(Parameter):
    pass
