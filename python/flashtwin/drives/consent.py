"""Whether somebody means it: what is about to be written over is shown and has to be typed back.

For devices and for exports of foreign servers alike. Invariant: nothing here opens or writes
anything; without a consent that fits to the letter `require` raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flashtwin.errors import REFUSED, FlashtwinError

# The options of the command line, for messages.
DESTROY, YES, NO_PURGE = "--destroy-data", "--yes-destroy", "--no-purge"
_TRIES = 3


class Consent(NamedTuple):
    """What somebody said: that data may go, and the words that a script says beforehand.

    `ask` gets a question and answers with what was typed; none where nobody can be asked. `say`
    shows a line.
    """

    destroy: bool = False
    words: tuple[str, ...] = ()
    ask: Callable[[str], str] | None = None
    say: Callable[[str], None] | None = None

    @property
    def is_given(self) -> bool:
        """Whether somebody wants to write at all."""
        return self.destroy or bool(self.words)


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word that has to be typed back: what it is, and the word. A script may leave out what is
    not `essential`."""

    name: str
    text: str
    essential: bool = True


def require(consent: Consent, target: str, shown: Sequence[str], words: Sequence[Word]) -> None:
    """Show what is about to go, and have the words typed back; raises where one is not."""
    if not consent.is_given:
        raise FlashtwinError(
            f"{target} is not written to without {DESTROY}",
            hint=f"add {DESTROY} if all that is on it may be lost",
            exit_code=REFUSED,
        )
    for line in shown if consent.say else ():
        assert consent.say is not None
        consent.say(line)
    if consent.words:
        _check(consent.words, target, [word for word in words if word.essential])
        return
    if consent.ask is None:
        raise FlashtwinError(
            f"nobody can be asked here whether {target} may be written over",
            hint="in a script: "
            + " ".join(f"{YES} {word.name.upper()}" for word in words if word.essential),
            exit_code=REFUSED,
        )
    for word in words:
        _typed(consent.ask, target, word)


def _check(typed: Sequence[str], target: str, words: Sequence[Word]) -> None:
    missing = [word for word in words if word.text not in typed]
    foreign = [text for text in typed if text not in [word.text for word in words]]
    if missing or foreign:
        wrong = [f"{YES} {text!r} is none of its words" for text in foreign]
        wrong += [f"its {word.name} was not given" for word in missing]
        raise FlashtwinError(
            f"{target} is not written to: {'; '.join(wrong)}",
            hint=f"give {' and '.join(f'{YES} with its {word.name}' for word in words)}, as the"
            " drive's label or flashtwin identify has it",
            exit_code=REFUSED,
        )


def _typed(ask: Callable[[str], str], target: str, word: Word) -> None:
    for _ in range(_TRIES):
        answer = ask(f"type the {word.name} ({word.text}) to write over all data on {target}")
        if answer.strip() == word.text:
            return
        if not answer.strip():
            break
    raise FlashtwinError(
        f"{target} is not written to: its {word.name} was not typed",
        hint="start again, and type it as it stands there",
        exit_code=REFUSED,
    )
