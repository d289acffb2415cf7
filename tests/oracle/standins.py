"""Stand-ins for packages that only kernels, media or transports need.

SGLang's argument resolution imports far more than it uses. A package that is named here and is not installed is
answered by an empty module: every name in it is a class that can be subclassed, called, used as a decorator, iterated
over (nothing comes out) and that counts as false. Nothing here computes; a launch whose outcome depended on such a
value is a launch that should not be recorded.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence

# Kernels and compilers. A deployment has them; what they compute is never asked while arguments are resolved.
KERNELS = """
    aiter apache_tvm_ffi cuda cutlass deep_ep deep_gemm fla flash_attn flash_attn_3 flash_attn_4 flashinfer humming
    kernels numba nvidia_cutlass_dsl quack sgl_deep_gemm sgl_kernel sgl_kernel_npu tokenspeed_mla torch_memory_saver
    torchao triton_kernels tvm_ffi vllm
"""
# Media decoders, and what processors are made of.
MEDIA = """
    addict av cv2 datasets decord decord2 librosa matplotlib pandas soundfile timm torchaudio torchcodec torchvision
    vision
"""
# Transports, clients and servers.
SERVICES = """
    anthropic grpc grpc_health grpc_reflection hf_transfer modelscope mooncake nixl opentelemetry py_spy ray
    runai_model_streamer smg_grpc_proto watchfiles
"""
# Tokenizers and grammars.
TEXT = "blobfile llguidance mistral_common openai_harmony outlines outlines_core xgrammar"

NAMES = frozenset(f"{KERNELS} {MEDIA} {SERVICES} {TEXT}".split())
# Imported for real, where they can be, before a stand-in may answer: other installed packages look inside them.
IMPORT_FIRST = ("tvm_ffi", "xgrammar", "openai_harmony", "outlines")


class BlankType(type):
    """The class of blanks: operations on a blank give the blank again, questions are answered with nothing."""

    def __getattr__(cls, name: str):
        if name.startswith("__") or "_blank_" not in cls.__dict__:
            raise AttributeError(f"{cls.__name__}.{name}")
        child = blank(name)
        setattr(cls, name, child)
        return child

    def __call__(cls, *args, **kwargs):
        if "_blank_" not in cls.__dict__:  # a real class made from a blank one
            return super().__call__(*args, **kwargs)
        bare_decorator = len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], BlankType)
        return args[0] if bare_decorator else cls

    def __bool__(cls) -> bool:
        return "_blank_" not in cls.__dict__

    def __len__(cls) -> int:
        return 0

    def __iter__(cls):
        return iter(())

    def __getitem__(cls, _key):
        return cls

    def __int__(cls) -> int:
        return 0

    def __enter__(cls):
        return cls

    def __exit__(cls, *_exc) -> bool:
        return False

    def __lt__(cls, _other) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __add__(cls, _other):
        return cls

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __or__ = __ror__ = __add__


def blank(name: str) -> BlankType:
    def accept(self, *_args, **_kwargs) -> None: ...

    def accept_subclass(cls, **_kwargs) -> None: ...

    body = {"_blank_": True, "__init__": accept, "__init_subclass__": classmethod(accept_subclass)}
    return BlankType(name, (), body)


class BlankModule(types.ModuleType):
    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        value = blank(name)
        setattr(self, name, value)
        return value


class Finder:
    """Answers imports of the named packages. It stands last, so what is installed wins."""

    def __init__(self, names: frozenset[str]):
        self.names = names

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target=None):
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        module = BlankModule(spec.name)
        module.__path__ = []
        module.__version__ = "99.0.0"  # new enough for every "at least" check
        return module

    def exec_module(self, module) -> None: ...


def installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def install() -> frozenset[str]:
    """Put the finder in place; gives back the names that it answers for."""
    present = {name for name in NAMES if installed(name)}
    for name in IMPORT_FIRST:
        try:
            importlib.import_module(name)
            present.add(name)
        except Exception:  # there, but it cannot be imported without its own native parts
            present.discard(name)
    missing = NAMES - present
    sys.meta_path.append(Finder(missing))
    return missing
