"""How many programs long single writes wait: closed forms, and what may not change the answer."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.batteries.discover.latency import (
    BLOCK,
    LONGEST,
    Waits,
    in_programs,
    written_meanwhile,
)

PROGRAM_NS = 2e6


def _series(each_ns: np.ndarray) -> dict[str, np.ndarray]:
    """A sample a request."""
    return {
        "ios": np.ones(each_ns.size, dtype=np.int64),
        "lat_sum_ns": each_ns.astype(np.int64),
        "lat_max_ns": each_ns.astype(np.int64),
    }


def _reads(program_ns: float, count: int = 200) -> Waits:
    """Reads that find their die programming at any time, or idle every second time."""
    left = np.where(np.arange(count) % 2 == 0, 0.0, program_ns * np.linspace(0, 1, count))
    return Waits.of_series(_series(300_000 + left))


def _told(each_ns: np.ndarray, reads: Waits) -> np.ndarray:
    series = _series(each_ns)
    return in_programs(series, Waits.of_series(series), reads)


def _writes(long_ns: float, short: int) -> np.ndarray:
    """So many quick requests between two that wait."""
    return np.tile(np.append(np.full(short, 1.0), long_ns), 50)


@pytest.mark.parametrize("programs", [1.0, 2.0, 5.0])
def test_the_wait_that_a_moment_falls_into_is_told_in_programs(programs: float) -> None:
    """The quick requests take no time, so every moment lies in a wait."""
    for short in (4, 40):
        told = _told(_writes(programs * PROGRAM_NS, short), _reads(PROGRAM_NS))
        assert np.exp(told[0]) == pytest.approx(programs, rel=0.08)


def test_a_slower_drive_or_host_and_more_requests_between_waits_say_the_same() -> None:
    writes, reads = _writes(3 * PROGRAM_NS, 20) + 200_000.0, _reads(PROGRAM_NS)
    slower = Waits(each_ns=40 * reads.each_ns, counts=reads.counts)
    assert _told(40 * writes, slower)[0] == pytest.approx(_told(writes, reads)[0], rel=0.01)
    assert np.exp(_told(writes, reads)[0]) < 3.0, "quick requests take some of the time"


def test_what_is_written_while_a_program_lasts() -> None:
    single = Waits.of_series(_series(np.full(100, PROGRAM_NS / 8)))
    assert written_meanwhile(single, _reads(PROGRAM_NS)) == pytest.approx(8 * BLOCK, rel=0.08)
    assert written_meanwhile(single, _reads(20_000.0)) == 0.0
    assert written_meanwhile(Waits.of_histogram({}), _reads(PROGRAM_NS)) == 0.0


def test_one_stall_of_the_host_changes_nothing() -> None:
    writes = _writes(2 * PROGRAM_NS, 8)
    stalled = writes.copy()
    stalled[100] = 5e9
    reads = _reads(PROGRAM_NS)
    assert _told(stalled, reads)[0] == pytest.approx(_told(writes, reads)[0], rel=0.02)


def test_steps_of_many_programs_are_alike() -> None:
    assert _told(_writes(30 * PROGRAM_NS, 300), _reads(PROGRAM_NS))[0] == LONGEST


def test_reads_that_do_not_wait_for_programs_tell_nothing() -> None:
    """A drive that suspends programs: by its reads one would program a few KiB at once."""
    assert not _told(_writes(5 * PROGRAM_NS, 8), _reads(20_000.0)).size


def test_too_few_writes_tell_nothing() -> None:
    assert not _told(_writes(5 * PROGRAM_NS, 8)[:5], _reads(PROGRAM_NS)).size


def test_a_histogram_says_what_its_requests_say() -> None:
    waits = Waits.of_histogram({1000: 3, 1100: 1})
    singly = Waits(each_ns=np.repeat(waits.each_ns, [3, 1]), counts=np.ones(4))
    for one, other in (
        (waits.mean_ns, singly.mean_ns),
        (waits.usual_ns, singly.usual_ns),
        (waits.quantile_ns(0.5), singly.quantile_ns(0.5)),
    ):
        assert one == pytest.approx(other)
    assert waits.up_to(waits.each_ns.min()).counts.sum() == 3
