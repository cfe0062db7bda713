"""under_load: how long reads take beside a writer that keeps a pace.

What reviewers expect today (trust M): percentiles of the latency of 4 KiB reads while another
program writes so many MB a second. Without a writer first, then beside each pace, with a rest
before each so that the drive has tidied up what the one before left. A writer that keeps a pace
leaves drives comparable: each is asked for the same work, however fast it could write. The host's
time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, SAMPLES, Load, Teller, check_fits, prepared
from flashtwin.batteries.base.registry import Part, prepared_parts, with_mark
from flashtwin.batteries.base.tail import bins_in, percentile_us, tail_findings
from flashtwin.model.step import Rest, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

NAME = "under_load"
MB = 10**6
WRITES = {
    "sequential": Load(random=False, block_bytes=128 * KIB, read_percent=0, depth=4),
    "random": Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=32),
}
# A writer that brings so much of its pace keeps it.
KEEPS_PACE = 0.95


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare once; then rest, and read beside each pace."""
    check_fits(NAME, [_reads(parameters), WRITES[parameters.writes]], info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    for pace in parameters.paces:
        if parameters.rest_s:
            yield Rest(label=f"{NAME}/{_variant(pace)}/rest", seconds=parameters.rest_s)
        sample_s = min(1.0, parameters.seconds / SAMPLES)
        jobs = tuple(_jobs(parameters, info, pace))
        yield from with_mark(Run(label=label_of(pace), jobs=jobs, sample_s=sample_s))


def _reads(parameters: Any) -> Load:
    return Load(random=True, block_bytes=4 * KIB, read_percent=100, depth=parameters.read_depth)


def _jobs(parameters: Any, info: DriveInfo, pace: int) -> list[Job]:
    """The reader, and the writer where there is one."""
    jobs = [_reads(parameters).job_for(parameters, info, name="reads")]
    if pace:
        rate, writes = pace * MB, WRITES[parameters.writes]
        jobs.append(writes.job_for(parameters, info, name="writes", rate_bytes_s=rate, seed=2))
    return jobs


def _variant(pace: int) -> str:
    return f"{pace}MBs" if pace else "alone"


def label_of(pace: int) -> str:
    """The step of a pace."""
    return f"{NAME}/{_variant(pace)}/reads"


def conclude(record: Record) -> list[Finding]:
    """Percentiles of the reads beside each pace, what was written, and how much slower they are."""
    findings: list[Finding] = []
    alone: float | None = None
    for pace in record.parameters.paces:
        result = record.result(label_of(pace))
        if result is None:
            continue
        bins = bins_in([result], "read")
        teller = _teller(record.parameters, pace, result)
        findings += tail_findings(teller, bins)
        findings += _rates(teller, pace, result)
        slow = percentile_us(bins, "p99")
        if not pace:
            alone = slow
        elif alone and slow:
            title = "99 % of the reads, against no writer"
            findings.append(teller.tell("slowdown", title, "", slow / alone, better="lower"))
    return findings


def _teller(parameters: Any, pace: int, result: Result) -> Teller:
    reads = f"{_reads(parameters).access} Q{parameters.read_depth} read"
    return Teller(
        battery=NAME,
        label=label_of(pace),
        title=f"{reads} beside {pace} MB/s" if pace else f"{reads} alone",
        variant=_variant(pace),
        end_s=result.duration_ns / 1e9,
    )


def _rates(teller: Teller, pace: int, result: Result) -> list[Finding]:
    """Reads a second, and what was written; the note says where the drive did not keep the pace."""
    totals = {job.name: job for job in result.jobs if job.duration_ns}
    findings = []
    if (reads := totals.get("reads")) is not None:
        rate = reads.ios / (reads.duration_ns / 1e9)
        findings.append(teller.tell("rate", "reads a second", "IOPS", rate, beside="p99"))
    if (writes := totals.get("writes")) is not None:
        speed = writes.bytes / (writes.duration_ns / 1e9) / 1e6
        keeps = speed >= KEEPS_PACE * pace
        slow = None if keeps else f"the drive does not keep the pace of {pace} MB/s"
        findings.append(
            teller.tell("written", "written meanwhile", "MB/s", speed, beside="p99", note=slow)
        )
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then each pace in its order."""
    paces = [_variant(pace) for pace in parameters.paces]
    return prepared_parts(NAME, dict(zip(paces, paces, strict=True)), begins=False)


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
