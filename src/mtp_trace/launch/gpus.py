"""GPU profiles: by name from the rules, or spelled out."""

from __future__ import annotations

import difflib
from typing import Any

from mtp_trace.errors import LaunchError
from mtp_trace.gpu import Gpu

_NUMBERS = {"memory": "memory_mib", "memory_mib": "memory_mib", "count": "count"}


class GpuTable:
    """The profiles of ``rules/gpus.yaml``."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._profiles: dict[str, dict[str, Any]] = data["gpus"]
        self._aliases: dict[str, str] = data.get("aliases", {})
        self._count: int = data.get("default-count", 8)
        self.asked: tuple[str, ...] = tuple(data.get("asked", ()))

    @property
    def names(self) -> tuple[str, ...]:
        """Profile names, as ``--gpu`` takes them."""
        return tuple(self._profiles)

    def find(self, text: str, count: int | None = None) -> Gpu:
        """A GPU from ``h200``, ``h200:4`` or ``capability=9.0,memory=141000,count=8[,kind=cuda]``.

        Memory is in MiB. Raises LaunchError, with the near names, for one that is not known.
        """
        if "=" in text:
            return self._spelled(text, count)
        name, _, number = text.strip().lower().replace("_", "-").replace(" ", "-").partition(":")
        name = self._aliases.get(name, name)
        profile = self._profiles.get(name)
        if profile is None:
            near = difflib.get_close_matches(name, [*self._profiles, *self._aliases], 3, 0.4)
            offer = f"did you mean {' or '.join(near)}? " if near else ""
            raise LaunchError(
                f"there is no GPU profile named {text!r}",
                "--gpu",
                f"{offer}known: {', '.join(self._profiles)}; or spell it out: capability=9.0,memory=143771,count=8",
            )
        if number and not number.isdigit():
            raise LaunchError(f"{number!r} is not a number of GPUs", "--gpu", "write h200:4 for four of them")
        return self._make(name, profile, int(number) if number else count)

    def _make(self, name: str, profile: dict[str, Any], count: int | None) -> Gpu:
        capability = profile.get("capability")
        return Gpu(
            name=name,
            kind=profile.get("kind", "cuda"),
            capability=tuple(capability) if capability else None,
            memory_mib=profile.get("memory_mib"),
            count=count if count is not None else profile.get("count", self._count),
            runtime=profile.get("runtime"),
            arch=profile.get("arch"),
            device_name=profile.get("device_name"),
        )

    def _spelled(self, text: str, count: int | None) -> Gpu:
        values: dict[str, Any] = {"count": count if count is not None else self._count}
        for part in text.split(","):
            key, sign, value = part.strip().partition("=")
            try:
                if not sign:
                    raise ValueError
                if key == "capability":
                    major, _, minor = value.partition(".")
                    values["capability"] = (int(major), int(minor or 0))
                elif key in _NUMBERS:
                    values[_NUMBERS[key]] = int(value)
                elif key in ("kind", "runtime", "arch"):
                    values[key] = value
                else:
                    raise ValueError
            except ValueError:
                raise LaunchError(
                    f"{part.strip()!r} does not describe a GPU",
                    "--gpu",
                    "use capability=MAJOR.MINOR, memory=MIB, count=N, kind=cuda|hip|cpu, runtime=12.9, arch=gfx942",
                ) from None
        kind = values.get("kind", "cuda")
        if kind not in ("cuda", "hip", "cpu"):
            raise LaunchError(f"{kind!r} is no kind of accelerator known here", "--gpu", "kind is cuda, hip or cpu")
        values.setdefault("runtime", "12.9" if kind == "cuda" else "7.0" if kind == "hip" else None)
        return Gpu(name=text, device_name=None, **values)
