"""summary.json: a finished run as a listing tells it, in one small file.

A manifest has the whole spec of a twin and a line for each step, ten times what a listing tells,
and to make values of it and check them takes 3 ms a run; to read a summary takes 0.1. It says
nothing that manifest.json and findings.json do not say, so a run without it is the same run.

Invariant: a summary is believed only where it is what flashtwin wrote, the manifest ends in the
check that it names, and the two files that it was made of are as they were then: nothing in the
directory that it names has changed since, or else their digests are right. Of anything else there
is no summary, and `Run` reads the files and says what is wrong with them. A listing writes none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flashtwin import system
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.runs import schema
from flashtwin.runs.listing_index import Stamp
from flashtwin.runs.rundir import FINDINGS, HOST, MANIFEST, SCHEMA, SUMMARY
from flashtwin.runs.storage import (
    CHECK_BYTES,
    MOST_JSON,
    check_of,
    digest_of,
    is_sealed,
    open_file,
    read_file,
    sealed_bytes,
    write_whole,
)


class Summary(schema.SummaryHead, frozen=True, kw_only=True):
    """A summary whose findings are still text."""

    findings: list[msgspec.Raw]


class Host(msgspec.Struct, frozen=True):
    """What a listing tells of host.json."""

    began: str = ""
    wall_s: float | None = None
    file: schema.MeasuredFile | None = None
    files: list[schema.MeasuredFile] | None = None


def key_findings(findings: Iterable[Finding], most: int = 3) -> list[Finding]:
    """At most `most` findings: the headline ones, or the first where there are none."""
    there = [finding for finding in findings if finding.value is not None]
    return ([finding for finding in there if finding.headline] or there)[:most]


def write(run: Path, manifest: Mapping[str, Any], check: str, findings: Sequence[Finding]) -> None:
    """Put the summary of a finished run beside its manifest, whose check is `check`. It has to be
    the last file of the run that is written."""
    target = manifest["target"]
    values = {
        "schema": SCHEMA,
        "manifest": check,
        "flashtwin": manifest.get("flashtwin", ""),
        "target": target.get("name"),
        "kind": target.get("kind", ""),
        "capacity_bytes": target.get("capacity_bytes"),
        "spec": (target.get("identity") or {}).get("hash"),
        "label": manifest.get("label", ""),
        "seed": manifest.get("seed"),
        "batteries": [battery["name"] for battery in manifest.get("batteries") or ()],
        "steps": len(manifest.get("steps") or ()),
        "files": manifest.get("files", {}),
        "tables": list(manifest.get("tables", ())),
        "headline": [findings.index(finding) for finding in key_findings(findings)],
        "findings": [finding.to_json() for finding in findings],
    }
    write_whole(run / SUMMARY, sealed_bytes(values, SUMMARY))


def read(run: Path, stamp: Stamp) -> tuple[Summary, Host] | None:
    """The summary of a run and its host.json; none where the run has to be read itself."""
    if SUMMARY not in stamp.files:
        return None
    try:
        text = read_file(f"{run}/{SUMMARY}", MOST_JSON)
        if not is_sealed(text, SUMMARY):
            return None
        summary = msgspec.json.decode(text, type=Summary)
        if summary.schema != SCHEMA or not _is_of(run, summary, stamp):
            return None
        text = read_file(f"{run}/{HOST}", MOST_JSON)
        return (summary, msgspec.json.decode(text, type=Host)) if is_sealed(text, HOST) else None
    except (FlashtwinError, msgspec.MsgspecError, OSError, ValueError, RecursionError):
        return None


def _is_of(run: Path, summary: Summary, stamp: Stamp) -> bool:
    """Whether the files of a run are those that its summary was made of, and all are there."""
    names = [MANIFEST, *summary.files, *(f"{name}.parquet" for name in summary.tables)]
    if not stamp.has_all(names) or _check_in(run) != summary.manifest:
        return False
    if stamp.settled and stamp.is_newest(SUMMARY, names):
        return True
    # Copied files are as new as the order in which they were copied.
    return is_sealed(read_file(f"{run}/{MANIFEST}", MOST_JSON), MANIFEST) and (
        digest_of(read_file(f"{run}/{FINDINGS}", MOST_JSON)) == summary.files.get(FINDINGS)
    )


def _check_in(run: Path) -> str:
    """The check in which the manifest ends, without reading what is before it."""
    handle = open_file(f"{run}/{MANIFEST}")
    try:
        size = os.fstat(handle).st_size
        return check_of(system.read_at(handle, CHECK_BYTES, max(size - CHECK_BYTES, 0)))
    finally:
        os.close(handle)
