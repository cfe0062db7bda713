"""fio job files on real files: fio itself runs them, on files of our own that are removed.

Each file that the jobs name becomes one of ours, as long as the furthest that any job reaches in
it, at the path that the user gave (more than one: the path with a number behind it). It is filled
with random data first, as a sparse file answers reads from nothing. fio sees links to them in an
empty directory and no other name; its answer and its logs are written there too and moved when it
has ended. Each option has the fate that `fio.language.table` rules.

Invariants: a line that fio gets is an option that is passed on or set here, printed from its value;
no text of a job file can begin another one. As in `real`, nothing that was there before is opened,
and no fio is left running.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from flashtwin import outputs, system
from flashtwin.drives.real import output, real_file, real_fio
from flashtwin.drives.real.scratch import Scratch
from flashtwin.drives.real.through_fio import to_stderr
from flashtwin.errors import DONE, ENVIRONMENT, MISS, REFUSED, TERMINATED, FlashtwinError
from flashtwin.fio.answer import check_written
from flashtwin.fio.language.errors import JobFileError, Where
from flashtwin.fio.language.job import FioJob, Setting, text_of
from flashtwin.fio.language.kinds import Percent
from flashtwin.fio.language.script import Note
from flashtwin.fio.language.table import LOCAL, PLAIN, Fate, Option, find, ruling
from flashtwin.fio.plan.files import Part, Target, is_whole, names
from flashtwin.fio.plan.processes import Clone, clones
from flashtwin.fio.plan.setup import Setup
from flashtwin.fio.report.logs import is_typed, name_for_files
from flashtwin.model.target import Interrupted

_NO_LIMIT = 1 << 60
_GRAIN = 1 << 20
# What fio takes of a line, less than its buffer.
_LINE_BYTES_MOST = 4000
# What fio takes of a section's name.
_NAME_BYTES_MOST = 250


@dataclass(frozen=True, kw_only=True)
class Log:
    """The name of one of fio's logs, and the line that asks for it; `typed`: on the command
    line."""

    option: str
    name: str
    typed: bool
    where: Where


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The jobs as fio gets them, and what fio's own names stand for.

    `phases` has the places of the jobs that run beside each other, phase by phase. `files`: the
    length of each of our files. `links`: for each name that fio sees, the file's place in `files`.
    `logs`: the name of a log by the one that fio gives it, up to what fio adds.
    """

    jobs: tuple[FioJob, ...]
    phases: tuple[tuple[int, ...], ...]
    files: tuple[int, ...]
    links: Mapping[str, int]
    logs: Mapping[str, Log]
    notes: tuple[Note, ...]

    @property
    def text(self) -> str:
        """The job file with all of them."""
        return checked_text(self.jobs)


def checked_text(jobs: Sequence[FioJob]) -> str:
    """The job file of jobs of ours."""
    text = text_of(jobs)
    for line in text.splitlines():
        assert re.fullmatch(r"\[[^][]+\]|[a-z0-9_-]+(=.*)?|", line), f"fio would get {line!r}"
    return text


