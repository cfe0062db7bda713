"""What stands behind the shape of a fill that somebody else measured: the battery fill's findings.

Is there a cache at all, what slowed the fill for a while (with temperatures, where the file has
them), the period of a saw-tooth, the highest rate held; and, of a drive that was full, what ended
its first plateau, which takes a fill of the erased drive beside it.

How: the series stand as a run of the battery, which concludes as it does of its own. Invariants:
nothing is concluded here; nothing is taken for known of the drive behind a file, neither its
capacity nor its flash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import Answered, Record
from flashtwin.model.finding import Finding
from flashtwin.model.series import COLUMNS, WRITE, Series
from flashtwin.model.step import NotPossible, Result
from flashtwin.model.target import Capabilities, DriveInfo
from flashtwin.study.infer.samples import Samples

# How the battery names what it writes; that a file was written so is not known.
PATTERN, VARIANT = "1m-q1", "file"
OF_ERASED = "cache_probability"
OF_ANY = ("slowed_by", "tooth_period", "rate_held")
ENDED_BY = "second_pass.ended_by"


def of_an_erased_drive(samples: Samples, *, is_erased: bool = True) -> tuple[Finding, ...]:
    """All that a fill of an erased drive tells; `is_erased`: somebody says that it was."""
    return _named(_concluded([samples], is_erased=is_erased), (OF_ERASED, *OF_ANY))


def of_a_used_drive(samples: Samples) -> tuple[Finding, ...]:
    """The same of a drive that held data: how many erased ones that begin like it have a cache says
    nothing of it."""
    return _named(_concluded([samples]), OF_ANY)


def of_a_full_drive(samples: Samples, first: Samples | None) -> tuple[Finding, ...]:
    """The same of a drive that was full; and what ended its first plateau, where there is a fill of
    the erased drive before."""
    ended = () if first is None else _named(_concluded([first, samples]), (ENDED_BY,))
    return (*of_a_used_drive(samples), *ended)


def curve(samples: Samples) -> Curve:
    """The samples as the battery reads them, so that what is said of one series rests on one
    curve."""
    series = _result(samples, "").series
    return curve_of(series.t_ns, series.dt_ns, series.bytes)


def _named(findings: Sequence[Finding], beginnings: tuple[str, ...]) -> tuple[Finding, ...]:
    return tuple(
        replace(finding, variant=VARIANT)
        for finding in findings
        if finding.name.startswith(beginnings)
    )


def _concluded(passes: Sequence[Samples], *, is_erased: bool = False) -> list[Finding]:
    """The findings of the battery fill, of series as its passes."""
    settings = {"patterns": PATTERN, "passes": str(len(passes))}
    request = registry.request("fill", settings)
    written = max(int(samples.size.sum()) for samples in passes)
    info = DriveInfo(
        name=VARIANT,
        kind=VARIANT,
        capacity_bytes=max(written, 1),
        can=Capabilities(whole_drive=False, purge=is_erased),
        identity={},
    )
    steps = [_step(samples, number) for number, samples in enumerate(passes, start=1)]
    return request.battery.findings(Record(parameters=request.parameters, info=info, steps=steps))


def _step(samples: Samples, number: int) -> Answered:
    label = f"fill/{PATTERN}/pass-{number}"

    def answered() -> Result | NotPossible:
        return _result(samples, label)

    return Answered(label=label, kind="run", detail={}, not_possible=None, read=answered)


def _result(samples: Samples, label: str) -> Result:
    """The series as the host's; a temperature stands where a meter's reading does."""
    lengths = np.round(samples.dt_s * 1e9).astype(np.int64)
    ends = np.cumsum(lengths)
    columns = {name: np.zeros(lengths.size, dtype=np.int64) for name in COLUMNS}
    columns |= {"t_ns": ends - lengths, "dt_ns": lengths}
    columns["bytes"] = np.round(samples.size).astype(np.int64)
    columns["direction"] = np.full(lengths.size, WRITE, dtype=np.int64)
    meter = {}
    if samples.degrees is not None:
        meter = {"t_ns": ends, "temperature_mc": np.round(samples.degrees * 1000)}
    return Result(
        label=label,
        start_ns=0,
        duration_ns=int(ends[-1]),
        series=Series(**columns),
        meter=meter,
    )
