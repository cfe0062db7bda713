"""fio's jobs as the steps of a run that is kept: on a simulated drive, or on files of our own.

A job file becomes a request for the battery `fio`: a step for each group that a stonewall ends.
`FilesDrive` is the drive of such steps on a path: fio itself runs a group with the options as they
were typed (`on_files`), and its JSON and the logs that the job asks for become the step's result.
Beside that it keeps fio's words, so that whoever began the run can print them. Invariant: what a
step asks of `FilesDrive` is what the job file says of that group; a budget only ends it sooner.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from flashtwin import _core
from flashtwin.batteries.fio import Group, Parameters, labels
from flashtwin.drives.real import disk, output, real_file, real_fio, series
from flashtwin.drives.real.answers import quiet
from flashtwin.drives.real.jobfile import Section
from flashtwin.drives.real.through_fio import to_stderr
from flashtwin.drives.twin import Twin
from flashtwin.errors import DONE, MISS, USAGE, FlashtwinError
from flashtwin.fio.language import lines
from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.job import FioJob, Setting, text_of
from flashtwin.fio.language.script import typed
from flashtwin.fio.on_files import ANSWER, Files, OutputOptions, checked_text, move_logs, prepare
from flashtwin.fio.plan.plan import PhaseResult, Plan
from flashtwin.model.drive import opened
from flashtwin.model.histogram import BUCKETS
from flashtwin.model.series import Counts, Series
from flashtwin.model.step import Mark, NotPossible, Result, Run, Step
from flashtwin.model.target import Capabilities, DriveInfo, Interrupted, Progress, Watch

if TYPE_CHECKING:
    from flashtwin._core import FioRow

_NO_SERIES = "no series: fio wrote no log of its bandwidth or of single requests"


def parameters(jobs: Sequence[FioJob], plan: Plan, *, lays_out: bool = False) -> Parameters:
    """What the battery is asked for; `lays_out`: with the laying out of files, which a path does by
    itself. Refused is what a kept run could not be resumed with."""
    for job in jobs:
        if job.has("read_iolog"):
            raise JobFileError(
                job.line("read_iolog"),
                "read_iolog is not possible with --out: the trace is not kept with the run",
                hint="leave out --out, and the answer alone is printed",
            )
    named = labels([[process.job.name for process in phase] for phase in plan.phases])
    return Parameters(
        groups=tuple(
            Group(label=label, jobs=tuple(process.job for process in phase))
            for label, phase in zip(named, plan.phases, strict=True)
        ),
        file=tuple(text_of(jobs).splitlines()),
        laid=plan.laid if lays_out else (),
    )


def jobs_of(file: Sequence[str]) -> tuple[FioJob, ...]:
    """The jobs of the job file that a run holds."""
    return typed(lines.read_text("\n".join(file), file="the run's job file"), environment={}).jobs


class JobsTwin(Twin):
    """A simulated drive that keeps what fio counts of the groups, for the answer."""

    def __init__(self, spec: _core.Spec, *, seed: int, preparation: str) -> None:
        super().__init__(spec, seed=seed, preparation=preparation)
        self.answers: dict[str, Result] = {}

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Do a step as a twin does, and keep what fio counts of it."""
        answer = super().do(step, watch)
        if isinstance(answer, Result) and answer.fio:
            self.answers[step.label] = replace(
                answer, series=Series.empty(), xray={}, hist={}, meter={}
            )
        return answer


@dataclass(frozen=True, kw_only=True)
class GroupAnswer:
    """fio's answer for a group: the text before its JSON, the JSON, and the text behind it.
    `formats`: those asked for beside JSON. `ended_all`: no group after it runs."""

    before: str
    data: dict[str, Any]
    behind: str
    formats: tuple[str, ...] = ("normal",)
    ended_all: bool = False


