"""Drives whose spec makes a command take hours: a watch is asked all the same, and heard."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.model.job import Job, ReadWrite, jobs_json

SAMPLE_NS = 100_000_000
SETS = [
    ("controller.command_time=1 h",),
    ("link.activate_time=1 h",),
    ("controller.command_time=1 h", "controller.gather=false"),
]
Watch = Callable[[int, int], bool]


def job(rw: ReadWrite) -> str:
    return jobs_json([Job(name="a", rw=rw, block_bytes=4096, depth=32, io_bytes=1 << 40)])


def fio(twin: _core.Twin, watch: Watch) -> None:
    text = "[a]\nrw=randread\nioengine=libaio\niodepth=32\nsize=1g\ntime_based\nruntime=9d\n"
    target = Target(name="a", bytes=twin.capacity_bytes)
    (phase,) = plan(typed(read_text(text), environment={}).jobs, target).phases
    answer = twin.fio(jobs_json([process.job for process in phase]), watch, lambda rows: None)
    assert answer["stopped"] and len(answer["rows"]) == 1
    raise _core.Stopped


WORK: list[Callable[[_core.Twin, Watch], object]] = [
    lambda twin, watch: twin.run(job("randread"), SAMPLE_NS, watch),
    lambda twin, watch: twin.run(job("write"), SAMPLE_NS, watch),
    fio,
    lambda twin, watch: twin.rest(10**18, SAMPLE_NS, watch),
]


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("work", WORK)
def test_a_watch_is_heard_whatever_a_command_takes(
    work: Callable[[_core.Twin, Watch], object], sets: tuple[str, ...]
) -> None:
    twin = _core.Twin(load("bx500-240", scale="1/64", sets=sets), 1)
    asked = []

    def watch(bytes_done: int, ns: int) -> bool:
        asked.append(ns)
        return len(asked) < 3

    with pytest.raises(_core.Stopped):
        work(twin, watch)
    # Without patience for what was outstanding the drive is left as it was.
    assert len(asked) == 3


@pytest.mark.parametrize(
    "work",
    [
        lambda twin, watch: twin.flush(watch),
        lambda twin, watch: twin.trim(0, 1 << 20, watch),
        lambda twin, watch: twin.purge(watch),
    ],
)
def test_commands_of_a_battery_are_left_too(
    work: Callable[[_core.Twin, Watch], object],
) -> None:
    sets = ("controller.command_time=200 h", 'controller.secure_erase="crypto"')
    spec = load("bx500-240", scale="1/64", sets=sets)
    twin = _core.Twin(spec, 1)
    with pytest.raises(_core.Stopped):
        work(twin, lambda bytes_done, ns: False)
    with pytest.raises(ValueError, match="make it anew"):
        twin.rest(1, SAMPLE_NS, lambda bytes_done, ns: True)


def test_nothing_that_is_measured_depends_on_it() -> None:
    """A drive that leaves off answers as one that is asked at each completion."""
    spec = load("bx500-240", scale="1/64", sets=("controller.command_time=20 s",))
    text = jobs_json([Job(name="a", rw="randwrite", block_bytes=4096, depth=8, io_bytes=40 * 4096)])
    often = _core.Twin(spec, 1).run(text, 10_000_000, lambda bytes_done, ns: True)
    seldom = _core.Twin(spec, 1).run(text, 10**18, lambda bytes_done, ns: True)
    assert often["duration_ns"] == seldom["duration_ns"]
    assert often["jobs"] == seldom["jobs"]
