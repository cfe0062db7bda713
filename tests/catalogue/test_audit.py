"""`flashtwin check --catalogue`: drives and outcomes, and the way that CONTRIBUTING.md says.

Submissions have their own tests in tests/runs/test_submission.py.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stored_runs import store

from flashtwin import _core
from flashtwin.catalogue import DRIVES, audit, loader, private
from flashtwin.cli.app import app

assert _core.load_spec, "these tests need the compiled part"

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
MINE = 'schema = 1\nid = "mine"\nname = "Mine"\nextends = "bx500-240"\n'
PUBLISHED = """\
[sources]
review = "A review, 2026"
[[drive]]
id = "mine"
source = "review"
[[outcome]]
drive = "mine"
test = "fill"
metric = "speed"
value = 450
tolerance = 0.05
conditions = { state = "published: erased" }
"""


def checked(folder: Path) -> Result:
    return CliRunner().invoke(app, ["check", "--catalogue", str(folder)])


def faults(folder: Path) -> list[str]:
    return [fault.removeprefix(f"{folder}/") for fault in checked(folder).stdout.splitlines()[:-1]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "published.toml").write_text(PUBLISHED)
    return tmp_path


def test_a_good_catalogue_has_counts_and_exit_code_0(folder: Path) -> None:
    done = checked(folder)
    assert done.exit_code == 0
    assert done.stdout == f"{folder}: 1 drive, 1 outcome, 0 submissions, 0 faults\n"


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("mine.toml", MINE + "[nand]\nchanels = 4\n", "mine.toml:6: nand.chanels: "),
        ("mine.toml", MINE + "[nand]\nplanes = 2\n", "mine.toml: origin: missing"),
        ("mine.toml", MINE.replace('"mine"', '"other"'), "mine.toml:2: id: is 'other', and"),
        ("mine.toml", MINE + "# serial: S3Z8NB0K12\n", "mine.toml:5: it holds a serial number"),
        ("mine.toml", MINE + "# /home/eve/logs\n", "mine.toml:5: it holds a path of somebody's"),
        ("Mine.toml", MINE, "Mine.toml: a drive cannot be called 'Mine'"),
        (
            "bx500-240.toml",
            MINE.replace('"mine"', '"bx500-240"').replace(
                'extends = "bx500-240"', "extends='mine'"
            ),
            "bx500-240.toml: flashtwin has a drive bx500-240 already",
        ),
        (
            "published.toml",
            PUBLISHED.partition("conditions")[0],
            "published.toml:6: conditions: miss",
        ),
        (
            "published.toml",
            PUBLISHED.replace("tolerance", "#"),
            "published.toml:6: nothing says when",
        ),
        (
            "published.toml",
            PUBLISHED.replace("450", '"450"'),
            "published.toml:6: value: '450' is not",
        ),
        ("published.toml", PUBLISHED.replace("metric", "#"), "published.toml:6: metric: missing"),
        ("published.toml", PUBLISHED + 'tol = "x"\n', "published.toml:6: tol: no such key"),
        (
            "published.toml",
            PUBLISHED.replace('"mine"', '"you"'),
            "published.toml: no drive you is in",
        ),
        (
            "published.toml",
            PUBLISHED.replace("review =", "x ="),
            "published.toml: drive mine has no s",
        ),
        ("published.toml", PUBLISHED + "[x\n", "published.toml:13: it cannot be read: "),
        ("published.toml", "outcome = [1]\n", "published.toml: it cannot be read: `outcome` and"),
    ],
)
def test_a_fault_is_told_with_its_place(folder: Path, file: str, text: str, fault: str) -> None:
    (folder / file).write_text(text)
    assert any(line.startswith(fault) for line in faults(folder)), faults(folder)
    assert checked(folder).exit_code == 1


ROW = PUBLISHED[PUBLISHED.index("[[outcome]]") :]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 9000, "nested deeper than"),
        (".".join("a" * 9000) + " = 1", "the line has more than"),
        (".".join("a" * 900) + " = 1", "nested deeper than"),
        ("value = " + "9" * 5000, "digits"),
        (PUBLISHED.replace("450", "1e999"), "too large"),
        (PUBLISHED.replace("450", "9" * 30), "value: 999999999999999999999999999999 is too large"),
        (PUBLISHED.replace("450", "2001-01-01"), "is not a number"),
        (PUBLISHED.replace('test = "fill"', "test = [1]"), "test: missing"),
        (
            PUBLISHED.replace('metric = "speed"', 'metric = "speed"\nunit = 5'),
            "unit: 5 is not a text",
        ),
        (PUBLISHED.replace('metric = "speed"', 'metric = "speed"\nkind = []'), "kind: [] is none"),
        (PUBLISHED.replace('"speed"', '"' + "s" * 3000 + '"'), "more than 2,000 characters"),
        (PUBLISHED.replace('id = "mine"', "id = []"), "no drive [] is in the catalogue"),
        (PUBLISHED.replace('source = "review"', "source = {}"), "drive mine has no source"),
        (PUBLISHED.replace('"A review, 2026"', "{}"), "sources: not a table of texts"),
        (PUBLISHED.replace("value = 450", "low = 9\nhigh = 1"), "low and high: the first is above"),
        (PUBLISHED + ROW * 10_001, "10,000 at most"),
        (PUBLISHED + ROW.replace("450", '"x"') * 500, "it has more than 100 faults"),
    ],
)
def test_a_hostile_file_of_outcomes_is_lines_with_their_place(
    folder: Path, text: str, said: str
) -> None:
    (folder / "published.toml").write_text(text)
    done = checked(folder)
    lines = done.stdout.splitlines()[:-1]
    assert done.exit_code == 1 and any(said in line for line in lines), done.stdout[:2000]
    assert all(line.startswith(f"{folder}/published.toml") for line in lines)
    assert len(lines) <= 101 and max(map(len, lines)) < 600


def test_the_catalogue_that_is_shipped_has_no_fault() -> None:
    drives, outcomes = audit.drives(DRIVES.parent), audit.outcomes(DRIVES.parent)
    assert drives.count == len(loader.shipped_ids()) > 20
    assert outcomes.count > 30
    assert (drives.faults, outcomes.faults) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "SATA 6 Gb/s is serial: one lane",
        "a serial number is not told",
        "series 860 and 970 EVO",
        "reads and/or writes /s",
        "serial ATA 3.2, 545 MB/s",
    ],
)
def test_words_that_only_look_private_stay(text: str) -> None:
    assert [*private.traces(text)] == []


def test_contributing_is_walked_from_a_run_to_a_checked_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line of it as it stands, on a made-up run of a file."""
    section = CONTRIBUTING.read_text().partition("## A drive or a measured run")[2]
    section = section.partition("\n## ")[0]
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "flashtwin-runs/20260115-101500-mx500", target="probe", kind="file")
    outputs = []
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```", section, re.M | re.S):
        if kind == "toml":
            Path("catalogue/published.toml").write_text(block)
        for line in block.splitlines() if kind == "sh" else ():
            if line.startswith("mkdir"):
                Path(line.split()[-1]).mkdir()
                continue
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, done.output
            outputs.append(done.stdout)
    assert outputs[-1] == "catalogue: 1 drive, 1 outcome, 1 submission, 0 faults\n"
    monkeypatch.setenv("FLASHTWIN_CATALOGUE", "catalogue")
    assert loader.load("mx500-1tb").capacity_bytes > 999e9
