"""triton.runtime.jit."""

from mtp_trace_host import unknown


class JITFunction:
    def __init__(self, fn, **kwargs):
        self.fn = fn
        self.__name__ = getattr(fn, "__name__", "kernel")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: None

    def __call__(self, *args, **kwargs):
        return unknown("kernel", "kernels are not run")
