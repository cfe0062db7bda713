"""Batteries on a small file through fio that have no such test beside their own: what they tell is
what fio's log of the step says, counted another way than by the totals that a battery reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flashtwin.drives.real.real import Real
from flashtwin.runner.run import run_batteries

MIB = 1 << 20
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

# The settings, and findings whose value is bytes or requests over time of the step behind them.
CASES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "heatmap": (
        {"blocks": "4k", "depths": "4", "reads": "100+0", "seconds": "200ms", "size": "16MiB"},
        ("heatmap.read.iops[RND4K-Q4]", "heatmap.write.iops[RND4K-Q4]"),
    ),
    "under_load": (
        {"paces": "0", "seconds": "300ms", "rest_s": "10ms"},
        ("under_load.rate[alone]",),
    ),
    "qos": (
        {"seconds": "300ms", "window_s": "300ms", "fills": "1", "random_percent": "2"},
        ("qos.mean",),
    ),
    "identity": (
        {"seconds": "200ms", "size": "16MiB", "read": "540", "threads": "1"},
        ("identity.read", "identity.write"),
    ),
    "iometer": (
        {"depths": "4", "access": "4k-100r-100x", "seconds": "200ms"},
        ("iometer.read.iops[RND4K-Q4]",),
    ),
    "servers": (
        {"kinds": "web", "seconds": "300ms", "fills": "1", "random_percent": "2"},
        ("servers.mean[web]",),
    ),
    "dispersion": (
        {"kinds": "random-read+write", "seconds": "300ms", "fills": "1", "rest_s": "10ms"},
        ("dispersion.mean[random-read]", "dispersion.mean[write]"),
    ),
    "atto": ({"blocks": "64k", "depths": "4", "size": "16MiB"}, ("atto.read[SEQ64K-Q4]",)),
    "hdtune": ({"rest_s": "10ms"}, ()),
}


@pytest.mark.full
@pytest.mark.parametrize("battery", CASES)
def test_on_a_small_file(battery: str, tmp_path: Path) -> None:
    settings, names = CASES[battery]
    drive = Real(tmp_path / "probe.bin", 32 * MIB).open()
    run = run_batteries(drive, [(battery, settings)], tmp_path / "run")
    assert run.finished
    assert not [step.label for step in run.steps if step.kind == "run" and step.not_possible]
    # The lowest sample of a step may be a stall of this machine.
    rates = [row for row in run.findings if row.unit in ("IOPS", "MB/s") and row.name != "least"]
    assert rates and all(row.number is not None and row.number > 0 for row in rates)
    by_id = {row.id: row for row in run.findings}
    for name in names:
        finding = by_id[name]
        assert finding.evidence is not None
        step = run.step(finding.evidence.label)
        assert step is not None
        series = run.series(step.step)
        seconds = step.duration_ns / 1e9
        per_s = {"IOPS": series.ios.sum() / seconds, "MB/s": series.bytes.sum() / seconds / 1e6}
        # fio's log ends with a sample, a job with a request.
        assert finding.number == pytest.approx(per_s[finding.unit], rel=0.15), name


@pytest.mark.full
def test_ranges_and_bursts_on_a_small_file(tmp_path: Path) -> None:
    asked = [
        ("reach", {"seconds": "20ms", "settle_s": "10ms", "least": "4MiB"}),
        ("buffer", {"most": "1MiB", "rest_s": "10ms"}),
    ]
    drive = Real(tmp_path / "probe.bin", 32 * MIB).open()
    run = run_batteries(drive, asked, tmp_path / "run")
    assert run.finished
    assert not [step.label for step in run.steps if step.kind == "run" and step.not_possible]
    times = [row for row in run.findings if row.name == "latency"]
    ranges = [row.variant for row in times if row.battery == "reach"]
    assert ranges == ["4MiB", "8MiB", "16MiB", "all"]
    assert all(row.number is not None and row.number > 0 for row in times)
    # What this machine's disk holds nobody knows here; without a value the note says why.
    for row in run.findings:
        assert row.value is not None or row.note, row.id
