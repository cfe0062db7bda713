"""fill: the whole drive written sequentially, from empty, then again when it is full.

What reviewers do to see the cache (trust P): TechPowerUp writes 1 MB blocks with one thread,
sampled twice a second, after a full erase, and gives the GB at each drop and the mean; AnandTech
writes 128 KB at queue depth 32 in two passes, the second on the full drive after idle. Here both
patterns run, each from an erased drive, each with its second pass. It departs in that the blocks
are 1 MiB and 128 KiB (TechPowerUp's "1 MB" may be 10^6), and in what `departs` says of the target.

`findings` makes the findings, once a pass, out of the write series alone. The host's time a
command is a prior: 5 us, what fio with io_uring takes on one desktop core.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.batteries.base.assumed import stated_bits
from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import (
    SAMPLE,
    Kind,
    UsualTime,
    host_time,
    integer,
    or_word,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns, with_mark
from flashtwin.batteries.base.watched import degrees_of
from flashtwin.batteries.base.writing import SAMPLE_S, sample_s
from flashtwin.batteries.fill.wording import NAME, name_of
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.step import Job, NotPossible, Purge, Rest, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Answered, Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.fill.causes import Degrees
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Result
    from flashtwin.model.target import Capabilities, DriveInfo

IDLE = UsualTime(simulated_s=600.0, real_s=30.0)


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A way to write: block size and queue depth, spelled 128k-q32."""

    block_bytes: int
    depth: int

    def __str__(self) -> str:
        return f"{units.show_block(self.block_bytes)}-q{self.depth}"

    @property
    def title(self) -> str:
        """For a reader: 128 KiB, queue depth 32."""
        size = units.readable_size(self.block_bytes, binary=True)
        return f"{size}, queue depth {self.depth}"


def parse_pattern(text: str) -> Pattern:
    """`128k-q32`; raises `ValueError` with what to write instead."""
    match = re.fullmatch(r"([0-9]+[km])-q([0-9]{1,9})", text.strip().lower())
    if not match:
        raise ValueError("write BLOCK-qDEPTH, for example 128k-q32, joined with +")
    block, depth = units.parse_block(match[1]), int(match[2])
    if not 4096 <= block <= 64 << 20 or block % 4096:
        raise ValueError("a block is a multiple of 4k, from 4k to 64m")
    if not 1 <= depth <= 1024:
        raise ValueError("a queue depth is from 1 to 1024")
    return Pattern(block_bytes=block, depth=depth)


PATTERN = Kind(name="a pattern", parse=parse_pattern, plain=str)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of a fill."""

    patterns: tuple[Pattern, ...] = parameter(
        (Pattern(block_bytes=128 << 10, depth=32), Pattern(block_bytes=1 << 20, depth=1)),
        several(PATTERN, "patterns"),
        "how to write: block size and queue depth, each on an erased drive",
    )
    passes: int = parameter(2, integer(1, 9), "how often each pattern writes the whole drive")
    idle_s: float | None = IDLE.parameter("rest before every pass that finds the drive written")
    sample_s: float | None = parameter(
        None,
        or_word("auto", SAMPLE),
        "length of a sample; auto: 0.5 s, less on targets below 50 GB and on scaled copies",
    )
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Purge, write, rest, write again; for each pattern. What cannot be purged rests instead."""
    _check(parameters, info)
    for pattern in parameters.patterns:
        purged = yield Purge(label=f"{NAME}/{pattern}/purge")
        for number in range(1, parameters.passes + 1):
            if number > 1 or isinstance(purged, NotPossible):
                rest = f"{NAME}/{pattern}/rest-{number - 1}"
                yield Rest(label=rest, seconds=IDLE.chosen(parameters.idle_s, info))
            step = _pass(parameters, info, pattern, number)
            yield from with_mark(step)


def conclude(record: Record) -> list[Finding]:
    """The findings of every pass in which something was written."""
    findings: list[Finding] = []
    for pattern in record.parameters.patterns:
        first: list[Finding] = []
        for number in range(1, record.parameters.passes + 1):
            step = record.step(_label(pattern, number))
            if step is None or step.not_possible is not None:
                continue
            of_pass = _findings(record, pattern, number, step)
            if number == 1:
                first = of_pass
            else:
                of_pass = _beside(first, of_pass, pattern, number, step)
            findings += of_pass
    return findings


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """The first pass of every pattern, then the second ones; a pass needs the one before."""
    passes = []
    for number in range(1, parameters.passes + 1):
        for pattern in parameters.patterns:
            labels = (f"{NAME}/{pattern}/rest-{number - 1}", _label(pattern, number))
            first = number == 1
            passes.append(
                Part(
                    title=f"{pattern} pass {number}",
                    labels=(f"{NAME}/{pattern}/purge", *labels) if first else labels,
                    needs=() if first else (f"{pattern} pass {number - 1}",),
                )
            )
    return passes


def departs(parameters: Parameters, info: DriveInfo) -> list[str]:
    """How this run departs from what the reviewers do."""
    departures = []
    if not info.can.whole_drive:
        departures.append(
            "fills a file, not a drive: the drive under it is neither erased nor filled"
        )
    every_s = _sample_s(parameters, info)
    if every_s != SAMPLE_S:
        departures.append(f"samples every {units.readable_period(every_s)} instead of every 500 ms")
    return departures


