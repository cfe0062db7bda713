"""A fleet: many drives, on this machine and on Dask, the same bytes whoever simulates them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from click.testing import Result

from flashtwin.load import ask, fleet
from flashtwin.load.life import Life
from flashtwin.load.lifetime import Copy, Question, Simulated
from flashtwin.load.loads import load
from flashtwin.load.words import Fleet, Interval, Member
from flashtwin.report.answer import write as write_page
from flashtwin.runner.target import Variant

Run = Callable[..., Result]
SMALL = Question(
    variant=Variant(
        drive="bx500-240",
        scale="1/176",
        sets=(
            "map.residency=dram",
            "slc_cache.mode=none",
            "nand.blocks_per_plane=200",
            "drive.capacity=94 GB",
        ),
    ),
    load=load("surveillance", "0.5 drives"),
    full=0.8,
)


def members(years: list[float | None]) -> Fleet:
    return Fleet(
        name="X",
        title="a load",
        full=0.8,
        per_day_bytes=20e9,
        spread=2.0,
        ended=Interval(value=2, low=1, high=3),
        lives=len(years),
        error=None,
        drives=[Member(per_day_bytes=20e9, waf=2.0, years=value) for value in years],
        assumed=[],
        sources=[],
    )


def test_the_sentence_counts_drives_that_ended() -> None:
    first, second, _ = fleet.sentences(members([1.0, 4.0, 6.0, 200.0, None]), 5.0)
    assert first.startswith("Of 5 X under a load, 20 GB a day (90 % of them 10 GB to 40 GB)")
    assert first.endswith("2 (1 to 3) have used up the rated cycles after 5 years.")
    assert second == "Half of them last longer than 6 years, one in twenty less than 1 year."


def test_each_drive_follows_from_its_number() -> None:
    few, more = fleet.plan(SMALL, 3, 2.0), fleet.plan(SMALL, 6, 2.0)
    assert few.variants == more.variants[:3] and few.members == more.members[:3]
    assert few.lives == few.members and len({factor for _, factor in more.members}) == 6


def end_of(base: Copy, years: float) -> Simulated:
    return Simulated(
        scale=base.scale,
        capacity_bytes=1 << 30,
        waf=2.0,
        waf_error=0.0,
        wear=0.0,
        by_cause={},
        watts=1.0,
        kept_up=1.0,
        steady=True,
        written=3.0,
        latencies=[],
        life=Life(stages=[], end_years=years),
    )


def test_a_large_fleet_shares_lives_and_says_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, count = 4, 1000
    monkeypatch.setattr(fleet, "DRAWN", drawn)
    plan = fleet.plan(SMALL, count, 2.0)
    assert len(plan.works()) == 4 * drawn + fleet.CHECKED and len(plan.members) == count

    def lasts(number: int, factor: float) -> float:
        """More than half as long under twice the load, as its bytes cost less."""
        return (4 + number) * factor**-0.9

    ends = [end_of(plan.base, lasts(*life)) for life in plan.lives]
    of = fleet.fleet(plan, SMALL, ends, 5.0)
    least, most = (min(plan.lives[:4])[1], max(plan.lives[:4])[1])
    for member, row in zip(of.drives, plan.members, strict=True):
        # A power is a line between two days; beyond the last one a byte costs what it does there.
        rel = 0.001 if least <= row[1] <= most else 0.2
        assert member.years == pytest.approx(lasts(*row), rel=rel)
    assert of.error is not None and 0.0 < of.error < 0.2 and of.lives == len(plan.lives)
    ended = sum(lasts(*row) < 5.0 for row in plan.members)
    assert of.ended.low < ended < of.ended.high and of.ended.value == pytest.approx(ended, abs=2)
    assert any("differ by" in note for note in fleet.notes(of))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fleet", "3", "--rests", "1s,1h"], "asks of one drive in one way"),
        (["--fleet", "3", "--vary", "trim=on,off"], "--fleet asks of one drive in one way"),
        (["--rests", "1s"], "write two at least"),
        (["--rests", "1s,soon"], "--rests"),
        (["--vary", "trim=maybe"], "trim is on or off, and not maybe"),
        (["--vary", "handles=on"], "one job of surveillance writes, and handles tell jobs apart"),
        (["--cluster", "tcp://127.0.0.1:9", "--jobs", "2"], "a cluster decides by itself"),
        (["--draws", "1"], "one drawn drive does not show how far drives differ"),
    ],
)
def test_wrong_questions_of_many(run: Run, words: list[str], message: str) -> None:
    done = run("ask", "crucial-p1-1tb", "--workload", "surveillance", *words, "-q")
    assert done.exit_code == 2 and message in done.stderr


@pytest.fixture(scope="module")
def distributed() -> ModuleType:
    module: ModuleType = pytest.importorskip("distributed")
    return module


@pytest.fixture
def cluster(distributed: ModuleType) -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.mark.full
def test_a_fleet_is_the_same_whoever_simulates_it(
    distributed: ModuleType, cluster: Any, tmp_path: Path
) -> None:
    """200 lives on this machine, on two workers, and on two of which one is killed among them, with
    the results that it held."""
    plan = fleet.plan(SMALL, 200, 2.0)
    works = plan.works()
    killed: list[int] = []

    def kill_one(done: float, name: str) -> None:
        if done >= len(works) / 4 and not killed:
            with distributed.Client(cluster.scheduler_address) as client:
                killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    def answered(on_end: ask.OnEnd = lambda done, name: None, **where: Any) -> tuple[bytes, bytes]:
        ends: list[Simulated] = ask.carried_out(works, ["x"] * len(works), on_end, **where)
        answer = fleet.fleet(plan, SMALL, ends, 5.0)
        page = tmp_path / "page.html"
        write_page(fleet.answer(answer, 5.0), page)
        return msgspec.json.encode(answer), page.read_bytes()

    here = answered(at_once=1)
    assert here == answered(cluster=cluster.scheduler_address)
    assert here == answered(kill_one, cluster=cluster.scheduler_address) and killed


@pytest.mark.full
def test_the_command_asks_a_cluster(run: Run, cluster: Any, tmp_path: Path) -> None:
    # An hour of cameras is more than all of such a drive.
    words = ("ask", "bx500-240", "--scale", "1/176", "--workload", "surveillance", "-q")
    words += ("--fleet", "4", "--for", "5y", "--json")
    there = run(*words, "--cluster", cluster.scheduler_address, "--out", "f.html")
    here = run(*words, "--jobs", "1", "--out", "f.html")
    assert there.exit_code == 0 and there.stdout == here.stdout
    assert (tmp_path / "f.html").exists()
