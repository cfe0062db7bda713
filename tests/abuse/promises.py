"""What flashtwin promises of every command, whatever it is given, as a judge of one outcome.

A command ends by itself and soon, with a documented exit code; what it refuses it says in a
sentence; nobody sees a traceback or a terminal's control characters; it takes less than 1 GB.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

CODES = (0, 1, 2, 3, 4, 128, 130)
REFUSALS = (2, 3, 4)
MOST_BYTES = 1 << 30
_OURS = re.compile(
    r"Traceback \(most recent call last\)|panicked at|RUST_BACKTRACE|memory allocation of \d+"
)
# What moves a terminal's cursor, colours it or worse. Tabs and ends of lines do not.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended; a negative `code` is the signal that ended it.

    `signalled` is what it was sent, `heard_s` how long it went on after that.
    """

    arguments: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float
    rss_bytes: int
    signalled: int | None = None
    heard_s: float | None = None
    hung: bool = False

    @property
    def said(self) -> bool:
        """Whether it told that something is not as it should be."""
        return self.code != 0 or bool(self.stderr.strip())


def complaints(outcome: Outcome, codes: Sequence[int] | None = None) -> list[str]:
    """Which promises this outcome does not keep, a sentence each."""
    if outcome.hung:
        words = "did not hear the signal" if outcome.signalled else "did not end"
        return [f"{words} within 10 s"]
    said = []
    everything = outcome.stdout + outcome.stderr
    if ours := _OURS.search(everything):
        said.append(f"{_last_line(outcome.stderr)} ({ours[0]})")
    elif outcome.code < 0 and outcome.signalled != -outcome.code:
        said.append(f"ended by {signal.Signals(-outcome.code).name}")
    elif outcome.code >= 0 and outcome.code not in (CODES if codes is None else codes):
        said.append(f"exit code {outcome.code}: {_last_line(outcome.stderr)}")
    if outcome.code in REFUSALS and not everything.strip():
        said.append(f"exit code {outcome.code} without a word")
    if control := _CONTROL.search(everything):
        said.append(f"a control character {control[0]!r} reaches the terminal")
    if outcome.rss_bytes > MOST_BYTES:
        said.append(f"took {outcome.rss_bytes / 2**30:.1f} GiB")
    if "--json" in outcome.arguments and outcome.code in (0, 1) and not _is_json(outcome.stdout):
        said.append("--json printed what is no JSON")
    return said


def signature(complaint: str) -> str:
    """What failures of one cause have in common: the sentence without numbers, names and words."""
    head = complaint.partition("   flashtwin ")[0]
    head = re.sub(r"'[^']*'|\"[^\"]*\"|/\S+", "…", head)
    return re.sub(r"[0-9a-f]{6,}|\d+", "#", head)[:160]


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "nothing said"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