def _check(parameters: Parameters, info: DriveInfo) -> None:
    for pattern in parameters.patterns:
        if pattern.block_bytes > info.capacity_bytes:
            raise FlashtwinError(
                f"fill: a block of {pattern} is larger than {info.name}",
                hint=f"the target has {info.capacity_bytes} bytes; set patterns to smaller blocks",
                exit_code=USAGE,
            )


def _pass(parameters: Parameters, info: DriveInfo, pattern: Pattern, number: int) -> Run:
    """One write of every whole block of the target."""
    size = info.capacity_bytes // pattern.block_bytes * pattern.block_bytes
    job = Job(
        name="write",
        rw="write",
        block_bytes=pattern.block_bytes,
        depth=pattern.depth,
        size=size,
        host_ns=host_ns(parameters, info),
        seed=number,
    )
    return Run(label=_label(pattern, number), jobs=(job,), sample_s=_sample_s(parameters, info))


def _label(pattern: Pattern, number: int) -> str:
    return f"{NAME}/{pattern}/pass-{number}"


def _sample_s(parameters: Parameters, info: DriveInfo) -> float:
    if parameters.sample_s is not None:
        return parameters.sample_s
    return sample_s(info)


def _findings(record: Record, pattern: Pattern, number: int, step: Answered) -> list[Finding]:
    """What the pass says; nothing of a pass in which nothing was written."""
    from flashtwin.batteries.fill import grounds
    from flashtwin.batteries.fill.findings import analyse_fill
    from flashtwin.model.series import WRITE

    result = record.result(step.label)
    if result is None:
        return []
    written = result.series.only(WRITE)
    if int(written.bytes.sum()) == 0:
        return []
    findings = analyse_fill(
        written.t_ns,
        written.dt_ns,
        written.bytes,
        pattern=str(pattern),
        label=step.label,
        capacity_bytes=record.info.capacity_bytes,
        raw_bytes=record.info.raw_bytes,
        bits=stated_bits(record.info),
        pass_number=number,
        first=pattern == record.parameters.patterns[0],
        warm=_degrees(result),
        excluded=_excluded(record.info.can, number),
    )
    if number == 1:
        findings = grounds.held_to(findings, record, f"{NAME}/{pattern}/purge", step)
    return _of_a_part(findings, number, step) if step.cut else findings


def _excluded(can: Capabilities, number: int) -> frozenset[str]:
    """What did not end a first plateau, since the battery wrote the drive itself."""
    excluded = {"used"} if number == 1 and can.purge else set()
    # One end to the other, and with no file system or memory of the host between.
    return frozenset(excluded | ({"load", "burst"} if can.whole_drive else set()))


def _beside(
    first: list[Finding], later: list[Finding], pattern: Pattern, number: int, step: Answered
) -> list[Finding]:
    """The findings of a later pass with what they say beside the first one."""
    if not first or not later:
        return later
    from flashtwin.batteries.fill.causes import ended_by
    from flashtwin.batteries.fill.wording import Writer

    write = Writer(pattern=str(pattern), label=step.label, pass_number=number)
    names = {finding.name.removeprefix(name_of("", number)): finding for finding in later}
    return [*later, ended_by({finding.name: finding for finding in first}, names, write)]


def _degrees(result: Result) -> Degrees | None:
    """The temperatures that a drive told in a step; none where it told none."""
    from flashtwin.batteries.fill.causes import Degrees

    read = degrees_of(result)
    return None if read is None else Degrees(at_s=read[0], degrees=read[1])


# Findings that only a pass over the whole drive can give.
NEED_FULL_PASS = ("mean", "duration", "mean_past_cache")


def _of_a_part(findings: list[Finding], number: int, step: Answered) -> list[Finding]:
    """Findings of a pass that a budget cut: those that were measured stay, the others lose their
    value.

    Without a first plateau that ends there may be a cache of any size beyond what was written.
    """
    edge = next(finding for finding in findings if finding.name == name_of("cache_size", number))
    need_full_pass = {name_of(name, number) for name in NEED_FULL_PASS}
    lacking = f"not found: {step.ending}"
    return [
        finding
        if finding.name == "rate_held"
        or (edge.value and finding.value is not None and finding.name not in need_full_pass)
        else replace(finding, value=None, interval=None, evidence=None, note=lacking)
        for finding in findings
    ]


BATTERY = Battery(
    name=NAME,
    title="the whole drive written sequentially, and once more when full",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
    present="flashtwin.batteries.fill.present",
    meanings=beside(__file__),
    presets={
        "techpowerup": {"patterns": "1m-q1", "passes": "1"},
        "anandtech": {"patterns": "128k-q32", "passes": "2"},
    },
    follows=(
        Clause(
            says="1 MB sequential, one thread, the whole drive after a full erase; the GB at each"
            " drop and the mean",
            source="TechPowerUp (P)",
            here="blocks of 1 MiB; their 1 MB may be 10^6 bytes",
        ),
        Clause(says="sampled twice a second", source="TechPowerUp (P)"),
        Clause(
            says="128 KB sequential at queue depth 32, two passes, the second on the full drive"
            " after idle",
            source="AnandTech (P)",
            here="blocks of 128 KiB; the idle is 600 s",
        ),
    ),
)
