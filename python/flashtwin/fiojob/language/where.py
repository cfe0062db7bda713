"""Where something was written, and how a mistake there is told.

Invariant: whatever is wrong with a job file is said with the file, the line and what to write
instead; on the command line the word itself stands for the line.
"""

from __future__ import annotations

from dataclasses import dataclass

from flashtwin.errors import USAGE, UsageError


@dataclass(frozen=True, kw_only=True)
class Where:
    """A line of a job file, counted from 1; line 0 is a word of the command line.

    `chain` holds the lines that included the file, the outermost first.
    """

    file: str
    line: int
    chain: tuple[Where, ...] = ()

    def __str__(self) -> str:
        if not self.chain:
            return self.alone
        return (
            f"{self.alone} (included from {', '.join(one.alone for one in reversed(self.chain))})"
        )

    @property
    def alone(self) -> str:
        """The file and the line, without those that included it."""
        return f"{self.file}:{self.line}" if self.line else self.file


COMMAND_LINE = Where(file="command line", line=0)


class JobFileError(UsageError):
    """A job file that cannot be taken as it stands; the exit code is that of a usage error."""

    exit_code = USAGE

    def __init__(self, where: Where, message: str, *, hint: str | None = None):
        super().__init__(f"{where}: {message}", hint=hint)
        self.where = where
        self.said = message


class BadValueError(Exception):
    """A value that its kind does not take; whoever knows the line makes a `JobFileError` of it."""

    def __init__(self, message: str, *, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
