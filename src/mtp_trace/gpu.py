"""A machine's accelerators, as a launch names them and as the traced program sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """A machine's accelerators. Memory in MiB; ``capability`` (major, minor) for CUDA and ROCm; None: not told."""

    name: str
    kind: str = "cuda"  # cuda, hip, cpu, npu, xpu
    capability: tuple[int, int] | None = None
    memory_mib: int | None = None
    count: int | None = 8
    runtime: str | None = None  # CUDA or ROCm version
    arch: str | None = None  # gfx name under ROCm
    device_name: str | None = None
