"""The options that decide what is reported: groups, percentiles, logs, units."""

from __future__ import annotations

from flashtwin.fio.language.kinds import Choice, Flag, Prefix, Reals, Text, Whole
from flashtwin.fio.language.option import Option, Role

_UINT = 2**32 - 1
_BARE = Flag(bare=True)

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


def _row(name: str, kind: object, says: str, default: object = None, *aliases: str) -> Option:
    return Option(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        role=Role.OUTPUT,
        says=says,
        aliases=aliases,
        default=default,
    )


ROWS = (
    _row("name", Text(), "the job's name"),
    _row("description", Text(), "printed beside the name"),
    _row("group_reporting", _BARE, "one result for all jobs of a group", False),
    _row("new_group", _BARE, "a new group of results begins", False),
    _row("stats", Flag(), "0 leaves the job out of the results", True),
    _row("clat_percentiles", Flag(), "percentiles of completion latency", True),
    _row("lat_percentiles", Flag(), "percentiles of total latency", False),
    _row("slat_percentiles", Flag(), "percentiles of submission latency", False),
    _row(
        "percentile_list",
        Reals(least=0, most=100),
        "which percentiles",
        tuple(float(one) for one in PERCENTILES),
    ),
    _row("significant_figures", Whole(least=1, most=10), "digits of the normal output", 4),
    _row("disable_lat", Flag(), "leaves out total latency", False),
    _row("disable_clat", Flag(), "leaves out completion latency", False),
    _row("disable_slat", Flag(), "leaves out submission latency", False),
    _row(
        "disable_bw_measurement",
        Flag(),
        "leaves out bandwidth samples of single requests",
        False,
        "disable_bw",
    ),
    _row("gtod_reduce", Flag(), "leaves out latencies, as fio does", False),
    _row(
        "unified_rw_reporting",
        Choice(
            words=("none", "mixed", "both"), others=(("0", "none"), ("1", "mixed"), ("2", "both"))
        ),
        "one result for all directions",
        "none",
    ),
    _row("bwavgtime", Whole(most=_UINT), "milliseconds a bandwidth sample", 500),
    _row("iopsavgtime", Whole(most=_UINT), "milliseconds a sample of requests", 500),
    _row("write_bw_log", Prefix(), "writes a bandwidth log"),
    _row("write_lat_log", Prefix(), "writes latency logs"),
    _row("write_iops_log", Prefix(), "writes a log of requests a second"),
    _row("write_hist_log", Prefix(), "writes a log of latency histograms"),
    _row("write_iolog", Text(), "writes the requests as an iolog"),
    _row("per_job_logs", Flag(), "a log a copy of the job", True),
    _row("log_avg_msec", Whole(most=_UINT), "milliseconds a row of a log", 0),
    _row("log_hist_msec", Whole(most=_UINT), "milliseconds a row of the histogram log", 0),
    _row("log_hist_coarseness", Whole(most=6), "halves the bins of the histogram log", 0),
    _row("log_max_value", Flag(), "rows hold the greatest value and not the mean", False),
    _row("log_offset", Flag(), "rows hold offsets", False),
    _row("log_prio", Flag(), "rows hold the priority, which is 0", False),
    _row(
        "log_unix_epoch",
        Flag(),
        "times count from the beginning of the run, which is a twin's 1970",
        False,
    ),
    _row("log_alternate_epoch", Flag(), "times count from the beginning of the run", False),
    _row(
        "log_alternate_epoch_clock_id",
        Whole(most=_UINT),
        "every clock of a twin begins with the run",
        0,
    ),
    _row(
        "kb_base",
        Choice(words=("1024", "1000")),
        "what k means in what follows, and which prefixes are printed",
        "1024",
    ),
    _row("unit_base", Choice(words=("0", "8", "1")), "prints bytes or bits", "0"),
)
