"""A snapshot is written beside its place under a name that nobody can foresee."""

from __future__ import annotations

import os
from pathlib import Path

from flashtwin import _core
from flashtwin.catalogue.loader import load


def test_a_link_in_the_way_of_the_part_is_not_followed(tmp_path: Path) -> None:
    twin = _core.Twin(load("bx500-240", scale="1/16"), 1)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / f"state.{os.getpid()}.part").symlink_to(victim)
    twin.save(tmp_path / "state")
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "state").is_symlink()
    assert [one.name for one in tmp_path.glob("*.part")] == [f"state.{os.getpid()}.part"]
