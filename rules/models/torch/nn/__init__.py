"""torch.nn, as far as building a model asks it: modules hold modules, parameters and buffers, and list them by name."""

from mtp_trace_host import known
from torch import Tensor, empty

from torch.nn.parameter import Parameter, UninitializedParameter


class Module:
    training = True

    def __init__(self, *args, **kwargs):
        pass

    def register_parameter(self, name, param):
        setattr(self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        setattr(self, name, tensor)

    def register_module(self, name, module):
        setattr(self, name, module)

    def add_module(self, name, module):
        setattr(self, name, module)

    def named_children(self):
        return [(k, v) for k, v in self.__dict__.items() if known(v) and isinstance(v, Module)]

    def children(self):
        return [v for _, v in self.named_children()]

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = []
        if any(m is self for m in memo):
            return []
        memo.append(self)
        found = [(prefix, self)]
        for name, child in self.named_children():
            found.extend(child.named_modules(memo, prefix + "." + name if prefix else name, remove_duplicate))
        return found

    def modules(self):
        return [m for _, m in self.named_modules()]

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        seen = []
        found = []
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in module.__dict__.items():
                if known(value) and isinstance(value, Parameter) and not (remove_duplicate and any(p is value for p in seen)):
                    seen.append(value)
                    found.append((path + "." + name if path else name, value))
        return found

    def parameters(self, recurse=True):
        return [p for _, p in self.named_parameters(recurse=recurse)]

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        found = []
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in module.__dict__.items():
                if known(value) and isinstance(value, Tensor) and not isinstance(value, Parameter):
                    found.append((path + "." + name if path else name, value))
        return found

    def buffers(self, recurse=True):
        return [b for _, b in self.named_buffers(recurse=recurse)]

    def get_submodule(self, target):
        module = self
        for part in target.split(".") if target else []:
            module = getattr(module, part)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    def state_dict(self, *args, **kwargs):
        return dict(self.named_parameters() + self.named_buffers())

    def apply(self, fn):
        return self

    def to(self, *args, **kwargs):
        return self

    def cuda(self, device=None):
        return self

    def eval(self):
        return self

    def train(self, mode=True):
        return self

    def requires_grad_(self, requires_grad=True):
        return self


class ModuleList(Module):
    def __init__(self, modules=None):
        for module in modules if modules is not None else []:
            self.append(module)

    def append(self, module):
        setattr(self, str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __len__(self):
        return len(self.children())

    def __iter__(self):
        return iter(self.children())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ModuleList(self.children()[index])
        return self.children()[index]

    def __setitem__(self, index, module):
        setattr(self, str(index % len(self)), module)


class Sequential(ModuleList):
    def __init__(self, *modules):
        items = list(modules[0].items()) if len(modules) == 1 and isinstance(modules[0], dict) else None
        if items is not None:
            for name, module in items:
                setattr(self, name, module)
        else:
            self.extend(modules)


class ModuleDict(Module):
    def __init__(self, modules=None):
        for name, module in (modules.items() if modules is not None else []):
            setattr(self, name, module)

    def __len__(self):
        return len(self.named_children())

    def __contains__(self, name):
        return name in self.__dict__

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, name):
        return self.__dict__[name]

    def __setitem__(self, name, module):
        setattr(self, name, module)

    def keys(self):
        return [k for k, _ in self.named_children()]

    def values(self):
        return self.children()

    def items(self):
        return self.named_children()


class ParameterList(Module):
    def __init__(self, values=None):
        for i, value in enumerate(values if values is not None else []):
            setattr(self, str(i), value)


class Identity(Module):
    pass


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype))
        self.bias = Parameter(empty(out_features, dtype=dtype)) if bias else None


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, device=None, dtype=None, **kwargs):
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(empty(num_embeddings, embedding_dim, dtype=dtype))


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        self.weight = Parameter(empty(normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(empty(normalized_shape, dtype=dtype)) if elementwise_affine and bias else None


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        self.weight = Parameter(empty(normalized_shape, dtype=dtype)) if elementwise_affine else None


class _Plain(Module):
    def __init__(self, *args, **kwargs):
        pass


class SiLU(_Plain):
    pass


class GELU(_Plain):
    pass


class ReLU(_Plain):
    pass


class Sigmoid(_Plain):
    pass


class Softmax(_Plain):
    pass


class Dropout(_Plain):
    pass
