"""A served drive measured in real time, beside the virtual run of the same drive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from served import SCALE, needs, served

from flashtwin.runner import request
from flashtwin.runner.events import Observer
from flashtwin.runner.request import Request

# Within this share of the virtual run's value.
WITHIN = 0.05
# Seconds of the drive in a second: a busy machine keeps up with a slow clock.
SPEED = 0.25
# A fill that something else on the machine held up is begun again.
TRIES = 3
# With more late answers than this the server itself says that the machine is too slow.
LATE_SHARE = 0.1
BATTERY = "fill:patterns=128k-q32,passes=1"


@contextmanager
def quiet() -> Iterator[object]:
    yield lambda name: Observer()


def told(
    target: str, out: Path, *, scale: str | None = None, speed: float = 1.0
) -> Mapping[str, float]:
    """What a fill tells of a drive, by the short names of its findings, in the drive's own time."""
    asked = Request(
        targets=(target,), batteries=BATTERY, scale=scale, out=out, say=lambda text: None
    )
    (run,) = request.test(asked, quiet).runs
    values = {
        finding.id.removeprefix("fill.").partition("[")[0]: finding.value
        for finding in run.findings
        if isinstance(finding.value, float)
    }
    # The end of the cells that are written at once shows as folding or, among coarser samples, as
    # the end of a tier.
    fold_point = values.get("fold_begin", values.get("tier_end"))
    assert fold_point is not None, values
    rates = ("speed_cache", "speed_past_cache", "mean_past_cache", "mean")
    return {
        "fold_point": fold_point,
        "cache_size": values["cache_size"],
        **{name: values[name] / speed for name in rates},
    }


@pytest.mark.full
@needs("fio")
def test_a_fill_tells_the_same_served_and_virtual(tmp_path: Path) -> None:
    virtual = told("bx500-240", tmp_path / "virtual", scale=SCALE)
    expected = {name: pytest.approx(value, rel=WITHIN) for name, value in virtual.items()}
    for number in range(TRIES):
        with served(is_timed=True, speed=SPEED) as drive:
            in_real_time = told(drive.uri, tmp_path / f"served-{number}", speed=SPEED)
        if in_real_time == expected:
            return
    if drive.outcome["late_share"] > LATE_SHARE:
        pytest.skip(f"this machine was too slow: {drive.outcome['late_share']:.0%} came late")
    assert in_real_time == expected
