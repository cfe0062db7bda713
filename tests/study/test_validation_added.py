"""Outcomes of folders that FLASHTWIN_CATALOGUE adds: held against their drives."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin import _core
from flashtwin.catalogue import facts
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.runner.events import unseen
from flashtwin_lab.validation.validate import validate

assert _core.load_spec, "these tests need the compiled part"

DRIVE = """schema = 1
id = "zz-mine"
name = "Mine"
extends = "bx500-240"
"""
PUBLISHED = """[sources]
review = "A review, 2026"

[[drive]]
id = "zz-mine"
source = "review"
"""


def outcome(metric: str, value: float, found_by: str = "") -> str:
    return f"""
[[outcome]]
drive = "zz-mine"
test = "copy of a file"
metric = "{metric}"
value = {value}
unit = "MB/s"
tolerance = 0.05
conditions = {{ state = "published: erased" }}
{found_by}
"""


READS = 'battery = "magician"\nfinding = "magician.read[SEQ128K-Q32]"'
WRITES = 'battery = "magician"\nfinding = "magician.write[SEQ128K-Q32]"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "drives").mkdir()
    (tmp_path / "drives" / "zz-mine.toml").write_text(DRIVE)
    monkeypatch.setenv("FLASHTWIN_CATALOGUE", str(tmp_path))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["validate", *words])


@pytest.mark.full
def test_a_drive_of_an_added_folder_is_held_against_its_outcomes(folder: Path) -> None:
    rows = outcome("reads", 545, READS) + outcome("writes", 9000, WRITES)
    (folder / "published.toml").write_text(PUBLISHED + rows + outcome("price", 20))
    done = validate(["zz-mine"], unseen)
    reads, writes = done.rows
    assert (reads.fact.metric, reads.verdict) == ("reads", "pass")
    assert reads.measured == pytest.approx(545, rel=0.05)
    assert (writes.verdict, done.missed, done.waiting) == ("miss", 1, 1)
    assert facts.sources("zz-mine") == "A review, 2026"
    assert facts.sources("bx500-240"), "the shipped ones are there as before"
    checked = CliRunner().invoke(app, ["check", "--catalogue", str(folder)])
    assert checked.exit_code == 0, checked.output


def test_the_command_exits_1_on_a_miss_of_an_added_drive(folder: Path) -> None:
    (folder / "published.toml").write_text(PUBLISHED + outcome("writes", 9000, WRITES))
    done = run("zz-mine", "-q")
    assert done.exit_code == 1 and "copy of a file" in done.stdout and "miss" in done.stdout


def test_rows_that_measures_know_need_no_battery_of_their_own(folder: Path) -> None:
    row = outcome("read speed", 545).replace("copy of a file", "Samsung Magician")
    (folder / "published.toml").write_text(PUBLISHED + row)
    done = validate(["zz-mine"], unseen)
    assert [row.verdict for row in done.rows] == ["pass"] and done.waiting == 0


def test_without_outcomes_there_is_nothing_to_hold_it_against(folder: Path) -> None:
    with pytest.raises(FlashtwinError, match="nothing was published about zz-mine"):
        validate(["zz-mine"], unseen)
    (folder / "published.toml").write_text(PUBLISHED)
    assert "zz-mine" in facts.drives()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ('finding = "magician.read"', "battery and finding: texts, and both or none"),
        ("strange = 1", "strange: no such key"),
        ('kind = "liked"', "kind: 'liked' is none"),
    ],
)
def test_a_fault_of_an_added_file_is_said_with_its_line(
    folder: Path, change: str, fault: str
) -> None:
    (folder / "published.toml").write_text(PUBLISHED + outcome("reads", 545, change))
    done = run("zz-mine")
    assert done.exit_code == 2 and "published.toml:8" in done.stderr and fault in done.stderr
    assert "flashtwin check --catalogue" in done.stderr
