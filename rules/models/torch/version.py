"""torch.version: which runtime torch was built for."""

from mtp_trace_host import gpu

cuda = gpu.runtime if gpu.kind == "cuda" else None
hip = gpu.runtime if gpu.kind == "hip" else None
xpu = None
musa = None
