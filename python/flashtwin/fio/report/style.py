"""What a job says of its own report: its style, and what it does not want to be measured."""

from __future__ import annotations

from flashtwin.fio.language.job import FioJob
from flashtwin.fio.report.job import LATENCIES, Style

# fio's default list has 99.99 in it.
USUAL_PRECISION = 2


def style_of(job: FioJob) -> Style:
    """The options that shape the answer; a latency that is not measured has no percentiles."""
    return Style(
        percentiles=tuple(sorted(job["percentile_list"])),
        precision=_precision(job),
        latencies=tuple(
            name
            for name in LATENCIES
            if job[f"{name}_percentiles"] and not job[f"disable_{name}"] and not job["gtod_reduce"]
        ),
        significant=job["significant_figures"],
        kb_base=int(job["kb_base"]),
        bits=job["unit_base"] == "1",
        unified=job["unified_rw_reporting"],
    )


def without(job: FioJob) -> frozenset[str]:
    """What is not measured.

    fio 3.33 counts the windows of bandwidth even if `disable_bw_measurement` says not to, and under
    `gtod_reduce` too; what is gone are the samples of single requests, which a log of them would
    bring (`logs.samples_of`).
    """
    reduced = bool(job["gtod_reduce"])
    found = {name for name in LATENCIES if reduced or job[f"disable_{name}"]}
    single = not job["log_avg_msec"]
    if single and job.has("write_bw_log") and (reduced or job["disable_bw_measurement"]):
        found.add("bw")
    if single and job.has("write_iops_log") and reduced:
        found.add("iops")
    return frozenset(found)


def _precision(job: FioJob) -> int:
    """As many decimals as the longest of the list has."""
    if not job.has("percentile_list"):
        return USUAL_PRECISION
    written = job.settings["percentile_list"].text.partition("=")[2]
    return max(len(one.strip().partition(".")[2]) for one in written.split(":"))
