"""fio's JSON, with and without warnings around it."""

from __future__ import annotations

import json

import pytest

from flashtwin.drives.real.output import parse_output
from flashtwin.errors import ENVIRONMENT, FlashtwinError


def direction(ios: int, mean: float = 0.0) -> dict[str, object]:
    latency = {"min": 10, "max": 90, "mean": mean, "N": ios, "bins": {"10": 1, "90": ios - 1}}
    return {"total_ios": ios, "io_bytes": ios * 4096, "runtime": 2001, "lat_ns": latency}


ANSWER = json.dumps(
    {
        "fio version": "fio-3.33",
        "jobs": [
            {
                "jobname": "job0",
                "error": 0,
                "total_err": 0,
                "read": direction(3, 50.5),
                "write": direction(0),
                "sync": {"total_ios": 0},
            }
        ],
    },
    indent=2,
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("note: both iodepth >= 1 and synchronous I/O engine are selected\n", ""),
        ("fio: file {odd} name\n{not json either}\n", "\nfio: terminating on signal 2 {\n"),
    ],
)
def test_warnings_around_the_json(before: str, after: str) -> None:
    output = parse_output(before + ANSWER + after)
    assert output.version == "3.33"
    job = output.jobs["job0"]
    assert list(job.by_direction) == ["read"]
    read = job.by_direction["read"]
    assert (read.ios, read.bytes, read.latency_mean_ns) == (3, 3 * 4096, 50.5)
    assert read.bins == {10: 1, 90: 2}
    assert job.runtime_ms == 2001


@pytest.mark.parametrize("text", ["", "fio: nothing", '{"fio version": "fio-3.33"}', "{"])
def test_no_result(text: str) -> None:
    with pytest.raises(FlashtwinError, match="fio's answer holds no result") as caught:
        parse_output(text)
    assert caught.value.exit_code == ENVIRONMENT
