"""Job files and command lines of fio's to typed jobs: values read, options judged.

Every mistake of a file is told by its line; the first one ends the reading. What is accepted with a
note is collected, once for each option and place.

A command line is as fio has it: options before the first `--name` are defaults of everything after
them, also of the first job file; `--name` begins a job; jobs of the command line come before those
of files; several files follow one another, each waiting for those before, and begin without what
was said before them. A value may stand in a word
of its own, a word may begin with one dash, and nothing is replaced in values, as the shell has done
that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.language import lines
from flashtwin.fio.language.errors import COMMAND_LINE, BadValueError, JobFileError, Where, quoted
from flashtwin.fio.language.job import FioJob, Setting
from flashtwin.fio.language.kinds import Flag, closest
from flashtwin.fio.language.lines import Line, Section, check_characters, expand
from flashtwin.fio.language.numbers import Reading
from flashtwin.fio.language.table import (
    ASYNCHRONOUS,
    ELSEWHERE,
    PLUGINS,
    SYNCHRONOUS,
    Option,
    Role,
    by_name,
    engine_of,
    find,
    meant,
    plain_engine,
)


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something to know about a line that was accepted. `twin`: it holds only where the drive is
    simulated."""

    where: Where
    text: str
    twin: bool = False

    def __str__(self) -> str:
        return quoted(f"{self.where}: {self.text}")


@dataclass(frozen=True, kw_only=True)
class Script:
    """All jobs in their order, and the notes."""

    jobs: tuple[FioJob, ...]
    notes: tuple[Note, ...]


def typed(
    sections: Sequence[Section],
    *,
    environment: Mapping[str, str],
    only: Iterable[str] = (),
    defaults: Mapping[str, Setting] | None = None,
) -> Script:
    """The jobs of sections; `only` those of these names. `defaults` hold before any [global]."""
    names = set(only)
    unknown = sorted(names - {section.name for section in sections})
    if unknown and sections:
        there = ", ".join(section.name for section in sections if not section.is_global)
        raise JobFileError(
            sections[0].where, f"there is no section {unknown[0]}", hint=f"sections: {there}"
        )
    reader = _Reader(environment)
    inherited: dict[str, Setting] = dict(defaults or {})
    # What fio prints as global: what is said on the command line and in the last file.
    common: dict[str, Setting] = {}
    jobs = []
    for section in sections:
        if section.anew:
            inherited, common = {}, {}
        if section.is_global:
            inherited = reader.settings(section, inherited)
            common |= {name: inherited[name] for name in reader.names(section)}
            # fio names a job after its section, whatever [global] calls itself.
            inherited.pop("name", None)
        elif not names or section.name in names:
            jobs.append(reader.job(section, inherited))
    jobs = [replace(job, common=common) for job in jobs]
    return Script(jobs=tuple(jobs), notes=tuple(reader.notes))


