"""`check` is what a catalogue's CI runs: everything in its folder, and each fault in a line.

A folder may be a catalogue (drives, `published.toml`, submissions in any folder below) or a
submission alone. Invariant: whatever somebody sent ends as faults: files are read up to a bounded
length, links are not followed, and no length that a file declares is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from flashtwin import _core
from flashtwin.catalogue import audit
from flashtwin.catalogue.audit import Checked, Fault, fault
from flashtwin.catalogue.folders import ID, ID_RULE
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import InputError, parse_json, read_regular
from flashtwin.model.document import Document
from flashtwin.runs import schema
from flashtwin.runs.frames import SCHEMAS
from flashtwin.runs.storage import MOST_JSON, digest_of, unsealed
from flashtwin.runs.submission import document
from flashtwin.runs.submission.document import Submission

# Bytes that a table of a submission may have; of numbers eight times as many as fit in there.
MOST_TABLE = 64 << 20


class CheckedFolder(Document, frozen=True):
    """flashtwin check --catalogue --json: what a folder holds, and all that is wrong with it."""

    catalogue: str
    ok: bool
    drives: int
    outcomes: int
    submissions: int
    faults: tuple[Fault, ...]


def check(folder: Path) -> CheckedFolder:
    """Look at everything in a folder; raises `FlashtwinError` where there is nothing."""
    if not folder.is_dir():
        raise FlashtwinError(
            f"{folder} is no folder", hint="give the folder of a catalogue", exit_code=USAGE
        )
    submissions = _submissions(folder)
    drives, outcomes = audit.drives(folder), audit.outcomes(folder)
    faults = (*drives.faults, *outcomes.faults, *submissions.faults)
    counts = (drives.count, outcomes.count, submissions.count)
    if not any((*counts, faults)):
        raise FlashtwinError(
            f"{folder} has no drive, no published.toml and no submission",
            hint="a drive is a TOML file in it; flashtwin submit makes a submission of a run",
            exit_code=USAGE,
        )
    return CheckedFolder(str(folder), not faults, *counts, faults=faults)


def _submissions(folder: Path) -> Checked:
    places = [
        Path(at)
        for at, folders, files in os.walk(folder)
        if _in_order(folders) and document.DOCUMENT in files
    ]
    faults = [wrong for place in places for wrong in _of_submission(place)]
    return Checked(count=len(places), faults=tuple(faults))


def _in_order(folders: list[str]) -> bool:
    """Sort the names for `os.walk`, so that the same folder gives the same lines."""
    folders.sort()
    return True


def _of_submission(place: Path) -> Iterator[Fault]:
    file = place / document.DOCUMENT
    try:
        data = read_regular(file, most_bytes=MOST_JSON)
        value = parse_json(data)
        if not isinstance(value, dict):
            raise ValueError("it holds no JSON object")
        unsealed(file, data, value, document.DOCUMENT)
        submission = schema.check(value, Submission)
    except FlashtwinError:
        yield fault(file, "its contents are not what flashtwin wrote", _AGAIN)
        return
    except (InputError, ValueError) as error:
        yield fault(file, f"it cannot be read: {error}", _AGAIN)
        return
    if submission.schema != document.SCHEMA:
        yield fault(file, f"schema {submission.schema} is not known", "update flashtwin")
        return
    yield from audit.of_text(file, data.decode())
    yield from _of_document(place, file, submission)
    for name in sorted({*os.listdir(place), *submission.files, *document.FILES}):
        if name != document.DOCUMENT:
            yield from _of_file(place / name, submission)


_AGAIN = "make it again with flashtwin submit"


def _of_document(place: Path, file: Path, submission: Submission) -> Iterator[Fault]:
    if not ID.fullmatch(place.resolve().name):
        yield fault(file, f"a submission cannot be called {place.name!r}", ID_RULE)
    if not submission.drive.name.strip():
        yield fault(file, "the drive has no name", "flashtwin submit RUN --drive NAME")
    if not submission.conditions.batteries:
        yield fault(file, "it does not say which batteries were run", _AGAIN)
    if submission.simulated and not place.resolve().name.endswith(document.SIMULATED):
        hint = f"call the folder {place.resolve().name}{document.SIMULATED}"
        yield fault(file, "it is simulated, and its folder does not say so", hint)


def _of_file(file: Path, submission: Submission) -> Iterator[Fault]:
    """A file beside the document: listed, what was listed, and what its name says."""
    listed = submission.files.get(file.name)
    if listed is None or file.name not in document.FILES:
        yield fault(file, "it is not one of a submission's files", "take it out")
        return
    try:
        data = read_regular(file, most_bytes=MOST_TABLE)
    except InputError as error:
        yield fault(file, str(error), "add it, or make the submission again")
        return
    if digest_of(data) != listed.sha256 or len(data) != listed.bytes:
        yield fault(file, "its SHA-256 is not the one in submission.json", _AGAIN)
        return
    if file.suffix == ".parquet":
        yield from _of_table(file, data)
        return
    try:
        text = data.decode()
        if file.suffix == ".json":
            rows = parse_json(data)[file.stem]
            if file.name == document.FINDINGS:
                schema.check({"findings": rows}, schema.Findings)
        yield from audit.of_text(file, text)
    except (ValueError, KeyError, TypeError) as error:
        yield fault(file, f"it cannot be read: {error}", _AGAIN)


def _of_table(file: Path, data: bytes) -> Iterator[Fault]:
    try:
        table = _core.read_parquet(data, MOST_TABLE)
    except _core.TableError as error:
        yield fault(file, f"it cannot be read: {error}", _AGAIN)
        return
    if lacking := set(SCHEMAS[file.stem]) - table.keys():
        yield fault(file, f"it lacks {', '.join(sorted(lacking))}", _AGAIN)
