"""The one base exception and the exit codes that the command line maps it to."""

from __future__ import annotations

DONE, MISS, USAGE, ENVIRONMENT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130
# fio's own after a signal, whichever it was: what starts fio looks for it, and its answer is there.
TERMINATED = 128


class FlashtwinError(Exception):
    """Something the user can act on: a message without full stop, a hint, an exit code."""

    exit_code = USAGE

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint is not None:
            # Python prints it under a traceback, where a program has no command line around it.
            self.add_note(f"hint: {hint}")
        if exit_code is not None:
            self.exit_code = exit_code
