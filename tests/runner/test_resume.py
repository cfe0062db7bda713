"""Runs that are taken up: byte for byte as if nothing had happened, wherever they were stopped."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from changed_runs import rewrite
from fakes import FakeDrive, Law
from thinning import thinned

from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.target import DriveInfo, Interrupted, Watch
from flashtwin.runner import replay
from flashtwin.runner.events import Observer
from flashtwin.runner.run import run_batteries
from flashtwin.runner.target import Variant, of_run
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import Writer

SMALL = Law(capacity_bytes=8 * 10**9, cache_bytes=10**9, fold_begin_bytes=6 * 10**9)
BATTERIES = [
    ("fill", {"patterns": "1m-q1"}),
    ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off", "fill_percent": "33.3"}),
]


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in ("host.json", "report.html")
    }


def same_directory(one: Path, other: Path) -> None:
    mine, theirs = contents(one), contents(other)
    assert mine.keys() == theirs.keys()
    assert [name for name in mine if mine[name] != theirs[name]] == []
    assert not list(one.rglob("*.new")) and not (one / "steps.tables").exists()


@dataclass
class Stops(FakeDrive):
    """Is interrupted in the middle of the step of this number, counted from the drive's making."""

    law: Law = SMALL
    at: int = 10**9
    count: int = 0

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


@dataclass
class KeptDrive(Stops):
    """Puts its state into a file."""

    restored: list[str] = field(default_factory=list)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps([self.written, self.now_ns]))

    def restore(self, path: Path) -> None:
        try:
            self.written, self.now_ns = json.loads(path.read_text())
        except ValueError as error:
            raise FlashtwinError("no state") from error
        self.restored.append(path.name)


