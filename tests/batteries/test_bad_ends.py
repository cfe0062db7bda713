"""Every battery on a drive that does not suit, that vanishes, fills up, or is stopped on the way.

One run of each battery meets all of it, one after another, and is taken up after each: it has to
end with the bytes of a run to which nothing happened. The drive is one in closed form (`fakes`), so
that a battery takes a fraction of a second.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import GB, IN_A_FILE, ON_PAPER, FakeDrive, Law
from thinning import thinned

from flashtwin.batteries.base import registry
from flashtwin.drives.real.real_fio import FioError
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.series import Series
from flashtwin.model.step import Ask, Chain, NotPossible, Result, Step
from flashtwin.model.target import DriveInfo, Interrupted, Watch
from flashtwin.runner.estimate import Estimate
from flashtwin.runner.events import Observer
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

# The battery `fio` is given its jobs by `flashtwin fio`, and has such tests in tests/fio.
# A drive on paper has no sensor of its temperature.
NAMES = [name for name in registry.own() if name not in ("fio", "temperature")]
LAW = Law(capacity_bytes=16 * GB, cache_bytes=2 * GB, fold_begin_bytes=12 * GB)
# What a small drive has no room for.
SETTINGS: dict[str, dict[str, str]] = {
    "as_ssd": {"sizes": "1GB"},
    # One size of blocks has the steps of all seven.
    "snia_iops": {"blocks": "4k"},
    # Each looks what would tell most by simulating candidates, which takes a second.
    "discover": {"tests": "1", "candidates": "4", "longest_s": "1"},
}
GONE = "paper is no longer the file that was made for the test"


@dataclass
class Ends(FakeDrive):
    """Has all instruments; ends in one of several ways in the middle of the step `at`."""

    law: Law = LAW
    at: int = 10**9
    way: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def info(self) -> DriveInfo:
        return replace(super().info, can=replace(ON_PAPER, smart=True, power_meter=True))

    def smart(self) -> dict[str, Any]:
        table = [{"id": number, "raw": {"value": self.written >> 12}} for number in (246, 247, 248)]
        return {"ata_smart_attributes": {"table": table}}

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.asked.append(step.label)
        if len(self.asked) == self.at:
            if self.way == "vanishes":
                raise FlashtwinError(GONE, exit_code=ENVIRONMENT)
            if self.way == "is full":
                raise FioError("io_u error on file target: No space left on device")
            os.kill(os.getpid(), signal.SIGINT)
        return super().do(step, watch)

    def _do(self, step: Step, watch: Watch) -> Result | NotPossible:
        if isinstance(step, Ask):
            answer = self._result(step.label, 0, Series.empty())
            return replace(answer, smart=self.smart()) if step.of == "smart" else answer
        answer = super()._do(step, watch)
        if isinstance(step, Chain) or not isinstance(answer, Result) or not answer.duration_ns:
            return answer
        each = answer.duration_ns // 8
        meter = {
            "t_ns": each * np.arange(1, 9),
            "dt_ns": np.full(8, each),
            "power_uw": 900_000 + np.arange(8),
            "temperature_mc": 40_000 + np.arange(8),
        }
        return replace(answer, meter=meter)


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes, which stands for the full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def asked_of(battery: str) -> list[tuple[str, dict[str, str]]]:
    return [(battery, SETTINGS.get(battery, {}))]


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "host.json"
    }


@pytest.mark.parametrize("battery", thinned(NAMES, every=9))
def test_whatever_ends_it_each_battery_goes_on_to_the_same_bytes(
    battery: str, tmp_path: Path
) -> None:
    """A target that vanishes, one that is full, a full disk under the run, Ctrl-C: one by one."""
    first = Ends()
    whole = run_batteries(first, asked_of(battery), tmp_path / "whole")
    assert whole.findings, battery
    count, place = len(first.asked), tmp_path / "run"
    assert count > 2
    begins: Any = asked_of(battery)
    for number, way in enumerate(("vanishes", "is full", "Ctrl-C"), 1):
        drive = Ends(at=max(number * count // 4, 1), way=way)
        expected = Interrupted if way == "Ctrl-C" else FlashtwinError
        with pytest.raises(expected) as ended:
            run_batteries(drive, begins, place)
        begins = None
        told = ended.value.hint if isinstance(ended.value, FlashtwinError) else str(ended.value)
        assert told is not None and f"--resume {place}" in told, (way, told)
        kept = Run(place)
        assert kept.state == ("interrupted" if way == "Ctrl-C" else "failed")
        assert drive.closed == 1
        # The step that did not end is not there; what ended is, as it is in the uncut run. A step
        # that takes no time hears no Ctrl-C, and the one behind it does not begin.
        labels = [step.label for step in kept.steps]
        assert labels == drive.asked[:-1] or (way == "Ctrl-C" and labels == drive.asked)
        assert list(kept.steps) == list(whole.steps[: len(kept.steps)])
        assert set(kept.findings) <= set(whole.findings) or not kept.finished
    journal_bytes = (place / "steps.jsonl").stat().st_size
    with file_limit(journal_bytes + 1), pytest.raises(FlashtwinError, match="cannot write") as full:
        run_batteries(Ends(), None, place)
    assert full.value.exit_code == ENVIRONMENT and "--resume" in (full.value.hint or "")
    assert run_batteries(Ends(), None, place).finished
    assert contents(place) == contents(tmp_path / "whole")


@pytest.mark.parametrize("battery", NAMES)
def test_a_target_that_is_too_small_is_refused_before_the_first_byte(
    battery: str, tmp_path: Path
) -> None:
    tiny = Ends(law=replace(LAW, capacity_bytes=1 << 16))
    with pytest.raises(FlashtwinError) as refused:
        run_batteries(tiny, asked_of(battery), tmp_path / "run")
    assert battery in refused.value.message and refused.value.hint
    assert not tiny.asked and not (tmp_path / "run").exists() and tiny.closed == 1


@dataclass
class Plain(Ends):
    """Takes neither TRIM nor a purge, and has no instruments."""

    refused: list[str] = field(default_factory=list)

    @property
    def info(self) -> DriveInfo:
        return replace(FakeDrive.info.__get__(self), can=IN_A_FILE)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        if not self.info.can.allow(step):
            self.refused.append(type(step).__name__.lower())
            return NotPossible(reason="a plain drive on paper")
        return super().do(step, watch)


class Before(Observer):
    """What is said before the first byte."""

    cannot: frozenset[str] = frozenset()

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        self.cannot = frozenset(kind for kinds in estimate.cannot.values() for kind in kinds)


@pytest.mark.parametrize("battery", thinned(NAMES, every=12))
def test_what_a_target_cannot_do_is_said_before_the_first_byte(
    battery: str, tmp_path: Path
) -> None:
    """Of all steps of the battery, those behind a decision too; or it is refused."""
    drive, before = Plain(), Before()
    try:
        run_batteries(drive, asked_of(battery), tmp_path / "run", observer=before)
    except FlashtwinError as refused:
        assert not drive.asked and battery in refused.message and refused.hint
        return
    assert set(drive.refused) <= before.cannot, battery
