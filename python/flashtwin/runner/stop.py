"""Ctrl-C and friends as a request that is honoured at the next chance, not as a blow.

A first SIGINT, SIGTERM or SIGHUP sets `asked`; the watch of the step at hand then says stop, the
run directory is closed and the target cleaned. A second SIGINT raises KeyboardInterrupt, for a step
that does not listen. Outside the main thread signals cannot be caught and nothing is changed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Stop:
    """Whether somebody asked the run to end, and by which signal."""

    asked: bool = False
    number: int | None = None


@contextmanager
def listening() -> Iterator[Stop]:
    """Catch the signals while the block runs."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def heard(number: int, frame: FrameType | None) -> None:
        if stop.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.asked = True
        stop.number = stop.number or number

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            # None is a handler that was not set from Python; the default is as near as we get.
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