class _Reader:
    def __init__(self, environment: Mapping[str, str]):
        self._environment = environment
        self.notes: dict[Note, None] = {}

    def job(self, section: Section, inherited: Mapping[str, Setting]) -> FioJob:
        settings = self.settings(section, inherited)
        if section.first:
            settings["stonewall"] = Setting(value=True, where=section.where, text="stonewall")
        own = frozenset(self.names(section))
        job = FioJob(section=section.name, where=section.where, settings=settings, own=own)
        self._check_engine(job)
        return job

    def names(self, section: Section) -> list[str]:
        """The options of a section, in their order."""
        return [option.name for option, _ in map(self._split, section.lines)]

    def settings(self, section: Section, inherited: Mapping[str, Setting]) -> dict[str, Setting]:
        """The settings of a section: `kb_base` first, as in fio, then line by line."""
        settings = dict(inherited)
        for line in section.lines:
            # Its own options would be told of as unknown ones.
            if line.text.startswith("ioengine="):
                engine = plain_engine(line.text.partition("=")[2]).partition(":")[0]
                self._check_reach(engine, line.where)
        words = [(line, *self._split(line)) for line in section.lines]
        for line, option, value in sorted(words, key=lambda word: word[1].name != "kb_base"):
            setting = self._setting(line, option, value, settings)
            settings.pop(option.name, None)
            settings[option.name] = setting
        return settings

    def _split(self, line: Line) -> tuple[Option, str | None]:
        text = line.text
        if line.where.line:
            try:
                text = expand(
                    text, self._environment, lambda note_text: self._note(line.where, note_text)
                )
            except BadValueError as error:
                raise JobFileError(line.where, error.message, hint=error.hint) from error
            check_characters(text, line.where)
        name, equals, value = text.partition("=")
        option = find(name.strip())
        if option is None:
            hint = meant(name.strip())
            if ":" in name and find(name.partition(":")[0].strip()):
                hint = f"write {name.partition(':')[0].strip()}=… with an equals sign"
            raise JobFileError(line.where, f"fio has no option {name.strip()}", hint=hint)
        return option, value if equals else None

    def _setting(
        self, line: Line, option: Option, text: str | None, settings_before: Mapping[str, Setting]
    ) -> Setting:
        base = settings_before.get("kb_base")
        reading = Reading(kb_base=int(base.value) if base else 1024)
        try:
            value = option.kind.parse(text, reading)
            before = settings_before[option.name].value if option.name in settings_before else None
            combined = option.kind.over(before, value)
        except BadValueError as error:
            note = f"{option.name}: {error.message}"
            raise JobFileError(line.where, note, hint=error.hint) from error
        for note in reading.notes:
            self._note(line.where, f"{option.name}: {note}")
        self._judge(line, option, value)
        if option.name == "ioengine":
            combined = plain_engine(str(value))
        if option.name == "filename" and before is not None:
            self._note(line.where, f"filename adds to those before it, as in fio: {value}")
        words = line.text if text is None else f"{option.name}={text}"
        return Setting(value=combined, where=line.where, text=words)

    def _judge(self, line: Line, option: Option, value: object) -> None:
        if value in option.inert:
            return
        if option.role is Role.REFUSED:
            raise JobFileError(
                line.where,
                f"{option.name} is refused: {option.says}",
                hint=f"leave out {line.text}",
            )
        if option.role is Role.NOTED:
            self._note(line.where, f"{option.name}: {option.says}", twin=True)

    def _check_engine(self, job: FioJob) -> None:
        engine = engine_of(str(job["ioengine"]))
        where = job.line("ioengine")
        self._check_reach(engine, where)
        if engine in PLUGINS:
            self._note(
                where,
                f"ioengine={job['ioengine']} is not part of fio: it is taken as an asynchronous"
                " engine that reaches the whole target",
            )
        if engine not in SYNCHRONOUS and engine not in ASYNCHRONOUS and engine not in PLUGINS:
            words = (*sorted(SYNCHRONOUS), *sorted(ASYNCHRONOUS))
            raise JobFileError(where, f"fio has no ioengine {engine}", hint=closest(engine, words))
        for name, setting in job.settings.items():
            option = find(name)
            if option and option.engines and engine not in option.engines:
                raise JobFileError(
                    setting.where,
                    f"{name} belongs to ioengine={' or '.join(option.engines)}, and this is"
                    f" {engine}",
                    hint=f"leave out {setting.text}, or change the engine",
                )

    def _check_reach(self, engine: str, where: Where) -> None:
        if engine in ELSEWHERE:
            raise JobFileError(
                where,
                f"ioengine={engine} works on {ELSEWHERE[engine]} and asks nothing of a drive",
                hint="give an engine of files, for example ioengine=libaio",
            )

    def _note(self, where: Where, text: str, *, twin: bool = False) -> None:
        self.notes[Note(where=where, text=text, twin=twin)] = None


