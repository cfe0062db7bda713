"""No drive of the catalogue lets its host wait beyond its bound, or `check` foretells it."""

from __future__ import annotations

import msgspec
import pytest

from flashtwin.catalogue.loader import shipped_ids
from flashtwin_lab import waits


@pytest.mark.full
@pytest.mark.parametrize("drive", shipped_ids())
def test_a_full_drive_keeps_its_bound(drive: str) -> None:
    row = waits.larger_until_kept(drive)
    assert row.is_kept_or_foretold, row


def test_the_page_is_of_todays_drives_which_keep_their_bound() -> None:
    rows = waits.kept()
    again = "make it again: .venv/bin/python -m flashtwin_lab.waits --page"
    assert {row.drive for row in rows if row.is_current} == set(shipped_ids()), again
    assert waits.PAGE.read_text() == waits.text(), again
    assert [row for row in rows if not row.is_kept_or_foretold] == []


def test_a_longer_wait_is_told_with_its_drive() -> None:
    quick = waits.kept()[0]
    slow = msgspec.structs.replace(quick, drive="slow", larger=16.0, longest_s=0.2, foretold=True)
    quick = msgspec.structs.replace(quick, drive="quick", larger=1.0, longest_s=0.2, foretold=False)
    assert quick.is_kept_or_foretold and slow.is_kept_or_foretold
    assert not msgspec.structs.replace(slow, foretold=False).is_kept_or_foretold
    head, first, second = waits.table([quick, slow])
    assert "whole" in head and "check warns" in first
    assert first.startswith("slow") and second.startswith("quick")
