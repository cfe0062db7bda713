"""Where something was written, and how a mistake there is told.

Invariant: whatever is wrong with a job file is said with the file, the line and what to write
instead; on the command line the word itself stands for the line.
"""

from __future__ import annotations

from dataclasses import dataclass

from flashtwin.errors import USAGE, UsageError, with_short_words


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
        including = ", ".join(where.alone for where in reversed(self.chain))
        return f"{self.alone} (included from {including})"

    @property
    def alone(self) -> str:
        """The file and the line, without those that included it."""
        return f"{self.file}:{self.line}" if self.line else self.file


# The length to which a quoted text is cut.
_LONG = 4096


def quoted(text: str) -> str:
    """The text on one line and short enough to read: no character of it reaches a terminal but
    those that print."""
    short = with_short_words(text)
    plain = "".join(
        character if character.isprintable() else f"\\x{ord(character):02x}"
        for character in short[:_LONG]
    )
    return plain + ("…" if short[_LONG:] else "")


# For an error whose message says all there is to say.
SEE_OPTIONS = "flashtwin help fio-options says what each option takes"
COMMAND_LINE = Where(file="command line", line=0)


class JobFileError(UsageError):
    """A job file that cannot be taken as it stands; the exit code is that of a usage error."""

    exit_code = USAGE

    def __init__(self, where: Where, message: str, *, hint: str | None = None):
        super().__init__(quoted(f"{where}: {message}"), hint=quoted(hint or SEE_OPTIONS))
        self.where = where


class BadValueError(Exception):
    """A value that an option does not take; whoever knows its line makes a `JobFileError` of it."""

    def __init__(self, message: str, *, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
