"""The kinds of hostile cases: what each tries, from what it begins, and its one case."""

from __future__ import annotations

from campaign import Kind

from kinds import beside, disks, jobs, kills, outputs, prepared, queries, runs, specs, traces

KINDS = (
    Kind(name="jobs", tries="job files and fio's words, on twins and through fio", case=jobs.case),
    Kind(name="beside", tries="job files in real fio and on a twin", case=beside.case),
    Kind(name="specs", tries="specs and --set", case=specs.case),
    Kind(name="traces", tries="iologs, text of blkparse, MSR", case=traces.case),
    Kind(
        name="runs",
        tries="damaged runs and every command that reads them",
        case=runs.case,
        prepare=prepared.finished,
    ),
    Kind(
        name="journals",
        tries="stopped and damaged runs that are gone on with",
        case=runs.resumed,
        prepare=prepared.stopped,
    ),
    Kind(
        name="kills",
        tries="signals at any moment, and going on",
        case=kills.case,
        prepare=prepared.finished,
    ),
    Kind(
        name="disks",
        tries="full, read-only and limited disks",
        case=disks.case,
        prepare=prepared.finished,
    ),
    Kind(
        name="queries",
        tries="conditions of --where",
        case=queries.case,
        prepare=prepared.place,
    ),
    Kind(
        name="outputs",
        tries="outputs that are devices, pipes, folders and links",
        case=outputs.case,
        prepare=prepared.finished,
    ),
)
