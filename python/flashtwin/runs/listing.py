"""Runs as they lie on a disk: found, described in a line each whatever state they are in, removed.

A place is a run directory, or a folder of them; a run of several targets is a folder with a run for
each, so folders are looked into. Nothing that lies there may end in an error: what cannot be read
(half written, of a newer flashtwin, somebody else's) is listed with its state and the reason.

States: what the manifest says (finished, interrupted, failed, …), and of those that never got to
say it: "under way" while a process writes it, "cut off" when none does any more. "unreadable": it
is a run, but cannot be read; "not begun": targets of a plan, or a sweep, of which nothing began, in
the folder that is to hold their runs; "no run": a folder with something else in it. Links are not
followed: what they point to lies elsewhere.

Invariants of a removal: only what was read as a run goes, and what flashtwin itself planned
(targets and sweeps that never began); never one under way or part of something under way, and never
another folder; the manifest goes last, so that a removal that was cut off leaves a run that can be
removed again; what is no part of a run stays in its folder; the folder of several targets or of a
sweep goes with its last run if nothing is left in it but what flashtwin put there. A target that is
removed leaves the plan too: nobody resumes it.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, SupportsIndex, overload

import msgspec

from flashtwin.drives.real import real_file
from flashtwin.drives.real.real_file import Leftover
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.model.text import plain, table
from flashtwin.model.units import readable_setting
from flashtwin.outputs import disk
from flashtwin.runs import folders, lock, schema, summary
from flashtwin.runs.listing_index import Index, Row, Stamp, within
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.runs.storage import MOST_JOURNAL, is_there, json_line, read_file, remove_tree
from flashtwin.runs.writer import is_part_of_a_run

DEFAULT_PARENT = Path("flashtwin-runs")
UNDER_WAY, CUT_OFF, NOT_BEGUN = "under way", "cut off", "not begun"
UNREADABLE, NO_RUN = "unreadable", "no run"
# How many of the newest runs are looked through for one that can be gone on with.
NEWEST = 50
# How deep folders are looked into: the place, a run of several targets, and one folder more.
DEPTH = 3
_HEADS = ("run", "started", "state", "target", "findings")
_OLDEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A folder in a place of runs. `bytes`: the sizes of its files; `why`: what is wrong with it.

    `group`: the folder of several targets that it lies in, if it lies in one. `busy`: a process
    carries out what it belongs to, several targets or a sweep, though it may be finished itself.

    `label`: what somebody called it, empty where nobody did.
    `left`: the files that a run on files made, which one that was killed leaves behind.
    `started`: from host.json; of a run that did not get to write it, when its manifest was.
    `text`: the findings as JSON, where they have not been made values of.
    `key_text`: the few findings that say most, short enough for one line.
    """

    path: Path
    state: str
    why: str | None = None
    group: Path | None = None
    busy: bool = False
    target: str = ""
    label: str = ""
    kind: str = ""
    batteries: tuple[str, ...] = ()
    started: datetime | None = None
    wall_s: float | None = None
    seed: int | None = None
    spec: str | None = None
    capacity_bytes: int | None = None
    flashtwin: str = ""
    steps: int = 0
    bytes: int = 0
    key_text: str = ""
    findings: Findings = field(default_factory=Findings)
    text: msgspec.Raw | None = field(default=None, repr=False, compare=False)
    left: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """What `find` takes: the bare name of a run in the default place, else its path."""
        here = self.path.is_relative_to(DEFAULT_PARENT)
        return str(self.path.relative_to(DEFAULT_PARENT) if here else self.path)

    @property
    def is_run(self) -> bool:
        """Whether it was read as a run."""
        return self.state not in (UNREADABLE, NO_RUN)

    def finding_rows(self) -> list[schema.Finding]:
        """The findings as rows of their file, which are read sooner than `findings`."""
        text = json_line(self.findings.to_json()) if self.text is None else self.text
        return msgspec.json.decode(text, type=list[schema.Finding])

    @property
    def titled(self) -> str:
        """The target, and behind it what the run was called."""
        return f"{self.target}: {self.label}" if self.label else self.target

    @property
    def began(self) -> str:
        """When the run began, in the reader's time zone; the year stands there only where it is
        not this one."""
        if self.started is None:
            return ""
        began = self.started.astimezone()
        return f"{began:%d %b %H:%M}" if began.year == datetime.now().year else f"{began:%d %b %Y}"


def _key_text(findings: Iterable[Finding]) -> str:
    return ", ".join(
        f"{finding.names[2] if finding.is_cell else finding.short} {plain(finding)}"
        for finding in findings
    )


