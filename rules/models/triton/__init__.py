"""triton, as far as defining kernels asks it: a kernel is an object that knows its function and is never run."""

from triton.runtime.jit import JITFunction

# A recent one: releases ask whether it is too old.
__version__ = "3.5.1"


def jit(fn=None, **kwargs):
    if fn is None:
        return lambda f: JITFunction(f)
    return JITFunction(fn)


def cdiv(x, y):
    return (x + y - 1) // y


def next_power_of_2(n):
    power = 1
    while power < n:
        power = power * 2
    return power
