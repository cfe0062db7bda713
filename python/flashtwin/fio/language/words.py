"""A command line of fio's: jobs in words, job files, and what fio itself is told.

As fio has it: options before the first `--name` are defaults of everything after them, also of the
job files; `--name` begins a job; jobs of the command line come before those of files; several files
follow one another, each waiting for those before. A value may stand in a word of its own, a word
may begin with one dash, and nothing is replaced in values, as the shell has done that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.language import lines
from flashtwin.fio.language.kinds import Flag
from flashtwin.fio.language.lines import Line, Section, check_characters
from flashtwin.fio.language.option import Option
from flashtwin.fio.language.sections import Note, Script, typed
from flashtwin.fio.language.table import by_name, find, meant
from flashtwin.fio.language.where import COMMAND_LINE, JobFileError, Where

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
    "cmdhelp": (True, "see docs/reference/fio-options.md, or run fio --cmdhelp"),
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
    found = typed(
        read.sections,
        environment=os.environ if environment is None else environment,
        only=only,
    )
    if not found.jobs:
        raise FlashtwinError(
            f"there is no job in {', '.join(read.files) or 'the command line'}",
            hint="give a job file with a [name] section, or --name=JOB --rw=… --size=…",
            exit_code=USAGE,
        )
    return Script(jobs=found.jobs, notes=(*read.notes, *found.notes))


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
    made = [
        Section(name=name, where=COMMAND_LINE, lines=tuple(options)) for name, options in sections
    ]
    for place, file in enumerate(files):
        made += lines.read(file, after=place > 0)
    return Words(sections=tuple(made), files=tuple(files), notes=tuple(notes))


def _own(name: str, equals: str, pending: list[str], notes: list[Note]) -> None:
    takes, refused = _OWN[name]
    if refused:
        raise JobFileError(COMMAND_LINE, f"--{name} is not possible here", hint=refused)
    if takes and not equals and pending:
        pending.pop(0)
    notes.append(Note(where=COMMAND_LINE, text=f"--{name} does nothing here"))


def _beginning(name: str) -> Option | None:
    """The one option that begins so, as fio's command line takes it."""
    found = {id(row): row for key, row in by_name().items() if key.startswith(name)}
    return next(iter(found.values())) if len(found) == 1 else None


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