class FilesDrive:
    """Files of ours, on which fio itself runs the jobs, group after group."""

    def __init__(
        self,
        file: Sequence[str],
        path: Path,
        *,
        output_options: OutputOptions | None = None,
        say: Callable[[str], None] | None = None,
        leftovers: Sequence[real_file.Leftover] = (),
    ) -> None:
        """`file`: the lines of the job file. `leftovers`: the files of a run that was killed."""
        self._path, self._output = path, output_options or OutputOptions()
        jobs = jobs_of(file)
        self._prepared = prepare(jobs, str(path))
        self._files = Files(self._prepared, path, say or to_stderr, leftovers)
        names = [[jobs[place].name for place in phase] for phase in self._prepared.phases]
        self._phase_of = dict(zip(labels(names), self._prepared.phases, strict=True))
        self._info: DriveInfo | None = None
        self._filled = False
        self._zero_ns = 0
        self.answers: list[GroupAnswer] = []
        self.code = DONE
        self.failed: list[FlashtwinError] = []

    def open(self) -> Self:
        """Make the files."""
        if self._info is None:
            self._files.open()
            sizes = self._prepared.files
            self._info = DriveInfo(
                name=self._path.absolute().name or "file",
                kind="files",
                capacity_bytes=sum(sizes),
                can=Capabilities(whole_drive=False, filled_first=True),
                identity={
                    "size_bytes": sum(sizes),
                    "files": len(sizes),
                    "fio": self._files.program.version,
                    "file_system": real_file.file_system(self._files.made[0].path)[0],
                },
            )
        return self

    @property
    def info(self) -> DriveInfo:
        """The files as one drive: their sizes added up."""
        return opened(self._info)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Run a group; the files are filled before the first."""
        phase = self._phase_of.get(step.label)
        if isinstance(step, Mark):
            return quiet(step.label, self._now_ns(), 0)
        if phase is None or not isinstance(step, Run):
            return NotPossible(reason="these files are for the groups of one job file")
        self._fill_once(watch)
        for old in self._files.work.iterdir():
            if not old.is_symlink():
                old.unlink()
        began_ns = self._now_ns()
        watched = _Watched(watch, began_ns, self._now_ns)
        jobs = [_bounded(self._prepared.jobs[place], step) for place in phase]
        formats = ",".join(dict.fromkeys([*self._output.formats, "json+"]))
        words = [*self._output.words, f"--output-format={formats}", f"--output={ANSWER}"]
        words += ["--readonly"] if self._output.readonly else []
        code = self._files.fio(checked_text(jobs), words, watched.stopped)
        text = real_fio.read_answer(self._files.work / ANSWER)
        group = self._group_answer(step, text, code)
        if watched.number:
            raise Interrupted(step.label)
        result = _result(step, text, self._files.work, began_ns)
        return result if group is None else replace(result, fio=(asdict(group),))

    def _group_answer(self, step: Run, text: str, code: int) -> GroupAnswer | None:
        before, data, behind = output.divided(text)
        group = None
        if data is not None:
            ends = [job.fio.ends for job in step.jobs if job.fio and job.fio.ends.what == "all"]
            failed = any(row.get("error") for row in data["jobs"])
            group = GroupAnswer(
                before=before,
                data=data,
                behind=behind,
                formats=self._output.formats,
                ended_all=any(end.all or (end.on_error and failed) for end in ends),
            )
            self.answers.append(group)
        if code not in (DONE, 128):
            self.code = MISS
        position = list(self._phase_of).index(step.label)
        threads = sum(
            int(self._prepared.jobs[place]["numjobs"])
            for phase in self._prepared.phases[:position]
            for place in phase
        )
        work = self._files.work
        for place in range(1, len(step.jobs) + 1):
            for kind in ("bw", "lat"):
                for path in work.glob(f"log*_{kind}.{place}.log"):
                    (work / f"kept_{kind}.{place}.log").hardlink_to(path)
        self.failed += move_logs(work, self._prepared.logs, self._output, threads)
        return group

    def _fill_once(self, watch: Watch) -> None:
        if not self._filled:
            # The clock of the run stands still while the files are filled.
            self._files.fill(_Watched(watch, 0, lambda: 0).stopped)
            self._filled = True
            self._zero_ns = time.monotonic_ns() - self._zero_ns

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Go on with the next group; see `model.drive.Resumes`."""
        self._filled = self._files.taken and at_ns > 0
        self._zero_ns = time.monotonic_ns() - at_ns if self._filled else at_ns
        if self._filled:
            return "taken up on the files that the interrupted run left"
        return "taken up on files that were made again, filled with random data"

    def host(self) -> dict[str, Any]:
        """Where the files are and which ones; see `model.drive.TellsHost`."""
        rows = zip(self._files.made, self._prepared.files, strict=True)
        files = [real_file.left_behind(file, size) for file, size in rows]
        beneath = disk.facts_of(self._files.made[0].path) if files else {}
        return {"files": files, **beneath}

    def claim(self, run: Path) -> None:
        """The files belong to that run; see `model.drive.BelongsToRun`."""
        for file in self._files.made:
            real_file.claim(file, run)

    def close(self) -> None:
        """Remove the files."""
        self._files.close()

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._zero_ns


