"""Jobs as the core reads them: the same fields, times in integer nanoseconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from flashtwin.model.job import Job


def jobs_json(jobs: Sequence[Job]) -> str:
    """The text that is handed over."""
    # The encoder asks for the fields of a part as it comes to it; a copy of all, as `asdict` makes
    # it, takes seconds for thousands of fio's jobs.
    return json.dumps([_job(job) for job in jobs], default=vars)


def _job(job: Job) -> dict[str, Any]:
    fields = dict(vars(job))
    runtime_s, ramp_s = fields.pop("runtime_s"), fields.pop("ramp_s")
    fields["runtime_ns"] = None if runtime_s is None else round(runtime_s * 1e9)
    fields["ramp_ns"] = round(ramp_s * 1e9)
    if job.fio is None:
        del fields["fio"]
    return fields
