"""What `submission.json` holds, and which files lie beside it.

The drive is named as far as the run knows it, the host as far as a speed depends on it. Invariants:
every file of a submission has its SHA-256 in `submission.json`, and that file its own check at its
end, so that a flipped bit anywhere is seen; nothing in it names a machine, a person or a serial
number (`catalogue.private`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from flashtwin.runs.schema import Digest, Natural

SCHEMA = 1
DOCUMENT, FINDINGS, STEPS, README = "submission.json", "findings.json", "steps.json", "README.md"
SERIES, HIST = "series.parquet", "hist.parquet"
FILES = (FINDINGS, STEPS, SERIES, HIST, README)
# The end of the name of a folder whose numbers no hardware gave.
SIMULATED = "-simulated"


class Drive(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was measured; `spec` is the simulated drive's, by id and hash.

    A run on a file does not know its drive's capacity.
    """

    name: str
    capacity_bytes: Natural | None
    firmware: str | None
    link: str | None
    spec: str | None
    spec_hash: str | None
    model: int | None


class Battery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A battery, how it was set, and where it departs from its original."""

    name: str
    parameters: dict[str, Any]
    departs: list[str]


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The conditions under which the numbers hold; null where the run does not know.
    `whole_drive`: the drive itself was measured and not a file on it. `filled`: how full the
    file system was before. `date`: that of the first session."""

    batteries: list[Battery]
    seed: int
    whole_drive: bool
    measured_bytes: Natural
    file_system: str | None
    filled: str | None
    direct: bool | None
    engine: str | None
    fio: str | None
    scheduler: str | None
    temperature_c: float | None
    date: str | None


class Host(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machine, as far as speed depends on it."""

    system: str | None
    kernel: str | None
    machine: str | None
    processor: str | None
    cpus: int | None
    memory_bytes: int | None


class File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file beside `submission.json`."""

    sha256: Digest
    bytes: Natural


class Submission(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of `submission.json`. `merged`: a row of the series stands for at most so
    many samples of the run."""

    schema: int
    flashtwin: str
    simulated: bool
    drive: Drive
    conditions: Conditions
    host: Host
    run: Digest
    merged: Natural
    files: dict[str, File]
