"""Commands that `kill -9` ends at any moment, up to three times, and that are then gone on with.

A command makes what it makes undisturbed first; a case ends with the same bytes of it, in files and
on stdout, and no process of it outlives it. What another run of the same may differ in is left out.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox import Sandbox

from kinds.prepared import TWIN, contents, program

_SECONDS, _ANSWER = "undisturbed-seconds", "undisturbed-answer"
_RUN = "out"
_FILL = ("test", *TWIN, "--battery", "fill:patterns=1m-q1,passes=1", "--out", "run", "--quiet")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, and what it needs: `given` makes a folder that it begins from.

    `kept`: files in which it goes on, and which may differ from those of one that was not killed.
    """

    name: str
    tries: str
    words: tuple[str, ...]
    given: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    slow: bool = False

    def prepare(self, folder: Path) -> None:
        """`given`: what it begins from; `made`: with what it made."""
        (folder / "given").mkdir()
        if self.given:
            program(*self.given, cwd=folder / "given")
        shutil.copytree(folder / "given", folder / "made")
        began = time.monotonic()
        words = [sys.executable, "-m", "flashtwin.cli", *self.words]
        # Exit code 1 is an answer too: a drive that was missed.
        done = subprocess.run(words, cwd=folder / "made", capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr.decode()
        (folder / _ANSWER).write_bytes(_without(folder / "made", done.stdout))
        (folder / _SECONDS).write_text(str(time.monotonic() - began))

    def case(self, box: Sandbox) -> None:
        """Kill it, begin it again or go on, and hold what it made against the undisturbed one."""
        shutil.copytree(box.prepared / "given", box.inside, dirs_exist_ok=True)
        seconds = float((box.prepared / _SECONDS).read_text())
        patience_s = 10 * (seconds + 1)
        for _ in range(box.rng.randrange(1, 4)):
            moment = box.rng.random() * seconds
            box.call(
                *self._again(box),
                stop_after_s=moment,
                number=signal.SIGKILL,
                patience_s=patience_s,
            )
        words = self._again(box)
        ended = box.call(*words, codes=(0, 1), patience_s=patience_s)
        made, undisturbed = self._contents(box.inside), self._contents(box.prepared / "made")
        names = sorted(made.keys() | undisturbed.keys())
        if wrong := [name for name in names if made.get(name) != undisturbed.get(name)]:
            box.fail(f"{self.name} that was killed differs in {', '.join(wrong[:8])}")
        answer = _without(box.inside, ended.stdout.encode())
        if words == self.words and answer != (box.prepared / _ANSWER).read_bytes():
            box.fail(f"{self.name} that was killed answers something else")

    def _again(self, box: Sandbox) -> tuple[str, ...]:
        run = box.inside / _RUN
        if not (run / "manifest.json").exists():
            return self.words
        finished = '"state": "finished"' in (run / "manifest.json").read_text()
        return ("report", _RUN) if finished else ("test", "--resume", _RUN, "--quiet")

    def _contents(self, folder: Path) -> dict[str, bytes]:
        return {
            name: data
            for name, data in contents(folder).items()
            if name not in self.kept and not name.startswith(".cache")
        }


def _without(folder: Path, answer: bytes) -> bytes:
    """An answer that does not say in which folder it was given."""
    return answer.replace(str(folder).encode(), b".")


COMMANDS = (
    Command(
        name="reviews",
        tries="review",
        words=("review", *TWIN, "--quick", "--out", _RUN, "--quiet"),
    ),
    Command(
        name="blinds",
        tries="blind",
        words=("blind", "--count", "3", "--json", "--quiet"),
    ),
    Command(
        name="discovers",
        tries="the battery discover",
        words=("test", *TWIN, "--battery", "discover", "--out", _RUN, "--quiet"),
        slow=True,
    ),
    Command(
        name="validates",
        tries="validate",
        words=("validate", "bx500-240-nocache", "--json", "--quiet"),
        slow=True,
    ),
    Command(
        name="fits",
        tries="fit",
        words=(
            *("fit", "run", "-o", "mine.toml", "--study", "fit.db"),
            *("--simulations", "300", "--force", "--quiet"),
        ),
        given=_FILL,
        kept=("fit.db", "fit.db-journal"),
        slow=True,
    ),
)
