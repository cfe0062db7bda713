"""Ctrl-C and friends: a request that is honoured at the next chance, or the end of a program.

While somebody is `listening`, a first SIGINT, SIGTERM, SIGHUP or SIGQUIT sets `asked`; the watch of
the step at hand then says stop, the run directory is closed and the target cleaned. A second SIGINT
raises KeyboardInterrupt, for a step that does not listen. Elsewhere in the program each of them
raises KeyboardInterrupt, so that whatever is under way cleans up behind itself.
Outside the main thread signals cannot be caught and nothing is changed. A SIGHUP that is ignored
(nohup) stays ignored.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from flashtwin.system import STOPS, interrupt_soon


class Stop:
    """Whether somebody asked the run to end, and by which signal."""

    def __init__(self) -> None:
        self.asked = False
        self.number: int | None = None


class _Program:
    """Whether this process is the program `flashtwin`, and whether all is done but its exit."""

    begun = over = False


_program = _Program()


def program_begins() -> None:
    """This process is the program: a signal that nobody listens to raises KeyboardInterrupt."""
    _program.begun = True
    sys.unraisablehook = _unraisable
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
    for number in _caught():
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Send a signal again that came within a callback of the interpreter (of a weak reference,
    say, or of an import's lock). There it would be printed as a fault and forgotten."""
    if lost.exc_type is KeyboardInterrupt and not _program.over:
        interrupt_soon()
    elif not _program.over:
        sys.__unraisablehook__(lost)


def nothing_left() -> None:
    """Everything is reported and written: in the program, signals change nothing from here on."""
    if _program.begun:
        _program.over = True
        alarms = [signal.SIGALRM] if hasattr(signal, "SIGALRM") else []
        for number in (*STOPS, *alarms):
            signal.signal(number, signal.SIG_IGN)


def _caught() -> list[signal.Signals]:
    """Those signals that this process was not told to ignore."""
    hangup = getattr(signal, "SIGHUP", None)
    ignored = hangup is not None and signal.getsignal(hangup) is signal.SIG_IGN
    return [number for number in STOPS if not (ignored and number is hangup)]


@contextmanager
def listening() -> Iterator[Stop]:
    """Catch the signals while the block runs."""
    import threading  # the fewer before the program hears signals, the better

    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note_signal(number: int, frame: FrameType | None) -> None:
        if stop.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.asked = True
        stop.number = stop.number or number

    before = {number: signal.signal(number, note_signal) for number in _caught()}
    try:
        yield stop
    finally:
        for number, handler in before.items() if not _program.over else ():
            # None is a handler that was not set from Python; the default is as near as we get.
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