class Notes(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.found_ids: list[str] = []

    def noted(self, text: str) -> None:
        self.notes.append(text)

    def found(self, battery: str, findings: Any) -> None:
        self.found_ids += [one.id for one in findings]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("whole") / "run"
    return run_batteries(Stops(), BATTERIES, place, seed=7, command=["flashtwin", "test"])


def begin(place: Path, drive: FakeDrive) -> None:
    with pytest.raises(Interrupted):
        run_batteries(drive, BATTERIES, place, seed=7, command=["flashtwin", "test"])


@pytest.mark.parametrize("of", [Stops, pytest.param(KeptDrive, marks=pytest.mark.full)])
def test_stopped_in_every_step_it_ends_the_same(
    tmp_path: Path, whole: Run, of: type[Stops], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run, stopped in its first step, taken up, stopped in its second, and so on."""
    monkeypatch.setattr(replay, "WORTH_S", 0.0)
    monkeypatch.setattr(replay, "WORTH_TIMES", 0.0)
    begin(tmp_path / "run", of(at=0))
    for number in range(1, len(whole.steps)):
        # A drive with its state does one step; one without does all of them again.
        at = 1 if of is KeptDrive else number
        with pytest.raises(Interrupted):
            run_batteries(of(at=at), None, tmp_path / "run")
        run = Run(tmp_path / "run")
        assert run.state == "interrupted" and len(run.steps) == number
        assert run.findings == whole.findings[: len(run.findings)]
    run = run_batteries(of(at=1 if of is KeptDrive else 10**9), None, tmp_path / "run")
    assert run.finished and len(run.host["sessions"]) == len(whole.steps) + 1
    same_directory(run.path, whole.path)


def test_what_was_concluded_is_told_again_and_what_was_done_is_not_done(
    tmp_path: Path, whole: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "WORTH_S", 0.0)
    monkeypatch.setattr(replay, "WORTH_TIMES", 0.0)
    begin(tmp_path / "run", KeptDrive(at=5))
    (kept,) = (tmp_path / "run").glob("state-*")
    assert kept.name.startswith("state-00005-")
    drive, notes = KeptDrive(), Notes()
    run_batteries(drive, None, tmp_path / "run", observer=notes)
    assert drive.restored == [kept.name]
    assert [step.label for step in drive.done] == [one.label for one in whole.steps[5:]]
    assert notes.found_ids == [one.id for one in whole.findings]
    assert notes.notes[0].startswith("goes on after 4 steps that were done")


HARMS = ["of later steps", "no state", "of other steps", "a FIFO", ""]


@pytest.mark.parametrize("harm", thinned(HARMS, every=2))
def test_a_state_that_cannot_be_used_costs_time_only(
    tmp_path: Path, whole: Run, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setattr(replay, "WORTH_S", 0.0)
    monkeypatch.setattr(replay, "WORTH_TIMES", 0.0)
    begin(tmp_path / "run", KeptDrive(at=6))
    (kept,) = (tmp_path / "run").glob("state-00006-*")
    if harm in ("of later steps", "of other steps"):
        other = "00009" if harm == "of later steps" else "00005"
        kept.rename(tmp_path / "run" / kept.name.replace("00006", other))
    elif harm == "a FIFO":
        kept.unlink()
        os.mkfifo(kept)
    else:
        kept.write_text(harm)
    drive, notes = KeptDrive(), Notes()
    run = run_batteries(drive, None, tmp_path / "run", observer=notes)
    assert drive.restored == [] and len(drive.done) == len(whole.steps)
    said = any("is of no use, steps are simulated again" in text for text in notes.notes)
    assert said == (harm != "of later steps")
    same_directory(run.path, whole.path)


def test_without_room_no_state_is_kept_and_the_run_goes_on(
    tmp_path: Path, whole: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "WORTH_S", 0.0)

    def full(drive: KeptDrive, path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KeptDrive, "save", full)
    run = run_batteries(
        KeptDrive(), BATTERIES, tmp_path / "run", seed=7, command=["flashtwin", "test"]
    )
    same_directory(run.path, whole.path)


def block_of(place: Path, step: int) -> dict[str, Any]:
    """Where the tables of a step lie."""
    lines = (place / "steps.jsonl").read_text().splitlines()
    block: dict[str, Any] = json.loads(lines[step])["block"]
    return block


def cut_off(place: Path) -> Path:
    """A run as a killed process leaves it: half a line, tables of a step that never ended."""
    begin(place, Stops(at=6))
    manifest = json.loads((place / "manifest.json").read_text())
    manifest |= {"state": "running", "steps": []}
    rewrite(place, "manifest.json", manifest)
    (place / "findings.json").unlink()
    with (place / "steps.jsonl").open("ab") as journal:
        journal.write(b'{"step":6,"battery":"fi')
    with (place / "steps.tables").open("ab") as tables:
        tables.write(b"of a step that never ended")
    (place / "manifest.json.new").write_bytes(b"half a file")
    (place / "state-00005.part.7.part").write_bytes(b"half a state")
    return place


def test_what_a_killed_process_left_half_done_is_swept_away(tmp_path: Path, whole: Run) -> None:
    run = run_batteries(Stops(), None, cut_off(tmp_path / "run"))
    same_directory(run.path, whole.path)


def test_tables_that_a_power_cut_took_are_made_again_by_a_twin(tmp_path: Path, whole: Run) -> None:
    place = cut_off(tmp_path / "run")
    os.truncate(place / "steps.tables", block_of(place, 4)["at"] + 1)
    run = run_batteries(Stops(), None, place)
    same_directory(run.path, whole.path)


def test_tables_of_a_real_drive_that_are_gone_are_no_small_matter(tmp_path: Path) -> None:
    begin(tmp_path / "run", Stops(at=6, kind="file"))
    os.truncate(tmp_path / "run" / "steps.tables", block_of(tmp_path / "run", 4)["at"] + 1)
    with pytest.raises(FlashtwinError, match=r"tables cannot be .* step 4 are missing"):
        run_batteries(Stops(kind="file"), None, tmp_path / "run")
    assert len(Run(tmp_path / "run").steps) == 6


def untouched(place: Path, message: str, exit_code: int, make: Any = Stops) -> FlashtwinError:
    """Going on is refused and changes nothing."""
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    with pytest.raises(FlashtwinError, match=message) as refused:
        run_batteries(make(), None, place)
    assert refused.value.exit_code == exit_code and refused.value.hint
    after = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    host = place / "host.json"
    assert {**before, host: b""} == {**after, host: b""}
    assert not Run(place).under_way
    return refused.value


def test_other_steps_than_the_journal_has_are_refused(tmp_path: Path) -> None:
    begin(tmp_path / "run", Stops(at=6))
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    manifest["batteries"][0]["parameters"]["idle_s"] = 5.0
    rewrite(tmp_path / "run", "manifest.json", manifest)
    untouched(tmp_path / "run", r"its step 3 was fill/1m-q1/rest-1, .* it with other values", 2)


def test_a_drive_that_answers_otherwise_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "run", Stops(at=6))
    other = Law(**{**vars(SMALL), "direct_rate": 112e6})
    error = untouched(
        tmp_path / "run", "answers fill/1m-q1/pass-1 differently", 2, partial(Stops, law=other)
    )
    assert "simulates the drive differently" in str(error.hint)


def test_another_drive_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "run", Stops(at=6))
    other = Law(**{**vars(SMALL), "capacity_bytes": 7 * 10**9})
    untouched(
        tmp_path / "run",
        "capacity_bytes of the target was 8000000000, now it is 7",
        2,
        partial(Stops, law=other),
    )


def test_a_finished_run_has_nothing_to_go_on_with(whole: Run) -> None:
    untouched(whole.path, "is finished, there is nothing to resume", 2)


@pytest.mark.parametrize("harm", ["newer", "no journal", "cut manifest"])
def test_a_damaged_run_is_refused_with_file_line_and_hint(tmp_path: Path, harm: str) -> None:
    begin(tmp_path / "run", Stops(at=6))
    manifest, journal = tmp_path / "run" / "manifest.json", tmp_path / "run" / "steps.jsonl"
    values = json.loads(manifest.read_text())
    message, code = "", 2
    match harm:
        case "newer":
            manifest.write_text(json.dumps(values | {"schema": 99}))
            message, code = "has schema 99; this flashtwin reads 1", 3
        case "no journal":
            journal.unlink()
            message, code = "cannot write .*steps.jsonl: No such file", 3
        case "cut manifest":
            manifest.write_text("{")
            message = "manifest.json cannot be read"
    with pytest.raises(FlashtwinError, match=message) as refused:
        run_batteries(Stops(), None, tmp_path / "run")
    assert refused.value.exit_code == code and refused.value.hint


LINES = ["no JSON", "one bit", "a line twice", "a line less", "two lines swapped", "another run's"]


def broken_journal(place: Path, harm: str, other: Path) -> None:
    """The journal with something wrong in its third line."""
    lines = (place / "steps.jsonl").read_bytes().splitlines(keepends=True)
    match harm:
        case "no JSON":
            lines[2] = b"{broken\n"
        case "one bit":
            at = lines[2].index(b'"duration_ns":') + len('"duration_ns":')
            lines[2] = lines[2][:at] + bytes([lines[2][at] ^ 1]) + lines[2][at + 1 :]
        case "a line twice":
            lines.insert(2, lines[1])
        case "a line less":
            del lines[2]
        case "two lines swapped":
            lines[2:4] = lines[3], lines[2]
        case "another run's":
            lines[2] = (other / "steps.jsonl").read_bytes().splitlines(keepends=True)[2]
    (place / "steps.jsonl").write_bytes(b"".join(lines))


@pytest.mark.parametrize("harm", thinned(LINES, every=3))
def test_steps_from_a_broken_line_on_are_done_again_by_a_twin(
    tmp_path: Path, whole: Run, harm: str
) -> None:
    begin(tmp_path / "run", Stops(at=6))
    with pytest.raises(Interrupted):
        run_batteries(Stops(at=6), BATTERIES, tmp_path / "other", seed=8)
    broken_journal(tmp_path / "run", harm, tmp_path / "other")
    notes = Notes()
    run = run_batteries(Stops(), None, tmp_path / "run", observer=notes)
    same_directory(run.path, whole.path)
    assert any("done again from step 2 on: steps.jsonl" in text for text in notes.notes)
    assert run.host["redone"] == [text for text in notes.notes if "done again" in text]


@pytest.mark.parametrize("harm", thinned(LINES, every=3))
def test_a_broken_line_of_a_real_drive_is_refused_with_file_line_and_hint(
    tmp_path: Path, harm: str
) -> None:
    begin(tmp_path / "run", Stops(at=6, kind="file"))
    begin(tmp_path / "other", Stops(at=6, kind="file", law=Law(capacity_bytes=9 * 10**9)))
    lines = (tmp_path / "run" / "steps.jsonl").read_bytes().splitlines(keepends=True)
    broken_journal(tmp_path / "run", harm, tmp_path / "other")
    make = partial(Stops, kind="file")
    error = untouched(tmp_path / "run", r"steps\.jsonl:3 cannot be read", 2, make)
    # What the hint says helps: without that line and what follows, it goes on.
    assert "remove that line and what follows" in str(error.hint)
    (tmp_path / "run" / "steps.jsonl").write_bytes(b"".join(lines[:2]))
    assert run_batteries(make(), None, tmp_path / "run").finished


@pytest.mark.parametrize("harm", thinned(["one bit", "empty", "removed", "swapped", "a FIFO"], 2))
@pytest.mark.parametrize("step", [2, pytest.param(6, marks=pytest.mark.full)])
def test_a_table_that_is_not_what_was_written_is_made_again_and_that_is_said(
    tmp_path: Path, whole: Run, harm: str, step: int
) -> None:
    begin(tmp_path / "run", Stops(at=7))
    broken = tmp_path / "run" / "steps.tables"
    data = bytearray(broken.read_bytes())
    block, first = block_of(tmp_path / "run", step), 0
    begins, ends = block["at"], block["at"] + block["bytes"]
    match harm:
        case "removed":
            broken.unlink()
        case "one bit":
            data[(begins + ends) // 2] ^= 4
            broken.write_bytes(data)
            first = step
        case "swapped":
            # Steps that measured nothing have the same block.
            largest = max((block_of(broken.parent, n) for n in range(7)), key=lambda b: b["bytes"])
            other = bytes(data[largest["at"] :]) if largest["at"] != begins else bytes(data)
            data[begins:ends] = other[: ends - begins]
            broken.write_bytes(data)
            first = step
        case "empty":
            broken.write_bytes(b"")
        case "a FIFO":
            broken.unlink()
            os.mkfifo(broken)
    notes = Notes()
    run = run_batteries(Stops(), None, tmp_path / "run", observer=notes)
    same_directory(run.path, whole.path)
    (said,) = run.host["redone"]
    assert said in notes.notes and said.startswith(f"done again from step {first} (")
    assert "steps.tables: the tables of step" in said


@pytest.mark.parametrize("name", ["manifest.json", "host.json"])
@pytest.mark.parametrize("kind", ["twin", "file"])
def test_a_flipped_bit_in_what_was_asked_for_is_a_sentence(
    tmp_path: Path, name: str, kind: str
) -> None:
    begin(tmp_path / "run", Stops(at=6, kind=kind))
    path = tmp_path / "run" / name
    data = path.read_bytes()
    at = data.index(b'"seed": 7' if name == "manifest.json" else b'"cpus": ') + 8
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    make = partial(Stops, kind=kind)
    if name == "manifest.json" or kind == "file":
        untouched(
            tmp_path / "run",
            f"{name} cannot be read .*: its contents are not what flashtwin wrote",
            2,
            make,
        )
        return
    notes = Notes()
    assert run_batteries(make(), None, tmp_path / "run", observer=notes).finished
    assert any("host.json cannot be read" in text for text in notes.notes)


def test_two_processes_on_one_run(tmp_path: Path) -> None:
    begin(tmp_path / "run", Stops(at=6))
    holder = Writer.resume(tmp_path / "run")
    assert Run(tmp_path / "run").under_way
    code = (
        "import sys\nfrom pathlib import Path\nfrom flashtwin.errors import FlashtwinError\n"
        "from flashtwin.runs.writer import Writer\n"
        "try:\n    Writer.resume(Path(sys.argv[1]))\n"
        "except FlashtwinError as e:\n    print(e.exit_code, e.message, e.hint, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    exit_code, message, hint = done.stdout.strip().split("|")
    assert exit_code == "2" and "--resume" in hint
    assert message == f"another process is writing {tmp_path / 'run'} (process {os.getpid()})"
    holder.leave()
    assert not Run(tmp_path / "run").under_way
    assert run_batteries(Stops(), None, tmp_path / "run").finished


def test_after_a_full_disk_it_goes_on_where_it_was(tmp_path: Path, whole: Run) -> None:
    """A file-size limit stands for the full disk: the same errors, and no root needed."""
    script = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from test_resume import BATTERIES, Stops\n"
        "from flashtwin.errors import FlashtwinError\n"
        "from flashtwin.runner.run import run_batteries\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "try:\n"
        "    run_batteries(Stops(), BATTERIES, Path(sys.argv[1]), seed=7,"
        " command=['flashtwin', 'test'])\n"
        "except FlashtwinError as error:\n    print(error.exit_code, error.message, error.hint)"
    )
    paths = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": ":".join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("3 cannot write") and "--resume" in done.stdout, done.stdout
    assert 0 < len(Run(tmp_path / "run").steps) < len(whole.steps)
    same_directory(run_batteries(Stops(), None, tmp_path / "run").path, whole.path)


def test_a_run_that_failed_can_be_gone_on_with(tmp_path: Path, whole: Run) -> None:
    broken = Stops(fails_at="cdm/SEQ1M-Q1T1/read/1")
    with pytest.raises(RuntimeError, match="broke at"):
        run_batteries(broken, BATTERIES, tmp_path / "run", seed=7, command=["flashtwin", "test"])
    assert Run(tmp_path / "run").state == "failed"
    same_directory(run_batteries(Stops(), None, tmp_path / "run").path, whole.path)


@dataclass
class RealLike(Stops):
    """A drive in real time that has lost its past."""

    kind: str = "file"
    resumed: list[Any] = field(default_factory=list)

    def resume(self, at_ns: int, again: list[Step], watch: Watch) -> str:
        self.resumed.append((at_ns, [step.label for step in again]))
        self.now_ns = at_ns
        return "taken up on a file that was made again"


def test_a_real_drive_is_prepared_and_the_first_step_says_so(tmp_path: Path) -> None:
    labels = [one.label for one in run_batteries(RealLike(), BATTERIES, tmp_path / "w").steps]
    at = labels.index("cdm/SEQ1M-Q1T1/write/warm")
    begin(tmp_path / "run", RealLike(at=at))
    last = Run(tmp_path / "run").steps[-1]
    drive = RealLike()
    run = run_batteries(drive, None, tmp_path / "run")
    prepared = ["cdm/purge", "cdm/precondition", "cdm/settle", "cdm/prepare", "cdm/rest-2"]
    assert drive.resumed == [(last.start_ns + last.duration_ns, prepared)]
    assert [one.label for one in run.steps] == labels
    assert {one.label: one.note for one in run.steps if one.note} == {
        "cdm/SEQ1M-Q1T1/write/warm": "taken up on a file that was made again"
    }
    starts = [one.start_ns for one in run.steps if not one.not_possible]
    assert starts == sorted(starts)


def scaled() -> DriveInfo:
    return _twin().info


def _twin() -> Any:
    from flashtwin.catalogue.loader import load
    from flashtwin.drives.twin import Twin

    return Twin(load("bx500-240", scale="1/64"), seed=3)


TWIN = [
    ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off", "size": "64MiB"}),
    ("fill", {"patterns": "1m-q1", "passes": "1", "sample_s": "2s"}),
    # Results with a meter's samples and with SMART data.
    ("power", {"size": "256MB", "rest_s": "20s", "random_s": "1s"}),
    ("waf", {"fills": "25", "size": "64MiB", "settle_s": "10s"}),
]


class StopAt(Observer):
    """Sends the process an interrupt once so many steps have begun."""

    def __init__(self, at: int) -> None:
        self.at, self.begun = at, 0

    def began(self, status: Any) -> None:
        if status.label.endswith("(again)"):
            return
        self.begun += 1
        if self.begun == self.at:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("kept", [pytest.param(True, marks=pytest.mark.full), False])
def test_a_true_twin_goes_on_to_the_same_bytes(
    tmp_path: Path, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its state in about every other step, without it in the middle. A step too short to
    hear the stop is finished, and the run stops after it."""
    monkeypatch.setattr(replay, "WORTH_S", 0.0 if kept else 1e9)
    monkeypatch.setattr(replay, "WORTH_TIMES", 0.0)
    whole = run_batteries(_twin(), TWIN, tmp_path / "whole", seed=3)
    work = sum(1 for step in whole.steps if step.kind != "mark")
    with pytest.raises(Interrupted):
        run_batteries(_twin(), TWIN, tmp_path / "run", seed=3, observer=StopAt(1))
    stops = 0
    while not Run(tmp_path / "run").finished:
        target = of_run(Run(tmp_path / "run"))
        stop = StopAt(2 if kept else work // 2)
        try:
            run_batteries(target.make(), None, tmp_path / "run", observer=stop)
        except Interrupted:
            stops += 1
    assert stops >= (work // 2 if kept else 1)
    same_directory(tmp_path / "run", whole.path)


def test_a_twin_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        run_batteries(_twin(), TWIN, tmp_path / "run", seed=3, observer=StopAt(1))
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    changed = copy.deepcopy(manifest)
    changed["target"]["identity"]["model"] -= 1
    rewrite(path.parent, "manifest.json", changed)
    with pytest.raises(FlashtwinError, match="was simulated by model") as refused:
        of_run(Run(tmp_path / "run"))
    assert refused.value.exit_code == 2 and "begin it anew" in str(refused.value.hint)


def test_the_resolved_spec_is_the_drive(tmp_path: Path) -> None:
    """The catalogue may have changed: the drive is made of what the manifest holds."""
    info = scaled()
    made = Variant(drive=str(info.identity["toml"]), seed=3).twin(info.name)
    assert made.info == info
