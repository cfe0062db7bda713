"""A loop of one's own around a twin: times, order, limits, and the closed loop done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashtwin as ft
from flashtwin.model.step import Fill, Job, Purge, Result, Run

SCALE = "1/16"


@pytest.fixture
def twin() -> ft.Twin:
    return ft.Twin("bx500-240", scale=SCALE)


def test_one_request(twin: ft.Twin) -> None:
    tag = twin.submit("write", 0, 4096)
    assert twin.outstanding == 1
    (done,) = twin.wait()
    assert (done.tag, done.op, done.offset, done.size) == (tag, "write", 0, 4096)
    assert done.ok and done.status == "ok" and done.submitted_ns == 0
    assert done.latency_ns == done.done_ns == twin.now_ns > 0
    assert twin.outstanding == 0 and twin.wait() == [] and twin.drain() == []


def test_times(twin: ft.Twin) -> None:
    twin.submit("write", 0, 4096, at_ns=1_000_000)
    assert twin.now_ns == 1_000_000
    twin.submit("flush", at_ns=1_000_500)
    assert twin.advance(to_ns=1_000_600) == []
    done = twin.advance(by_ns=10**9)
    assert {one.op: one.size for one in done} == {"write": 4096, "flush": 0}
    assert twin.now_ns == 10**9 + 1_000_600
    assert all(one.submitted_ns < one.done_ns <= twin.now_ns for one in done)


def test_what_was_done_before_a_later_submit_is_told_once(twin: ft.Twin) -> None:
    first = twin.submit("write", 0, 4096)
    second = twin.submit("read", 0, 4096, at_ns=10**9)
    assert twin.outstanding == 1
    done = twin.wait()
    assert [one.tag for one in done] == [first] and twin.now_ns == 10**9
    assert [one.tag for one in twin.drain()] == [second]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("write", 1, 4096), "not multiples of 512"),
        (("write", 0, 0), "size of 0 bytes"),
        (("erase", 0, 4096), "no operation 'erase'"),
        (("write", -512, 4096), "negative"),
    ],
)
def test_what_no_host_may_ask(twin: ft.Twin, arguments: Any, said: str) -> None:
    with pytest.raises(ft.FlashtwinError, match=said) as refused:
        twin.submit(*arguments)
    assert refused.value.exit_code == 2 and twin.outstanding == 0


def test_past_the_end_is_the_drives_to_say(twin: ft.Twin) -> None:
    twin.submit("read", twin.capacity_bytes, 4096)
    assert [one.status for one in twin.drain()] == ["out of range"]


def test_time_does_not_run_backwards(twin: ft.Twin) -> None:
    twin.advance(to_ns=1000)
    with pytest.raises(ft.FlashtwinError, match="it is 1000 ns already"):
        twin.submit("write", 0, 4096, at_ns=999)
    with pytest.raises(ft.FlashtwinError, match="it is 1000 ns already"):
        twin.advance(to_ns=999)
    with pytest.raises(ft.FlashtwinError, match="either to_ns or by_ns"):
        twin.advance()


def test_the_queue_is_as_deep_as_the_drives(twin: ft.Twin) -> None:
    for index in range(twin.queue_depth):
        twin.submit("read", index * 4096, 4096)
    with pytest.raises(ft.FlashtwinError, match="the queue is full: the drive takes 32"):
        twin.submit("read", 0, 4096)
    assert len(twin.drain()) == 32


def test_steps_wait_for_requests(twin: ft.Twin, tmp_path: Path) -> None:
    twin.submit("write", 0, 4096)
    for call in (lambda: twin.do(Purge()), lambda: twin.save(tmp_path / "x")):
        with pytest.raises(ft.FlashtwinError, match="1 commands are outstanding"):
            call()
    with pytest.raises(ft.FlashtwinError, match="outstanding"):
        twin.play("read", 0)
    twin.drain()
    assert isinstance(twin.do(Fill(size=1 << 30)), Result)
    assert twin.smart()["flashtwin"]["waf"]["host_bytes"] >= 1 << 30
    twin.save(tmp_path / "x")
    assert (tmp_path / "x").stat().st_size > 0


def closed_loop(job: Job) -> tuple[Result, ft.Twin]:
    twin = ft.Twin("bx500-240", scale=SCALE)
    answer = twin.do(Run(label="x", jobs=(job,)))
    assert isinstance(answer, Result)
    return answer, twin


@pytest.mark.parametrize("depth", [1, 4, 32])
def test_play_is_the_closed_loop(depth: int) -> None:
    """Sequential writes at a depth: request for request what fio's loop in the core does."""
    size, block = 2 * 10**9 // 131072 * 131072, 131072
    job = Job(name="w", rw="write", block_bytes=block, depth=depth, size=size)
    answer, one = closed_loop(job)
    other = ft.Twin("bx500-240", scale=SCALE)
    played = other.play("write", np.arange(0, size, block), block, depth=depth)
    assert played.height == answer.jobs[0].ios
    assert int(played["done_ns"].to_numpy().max()) == answer.duration_ns
    assert float(played["latency_us"].to_numpy().mean()) * 1000 == pytest.approx(
        answer.jobs[0].latency_mean_ns, rel=1e-12
    )
    assert one.smart()["flashtwin"]["waf"] == other.smart()["flashtwin"]["waf"]