def prepare(jobs: Sequence[FioJob], target: str) -> Prepared:
    """The job file for files of our own; jobs whose files have no size of their own are refused."""
    drive = Target(name=target, bytes=_NO_LIMIT)
    for job in jobs:
        _check(job)
    lengths: dict[str, int] = {}
    started = clones(jobs)
    setup, pieces = Setup(drive, started), dict[int, list[tuple[Clone, list[Part]]]]()
    for clone in started:
        _check_size(clone, setup, drive)
        parts = setup.parts(clone)
        pieces.setdefault(id(clone.job), []).append((clone, parts))
        for part in parts:
            reach = -(-(part.offset + part.size) // _GRAIN) * _GRAIN
            name = _file(part.name, drive)
            lengths[name] = max(lengths.get(name, 0), reach)
    rewriting = _Rewriting(drive, {name: place for place, name in enumerate(lengths)})
    phase_of = {id(clone.job): clone.phase for clone in started}
    phases: dict[int, list[int]] = {}
    for place, job in enumerate(jobs):
        phases.setdefault(phase_of[id(job)], []).append(place)
    return Prepared(
        jobs=tuple(
            rewriting.job(number, in_bytes(job, pieces[id(job)])) for number, job in enumerate(jobs)
        ),
        phases=tuple(map(tuple, phases.values())),
        files=tuple(lengths.values()),
        links=rewriting.links,
        logs=rewriting.logs,
        notes=tuple(dict.fromkeys([*setup.notes, *rewriting.notes])),
    )


def _file(name: str, target: Target) -> str:
    """One name for all that stand for the target."""
    return target.name if is_whole(name, target) else name


def _check(job: FioJob) -> None:
    """Refuse options that fio may not get; the section's name is checked as any other text."""
    _check_text(job.where, "name", job.section, rf"(?!.*[][]){PLAIN}")
    for name, setting in job.settings.items():
        option = find(name)
        assert option is not None, f"{name} is no option of the table"
        rule = ruling(option)
        if rule.only and setting.value in rule.only:
            continue
        if rule.fate in (Fate.REFUSED, Fate.HARMFUL):
            raise _refused(setting, option)
        if rule.grammar is not None:
            _check_text(setting.where, name, str(setting.value), rule.grammar)


def _refused(setting: Setting, option: Option) -> FlashtwinError:
    rule = ruling(option)
    value = option.kind.show(setting.value)
    reason = f"{option.name}={value} is not passed on to fio: {rule.says}"
    hint = "leave it out, or run the jobs on a simulated drive: --on bx500-240"
    if option.name == "ioengine":
        reason = f"ioengine={value} does not reach a file"
        hint = f"write one of {', '.join(LOCAL)}"
    if rule.fate is Fate.HARMFUL:
        return _unsafe(setting.where, reason, hint)
    return JobFileError(setting.where, reason, hint=hint)


def _unsafe(where: Where, reason: str, hint: str) -> FlashtwinError:
    return FlashtwinError(f"{where}: {reason}", hint=hint, exit_code=REFUSED)


def _check_text(where: Where, name: str, text: str, grammar: str) -> None:
    plain = grammar.endswith(PLAIN)
    if re.fullmatch(grammar, text) and (not plain or len(text.encode()) <= _NAME_BYTES_MOST):
        return
    hint = "flashtwin help fio-options says what is taken, or leave it out"
    if plain:
        hint = f"write at most {_NAME_BYTES_MOST} characters, and none that fio reads: $ ; # \\ [ ]"
    raise _unsafe(where, f"{name}={text!r} is not passed on to fio as it is written", hint)


def _check_size(clone: Clone, setup: Setup, target: Target) -> None:
    """Refuse what has no end, or begins at a part of it: the target is a file that is to be
    made."""
    job, named = clone.job, names(clone)
    wholes = any(is_whole(name, target) for name in named)
    unknown = job["size"] is None and not job.has("filesize")
    percent = isinstance(job["size"], Percent)
    if (percent and not all(map(setup.is_there, named))) or (unknown and wholes):
        raise JobFileError(
            job.line("size"),
            f"job {job.name} takes its size from its target, which is a file to be made",
            hint="write size= in bytes, for example size=1g",
        )
    for name in ("offset", "offset_increment"):
        if wholes and isinstance(job[name], Percent) and job[name].percent:
            raise JobFileError(
                job.line(name),
                f"job {job.name} begins at a part of its target, which is a file to be made",
                hint=f"write {name}= in bytes, for example {name}=1g",
            )


def in_bytes(job: FioJob, pieces: Sequence[tuple[Clone, Sequence[Part]]]) -> FioJob:
    """A job that says in bytes where in its files it works: fio finds ours as long as they will be
    at the end, and would take percentages of that."""
    shares = [name for name in ("offset", "offset_increment", "size") if _is_share(job, name)]
    if not shares and (job["size"] is not None or job.has("filesize")):
        return job
    offsets = {clone.number: {part.offset for part in parts} for clone, parts in pieces}
    sizes = {part.size for _, parts in pieces for part in parts}
    first = min(offsets[0])
    step = min(offsets.get(1, {first})) - first
    alike = all(offsets[number] == {first + number * step} for number in offsets)
    if len(sizes) > 1 or not alike:
        option = shares[0] if shares else "size"
        raise JobFileError(
            job.line(option),
            f"{option} is another number of bytes in each file of job {job.name}, and fio is told"
            " one for all of them",
            hint=f"write {option} in bytes",
        )
    count = len(pieces[0][1])
    values = {"offset": first, "offset_increment": step, "size": sizes.pop() * count}
    settings = dict(job.settings)
    for name, value in values.items():
        settings[name] = Setting(value=value, where=job.line(name), text="")
    return replace(job, settings=settings)


def _is_share(job: FioJob, name: str) -> bool:
    return isinstance(job[name], Percent) and (name == "size" or job[name].percent > 0)


class _Rewriting:
    """Turns jobs into ours, and collects what the names in them stand for."""

    def __init__(self, target: Target, places: Mapping[str, int]):
        self._target = target
        self._places = places
        self.links: dict[str, int] = {}
        self.logs: dict[str, Log] = {}
        self.notes: list[Note] = []

    def job(self, number: int, job: FioJob) -> FioJob:
        """The job with our files for its own, and without what fio may not get."""
        settings: dict[str, Setting] = {}

        def set_value(name: str, value: object) -> None:
            settings[name] = Setting(value=value, where=job.where, text="")

        for name, setting in job.settings.items():
            option = find(name)
            assert option is not None, f"{name} is no option of the table"
            match ruling(option).fate:
                case Fate.PASSED | Fate.REFUSED | Fate.HARMFUL:
                    # Of what is refused, only harmless values come here.
                    settings[name] = setting
                case Fate.LOG:
                    set_value(name, self._log(job, name, setting))
                case Fate.LEFT_OUT if setting.value:
                    text = f"{name}: {ruling(option).says}"
                    self.notes.append(Note(where=setting.where, text=text))
        set_value("thread", True)
        set_value("allow_file_create", False)
        set_value("fallocate", "none")
        set_value("verify_state_save", False)
        for name, value in self._files(number, job).items():
            set_value(name, value)
        rewritten = replace(job, settings=settings)
        if any(len(line.encode()) > _LINE_BYTES_MOST for line in text_of([rewritten]).splitlines()):
            raise JobFileError(
                job.where,
                f"job {job.name} has a value that is longer than the lines that fio reads",
                hint="shorten it",
            )
        return rewritten

    def _files(self, number: int, job: FioJob) -> dict[str, object]:
        """The file names that the job names, or that fio makes itself where its copies differ."""
        copies = clones([_alone(job)])
        of_each = [[self._places[_file(name, self._target)] for name in names(c)] for c in copies]
        count = len(of_each[0])
        shared = ":".join(f"file{place}" for place in of_each[0])
        if all(places == of_each[0] for places in of_each) and len(shared) < _LINE_BYTES_MOST // 2:
            self.links |= {f"file{place}": place for place in of_each[0]}
            return {"filename": shared, "nrfiles": count}
        if "/" in job.section or job.section in (".", ".."):
            reason = f"fio would take the job's name {job.section} for a file"
            raise _unsafe(job.where, reason, "write a name without a slash, or give filename=")
        for copy, places in zip(copies, of_each, strict=True):
            for index, place in enumerate(places):
                self.links[f"job{number}.{copy.number}.{index}"] = place
        return {"filename_format": f"job{number}.$jobnum.$filenum", "nrfiles": count}

    def _log(self, job: FioJob, option: str, setting: Setting) -> str:
        """A safe name for a log; logs with the same name keep the same name."""
        log = Log(
            option=option,
            name=str(setting.value) or name_for_files(job),
            typed=is_typed(job, option),
            where=setting.where,
        )
        kind = "iolog" if option == "write_iolog" else "log"
        for name, known in self.logs.items():
            if name.startswith(kind) and (known.name, known.typed) == (log.name, log.typed):
                return name
        name = f"{kind}{len(self.logs)}"
        self.logs[name] = log
        return name


def _alone(job: FioJob) -> FioJob:
    """The job without its `wait_for`, so that it can stand alone."""
    settings = {name: setting for name, setting in job.settings.items() if name != "wait_for"}
    return replace(job, settings=settings)


_POLL_S = 0.1
ANSWER, ERRORS = "answer.txt", "errors.txt"
# Files that this process has open besides those of the jobs.
_OTHER_FILES = 200
_LOG = re.compile(r"(log\d+|iolog\d+)([_.].*)?")
_THREAD = re.compile(r"\.(\d+)\.log$")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """How fio is to answer: its own words for that, and the file in place of stdout, if any.

    `formats`: those of its answer. `inputs`: files that the command reads; no output replaces them.
    """

    words: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("normal",)
    readonly: bool = False
    output: Path | None = None
    inputs: frozenset[Path] = frozenset()

    def check(self, log: Log, rest: str) -> tuple[Path, Path | None]:
        """Check where a log goes, and the directory that it may not leave."""
        path, within = Path(log.name + rest), None if log.typed else Path()
        others = () if self.output is None else (self.output,)
        outputs.check(path, within=within, inputs=self.inputs, others=others)
        return path, within


def run(
    prepared: Prepared,
    path: Path,
    output_options: OutputOptions,
    say: Callable[[str], None],
    show: Callable[[str], None],
    stopped: Callable[[], int | None],
) -> int:
    """Make and fill the files, let fio run, remove them; fio's exit code, or 1 for any of its own.

    `say` hears what is done, and `show` an answer that its file did not take.
    `stopped` tells the signal that somebody sent, if so. fio gets it too, and ends by telling what
    it has counted (exit code 128); until its jobs begin there is nothing to be told, and
    `Interrupted` is raised.
    """
    check_outputs(prepared.logs, output_options)
    with closing(Files(prepared, path, say)) as files:
        files.open()
        files.fill(stopped)
        words = [*output_options.words, f"--output-format={','.join(output_options.formats)}"]
        words += ["--readonly"] if output_options.readonly else []
        words += [f"--output={ANSWER}"] if output_options.output else []
        code = files.fio(prepared.text, words, stopped)
        if code < 0 and stopped():
            # The signal ended it before it listened to signals.
            raise Interrupted("fio had not begun, and nothing was measured")
        _move_answer(files.work, prepared.logs, output_options, show)
    return code if code in (DONE, TERMINATED) else MISS


class Files:
    """Our files, and the directory in which fio sees links to them. Building it does nothing."""

    def __init__(
        self,
        prepared: Prepared,
        path: Path,
        say: Callable[[str], None],
        leftovers: Sequence[real_file.Leftover] = (),
    ) -> None:
        """`leftovers`: the files of a killed run, which are used again where they are there."""
        self._prepared, self._path, self._say, self._leftovers = (
            prepared,
            path,
            say,
            leftovers,
        )
        self._cleaning = ExitStack()
        self.made: list[real_file.OwnFile] = []
        self.taken = False

    def open(self) -> None:
        """Make the files, or take over all of those that are left."""
        taken_over = [real_file.take_over(leftover) for leftover in self._leftovers]
        for file in filter(None, taken_over):
            self._cleaning.callback(real_file.remove, file)
        self.made = [file for file in taken_over if file]
        self.taken = bool(taken_over) and len(self.made) == len(self._prepared.files)
        if not self.taken:
            self._cleaning.close()
            self.made = []
        try:
            self._open(self.made)
        except BaseException:
            self.close()
            raise

    def _open(self, taken_over: Sequence[real_file.OwnFile]) -> None:
        where = taken_over[0].path if taken_over else real_file.place(self._path)
        self.program = real_fio.find()
        lengths = self._prepared.files
        _open_more_files(len(lengths))
        if not taken_over:
            real_file.check_space(where, sum(lengths))
        for number, length in enumerate(lengths if not taken_over else ()):
            path = where if number == 0 else real_file.place(Path(f"{where}.{number}"))
            self.made.append(real_file.create(path, length))
            self._cleaning.callback(real_file.remove, self.made[-1])
        self.work = self._cleaning.enter_context(Scratch("fio")).path
        for name, place in self._prepared.links.items():
            (self.work / name).symlink_to(self.made[place].link)
        self._say(f"{len(lengths)} file(s) at {where}, {sum(lengths)} bytes; removed at the end")

    def fill(self, stopped: Callable[[], int | None]) -> None:
        """Write all of them once; raises `Interrupted` where somebody stopped that."""
        self._say(
            "filling with random data first: reads of what was never written would not reach the"
            " drive"
        )
        words = ["--output=fill.json", "--output-format=json"]
        code = self.fio(_filling(self._prepared), words, stopped)
        if stopped():
            raise Interrupted("the files were being filled, and nothing was measured")
        _check_filled(self.work / "fill.json", code, sum(self._prepared.files))

    def fio(self, text: str, words: Sequence[str], stopped: Callable[[], int | None]) -> int:
        """Run a job file; fio's exit code. What it prints on stderr is told when it has ended."""
        outputs.write(self.work / "job.fio", text, within=self.work)
        descriptors = [file.handle for file in self.made]
        errors = self.work / ERRORS
        process = real_fio.start(
            self.program, [*words, "job.fio"], self.work, inherited=descriptors, errors=errors
        )
        try:
            code = _ended(process, stopped, (errors, self.work / ANSWER))
        finally:
            real_fio.end(process)
            for line in real_fio.said(errors):
                to_stderr(line)
        if code < 0 and not stopped():
            ended = real_fio.how_it_ended(code)
            raise FlashtwinError(
                f"fio did not end by itself: {ended}",
                hint="run it again: somebody or the system's memory ended it",
                exit_code=ENVIRONMENT,
            )
        return code

    def close(self) -> None:
        """Remove the files, and what fio left. A second call does nothing."""
        self._cleaning.close()


def _check_filled(answer: Path, code: int, size: int) -> None:
    """Raise where fio did not fill the files: what stands in for fio may do nothing at all."""
    rows = output.parse_output(real_fio.read_answer(answer)).rows
    written = sum(row.by_direction["write"].bytes for row in rows if "write" in row.by_direction)
    if code != DONE or any(row.error for row in rows) or written < size:
        raise FlashtwinError(
            f"fio filled {written} of {size} bytes of the files: {real_fio.how_it_ended(code)}",
            hint="fio's own words stand above; look at the room that is left there",
            exit_code=ENVIRONMENT,
        )


def check_outputs(logs: Mapping[str, Log], output_options: OutputOptions) -> None:
    """Refuse, before the run, outputs that could not be written after it."""
    if output_options.output is not None:
        outputs.check(output_options.output, inputs=output_options.inputs)
    for log in logs.values():
        try:
            output_options.check(log, "" if log.option == "write_iolog" else "_bw.1.log")
        except FlashtwinError as error:
            problem = f"{log.where}: {log.option}: {error.message}"
            raise FlashtwinError(problem, hint=error.hint, exit_code=error.exit_code) from error


def _move_answer(
    work: Path, logs: Mapping[str, Log], output_options: OutputOptions, show: Callable[[str], None]
) -> None:
    """Move the answer and the logs to where they were asked for; raises one error for all that
    could not be moved."""
    failed: list[FlashtwinError] = []
    answer = work / ANSWER
    if output_options.output is not None and answer.exists():
        try:
            outputs.copy(answer, output_options.output)
        except FlashtwinError as error:
            failed.append(error)
            # An answer that could not be written to its file is printed.
            show(real_fio.read_answer(answer))
    check_written([*failed, *move_logs(work, logs, output_options)])


def move_logs(
    work: Path, logs: Mapping[str, Log], output_options: OutputOptions, before: int = 0
) -> list[FlashtwinError]:
    """The logs to where they were asked for; an error for each that could not be moved.

    fio numbers the logs of its threads from 1; so many threads ran `before`.
    """
    failed = []
    for file in sorted(work.iterdir()):
        match = _LOG.fullmatch(file.name)
        if match and not file.is_symlink():
            rest = _THREAD.sub(lambda thread: f".{int(thread[1]) + before}.log", match[2] or "")
            try:
                path, within = output_options.check(logs[match[1]], rest)
                outputs.copy(file, path, within=within)
            except FlashtwinError as error:
                failed.append(error)
    return failed


def _filling(prepared: Prepared) -> str:
    """A job that fills all files, each over its length."""
    one_name = {place: name for name, place in prepared.links.items()}
    lines = ["[fill]", "rw=write", "bs=1m", "refill_buffers=1", "end_fsync=1", "ioengine=psync"]
    lines += ["thread=1", "allow_file_create=0", "fallocate=none", "file_service_type=sequential"]
    lines += [f"filename={one_name[place]}" for place in range(len(prepared.files))]
    return "\n".join(lines) + "\n"


def _open_more_files(count: int) -> None:
    """Raise the limit of open files: ours stay open while fio runs."""
    resource = system.resource
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if least < count + _OTHER_FILES <= most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + _OTHER_FILES, most))


def _ended(
    process: subprocess.Popen[bytes], stopped: Callable[[], int | None], written: Sequence[Path]
) -> int:
    """Wait for fio. It gets a signal once, and time to write what it has."""
    signalled = False
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            real_fio.check_size(*written)
            number = stopped()
        if number is not None and not signalled:
            # fio has no handler for others, so it gets SIGINT in their place.
            sent = number if number == signal.SIGTERM else signal.SIGINT
            system.signal_group(process, sent)
            signalled = True
