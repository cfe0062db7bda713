"""The batteries that read instruments: on a twin of the BX500, and where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeDrive, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.counters import from_smart
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Ask, NotPossible, Result, Step
from flashtwin.model.target import Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

# The drive at a sixteenth: what is written is a sixteenth as well.
SCALE, SIZE = "1/16", "1500MB"


def run_on(name: str, battery: str, parameters: dict[str, object], at: Path) -> Run:
    drive = Twin(load(name, scale=SCALE), seed=1).open()
    return run_batteries(drive, [(battery, parameters)], at)


def values(run: Run) -> dict[str, float]:
    found = dict(run.findings.items())
    assert all(one.value is not None for one in found.values()), found
    return {name: one.value or 0.0 for name, one in found.items()}


@pytest.fixture(scope="module")
def power(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    at = tmp_path_factory.mktemp("power")
    asked = {"size": SIZE, "sample_s": "100ms", "random_s": "2s"}
    on, off = (
        run_on(name, "power", asked, at / name) for name in ("bx500-240", "bx500-240-nocache")
    )
    return on, off


def test_what_the_bx500_draws(power: tuple[Run, Run]) -> None:
    on, off = (values(run) for run in power)
    for one in (on, off):
        assert one["power.idle"] == pytest.approx(0.05, abs=0.001), "the floor of the spec"
        assert 0.7 < one["power.write"] <= one["power.write.most"] < 1.0
        assert one["power.after-write"] < 0.8 * one["power.write"]
    assert off["power.write"] == pytest.approx(on["power.write"], rel=0.1)
    assert off["power.after-write"] < 0.9 * on["power.after-write"], "folding is work"
    assert 0.2 < off["power.copy.efficiency"] / on["power.copy.efficiency"] < 0.75


def test_a_mean_is_what_the_drive_counted(power: tuple[Run, Run]) -> None:
    for run in power:
        step = run.step("power/write")
        assert step is not None
        meter = run.meter(step.step)
        joules = float(meter["power_uw"] @ meter["dt_ns"]) / 1e15
        found = dict(run.findings.items())
        watts = joules / (step.duration_ns / 1e9)
        assert found["power.write"].value == pytest.approx(watts, rel=1e-4)
        assert found["power.write.efficiency"].value == pytest.approx(
            step.jobs[0].bytes / 1e6 / joules, rel=1e-4
        )
        whole = sum(
            float(run.meter(one.step)["power_uw"] @ run.meter(one.step)["dt_ns"]) / 1e15
            for one in run.steps
            if run.meter(one.step)
        )
        counted = run.smart("after")["flashtwin"]["energy"]["energy_uj"] / 1e6
        assert whole == pytest.approx(counted, rel=1e-5), "the meter misses nothing"


def test_a_run_that_is_read_back_has_what_the_drive_answered(power: tuple[Run, Run]) -> None:
    step = power[0].step("power/idle")
    assert step is not None
    back = power[0].result(step.step)
    assert isinstance(back, Result)
    assert back.meter["dt_ns"].sum() == step.duration_ns


def test_write_amplification_by_fill(tmp_path: Path) -> None:
    asked = {"size": "256MiB", "fills": "25+90", "settle_s": "0s"}
    run = run_on("bx500-240", "waf", asked, tmp_path / "waf")
    found = values(run)
    # What is folded beside the writes is in it, and the pages of the map that each of them changes.
    assert 1.5 < found["waf[25%]"] < found["waf[90%]"] < 4
    before = run.step("waf/25/before")
    assert before is not None
    back = run.result(before.step)
    assert isinstance(back, Result)
    assert back.smart["ata_smart_attributes"]["table"], "a resumed run knows it too"


class Blind(FakeDrive):
    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.done.append(step)
        assert isinstance(step, Ask), "nothing else is asked where there is no instrument"
        return NotPossible(reason="nobody reads it here")


def findings_without_instruments(battery: str) -> list[Finding]:
    steps, found = played(registry.request(battery), Blind())
    assert len(steps) == 1
    return found


@pytest.mark.parametrize("battery", ["power", "waf"])
def test_without_an_instrument_the_reason_is_the_whole_answer(battery: str) -> None:
    (one,) = findings_without_instruments(battery)
    assert (one.id, one.value, one.note) == (battery, None, "nobody reads it here")


def test_a_maker_that_counts_no_programs(tmp_path: Path) -> None:
    drive = Twin(load("bx500-240", scale=SCALE, sets=["smart.family=samsung"]), seed=1).open()
    run = run_batteries(drive, [("waf", {"size": "16MiB", "fills": "10"})], tmp_path / "run")
    (one,) = run.findings
    assert one.value is None
    assert one.note == "the drive's SMART data do not count what it programs"


def test_what_is_no_attribute_counts_nothing() -> None:
    odd: list[object] = [None, "x", {}, {"id": 241}, {"id": "a", "raw": {"value": 1}}]
    odd += [{"id": 241, "raw": {"value": value}} for value in (None, "x", -1, 1 << 70, 1.5, [])]
    for table in (None, 3, "x", odd):
        for smart in ({"ata_smart_attributes": {"table": table}}, {"ata_smart_attributes": table}):
            answer = from_smart({**smart, "model_name": "CT1000MX500SSD1"}, smart)
            assert answer == "the drive's SMART data do not count what it programs"


def test_too_little_is_refused_before_anything_runs(tmp_path: Path) -> None:
    for battery in ("power", "waf"):
        drive = Twin(load("bx500-240", scale=SCALE), seed=1)
        with pytest.raises(FlashtwinError) as refused:
            run_batteries(drive, [(battery, {"size": "4KiB"})], tmp_path / battery)
        assert refused.value.hint
