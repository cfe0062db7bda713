"""When a fill claims a probability of a cache: not of seconds, nor of what was not erased."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from fakes import GB, MB, FakeDrive, Law, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.present import Subject, present_of
from flashtwin.batteries.fill.grounds import contradiction
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.findings import Findings
from flashtwin.model.target import DriveInfo

QUICK = Law(capacity_bytes=2 * GB, cache_bytes=1 * GB, fold_begin_bytes=2 * GB, cache_rate=900 * MB)


@dataclass
class OfCells(FakeDrive):
    """A drive on paper whose label says what cells it has."""

    cell: str = ""

    @property
    def info(self) -> DriveInfo:
        label = {"key": "nand.cell", "value": self.cell, "origin": "datasheet"}
        return replace(super().info, identity={**super().info.identity, "values": [label]})


@dataclass
class RealTime(FakeDrive):
    """A drive on paper that is erased, whose clock is a real one."""

    @property
    def info(self) -> DriveInfo:
        info = super().info
        return replace(info, can=replace(info.can, virtual_time=False))


def of_fill(drive: FakeDrive) -> dict[str, Finding]:
    request = registry.request("fill", {"patterns": "128k-q32", "passes": "1", "host_us": "0"})
    return {finding.name: finding for finding in played(request, drive)[1]}


def test_an_erased_drive_has_a_probability() -> None:
    assert of_fill(FakeDrive())["cache_probability"].number == pytest.approx(0.99, abs=0.02)
    assert of_fill(RealTime())["cache_probability"].number is not None


@pytest.mark.parametrize(
    ("drive", "why"),
    [
        (FakeDrive(purge="holds other data"), "was not erased"),
        (RealTime(law=QUICK), "too few"),
    ],
)
def test_seconds_and_what_was_not_erased_have_none(drive: FakeDrive, why: str) -> None:
    findings = of_fill(drive)
    probability = findings["cache_probability"]
    assert findings["cache_size"].number, "the drop itself is told"
    assert probability.value is None and why in (probability.note or "")


def test_a_drive_that_is_written_once_slc_like_says_what_it_does() -> None:
    third = Law(cache_bytes=274_877_906_944 // 3, cache_rate=229 * MB, fold_begin_bytes=240 * GB)
    findings = of_fill(FakeDrive(law=third))
    probability = findings["cache_probability"]
    assert probability.value is None
    assert "behaves as one whole-drive SLC cache of 91.6 GB" in (probability.note or "")
    subject = Subject(index=0, name="d", battery="fill", findings=Findings(findings.values()))
    assert present_of("fill").alone(subject).startswith("Behaves as one whole-drive SLC cache of")


@pytest.mark.parametrize(("cell", "is_said"), [("qlc", True), ("tlc", False), ("", False)])
def test_a_quarter_of_the_flash_is_all_cells_once_where_the_label_says_qlc(
    cell: str, is_said: bool
) -> None:
    quarter = Law(cache_bytes=274_877_906_944 // 4, cache_rate=229 * MB, fold_begin_bytes=240 * GB)
    findings = of_fill(OfCells(law=quarter, cell=cell))
    probability = findings["cache_probability"]
    says = "behaves as one whole-drive SLC cache of 68.7 GB" in (probability.note or "")
    assert says == (probability.value is None) == is_said
    present = "one-quarter signature present" in (findings["one_third"].note or "")
    assert present == is_said


def size(value: float | None, low: float = 0, high: float = 0, written: float = 2) -> Finding:
    return Finding(
        battery="fill",
        name="cache_size",
        title="t",
        value=value,
        unit="GB",
        interval=Interval.of(low, high) if value else None,
        evidence=Evidence(battery="fill", label="l", axis="bytes", start=0, end=written * 1e9),
    )


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (size(1.2, 1.1, 1.3), size(None), "A shows a drop at 1.2 GB and B none within 2 GB"),
        (size(1.2, 1.1, 1.3), size(0.0), "A shows a drop at 1.2 GB and B none within 2 GB"),
        (size(1.2, 1.1, 1.3), size(3.0, 2.9, 3.1), "A shows a drop at 1.2 GB and B at 3 GB"),
        (size(1.2, 1.1, 1.3), size(1.3, 1.2, 1.4), ""),
        (size(1.2, 1.1, 1.3), size(3.0, 1.2, 4.0), ""),
        (size(1.2, 1.1, 1.3), size(None, written=1), ""),
        (size(None), size(0.0), ""),
    ],
)
def test_patterns_that_contradict_one_another(first: Finding, second: Finding, text: str) -> None:
    apart = contradiction({"A": {"cache_size": first}, "B": {"cache_size": second}})
    assert (apart is not None) == bool(text)
    if apart is not None:
        assert apart.sentence.startswith(text)
        assert apart.brief.startswith("no cache is shown: one pattern drops at 1.2 GB, another ")