class StoredRuns(list[Stored]):
    """What is stored, as a list; `print` and notebooks show a table."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Stored: ...

    @overload
    def __getitem__(self, index: slice) -> StoredRuns: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Stored | StoredRuns:
        part = super().__getitem__(index)
        return StoredRuns(part) if isinstance(part, list) else part

    def __str__(self) -> str:
        """A line a run, and why a folder cannot be read as one."""
        notes = [f"note: {run.name}: {run.why}" for run in self if run.why]
        total = "1 run" if len(self) == 1 else f"{len(self)} runs"
        return "\n".join([*([table(_HEADS, self._rows())] if self else []), total, *notes])

    def _repr_html_(self) -> str:
        lines = [("th", _HEADS), *(("td", row) for row in self._rows())]
        return "<table>{}</table>".format(
            "".join(
                "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row) + "</tr>"
                for tag, row in lines
            )
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [(run.name, run.began, run.state, run.titled, run.key_text) for run in self]


def stored(places: Sequence[Path]) -> list[Stored]:
    """Everything in the places, each folder once, in the order of the places and of names."""
    by_place: dict[str, Stored] = {}
    busy: dict[Path, bool] = {}
    for place in places:
        if not place.is_dir():
            raise FlashtwinError(
                f"{place} is not a directory" if place.exists() else f"there is no {place}",
                hint="give a folder of runs; flashtwin test writes to ./flashtwin-runs",
                exit_code=USAGE,
            )
        index = Index.of(place)
        real = os.path.realpath(place)
        try:
            for folder in _folders(place, DEPTH):
                above = folder.parent
                if above not in busy:
                    busy[above] = folders.under_way(above)
                group = None if place in (folder, above) else above
                key = os.path.join(real, within(folder, place)).rstrip(os.sep)
                if key not in by_place:
                    by_place[key] = _described(folder, index, group=group, busy=busy[above])
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise FlashtwinError(
                f"cannot read {place}: {reason}",
                hint="look at who may read it: ls -ld",
                exit_code=ENVIRONMENT,
            ) from error
        if index is not None:
            index.save()
    return list(by_place.values())


def stored_in(folder: Path) -> Stored:
    """Describe what lies in a folder. This never fails."""
    return _described(folder, None)


def _described(
    folder: Path, index: Index | None, *, group: Path | None = None, busy: bool = False
) -> Stored:
    """What lies in a folder, from the index where it was read before; `group` and `busy` are of
    this moment."""
    try:
        stamp = Stamp.of(folder)
    except OSError as error:
        why = f"it cannot be looked into: {os.strerror(error.errno or 0)}"
        return Stored(path=folder, state=UNREADABLE, why=why, group=group, busy=busy)
    if index is not None and (row := index.get(folder, stamp)):
        return _of_row(row, folder, stamp, group=group, busy=busy)
    described = looked_into(folder, stamp)
    if index is not None and stamp.settled and described.state in _SETTLED:
        index.put(folder, _as_row(described, stamp))
    return replace(described, group=group, busy=busy)


# What says of itself how it ended, and was read whole.
_SETTLED = ("finished", "interrupted", "failed")


def looked_into(folder: Path, stamp: Stamp) -> Stored:
    """What lies in a folder."""
    size = stamp.bytes
    if "manifest.json" not in stamp.files:
        if waits := _not_begun(folder, size):
            return waits
        started = "host.json" in stamp.files or lock.JOURNAL in stamp.files
        why = "manifest.json is missing" if started else "it holds no run"
        return Stored(path=folder, state=NO_RUN, why=why, bytes=size)
    try:
        return summarised(folder, stamp) or _read(Run(folder), size)
    except FlashtwinError as error:
        why = error.message.removeprefix(f"{folder}/")
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        why = f"manifest.json is not what flashtwin writes ({type(error).__name__}: {error})"
    began = _written(folder)
    return Stored(path=folder, state=UNREADABLE, why=why, bytes=size, started=began)


_COLUMNS = [name for name in Row.__struct_fields__ if name not in ("stamp", "findings")]


def _as_row(run: Stored, stamp: Stamp) -> Row:
    findings = run.text or msgspec.Raw(json_line(run.findings.to_json()))
    cells = {name: getattr(run, name) for name in _COLUMNS}
    return Row(stamp=stamp.digest, findings=findings, **cells)


def _of_row(row: Row, folder: Path, stamp: Stamp, *, group: Path | None, busy: bool) -> Stored:
    cells: dict[str, Any] = {name: getattr(row, name) for name in _COLUMNS}
    findings = Findings.later(partial(_findings_of, row.findings))
    cells |= {"bytes": stamp.bytes, "findings": findings, "text": row.findings}
    return Stored(path=folder, group=group, busy=busy, **cells)


def _findings_of(text: msgspec.Raw) -> list[Finding]:
    rows = msgspec.json.decode(text, type=list[schema.Finding])
    return [row.read() for row in rows]


def _not_begun(folder: Path, size: int) -> Stored | None:
    """The entry of a folder whose plan has targets that never began, or of a sweep without a
    point."""
    if folders.is_sweep(folder):
        state = UNDER_WAY if lock.is_held(folder, folders.SWEEP) else NOT_BEGUN
        why = "a sweep without a stored point"
        began = _written(folder, folders.SWEEP)
        return Stored(path=folder, state=state, why=why, bytes=size, started=began)
    rows = folders.waiting(folder)
    if not rows:
        return None
    state = UNDER_WAY if lock.is_held(folder, folders.PLAN) else NOT_BEGUN
    return Stored(
        path=folder,
        state=state,
        target="+".join(str(row["place"]) for row in rows),
        kind=str(rows[0]["target"]["kind"]),
        batteries=tuple(str(battery["name"]) for battery in rows[0]["batteries"]),
        started=_written(folder, folders.PLAN),
        bytes=(folder / folders.PLAN).stat().st_size,
    )


def find(word: str | Path) -> Path:
    """A run by its path, or by its name in the default place."""
    if not str(word):
        raise FlashtwinError(
            "the name of a run is empty", hint="flashtwin runs lists them", exit_code=USAGE
        )
    path = Path(word)
    if not path.exists() and (DEFAULT_PARENT / path).exists():
        return DEFAULT_PARENT / path
    return path


def named(words: Iterable[str | Path], *, once: bool = False) -> list[Run]:
    """The runs that words mean: run directories, folders of several, and names in the default
    place. With `once` a run that is named twice is refused."""
    runs = [run for word in words for run in find_runs(find(word))]
    paths = [run.path.resolve() for run in runs]
    twice = next((run for at, run in enumerate(runs) if paths[at] in paths[:at]), None)
    if once and twice is not None:
        raise FlashtwinError(
            f"{twice.path} is given twice", hint="give two different runs", exit_code=USAGE
        )
    return runs


def size_of(folder: Path) -> int:
    """Bytes of all files under a folder; what vanishes meanwhile counts nothing."""
    total, pending = 0, [os.fspath(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as inside:
                for entry in inside:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += _size(entry)
        except OSError:
            continue
    return total


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _folders(place: Path, depth: int) -> Iterator[Path]:
    """The runs in a place, and the folders that are neither runs nor hold any, or that nobody may
    look into."""
    if _is_run(place):
        yield place
        return
    if folders.waiting(place):
        yield place
    for inside in folders_in(place):
        # A folder with a journal is a run that has no manifest yet.
        if depth <= 1 or _is_run(inside) or os.path.exists(inside / lock.JOURNAL):
            yield inside
            continue
        deeper: list[Path] = []
        # One that may not be looked into is itself told, with the reason.
        with contextlib.suppress(OSError):
            deeper = [folder for folder in _folders(inside, depth - 1) if _counts(folder)]
        yield from deeper or [inside]


def folders_in(place: Path) -> list[Path]:
    """The folders in one, by name; links and what is hidden are left out."""
    with os.scandir(place) as entries:
        names = [
            entry.name
            for entry in entries
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        ]
    return [place / name for name in sorted(names)]


def _is_run(folder: Path) -> bool:
    return os.path.exists(f"{folder}/manifest.json")


def _counts(folder: Path) -> bool:
    """Whether a folder is told by itself: a run, a plan, or what nobody may look into."""
    if _is_run(folder) or folders.waiting(folder):
        return True
    try:
        os.scandir(f"{folder}/.").close()
    except OSError:
        return True
    return False


def summarised(run: Path, stamp: Stamp) -> Stored | None:
    """A finished run as its summary tells it, which is read soonest; none where the run has to be
    read itself."""
    parts = summary.read(run, stamp)
    if parts is None:
        return None
    listed, host = parts
    text = msgspec.Raw(msgspec.json.encode(listed.findings))
    headline = msgspec.Raw(msgspec.json.encode([listed.findings[at] for at in listed.headline]))
    has_files = host.file is not None or host.files is not None
    return Stored(
        path=run,
        state="finished",
        target=run.name if listed.target is None else listed.target,
        label=listed.label,
        kind=listed.kind,
        batteries=listed.batteries,
        started=_time(host.began) or _written(run),
        wall_s=host.wall_s,
        seed=listed.seed,
        spec=listed.spec,
        capacity_bytes=listed.capacity_bytes,
        flashtwin=listed.flashtwin,
        steps=listed.steps,
        bytes=stamp.bytes,
        key_text=_key_text(_findings_of(headline)),
        findings=Findings.later(partial(_findings_of, text)),
        text=text,
        left=_left(msgspec.to_builtins(host)) if has_files else (),
    )


def _read(run: Run, size: int) -> Stored:
    manifest, target = run.manifest, run.target
    identity = target.get("identity") or {}
    state, why = run.state, None
    if state == "running":
        state = UNDER_WAY if run.under_way else CUT_OFF
    host: dict[str, Any] = {}
    findings = Findings()
    try:
        host, findings = run.host, run.findings
    except FlashtwinError as error:
        why = error.message.removeprefix(f"{run.path}/")
    if run.finished:
        why = why or _lacking(run)
    seed, capacity = manifest.get("seed"), target.get("capacity_bytes")
    return Stored(
        path=run.path,
        state=UNREADABLE if why else state,
        why=why,
        target=str(target["name"]),
        label=str(manifest.get("label") or ""),
        kind=str(target.get("kind", "")),
        batteries=tuple(str(row["name"]) for row in manifest.get("batteries") or ()),
        started=_time(host.get("began")) or _written(run.path),
        wall_s=_float(host.get("wall_s")),
        seed=seed if isinstance(seed, int) else None,
        spec=str(identity["hash"]) if "hash" in identity else None,
        capacity_bytes=capacity if isinstance(capacity, int) else None,
        flashtwin=str(manifest.get("flashtwin", "")),
        steps=_steps(run),
        bytes=size,
        key_text=_key_text(summary.key_findings(findings)),
        findings=findings,
        left=_left(host),
    )


def _left(host: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The files that host.json names, with the marks that they bear."""
    rows = [host.get("file"), *(host.get("files") or ())]
    return tuple(row for row in rows if isinstance(row, dict) and _names_a_file(row))


