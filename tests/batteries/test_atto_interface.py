"""The limit of the interface that atto tells, on made cells and on twins whose link is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin.batteries.atto.interface import interface
from flashtwin.drives.twin import Twin
from flashtwin.model.finding import Evidence, Finding
from flashtwin.model.findings import Findings
from flashtwin.runner.run import run_batteries
from flashtwin_lab.theory.drives import cached

ASKED = {"depths": "4+32", "size": "64MiB", "blocks": "4k+64k+1m+2m+4m"}


def cells(*rates: float) -> list[tuple[int, Finding]]:
    on = Evidence(battery="atto", label="atto/q4", axis="cell", start=0.0, end=0.0)
    return [
        (
            4096 << place,
            Finding(battery="atto", name="w", title="w", value=rate, unit="MB/s", evidence=on),
        )
        for place, rate in enumerate(rates)
    ]


def test_what_reads_and_writes_have_in_common_is_the_interface() -> None:
    finding = interface({"write": cells(90, 540, 541, 540), "read": cells(80, 545, 546, 546)}, 4)
    assert finding is not None and finding.number == 546
    assert finding.low == 546 and finding.high is not None and 550 < finding.high < 570


@pytest.mark.parametrize(
    ("write", "read", "reason"),
    [
        ((90, 300, 301, 300), (80, 545, 546, 546), "are 45 % apart"),
        ((90, 400, 500, 540), (80, 545, 546, 546), "write has no level rate"),
    ],
)
def test_otherwise_it_is_a_bound_and_says_what_would_tell(
    write: tuple[float, ...], read: tuple[float, ...], reason: str
) -> None:
    finding = interface({"write": cells(*write), "read": cells(*read)}, 4)
    assert finding is not None and finding.number == 546
    assert finding.low == 546 and finding.high is None
    assert reason in (finding.note or "") and "would show" in (finding.note or "")


def test_too_few_sizes_or_one_way_alone_say_nothing() -> None:
    assert interface({"write": cells(1, 1, 1), "read": cells(1, 1, 1)}, 4) is None
    assert interface({"write": cells(1, 1, 1, 1)}, 4) is None


def found(at: Path, rate: int) -> Finding:
    drive = Twin(cached(f"link.rate={rate} MB/s", "link.frame_time=0"), seed=1).open()
    return Findings(run_batteries(drive, [("atto", ASKED)], at).findings)["atto.interface"]


@pytest.mark.parametrize("rate", [80, 140, 200])
def test_a_link_that_is_slower_than_the_flash_is_found(rate: int, tmp_path: Path) -> None:
    finding = found(tmp_path, rate)
    assert finding.number == pytest.approx(rate, rel=0.03)
    assert finding.low is not None and finding.high is not None
    assert finding.low <= rate <= finding.high


def test_a_link_that_is_faster_than_the_flash_is_no_limit(tmp_path: Path) -> None:
    finding = found(tmp_path, 590)
    assert finding.high is None and (finding.number or 0) <= 590
