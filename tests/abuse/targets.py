"""What any text has to be taken with: each target raises where a promise is broken.

The promises: whatever is given, the answer is a value or one `FlashtwinError` whose text is one
that can be shown (printable, UTF-8, short enough to read); nothing else comes out. That it comes
soon and in bounded memory is watched by whoever calls: libFuzzer, `./dev abuse` or a test.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.lines import read
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.runs.listing import Stored

# A message that is longer is none that anybody reads.
MOST_CHARACTERS = 10_000
TARGET = Target(name="twin", bytes=240_000_000_000)


def check_job_file(data: bytes) -> None:
    """A job file of these bytes is read, typed and planned on a drive, or refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.fio"
        path.write_bytes(data)
        try:
            script = typed(read(str(path)), environment={"EMPTY": "", "SIZE": "4k"})
            for note in (*script.notes, *plan(script.jobs, TARGET).notes):
                _check_shown(str(note))
        except JobFileError as error:
            _check_shown(error.message, error.hint)


def check_spec(data: bytes) -> None:
    """A spec of these bytes is loaded, or refused with all that is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_bytes(data)
        try:
            spec = load(str(path))
            _check_shown(spec.id, spec.name)
        except BadSpecError as error:
            assert error.issues
            for issue in error.issues:
                _check_shown(issue.text, issue.hint)
        except FlashtwinError as error:
            _check_shown(error.message, error.hint)


def check_where(text: str) -> None:
    """A condition over runs is judged, or refused."""
    from flashtwin.runs.query import matching as where

    try:
        where(_stored(), text)
    except FlashtwinError as error:
        _check_shown(error.message, error.hint)


def _check_shown(*texts: str | None) -> None:
    for text in filter(None, texts):
        text.encode()
        assert len(text) <= MOST_CHARACTERS, f"a text of {len(text)} characters"
        odd = [one for one in text if not one.isprintable() and one not in "\n"]
        assert not odd, f"{odd[0]!a} in what is shown: {text!a}"


@cache
def _stored() -> tuple[Stored, ...]:
    run = Stored(path=Path("run"), state="finished", started=datetime(2026, 1, 1, tzinfo=UTC))
    return (run,)
