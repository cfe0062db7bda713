"""The one base exception, what it comes as, and the exit codes that it is mapped to.

Whoever raises says the base with an exit code; whoever catches gets the kind that belongs to the
code, so that a program can tell a wrong argument from a machine that lacks something.
"""

from __future__ import annotations

import re
from typing import Any

DONE, MISS, USAGE, ENVIRONMENT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130
# A fault of flashtwin's own, as EX_SOFTWARE of sysexits.h: 1, which Python has for it, is a miss.
OUR_FAULT = 70
# fio's own after a signal, whichever it was: what starts fio looks for it, and its answer is there.
TERMINATED = 128
# A word of a message that is as long is told by its two ends, so many characters of each.
_LONG_WORD, _ENDS = re.compile(r"\S{300,}"), 100


def shortened(text: str, most: int) -> str:
    """The first `most` characters of a text, and a sign where there are more."""
    return text if len(text) <= most else f"{text[:most]}…"


def with_short_words(text: str) -> str:
    """A message in which what somebody typed is quoted: a number of 3,000 digits says no more than
    its beginning. Both ends stay: the name of a file stands at the end of its path."""
    return _LONG_WORD.sub(lambda word: f"{word[0][:_ENDS]}…{word[0][-_ENDS:]}", text)


class FlashtwinError(Exception):
    """Something the user can act on: a message without full stop, a hint, an exit code."""

    exit_code = USAGE

    def __new__(cls, *arguments: Any, **options: Any) -> FlashtwinError:
        code = options.get("exit_code") or USAGE
        kind = _KINDS.get(code, cls) if cls is FlashtwinError else cls
        # A kind is a FlashtwinError too, and so its __init__ is called as for the base.
        return super().__new__(kind)

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int | None = None):
        self.message = with_short_words(message)
        super().__init__(self.message)
        self.hint: str | None = None
        if hint is not None:
            self.add_hint(hint)
        if exit_code is not None:
            self.exit_code = exit_code

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error with all of its fields, whatever arguments its class takes: a worker
        sends it back, and a pool waits for ever for one that cannot be unpickled."""
        return _as_it_was, (type(self), self.args, self.__dict__)

    def add_hint(self, hint: str) -> None:
        """Say this too, behind the hint that is there."""
        hint = with_short_words(hint)
        self.hint = hint if self.hint is None else f"{self.hint}; {hint}"
        # Python prints it under a traceback, where a program has no command line around it.
        self.add_note(f"hint: {hint}")


def _as_it_was(kind: type[FlashtwinError], words: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """The error that was pickled."""
    error = Exception.__new__(kind, *words)
    error.__dict__.update(state)
    return error


class UsageError(FlashtwinError):
    """What was asked for, or a file that was given, is wrong."""


class UnknownNameError(UsageError, KeyError):
    """A name that a collection does not have; a KeyError too, as of any mapping."""

    def __str__(self) -> str:
        return self.message


class MachineError(FlashtwinError):
    """A program, a permission, room on the disk or a version is lacking."""

    exit_code = ENVIRONMENT


class RefusedError(FlashtwinError):
    """It could cost somebody's data, and nothing was done."""

    exit_code = REFUSED


_KINDS: dict[int, type[FlashtwinError]] = {
    USAGE: UsageError,
    ENVIRONMENT: MachineError,
    REFUSED: RefusedError,
}


def wrong_value(option: str, value: object, kind: str, hint: str) -> FlashtwinError:
    """An option's value that is none of its kind: the same words from a program as typed."""
    return FlashtwinError(f"{option} {value} is not a {kind}", hint=hint, exit_code=USAGE)
