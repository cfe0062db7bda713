"""The line after a run that begins "Next:".

A file that showed no cache, or was written in seconds, is followed by the largest one that its disk
has room for, with the time that the run just measured foretells; any other run by the command that
shows all of it.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from flashtwin.model import units
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run

# Of the room on the disk, what a larger file may take; and the sizes that are worth proposing.
SHARE, GB = 0.9, 10**9
SIZES = tuple(2**power * GB for power in range(2, 14))
# A cache that ends within this share of a file shows.
SHOWS = 0.93
# A drop within writes of fewer seconds may be the host's.
LEAST_S = 30.0
# A fill's writes: two patterns, two passes each, after the file was written once.
WRITES = 5


def after(runs: Sequence[Run]) -> str:
    """The next thing to do, in a few words, with a command."""
    for run in runs:
        if not run.is_simulated and (larger := _larger(run)):
            return larger
    where = runs[0].path.parent if len(runs) > 1 else runs[0].path
    # A run in the usual folder is known by its name.
    name = where.name if where.parent == listing.DEFAULT_PARENT else os.path.relpath(where)
    return f"flashtwin runs show {shlex.quote(name)} -v has every finding and step"


def _larger(run: Run) -> str | None:
    """A larger file, where this one did not show the end of a cache."""
    path, size = run.host.get("path"), run.target.get("capacity_bytes")
    if not isinstance(path, str) or not isinstance(size, int):
        return None
    fills = [finding.number for finding in run.findings if finding.name == "duration"]
    short = any(number is not None and number < LEAST_S for number in fills)
    sizes = [finding for finding in run.findings if finding.name == "cache_size"]
    if any(finding.number for finding in sizes) and not short:
        return None
    free = 0
    with suppress(OSError):
        free = shutil.disk_usage(Path(path).parent).free
    fitting = [known for known in SIZES if size < known <= SHARE * free]
    if not fitting:
        return None
    larger = fitting[-1]
    means = [row.number for row in run.findings if row.name == "mean" and row.unit == "MB/s"]
    speed = next((mean for mean in means if mean), None)
    takes = f", about {units.rough_seconds(WRITES * larger / 1e6 / speed)}" if speed else ""
    return (
        f"{units.readable_size(free)} are free: --size {units.show_size(larger)} --battery fill"
        f"{takes}, would show a cache up to {units.readable_size(round(SHOWS * larger), 2)}"
    )
