"""A time limit on what runs in the main thread; limits may stand inside each other."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import Any


class Hung(BaseException):
    """The time is up. No ``Exception``, so that nothing that is tried catches it."""


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raises Hung in the body after so many seconds."""

    def ring(*_: Any) -> None:
        raise Hung(f"not done after {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, ring)
    outer, start = signal.setitimer(signal.ITIMER_REAL, seconds)[0], time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, outer - (time.monotonic() - start)))
