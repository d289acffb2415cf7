"""torch, as far as argument resolution asks it."""

from mtp_trace_host import version as _version

__absent__ = ("npu", "hpu", "musa", "mlu", "gcu", "privateuseone")



class dtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name

    def __repr__(self):
        return "torch." + self.name


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


def set_default_device(device):
    return None


def set_num_threads(n):
    return None


def get_default_dtype():
    return float32


def set_default_dtype(d):
    return None


def compile(model=None, **kwargs):
    if model is None:
        return lambda fn: fn
    return model


def no_grad(fn=None):
    return fn if fn is not None else (lambda f: f)


def inference_mode(fn=None):
    return fn if callable(fn) else (lambda f: f)