def test_play_is_submit_and_wait_by_hand() -> None:
    rng = np.random.default_rng(1)
    offsets = rng.integers(0, 1000, 300) * 4096
    ops = np.where(rng.random(300) < 0.5, "read", "write")
    played = ft.Twin("bx500-240", scale=SCALE).play(ops, offsets, depth=3)
    twin = ft.Twin("bx500-240", scale=SCALE)
    done: list[ft.Completion] = []
    for op, offset in zip(ops, offsets, strict=True):
        while twin.outstanding >= 3:
            done += twin.wait()
        twin.submit(str(op), int(offset), 4096)  # type: ignore[arg-type]
    done += twin.drain()
    by_tag = sorted(done, key=lambda one: one.tag)
    assert [one.done_ns for one in by_tag] == played["done_ns"].to_list()
    assert [one.submitted_ns for one in by_tag] == played["submitted_ns"].to_list()


def test_play_at_times(twin: ft.Twin) -> None:
    at = np.array([0, 10**6, 10**6, 5 * 10**6])
    played = twin.play("write", np.arange(4) * 4096, at_ns=at)
    assert played["submitted_ns"].to_list() == at.tolist()
    assert set(played["status"].to_list()) == {"ok"}
    crowded = twin.play("read", np.zeros(100, dtype=int), at_ns=np.full(100, twin.now_ns), depth=1)
    waits = crowded["submitted_ns"].to_numpy()[1:] - crowded["done_ns"].to_numpy()[:-1]
    assert (waits == 0).all()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"op": "write", "offset": [0.5]}, "whole numbers"),
        ({"op": "write", "offset": [-512]}, "whole numbers from 0"),
        ({"op": ["write", "erase"], "offset": [0, 0]}, "no operation 'erase'"),
        ({"op": "write", "offset": [0, 0], "at_ns": [5, 4]}, "do not rise"),
        ({"op": "write", "offset": [0], "depth": 0}, "depth of at least 1"),
        ({"op": "write", "offset": [7]}, "not multiples of 512"),
    ],
)
def test_plays_that_cannot_be(twin: ft.Twin, columns: dict[str, Any], said: str) -> None:
    with pytest.raises(ft.FlashtwinError, match=said):
        twin.play(**columns)
    assert twin.play("flush", 0)["status"].to_list() == ["ok"]


def test_the_same_again(twin: ft.Twin) -> None:
    assert repr(twin) == "Twin('bx500-240', now 0 s, 0 outstanding)"
    offsets = np.random.default_rng(2).integers(0, 10**5, 5000) * 4096
    other = ft.Twin("bx500-240", scale=SCALE)
    assert twin.play("write", offsets).equals(other.play("write", offsets))


def test_other_drives_and_values() -> None:
    small = ft.Twin("bx500-240", scale=SCALE, sets={"link.queue_depth": 4})
    assert small.queue_depth == 4 and small.name == "bx500-240"
    with pytest.raises(ft.FlashtwinError, match="bx501"):
        ft.Twin("bx501-240")


@pytest.mark.parametrize(
    ("op", "offset", "said"),
    [
        (["write", "read"], [0, 4096, 8192], "differ in length: 2 and 3 rows"),
        ("write", [[0, 4096]], "one dimension"),
        ("write", [0.5], "whole numbers"),
        ("write", [-4096], "whole numbers"),
        (["wipe"], [0, 4096], "no operation 'wipe'"),
    ],
)
def test_columns_that_are_no_requests(twin: ft.Twin, op: Any, offset: Any, said: str) -> None:
    with pytest.raises(ft.FlashtwinError, match=said):
        twin.play(op, offset)
    assert twin.play("write", []).height == 0
    assert twin.play(["write"], [0, 4096]).height == 2


def test_a_seed_that_is_none() -> None:
    for seed in (-1, 1 << 63):
        with pytest.raises(ft.FlashtwinError, match="is not a whole number from 0 to") as refused:
            ft.Twin("bx500-240", scale=SCALE, seed=seed)
        assert refused.value.exit_code == 2


def test_placement_handles_of_requests_and_jobs_and_their_log() -> None:
    sets = {"slc_cache.mode": "none", "link.kind": "nvme", "fdp.handles": 4}
    sets |= {"gc.low": 8, "gc.high": 9, "link.rate": 0}
    twin = ft.Twin("bx500-240", scale=SCALE, sets=sets)
    for handle in range(4):
        twin.submit("write", handle << 20, 4096, handle=handle)
    assert all(one.ok for one in twin.drain())
    job = Job(name="two", rw="write", block_bytes=4096, size=1 << 20, handles=(1, 3))
    twin.do(Run(label="two", jobs=(job,)))
    twin.submit("flush")
    twin.drain()
    log = twin.smart()["nvme_fdp_statistics"]
    assert log["host_bytes_with_metadata_written"] == 4 * 4096 + (1 << 20)
    assert log["media_bytes_with_metadata_written"] >= log["host_bytes_with_metadata_written"]
    plain = ft.Twin("bx500-240", scale=SCALE)
    assert "nvme_fdp_statistics" not in plain.smart()
