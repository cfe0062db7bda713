"""The drive contract on the twins: the same checks as on a real file."""

from __future__ import annotations

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.contract import check_drive
from flashtwin.drives.twin import Twin


@pytest.mark.parametrize("name", ["bx500-240", "bx500-240-nocache"])
def test_twin(name: str) -> None:
    spec = load(name)
    check_drive(lambda: Twin(spec, seed=1))
