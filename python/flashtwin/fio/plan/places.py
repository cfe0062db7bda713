"""Where requests go beyond one file from end to end: zones with gaps, laws of files."""

from __future__ import annotations

from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.where import JobFileError
from flashtwin.model.fio_job import Strides


def check_law(job: FioJob, files: int) -> None:
    """fio keeps one number and one centre for both laws of a job."""
    service, spread = job["file_service_type"], job["random_distribution"]
    if service.value is None or files == 1 or service.name != spread.name:
        return
    if (service.value, service.center) != (spread.value, spread.center):
        raise JobFileError(
            job.line("file_service_type"),
            f"fio knows one {service.name} in a job, and file_service_type and random_distribution"
            " differ",
            hint="write the same numbers behind both",
        )


def strides(job: FioJob) -> Strides | None:
    """fio's zones with gaps, where they do anything."""
    if job["zonemode"] != "strided":
        if job["zonesize"]:
            raise JobFileError(
                job.line("zonesize"),
                "zonesize without zones, which fio refuses",
                hint="add zonemode=strided, or leave zonesize out",
            )
        return None
    if not job["zonesize"]:
        raise JobFileError(
            job.line("zonemode"), "zonemode=strided needs a zonesize", hint="add zonesize=, e.g. 1m"
        )
    if (job["openfiles"] or 0) > 1:
        # fio has zones where it opens a file at a time, or is not told how many.
        return None
    if "trimwrite" in job["rw"].rw:
        raise JobFileError(
            job.line("zonemode"),
            f"zones are not possible on a simulated drive with rw={job['rw'].rw}",
            hint="write or trim them",
        )
    return Strides(
        size=job["zonesize"],
        range=job["zonerange"] or job["zonesize"],
        skip=job["zoneskip"],
    )