def _names_a_file(row: Mapping[str, Any]) -> bool:
    named = isinstance(row.get("path"), str) and isinstance(row.get("size_bytes"), int)
    return named and bool(row.get("mark"))


def _lacking(run: Run) -> str | None:
    """What is missing of the files of a finished run; none where nothing is."""
    tables = [f"{name}.parquet" for name in run.manifest.get("tables", ())]
    named = [*tables, *run.manifest.get("files", ())]
    for name in named or (lock.JOURNAL, "series.parquet", "hist.parquet"):
        if not is_there(run.path / name):
            return f"{name} is missing"
        if not (run.path / name).is_file():
            return f"{name} is not a regular file"
    return None


def _steps(run: Run) -> int:
    """Steps in the journal, which a run under way has not put into its manifest yet."""
    try:
        return read_file(run.path / lock.JOURNAL, MOST_JOURNAL).count(b"\n")
    except FlashtwinError:
        return 0


def _time(text: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _written(folder: Path, name: str = "manifest.json") -> datetime | None:
    try:
        seconds = (folder / name).stat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(int(seconds), UTC)


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def total_bytes(runs: Iterable[Stored]) -> int:
    """The bytes of all of them together."""
    return sum(run.bytes for run in runs)


def unique_names(runs: Sequence[Run]) -> list[str]:
    """The labels of the runs, or the targets' names; where two are the same, with what was set for
    each ("slc-off", "cache 8 GB"), else with their directories', else with a number."""
    names = [name_of(run) for run in runs]
    names = _apart(names, [with_settings(name, run) for name, run in zip(names, runs, strict=True)])
    # A folder of several runs has one that is called as the drive is: the folder's name says more.
    places = [
        run.path.resolve().parent.name if run.path.name == name_of(run) else run.path.name
        for run in runs
    ]
    names = _apart(names, [f"{name} ({at})" for name, at in zip(names, places, strict=True)])
    return _apart(names, [f"{name} #{at}" for at, name in enumerate(names, 1)])


def name_of(run: Run) -> str:
    """What somebody called the run, or what it measured."""
    return str(run.manifest.get("label") or run.target.get("name") or run.path.name)


# Options of a command that make a variant of a drive.
_OF_VARIANT = ("--firmware", "--set")
# What a reader calls the keys that are set most.
_SHORT = {
    "slc_cache.size": "cache",
    "slc_cache.static_size": "static cache",
    "slc_cache.mode": "cache",
}


def with_settings(name: str, run: Run) -> str:
    """A name with the firmware profiles and values that the run's command set: "x slc-off"."""
    text = ", ".join(settings_of(run))
    return f"{name} {text}" if text else name


def settings_of(run: Run, options: Sequence[str] = _OF_VARIANT) -> list[str]:
    """What the run's command made of the drive that it names, as a reader calls it."""
    command = run.manifest.get("command")
    words = [str(word) for word in command] if isinstance(command, list) else []
    return [_setting_text(value) for option, value in pairwise(words) if option in options]


def _setting_text(setting: str) -> str:
    key, equals, value = setting.partition("=")
    return f"{_SHORT.get(key, key)} {readable_setting(value)}" if equals else key


def _apart(names: list[str], otherwise: list[str]) -> list[str]:
    count = Counter(names)
    return [
        other if count[name] > 1 else name for name, other in zip(names, otherwise, strict=True)
    ]


def chosen(
    runs: Sequence[Stored],
    *,
    keep: int = 0,
    older: timedelta | None = None,
    now: datetime,
) -> list[Stored]:
    """The runs to remove, the oldest first: those that are older than `older`, without the
    `keep` newest."""
    finished = [run for run in runs if run.is_run and run.state != UNDER_WAY and not run.busy]
    finished.sort(key=lambda run: (run.started or _OLDEST, str(run.path)))
    going = finished[: max(len(finished) - keep, 0)]
    if older is None:
        return going
    return [run for run in going if (run.started or _OLDEST) < now - older]


def remove(run: Stored) -> None:
    """Remove a run, and nothing in its folder that is no part of one; refused where a process has
    begun to write it in the meantime."""
    if lock.is_held(run.path) or folders.under_way(run.path.parent):
        raise FlashtwinError(f"{run.path} is being written", hint="leave it until it is finished")
    if run.state == NOT_BEGUN:
        folders.remove(run.path)
        return
    for leftover in leftovers(run):
        _remove_left(leftover)
    with disk(run.path, "remove"):
        parts = [path for path in sorted(run.path.iterdir()) if is_part_of_a_run(path.name)]
        for inside in parts:
            if inside.name != "manifest.json":
                remove_tree(inside)
        (run.path / "manifest.json").unlink()
        # A file that somebody put there stays, and the folder with it.
        if not any(run.path.iterdir()):
            run.path.rmdir()
        folders.forget(run.path.parent, runs=(run.path.name,))
        if run.group is not None:
            folders.remove_empty(run.group)


def left_files(run: Stored) -> list[Path]:
    """Files that a killed run left behind, which are removed with it."""
    return [leftover.path for leftover in leftovers(run) if leftover.is_ours]


def files_of_others(run: Stored) -> list[Path]:
    """Files that a run names and that belong to another directory, of which it is a copy: they
    stay."""
    return [row.path for row in leftovers(run) if row.is_there and not row.is_ours]


def leftovers(run: Stored) -> list[Leftover]:
    """What host.json says of the files that the run measured."""
    return [Leftover.of(row, run.path) for row in run.left]


def _remove_left(leftover: Leftover) -> None:
    """Remove the file of a killed run, if its marks say that it is that file and of that run."""
    if leftover.is_ours and (file := real_file.take_over(leftover)):
        real_file.remove(file)


def adopt(path: Path) -> list[Path]:
    """Make the files of a run those of this directory of it; refused where a process writes the
    run or measures a file, and where there is none."""
    place = find(path)
    run = stored_in(place)
    rows = leftovers(run) if run.is_run else []
    if not rows:
        raise FlashtwinError(
            f"{place} is no run that left a file behind",
            hint="flashtwin runs lists what is stored",
            exit_code=USAGE,
        )
    with lock.holding(place, lock.JOURNAL):
        return real_file.adopt(rows)


def unfinished(command: Sequence[str]) -> Path | None:
    """The newest run in the default place, or folder of several targets, that the same command
    began and that nobody goes on with."""
    there: list[Path] = []
    with contextlib.suppress(OSError):
        there = folders_in(DEFAULT_PARENT)
    for folder in there[: -NEWEST - 1 : -1]:
        with contextlib.suppress(FlashtwinError, OSError, KeyError):
            if _began(folder) == list(command):
                return folder
    return None


def _began(folder: Path) -> list[str] | None:
    """The command of a run that can be resumed; none where it cannot."""
    if (folder / folders.PLAN).exists():
        return None if folders.under_way(folder) else folders.read_plan(folder)["command"]
    run = Run(folder)
    return None if run.finished or run.under_way else run.manifest.get("command")
