"""The kinds of hostile cases: what each tries, its one case, and from what it begins."""

from __future__ import annotations

from campaign import Kind

from kinds import (
    beside,
    catalogues,
    configurations,
    copies,
    disks,
    fakes,
    foreign,
    infer,
    jobs,
    kept,
    killed,
    kills,
    outputs,
    prepared,
    queries,
    runs,
    specs,
    traces,
)

_ROWS = (
    ("jobs", "job files and fio's words, on twins and through fio", jobs.case, None),
    ("beside", "job files and replays in real fio and on a twin", beside.case, None),
    ("specs", "specs and --set", specs.case, None),
    ("infer", "files for infer in every format", infer.case, None),
    ("traces", "iologs, text of blkparse, MSR", traces.case, None),
    (
        "runs",
        "damaged runs and every command that reads them",
        runs.case,
        prepared.finished_and_file,
    ),
    ("journals", "stopped and damaged runs that are gone on with", runs.resumed, prepared.stopped),
    ("kills", "signals at any moment, and going on", kills.case, prepared.finished),
    ("disks", "full, read-only and limited disks", disks.case, prepared.finished),
    (
        "copies",
        "copies of a killed run on a file, pruned, adopted, gone on with",
        copies.copied,
        None,
    ),
    ("points", "sweeps whose points were exchanged or replaced", copies.sweep, prepared.swept),
    ("sweeps", "sweeps that are killed, and going on", copies.killed, prepared.swept),
    ("kept", "kept drives that were altered", kept.case, kept.prepare),
    ("catalogues", "hostile published.toml of added folders", catalogues.case, None),
    ("icfs", "Iometer configurations", configurations.icf, None),
    (
        "smarts",
        "runs with other SMART and host data, shown and submitted",
        configurations.smart,
        prepared.finished,
    ),
    ("queries", "conditions of --where", queries.case, prepared.place),
    ("batteries", "broken batteries of another package", foreign.case, None),
    ("fakes", "programs called fio that are something else", fakes.case, None),
    ("outputs", "outputs that are no files", outputs.case, prepared.finished),
)
KINDS = tuple(
    Kind(name=name, tries=tries, case=case, prepare=prepare) for name, tries, case, prepare in _ROWS
) + tuple(
    Kind(
        name=command.name,
        tries=f"{command.tries} killed at any moment, and going on or the same again",
        case=command.case,
        prepare=command.prepare,
        slow=command.slow,
    )
    for command in killed.COMMANDS
)
