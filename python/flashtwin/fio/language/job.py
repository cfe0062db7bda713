"""A job as it was written, typed: every option that holds for it, each with its file and line.

Typed jobs go back to the text of a job file: what fio accepts, and what means the same. Every
option stands in its job's section, so that no [global] is needed; values are written in their
plainest form (bytes, microseconds). Reading the text gives jobs equal to those that were written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashtwin.drives.real.options import section_text
from flashtwin.fio.language.errors import Where
from flashtwin.fio.language.table import DEFAULTS, find


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An option that was written: its value, its line, and its words."""

    value: Any
    where: Where
    text: str

    def __eq__(self, other: object) -> bool:
        """Two settings are equal that mean the same, wherever they stand."""
        return isinstance(other, Setting) and self.value == other.value

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, kw_only=True)
class FioJob:
    """A section with all that it inherits; `settings` by the options' own names, not aliases.

    `own`: the names of those that the section itself says, all of them where nobody says so.
    `common`: what held for all jobs when the last one was read, which fio prints. Two jobs are
    equal that ask for the same, wherever they were written.
    """

    section: str
    where: Where
    settings: Mapping[str, Setting]
    own: frozenset[str] | None = None
    common: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The job's name in results."""
        return str(self["name"]) if "name" in self.settings else self.section

    def __getitem__(self, name: str) -> Any:
        """The value of an option, fio's default where it was not written."""
        setting = self.settings.get(name)
        return DEFAULTS[name] if setting is None else setting.value

    def by_direction(self, name: str) -> tuple[Any, Any, Any]:
        """An option's values for reads, writes and trims, defaults filled in."""
        option = find(name)
        assert option is not None, f"{name} is no option of the table"
        usual = option.default if option.default is not None else (None, None, None)
        value = self[name] if self[name] is not None else usual
        filled = [new if new is not None else old for new, old in zip(value, usual, strict=True)]
        return (filled[0], filled[1], filled[2])

    def has(self, name: str) -> bool:
        """Whether it was written, here or in [global]."""
        return name in self.settings

    @property
    def said(self) -> dict[str, Setting]:
        """What the job itself says, without what holds for all jobs."""
        own = self.own
        return {name: row for name, row in self.settings.items() if own is None or name in own}

    def line(self, name: str) -> Where:
        """The line of an option; that of the section where the option was not written."""
        return self.settings[name].where if name in self.settings else self.where

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FioJob)
            and self.section == other.section
            and dict(self.settings) == dict(other.settings)
        )

    def __hash__(self) -> int:
        return hash((self.section, tuple(sorted(self.settings))))


def text_of(jobs: Sequence[FioJob]) -> str:
    """A job file of these jobs."""
    return "\n".join(_section(job) for job in jobs)


def _section(job: FioJob) -> str:
    # The engine first: the options that belong to it are known from then on.
    names = sorted(job.settings, key=lambda name: (name != "ioengine", name))
    return section_text(job.section, {name: spelled(name, job[name]) for name in names}) + "\n"


def spelled(name: str, value: object) -> str | None:
    """The text behind an option's equals sign; none where the name alone says it."""
    option = find(name)
    assert option is not None, f"{name} is no option of the table"
    return option.kind.show(value)