def files_drive(
    file: Sequence[str],
    path: Path,
    *,
    formats: Sequence[str],
    say: Callable[[str], None] | None,
    leftovers: Sequence[real_file.Leftover],
) -> FilesDrive:
    """The files of a job file, for the runner, which knows this function by name."""
    options = OutputOptions(formats=tuple(formats))
    return FilesDrive(file, path, output_options=options, say=say, leftovers=leftovers)


class _Watched:
    """A watch in the form in which fio's process is asked: SIGINT, once the watch says stop."""

    def __init__(self, watch: Watch, began_ns: int, now_ns: Callable[[], int]) -> None:
        self._watch, self._began_ns, self._now_ns = watch, began_ns, now_ns
        self.number: int | None = None

    def stopped(self) -> int | None:
        seconds = (self._now_ns() - self._began_ns) / 1e9
        if self.number is None and not self._watch(Progress(bytes=0, drive_s=seconds)):
            self.number = signal.SIGINT
        return self.number


def _bounded(job: FioJob, step: Run) -> FioJob:
    """The job with at most the runtime that a budget leaves."""
    limits = [row.runtime_s for row in step.jobs if row.name == job.name]
    runtime_us = round(min((limit for limit in limits if limit), default=0.0) * 1e6)
    if not runtime_us or runtime_us == job["runtime"]:
        return job
    setting = Setting(value=runtime_us, where=job.where, text="")
    return replace(job, settings={**job.settings, "runtime": setting})


def _result(step: Run, text: str, directory: Path, began_ns: int) -> Result:
    """What fio says of a group, times counted from its start."""
    answer = output.parse_output(text)
    ramp_ns = round(max(job.ramp_s for job in step.jobs) * 1e9)
    duration_ns = max((row.runtime_ms for row in answer.rows), default=0) * series.MS + ramp_ns
    curve, note = _series(step, answer, directory)
    broken = [f"job {row.name}: error {row.error}" for row in answer.rows if row.error]
    return Result(
        label=step.label,
        start_ns=began_ns,
        duration_ns=max(duration_ns, 1),
        series=curve,
        jobs=tuple(series.totals_of(row.name, row) for row in answer.rows),
        hist=_hist(answer.rows) | series.syncs_of(answer.rows),
        note="; ".join([*filter(None, [note]), *broken]) or None,
    )


def _hist(rows: Sequence[output.JobOutput]) -> dict[str, Counts]:
    hist: dict[str, Counts] = {}
    for row in rows:
        for name, totals in row.by_direction.items():
            if name in output.DIRECTIONS:
                before = hist.get(name, np.zeros(BUCKETS, dtype=np.uint64))
                hist[name] = before + series.counts_of_bins(totals.bins)
    return hist


