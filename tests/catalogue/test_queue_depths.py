"""Curves of random requests over the queue depth bend where those do that are printed of a drive.

Two figures, one at a time and with deep queues, say where a curve bends: in a closed loop a rate
is at most depth times the single one, and at most the highest, so that it bends about where these
two meet, at their quotient. Curves are drawn at doubled depths: a bend may be off by one. Where a
review prints rates at several depths, the twin has each of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from thinning import thinned

from flashtwin.catalogue import facts
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.job import Job, ReadWrite
from flashtwin.model.step import Result, Run
from flashtwin.runner.run import run_batteries
from flashtwin_lab.validation.rows import within

BLOCK, SPAN, SCALE = 4096, 256 << 20, "1/8"
DEPTHS = [2**power for power in range(10)]
# The time that the rows' host takes for a request, and that of each depth.
HOST_NS, TIME_S = 8_000, 0.02
DIRECTIONS: dict[str, ReadWrite] = {"random reads": "randread", "random writes": "randwrite"}


def printed() -> dict[tuple[str, str], tuple[float, float]]:
    """The two figures, by drive and direction, where a label or a review has both and the twin
    does not miss the first for a reason that is known."""
    missed = {(miss.drive, miss.metric) for miss in facts.known_misses()}
    values = {(fact.drive, fact.metric): fact.value for fact in facts.of_labels()}
    return {
        (drive, metric): (single, deep)
        for (drive, metric), deep in values.items()
        if metric in DIRECTIONS
        and (drive, f"{metric}, one at a time") not in missed
        and (single := values.get((drive, f"{metric}, one at a time"))) is not None
        and deep is not None
    }


def curve(drive: str, rw: ReadWrite) -> list[float]:
    """Requests a second by the number of threads, each with one request."""
    twin = Twin(load(drive, scale=SCALE), seed=1).open()
    written = Job(name="w", rw="write", block_bytes=128 << 10, depth=32, size=SPAN)
    twin.do(Run(label="written", jobs=(written,)), lambda progress: True)
    rates = []
    # The first one waits for what is still being programmed, and is not counted.
    for depth in (1, *DEPTHS):
        job = Job(
            name="random",
            rw=rw,
            block_bytes=BLOCK,
            threads=depth,
            size=SPAN,
            runtime_s=TIME_S,
            host_ns=HOST_NS,
            seed=depth,
        )
        step = Run(label=f"q{depth}", jobs=(job,))
        result = twin.do(step, lambda progress: True)
        assert isinstance(result, Result)
        rates.append(result.jobs[0].ios / (result.duration_ns / 1e9))
    return rates[1:]


@pytest.mark.parametrize(
    ("drive", "metric"),
    [
        pytest.param(*row, marks=[pytest.mark.full] * (row[0] != "samsung-860-pro-512"))
        for row in printed()
    ],
)
def test_a_curve_bends_where_the_printed_one_does(drive: str, metric: str) -> None:
    single, deep = printed()[drive, metric]
    rates = curve(drive, DIRECTIONS[metric])
    highest, bend = max(rates), max(rates) / rates[0]
    assert deep / single / 2 < bend < 2 * deep / single, rates
    for depth, rate in zip(DEPTHS, rates, strict=True):
        assert rate <= 1.02 * depth * rates[0], "as many single ones at most"
        if depth <= bend / 4:
            assert rate > 0.8 * depth * rates[0], "nothing waits for another yet"
        if depth >= bend:
            assert rate > 0.6 * highest
        if depth >= 4 * bend:
            assert rate > 0.85 * highest


def test_seven_drives_have_both_figures() -> None:
    assert len({drive for drive, _ in printed()}) >= 7


@pytest.mark.parametrize(
    "fact",
    thinned(facts.of_curves(), every=3),
    ids=lambda fact: f"{fact.drive}: {fact.metric}",
)
def test_a_twin_has_what_is_printed_at_a_depth(fact: facts.Fact, tmp_path: Path) -> None:
    battery, _, typed = fact.battery.partition(":")
    asked = dict(pair.split("=") for pair in typed.split(","))
    twin = Twin(load(fact.drive, scale=fact.scale), seed=1).open()
    run = run_batteries(twin, [(battery, asked)], tmp_path / "run")
    found = {finding.id: finding.number for finding in run.findings}[fact.finding]
    assert found is not None and within(fact, found), found
