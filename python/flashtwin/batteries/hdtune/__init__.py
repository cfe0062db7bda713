"""hdtune: an HD-Tune-like transfer rate along the drive, or along its first gigabytes.

Trust P/M: one request of 64 KiB after another in order over the range of addresses, written or
read; short stroke limits the range (the 545s review: 4 GB, which shows the cache's end); then the
access time of reads anywhere. The tool may skip addresses to be done sooner; here the range is
moved whole. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import check_fits
from flashtwin.batteries.base.series_pages import Along, Way, load_of

if TYPE_CHECKING:
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

NAME = "hdtune"


def job_of(parameters: Any, info: DriveInfo, way: Way) -> Job:
    """The range from end to end."""
    load = load_of(way, parameters.block)
    check_fits(NAME, [load], info)
    return load.job_for(parameters, info, size=parameters.size, seconds=0.0, runtime_s=None)


ALONG = Along(battery=NAME, job_of=job_of, moved="along the range")

BATTERY = declared(__name__, **ALONG.functions())
