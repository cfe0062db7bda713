"""fill asks for exactly what reviewers do, in order, whatever the target answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fakes import GB, FakeDrive, Law, labels, played

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Mark, Purge, Rest, Run, Step


def play(drive: FakeDrive, **parameters: str) -> tuple[list[Step], list[Finding]]:
    request = registry.request("fill", parameters)
    return played(request, drive)


def runs(steps: Sequence[Step]) -> list[Run]:
    return [step for step in steps if isinstance(step, Run)]


def test_the_order_is_purge_write_rest_write_for_each_pattern() -> None:
    steps, _ = play(FakeDrive())
    assert list(labels(steps)) == [
        "fill/128k-q32/purge",
        "fill/128k-q32/pass-1",
        "fill/128k-q32/rest-1",
        "fill/128k-q32/pass-2",
        "fill/1m-q1/purge",
        "fill/1m-q1/pass-1",
        "fill/1m-q1/rest-1",
        "fill/1m-q1/pass-2",
    ]
    kinds = [type(step) for step in steps if not isinstance(step, Mark)]
    assert kinds == [Purge, Run, Rest, Run] * 2


def test_a_pass_writes_every_whole_block_twice_a_second() -> None:
    steps, _ = play(FakeDrive(law=Law(capacity_bytes=240_057_409_536)))
    first, _, third, _ = runs(steps)
    (job,) = first.jobs
    assert (job.rw, job.block_bytes, job.depth, job.threads) == ("write", 128 << 10, 32, 1)
    assert job.size == 240_057_409_536 // (128 << 10) * (128 << 10)
    assert job.runtime_s is None and job.io_bytes is None and job.offset == 0
    assert first.sample_s == 0.5
    assert (third.jobs[0].block_bytes, third.jobs[0].depth) == (1 << 20, 1)
    assert [step.seconds for step in steps if isinstance(step, Rest)] == [600.0, 600.0]


def test_parameters_change_what_they_say() -> None:
    steps, _ = play(
        FakeDrive(), patterns="64k-q4", passes="3", idle_s="1m", sample_s="2s", host_us="12"
    )
    assert list(labels(steps)) == [
        "fill/64k-q4/purge",
        "fill/64k-q4/pass-1",
        "fill/64k-q4/rest-1",
        "fill/64k-q4/pass-2",
        "fill/64k-q4/rest-2",
        "fill/64k-q4/pass-3",
    ]
    assert {step.sample_s for step in runs(steps)} == {2.0}
    assert {step.jobs[0].host_ns for step in runs(steps)} == {12_000}


def test_a_real_target_spends_its_own_time_a_command() -> None:
    steps, _ = play(FakeDrive(kind="file", purge="a file"))
    assert {step.jobs[0].host_ns for step in runs(steps)} == {0}


def test_a_small_target_is_sampled_more_often_and_says_so() -> None:
    drive = FakeDrive(law=Law(capacity_bytes=4 * GB))
    steps, _ = play(drive)
    assert {step.sample_s for step in runs(steps)} == {0.04}
    request = registry.request("fill")
    assert request.battery.departures(request.parameters, drive.info)[0] == (
        "samples every 40 ms instead of every 500 ms"
    )


def test_a_mark_after_each_pass_and_all_findings() -> None:
    steps, found = play(FakeDrive())
    marked = [step.label for step in steps if isinstance(step, Mark)]
    assert marked == [f"{step.label}/found" for step in runs(steps)]
    assert len({one.id for one in found}) == len(found)
    by_id = {one.id: one for one in found}
    for pattern in ("128k-q32", "1m-q1"):
        size = by_id[f"fill.cache_size[{pattern}]"]
        assert size.value == pytest.approx(24, rel=0.02) and size.unit == "GB"
        assert by_id[f"fill.fold_begin[{pattern}]"].value == pytest.approx(192, rel=0.02)
        assert by_id[f"fill.second_pass.mean[{pattern}]"].value is not None


def test_a_target_that_cannot_be_erased_says_so_with_its_first_pass() -> None:
    _, found = play(FakeDrive(purge="a file cannot be erased"))
    numbers = [one for one in found if one.value is not None]
    first = [one for one in numbers if "second_pass" not in one.id]
    assert first
    assert all("not erased before" in (one.note or "") for one in first)
    second = [one for one in found if "second_pass" in one.id]
    assert second
    assert all("not erased" not in (one.note or "") for one in second)


def test_a_block_larger_than_the_target_is_refused_before_anything_is_asked() -> None:
    drive = FakeDrive(law=Law(capacity_bytes=1 << 20))
    with pytest.raises(FlashtwinError, match=r"4m-q1 is larger than paper"):
        play(drive, patterns="4m-q1")
    assert drive.done == []


@pytest.mark.parametrize("scale", [16, 64])
def test_a_scaled_copy_is_sampled_as_often_as_its_drive(scale: int) -> None:
    """The cache of a fast drive is over in a quarter of a second on a copy of a sixteenth."""
    spec = load("wd-sn570-1tb", scale=f"1/{scale}")
    info = Twin(spec, seed=1).info
    request = registry.request("fill", {"passes": "1", "patterns": "1m-q1"})
    step = next(
        step for step in request.battery.measure(request.parameters, info) if isinstance(step, Run)
    )
    assert step.sample_s == pytest.approx(max(0.5 / scale, 0.02), abs=0.001)
