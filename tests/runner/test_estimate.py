"""The estimate: bytes exactly where they are known, times from stated priors."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from fakes import FakeDrive, Law

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.registry import Battery, Request
from flashtwin.model.step import Chain, Fill, Flush, Job, Rest, Run, Step, Trim
from flashtwin.runner.estimate import Estimate, estimate


def of(*steps: Step, kind: str = "file") -> Estimate:
    def play(parameters: object, info: object) -> Generator[Step, object, list[object]]:
        def one(step: Step) -> Generator[Step, object, None]:
            yield step

        for step in steps:
            yield from one(step)
        return []

    battery = Battery(
        name="given",
        title="given",
        trust="M",
        parameters=object,
        steps=play,  # type: ignore[arg-type]
        departs=lambda parameters, info: [],
    )
    info = FakeDrive(law=Law(capacity_bytes=10**9), kind=kind).info
    return estimate([Request(battery=battery, parameters=None)], info)


def job(**changes: object) -> Job:
    values: dict[str, object] = {"name": "j", "rw": "write", "block_bytes": 1 << 20}
    return Job(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "read", "write", "seconds"),
    [
        (job(), 0, 10**9, 2.5),
        (job(size=4 * 10**8), 0, 4 * 10**8, 1.0),
        (job(offset=6 * 10**8, rw="read"), 4 * 10**8, 0, 1.0),
        (job(io_bytes=8 * 10**8, size=10**8), 0, 8 * 10**8, 2.0),
        (job(runtime_s=5.0), 0, 2 * 10**9, 5.0),
        (job(runtime_s=5.0, io_bytes=4 * 10**8), 0, 4 * 10**8, 1.0),
        (job(runtime_s=2.0, rw="rw", read_percent=70), 560_000_000, 240_000_000, 2.0),
        (job(runtime_s=1.0, rw="randread", block_bytes=4096), 8000 * 4096, 0, 1.0),
        (job(runtime_s=1.0, rw="randwrite", block_bytes=4096, depth=32), 0, 80_000 * 4096, 1.0),
        (job(rate_bytes_s=10**8), 0, 10**9, 10.0),
        (job(rw="trim"), 0, 0, 2.5),
    ],
)
def test_a_job(one: Job, read: int, write: int, seconds: float) -> None:
    found = of(Run(label="x", jobs=(one,)))
    assert (found.read_bytes, found.write_bytes - found.target_bytes) == (read, write)
    assert found.target_bytes == 10**9
    assert found.drive_s == pytest.approx(seconds)
    assert found.wall_s == pytest.approx(found.drive_s + 10**9 / 400e6)


def test_other_steps() -> None:
    assert of(Rest(seconds=30)).drive_s == 30
    assert of(Fill(), kind="twin").write_bytes == 10**9
    assert of(Fill(offset=4 * 10**8), kind="twin").write_bytes == 6 * 10**8
    assert of(Trim(), Flush(), kind="twin").write_bytes == 0
    chain = Chain(label="c", parts=(Run(label="a", jobs=(job(),)), Rest(seconds=3)))
    assert of(chain).drive_s == pytest.approx(5.5)
    both = Run(label="b", jobs=(job(), job(runtime_s=5.0)))
    assert of(both).drive_s == pytest.approx(5.0)
    assert of(both, kind="twin").write_bytes == 3 * 10**9


def test_a_step_is_timed_where_time_ends_it() -> None:
    timed, sized = job(runtime_s=5.0), job()
    steps: list[tuple[Step, bool]] = [
        (Run(label="a", jobs=(timed,)), True),
        (Run(label="b", jobs=(timed, sized)), False),
        (Run(label="c", jobs=(job(runtime_s=5.0, io_bytes=10),)), False),
        (Rest(seconds=1), True),
        (Fill(), False),
    ]
    assert [one.timed for one in of(*(step for step, _ in steps)).steps] == [t for _, t in steps]


def test_a_file_is_written_once_to_be_one() -> None:
    assert of(Rest(seconds=1)).write_bytes == 10**9


def test_rests_of_a_twin_cost_no_wall_time() -> None:
    assert of(Rest(seconds=600), kind="twin").wall_s < 0.01
    assert of(Rest(seconds=600), kind="twin").drive_s == 600


def test_the_batteries_write_what_they_say() -> None:
    info = FakeDrive().info
    fill = estimate([registry.request("fill", {"passes": "1", "patterns": "1m-q1"})], info)
    assert fill.write_bytes == info.capacity_bytes // (1 << 20) * (1 << 20)
    cdm = estimate([registry.request("crystaldiskmark", {"mix": "off"})], info)
    assert cdm.drive_s == pytest.approx(12 * 3 * 5 + 11 * 5 + (1 << 30) / 400e6)
