"""No drive of the catalogue lets its host wait past its bound, or `check` foretells it."""

from __future__ import annotations

import pytest

from flashtwin.catalogue.loader import drive_ids
from flashtwin_lab import waits


@pytest.mark.full
@pytest.mark.parametrize("drive", drive_ids())
def test_a_full_drive_keeps_its_bound(drive: str) -> None:
    row = waits.waited(drive, "1/32")
    assert row.longest_s <= waits.MOST_S or row.foretold, row


def test_a_longer_wait_is_told_with_its_drive() -> None:
    quick, slow = (
        waits.Waited(
            drive=drive, iops=1000.0, p999_s=0.1, longest_s=longest, note=None, foretold=foretold
        )
        for drive, longest, foretold in (("quick", 0.2, None), ("slow", 3.0, "may wait"))
    )
    head, first, second = waits.table([quick, slow])
    assert "longest" in head and "check warns" in first
    assert first.startswith("slow") and second.startswith("quick")