def _series(step: Run, answer: output.FioOutput, directory: Path) -> tuple[Series, str | None]:
    """The series from the logs that all jobs ask for; none where they ask for none."""
    count = len(step.jobs)
    # fio gives a row a thread, or one for all where they report as a group.
    places = [[place] for place in range(count)] if len(answer.rows) == count else [[*range(count)]]
    if len(answer.rows) != len(places) or any("trim" in job.rw for job in step.jobs):
        return Series.empty(), _NO_SERIES
    averaged = [bool(job.fio and job.fio.logs.average_ns) for job in step.jobs]
    needed = "bw" if all(averaged) else "lat"
    logged = {int(path.name.split(".")[1]) for path in directory.glob(f"kept_{needed}.*.log")}
    if logged != {*range(1, count + 1)} or any(averaged) != all(averaged):
        return Series.empty(), _NO_SERIES
    sections, rows = [], []
    for number, (threads, row) in enumerate(zip(places, answer.rows, strict=True)):
        name, job = f"series{number}", step.jobs[threads[0]]
        sections.append(Section(name=name, part=0, job=job, threads=len(threads), depth=job.depth))
        rows.append(replace(row, name=name))
        for place in threads:
            for path in directory.glob(f"kept_*.{place + 1}.log"):
                (directory / path.name.replace("kept", name)).hardlink_to(path)
    read = series.from_averages if all(averaged) else series.from_requests
    by_name = replace(answer, rows=tuple(rows))
    measured = read(sections, by_name, directory, round(step.sample_s * 1e9))
    return measured.series, "; ".join(measured.notes) or None


def phases_of(plan: Plan, results: Sequence[Result | None]) -> list[PhaseResult]:
    """What a twin's groups came to, in the form of which fio's answer is made. A group that did
    not run has no rows."""
    first_ns = next((result.start_ns for result in results if result), 0)
    return [
        PhaseResult(
            processes=phase,
            begun_ns=result.start_ns - first_ns if result else 0,
            rows=[_row(row) for row in result.fio] if result else (),
        )
        for phase, result in zip(plan.phases, results, strict=True)
    ]


def _row(stored: Mapping[str, Any]) -> FioRow:
    """fio's counts of a job, from the core or from a journal."""
    row: dict[str, Any] = {"requests": None, "averages": None, **stored}
    for name in ("read", "write", "trim", "sync"):
        row[name] = {
            key: {int(bucket): count for bucket, count in value.items()}
            if key.endswith("_hist")
            else value
            for key, value in row[name].items()
        }
    return cast("FioRow", row)


def answer_of_steps(
    steps: Sequence[Sequence[Mapping[str, Any]]], formats: Sequence[str] | None
) -> str:
    """fio's answer for groups on files, from what their steps hold, in formats that are there."""
    groups = [
        GroupAnswer(**{**row, "formats": tuple(row["formats"])}) for step in steps for row in step
    ]
    if not groups:
        return ""
    there = groups[0].formats
    chosen = tuple(formats or there)
    if missing := set(chosen) - {*there, "json", "json+"}:
        raise FlashtwinError(
            f"the run has fio's answer in the formats {', '.join(dict.fromkeys([*there, 'json']))},"
            f" and not as {', '.join(sorted(missing))}",
            hint="leave out --output-format, or write --output-format=json",
            exit_code=USAGE,
        )
    return answer_of(groups, chosen)


def answer_of(groups: Sequence[GroupAnswer], formats: Sequence[str]) -> str:
    """fio's words on all groups, in the formats that were asked for: one JSON object for all."""
    wordy = all(group.formats == tuple(formats) for group in groups)
    text = "".join(group.before for group in groups if wordy)
    known = [group.data for group in groups]
    if known and {"json", "json+"}.intersection(formats):
        rows: list[dict[str, Any]] = []
        for data in known:
            first = max((int(row.get("groupid", 0)) + 1 for row in rows), default=0)
            rows += [{**row, "groupid": int(row.get("groupid", 0)) + first} for row in data["jobs"]]
        document = {**known[0], **known[-1], "jobs": rows}
        if "json+" not in formats:
            document = _without_bins(document)
        text += json.dumps(document, indent=2) + "\n"
    return text + "".join(group.behind.removeprefix("\n") for group in groups if wordy)


def _without_bins(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_bins(part) for name, part in value.items() if name != "bins"}
    return [_without_bins(part) for part in value] if isinstance(value, list) else value
