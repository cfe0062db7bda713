"""Sections to typed jobs: values read, defaults of [global] inherited, each option judged.

Every mistake of a file is told by its line; the first one ends the reading. What is accepted with a
note is collected, once for each option and place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.fio.language.expand import expand
from flashtwin.fio.language.job import FioJob, Setting
from flashtwin.fio.language.lines import Line, Section, check_characters
from flashtwin.fio.language.numbers import Reading
from flashtwin.fio.language.option import Option, Role
from flashtwin.fio.language.table import find, meant
from flashtwin.fio.language.table_engines import (
    ASYNCHRONOUS,
    ELSEWHERE,
    PLUGINS,
    SYNCHRONOUS,
    engine_of,
)
from flashtwin.fio.language.where import BadValueError, JobFileError, Where, quoted


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that a reader should know of a line that was accepted.

    `twin`: it holds where the drive is simulated, and not where fio itself runs the jobs.
    """

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
    wanted = set(only)
    unknown = sorted(wanted - {section.name for section in sections})
    if unknown and sections:
        names = ", ".join(one.name for one in sections if not one.is_global)
        raise JobFileError(
            sections[0].where, f"there is no section {unknown[0]}", hint=f"sections: {names}"
        )
    reader = _Reader(environment)
    inherited: dict[str, Setting] = dict(defaults or {})
    jobs = []
    for section in sections:
        if section.is_global:
            inherited = reader.settings(section, inherited)
            # fio names a job after its section, whatever [global] calls itself.
            inherited.pop("name", None)
        elif not wanted or section.name in wanted:
            jobs.append(reader.job(section, inherited))
    return Script(jobs=tuple(jobs), notes=tuple(reader.notes))


class _Reader:
    def __init__(self, environment: Mapping[str, str]):
        self._environment = environment
        self.notes: dict[Note, None] = {}

    def job(self, section: Section, inherited: Mapping[str, Setting]) -> FioJob:
        settings = self.settings(section, inherited)
        if section.first:
            settings["stonewall"] = Setting(value=True, where=section.where, text="stonewall")
        job = FioJob(section=section.name, where=section.where, settings=settings)
        self._check_engine(job)
        return job

    def settings(self, section: Section, inherited: Mapping[str, Setting]) -> dict[str, Setting]:
        """What holds in a section: `kb_base` first, as fio has it, then line by line."""
        found = dict(inherited)
        for line in section.lines:
            # Its own options would be told of as unknown ones.
            if line.text.startswith("ioengine="):
                self._check_reach(line.text.partition("=")[2].partition(":")[0], line.where)
        words = [(line, *self._split(line)) for line in section.lines]
        for line, option, value in sorted(words, key=lambda word: word[1].name != "kb_base"):
            setting = self._setting(line, option, value, found)
            found.pop(option.name, None)
            found[option.name] = setting
        return found

    def _split(self, line: Line) -> tuple[Option, str | None]:
        text = line.text
        if line.where.line:
            try:
                text = expand(text, self._environment, lambda said: self._note(line.where, said))
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
        self, line: Line, option: Option, text: str | None, found: Mapping[str, Setting]
    ) -> Setting:
        base = found.get("kb_base")
        reading = Reading(kb_base=int(base.value) if base else 1024)
        try:
            value = option.kind.parse(text, reading)
            before = found[option.name].value if option.name in found else None
            whole = option.kind.over(before, value)
        except BadValueError as error:
            said = f"{option.name}: {error.message}"
            raise JobFileError(line.where, said, hint=error.hint) from error
        for said in reading.notes:
            self._note(line.where, f"{option.name}: {said}")
        self._judge(line, option, value)
        if option.name == "filename" and before is not None:
            self._note(line.where, f"filename adds to those before it, as in fio: {value}")
        return Setting(value=whole, where=line.where, text=line.text)

    def _judge(self, line: Line, option: Option, value: object) -> None:
        if value in option.inert:
            return
        if option.role is Role.REFUSED:
            raise JobFileError(
                line.where,
                f"{option.name} is not possible on a simulated drive: {option.says}",
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
                f"ioengine={job['ioengine']} is no part of fio: it is taken as an asynchronous"
                " engine that reaches the whole target",
            )
        if engine not in SYNCHRONOUS and engine not in ASYNCHRONOUS and engine not in PLUGINS:
            from flashtwin.fio.language.kinds import closest

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