# Options of fio itself: whether they take a value, and why they are refused, if they are.
_REMOTE = "runs on other machines are fio's own"
_OWN: dict[str, tuple[bool, str | None]] = {
    "eta": (True, None),
    "eta-newline": (True, None),
    "eta-interval": (True, None),
    "alloc-size": (True, None),
    "max-jobs": (True, None),
    "debug": (True, None),
    "warnings-fatal": (False, None),
    "idle-prof": (True, None),
    "aux-path": (True, None),
    "bandwidth-log": (False, "write_bw_log=NAME in a job writes a log for each"),
    "latency-log": (True, "write_lat_log=NAME in a job writes a log for each"),
    "server": (True, _REMOTE),
    "client": (True, _REMOTE),
    "daemonize": (True, _REMOTE),
    "remote-config": (True, _REMOTE),
    "trigger": (True, "commands are never executed"),
    "trigger-file": (True, "commands are never executed"),
    "trigger-timeout": (True, "commands are never executed"),
    "trigger-remote": (True, "commands are never executed"),
    "inflate-log": (True, "logs are written as text"),
    "merge-blktrace-only": (False, "traces are not merged"),
    "cpuclock-test": (False, "it asks nothing of a drive: run fio itself"),
    "crctest": (True, "it asks nothing of a drive: run fio itself"),
    "memcpytest": (True, "it asks nothing of a drive: run fio itself"),
    "cmdhelp": (True, "flashtwin help fio-options lists them, or run fio --cmdhelp"),
    "enghelp": (True, "run fio --enghelp"),
    "status-interval": (True, "simulated time costs none: the result is there at once"),
    "showcmd": (False, "run fio --showcmd"),
    "profile": (True, "write its jobs out in a job file"),
}


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a command line says: sections in the order of running, and those that are wanted."""

    sections: tuple[Section, ...]
    files: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def script(
    words: Sequence[str],
    *,
    only: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Script:
    """The typed jobs of a command line."""
    read = parse(words)
    result = typed(
        read.sections,
        environment=os.environ if environment is None else environment,
        only=only,
    )
    if not result.jobs:
        raise FlashtwinError(
            f"there is no job in {', '.join(read.files) or 'the command line'}",
            hint="give a job file with a [name] section, or --name=JOB --rw=… --size=…",
            exit_code=USAGE,
        )
    return Script(jobs=result.jobs, notes=(*read.notes, *result.notes))


def parse(words: Sequence[str]) -> Words:
    """Sections of the command line and of the files that it names."""
    notes: list[Note] = []
    sections: list[tuple[str, list[Line]]] = []
    files: list[str] = []
    pending = list(words)
    while pending:
        word = pending.pop(0)
        check_characters(word, Where(file=word, line=0))
        if word == "-" or not word.startswith("-"):
            files.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in _OWN:
            _own(name, equals, pending, notes)
            continue
        line = _line(name, value if equals else None, pending)
        if name == "name":
            sections.append((line.text.partition("=")[2], []))
        else:
            if not sections:
                sections.append(("global", []))
            sections[-1][1].append(line)
    parsed = [
        Section(name=name, where=COMMAND_LINE, lines=tuple(options)) for name, options in sections
    ]
    for place, file in enumerate(files):
        parsed += lines.read(file, after=place > 0)
    return Words(sections=tuple(parsed), files=tuple(files), notes=tuple(notes))


def _own(name: str, equals: str, pending: list[str], notes: list[Note]) -> None:
    takes, refused = _OWN[name]
    if refused:
        raise JobFileError(COMMAND_LINE, f"--{name} is not possible here", hint=refused)
    if takes and not equals and pending:
        pending.pop(0)
    notes.append(Note(where=COMMAND_LINE, text=f"--{name} does nothing here"))


def _beginning(name: str) -> Option | None:
    """The one option that begins with these letters, as fio's command line takes it."""
    options = {id(row): row for key, row in by_name().items() if key.startswith(name)}
    return next(iter(options.values())) if len(options) == 1 else None


def _line(name: str, value: str | None, pending: list[str]) -> Line:
    option = find(name) or _beginning(name)
    if option is None:
        raise JobFileError(COMMAND_LINE, f"fio has no option --{name}", hint=meant(name))
    alone = isinstance(option.kind, Flag) and option.kind.bare
    if value is None and not alone:
        if not pending:
            raise JobFileError(
                COMMAND_LINE, f"--{name} needs a value", hint=f"write --{name}=VALUE"
            )
        value = pending.pop(0)
        check_characters(value, Where(file=f"--{name}={value}", line=0))
    name = name if find(name) else option.name
    text = name if value is None else f"{name}={value}"
    return Line(text=text, where=Where(file=f"--{text}", line=0))
