"""torch, as far as argument resolution asks it."""

from mtp_trace_host import known as _known
from mtp_trace_host import unknown as _unknown
from mtp_trace_host import version as _version

__absent__ = ("npu", "hpu", "musa", "mlu", "gcu", "privateuseone")



class dtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name

    def __repr__(self):
        return "torch." + self.name

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self


float32 = dtype("float32")
float = float32
float16 = dtype("float16")
half = float16
bfloat16 = dtype("bfloat16")
float64 = dtype("float64")
int8 = dtype("int8")
uint8 = dtype("uint8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
bool = dtype("bool")
float8_e4m3fn = dtype("float8_e4m3fn")
float8_e4m3fnuz = dtype("float8_e4m3fnuz")
float8_e5m2 = dtype("float8_e5m2")
float8_e5m2fnuz = dtype("float8_e5m2fnuz")
float4_e2m1fn_x2 = dtype("float4_e2m1fn_x2")
float8_e8m0fnu = dtype("float8_e8m0fnu")

__version__ = _version("torch")


class device:
    def __init__(self, type="cuda", index=None):
        text = str(type)
        self.type = text.split(":")[0]
        self.index = int(text.split(":")[1]) if ":" in text else index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


_NUMBERS = (
    "item", "mean", "sum", "max", "min", "abs", "any", "all", "tolist", "device", "T", "is_cuda", "stride", "is_contiguous",
    "untyped_storage", "data_ptr", "element_size", "type", "requires_grad", "nbytes", "grad", "is_meta", "layout", "untyped",
)
_WHY = "the numbers of tensors are not followed"
_copies = []
_default = {"dtype": float32}
# Whether parts of tensors keep their shapes, and what does not fit is refused as torch refuses it.
_shapes = {"followed": False}


def _followed(*values):
    return _shapes["followed"] and all([_known(v) for v in values])


class Tensor:
    """A tensor without its numbers: its shape and dtype, which stored tensors it comes from, which parameter it is a part of."""

    def __init__(self, shape=(), dtype=None, names=(), owner=None):
        self.shape = shape
        self.dtype = dtype
        self.names = names
        self.owner = owner

    @property
    def data(self):
        return self

    @data.setter
    def data(self, value):
        self.shape = value.shape
        self.dtype = value.dtype

    @property
    def ndim(self):
        return len(self.shape)

    def dim(self):
        return len(self.shape)

    def numel(self):
        count = 1
        for size in self.shape:
            count = count * size
        return count

    nelement = numel

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def copy_(self, source, non_blocking=False):
        if _followed(self.shape) and isinstance(source, Tensor) and _known(source.shape):
            given, wanted = tuple(source.shape), tuple(self.shape)
            behind = wanted[len(wanted) - len(given) :]
            if len(given) > len(wanted) or not all([g == w or g == 1 for g, w in zip(given, behind)]):
                raise RuntimeError(
                    f"output with shape {list(wanted)} doesn't match the broadcast shape: a tensor of shape "
                    f"{list(given)} is copied into it"
                )
        _copies.append((self.owner if self.owner is not None else self, source, ()))
        return self

    def fill_(self, *args):
        return self

    zero_ = normal_ = uniform_ = masked_fill_ = requires_grad_ = fill_

    def _part(self, *args, **kwargs):
        """A view or a computation: of the same origin, its shape not followed."""
        return Tensor(_unknown("tensor.shape", _WHY), self.dtype, self.names, self.owner)

    def _of_shape(self, shape):
        return Tensor(tuple(shape), self.dtype, self.names, self.owner)

    def narrow(self, dim, start, length):
        if not _followed(self.shape, dim, start, length):
            return self._part()
        shape = list(self.shape)
        if start < 0 or length < 0 or start + length > shape[dim]:
            raise RuntimeError(
                f"start ({start}) + length ({length}) exceeds dimension size ({shape[dim]})."
            )
        shape[dim] = length
        return self._of_shape(shape)

    def transpose(self, first, second):
        if not _followed(self.shape, first, second):
            return self._part()
        shape = list(self.shape)
        shape[first], shape[second] = shape[second], shape[first]
        return self._of_shape(shape)

    def t(self):
        return self._of_shape(self.shape[::-1]) if _followed(self.shape) else self._part()

    def __getitem__(self, key):
        if not _followed(self.shape, key) or not isinstance(key, int):
            return self._part()
        return self._of_shape(self.shape[1:])

    view = reshape = permute = squeeze = unsqueeze = expand = repeat = flatten = _part
    index_select = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _part
    __rtruediv__ = __pow__ = __rpow__ = __neg__ = __matmul__ = pow = exp = log = _part
    unflatten = repeat_interleave = select = roll = flip = tile = gather = scatter = mul = div = add = sub = matmul = mm = _part
    bmm = dot = clamp = clip = sqrt = rsqrt = round = floor = ceil = neg = where = masked_fill = expand_as = reshape_as = _part
    swapaxes = movedim = unfold = diag = tril = triu = cumsum = sort = argsort = take = sigmoid = mul_ = add_ = div_ = _part
    index_copy_ = index_fill_ = clamp_ = sub_ = set_ = resize_ = as_strided = new_empty = new_zeros = new_ones = _part
    new_full = new_tensor = float_power = logical_not = bitwise_and = bitwise_or = eq = ne = lt = le = gt = ge = _part

    def _same(self, *args, **kwargs):
        return self

    cuda = cpu = contiguous = detach = clone = pin_memory = _same

    def _as(self, kind):
        return Tensor(self.shape, kind, self.names, self.owner)

    def to(self, *args, **kwargs):
        kinds = [a for a in list(args) + list(kwargs.values()) if isinstance(a, dtype)]
        return self._as(kinds[0]) if kinds else self

    type = to

    def view_as(self, other):
        return self._as(self.dtype)

    def float(self):
        return self._as(float32)

    def half(self):
        return self._as(float16)

    def bfloat16(self):
        return self._as(bfloat16)

    def chunk(self, chunks, dim=0):
        return tuple([self._part() for _ in range(chunks)])

    def split(self, sizes, dim=0):
        return tuple([self._part() for _ in sizes]) if isinstance(sizes, (list, tuple)) else _unknown("tensor.split", _WHY)

    unbind = split

    def __getattr__(self, name):
        if name in _NUMBERS:
            return _unknown("tensor." + name, _WHY)
        raise AttributeError("'Tensor' object has no attribute '" + name + "'")

    def _number(self, *args):
        return _unknown("tensor", _WHY)

    __lt__ = __le__ = __gt__ = __ge__ = _number

    def __setitem__(self, key, value):
        if isinstance(value, Tensor):
            _copies.append((self.owner if self.owner is not None else self, value, ()))


def _made(shape, kind):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return Tensor(tuple(shape), kind if kind is not None else _default["dtype"])


def empty(*shape, size=None, dtype=None, **kwargs):
    return _made(size if size is not None else shape, dtype)


zeros = ones = rand = randn = empty


def full(size, fill_value, *, dtype=None, **kwargs):
    return _made(size if isinstance(size, (tuple, list)) else (size,), dtype)


def empty_like(other, *, dtype=None, **kwargs):
    return Tensor(getattr(other, "shape", ()), dtype if dtype is not None else getattr(other, "dtype", None))


zeros_like = ones_like = empty_like


def cat(tensors, dim=0, **kwargs):
    names = ()
    for t in tensors:
        if not _known(t) or not isinstance(t, Tensor):
            return _unknown("torch.cat", _WHY)
        names = names + t.names
    return Tensor(_unknown("tensor.shape", _WHY), tensors[0].dtype, names)


concat = concatenate = stack = cat


class Size(tuple):
    pass


def set_default_device(device):
    return None


def set_num_threads(n):
    return None


def get_default_dtype():
    return _default["dtype"]


def set_default_dtype(d):
    _default["dtype"] = d


def compile(model=None, **kwargs):
    if model is None:
        return lambda fn: fn
    return model


def no_grad(fn=None):
    return fn if fn is not None else (lambda f: f)


def inference_mode(fn=None):
    return fn if callable(fn) else (lambda f: f)
