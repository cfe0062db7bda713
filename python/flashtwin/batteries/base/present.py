"""What a page shows of a battery: its tables, charts, tiles, sentences, and its marks in a curve.

A battery hands over values of the chart kit; the page orders and draws them and knows no battery.
One that has its own way of being shown names a module with a constant `PRESENT`, an object of a
class below `Present`, or a function that makes one (`Battery.present`). Either is looked at when a
page is made, so that listing batteries imports no charts. A battery without one, and one that is
not installed where the page is made, is shown by `Present` itself: tables of its findings.

Invariant: what is shown follows from findings and from what the host saw, never from an X-ray.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, Literal, NoReturn

from flashtwin.arguments import kind_of
from flashtwin.batteries.base import foreign, parameter, registry
from flashtwin.charts import tables
from flashtwin.charts.cells import Grid
from flashtwin.charts.curves import Phase
from flashtwin.charts.numbers import clock
from flashtwin.charts.tables import Table
from flashtwin.errors import FlashtwinError
from flashtwin.model import text
from flashtwin.model.finding import Better, Finding
from flashtwin.model.findings import Findings
from flashtwin.model.text import Shown
from flashtwin.model.units import readable_seconds

# Claims for which the sentence of a battery has room.
MOST_CLAIMS = 2


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a battery left in the run of one drive of the page, which has the number `index` there.

    `name`: the drive's on the page. `labels`: the battery's steps in which time passed, in order;
    `refused`: those that the target could not do. `whole`: false where the target is a part of a
    drive, such as a file.
    """

    index: int
    name: str
    battery: str
    findings: Findings = field(default_factory=Findings)
    labels: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    whole: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self, of: type[Any]) -> Any:
        """The parameters as the battery has them; where the run does not say one, its default."""
        known = {row.name for row in fields(of)}
        values = {name: value for name, value in self.settings.items() if name in known}
        try:
            return parameter.build(of, self.battery, values)
        except FlashtwinError:
            return of()

    def phases(self, known: Iterable[Phase]) -> list[Phase]:
        """The phases whose steps took place, in the order of the steps."""
        phases = {phase.label: phase for phase in known}
        return [phases[label] for label in self.labels if label in phases]

    def finding(self, name: str, variant: str) -> Finding | None:
        """The battery's finding of that name and variant, if there is one."""
        of_variant = {
            finding.name: finding for finding in self.findings if finding.variant == variant
        }
        return of_variant.get(name)

    def first(self, name: str, variants: str | Sequence[str]) -> Finding | None:
        """The battery's first finding of that name whose variant fits a pattern, or the first of
        several patterns that one fits."""
        for pattern in (variants,) if isinstance(variants, str) else variants:
            for finding in self.findings:
                if finding.name == name and fnmatchcase(finding.variant, pattern):
                    return finding
        return None


@dataclass(frozen=True, kw_only=True)
class Section:
    """The battery's tables among the findings, and the grids of cells that are drawn for it."""

    tables: tuple[Table, ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One number of a drive, or a few that belong together, large beside its name.

    `note` says it another way. `numbers` are the values as they are, and `better` which of two
    drives' is better; without it a page does not compare them.
    """

    title: str
    value: str
    unit: str = ""
    note: str = ""
    numbers: tuple[float, ...] = ()
    better: Better | None = None


@dataclass(frozen=True, kw_only=True)
class Plateau:
    """A stretch of a step's curve, in GB from its beginning, of which a finding tells the speed."""

    label: str
    start_gb: float
    end_gb: float
    mb_per_s: float


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the sentences at a page's head say of a column, each without its subject.

    `than`: the better of two drives, `{}` is by how much: "fills the drive {} sooner". `most`: the
    best of several: "fills soonest". Empty: the column is not for that sentence. `alone`: a drive
    by itself, `{}` is the value: "is full after {}". `brief`: the same within a line that has room
    for little, "full in {}"; columns that share a tile and this share the words. `what`: the
    column's name within a sentence, "the time of a fill". `only`: the better of two where the other
    has 0, "alone shows an SLC cache"; empty where 0 says nothing. `in_times`: a large ratio reads
    "3 times", which "less" does not bear: nothing is 3 times less, it is 67 % less.
    """

    than: str = ""
    most: str = ""
    alone: str = ""
    brief: str = ""
    what: str = ""
    only: str = ""
    in_times: bool = True


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A sentence of the verdict. `subject` is the drive's name where the sentence begins with it.

    `drive` is the number of the drive that it is about, none where it is about several. A `detail`
    is left out where a page has many drives.
    """

    text: str
    subject: str = ""
    drive: int | None = None
    detail: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a finding puts an edge into the curve of a step: so many GB from its beginning."""

    label: str
    gb: float
    text: str


# Moments in the inside of a twin while a step writes: its first and its last byte, the first byte
# that does not simply stay in SLC blocks, and the first of the last stretch in which the cache gets
# smaller, down to the end of the step.
Event = Literal["start", "past_slc", "cache_shrinks", "end"]


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """What a finding is about inside a twin, so that a page can set the truth beside it.

    The place of the event `begin` in the step `label`, in GB; with `until` the speed from there to
    that event, in MB/s. The battery only names events: it reads nothing of the inside.
    """

    finding: Finding
    label: str
    begin: Event
    until: Event | None = None


@dataclass(frozen=True, kw_only=True)
class Column:
    """One number for which drives are ranked, and which of two is better.

    Columns with the same `tile` share one beside the drive's name, under that title.
    """

    title: str
    finding: Finding | None
    better: Better | None = None
    tile: str = ""
    claim: Claim = Claim()


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A column by the name of its finding and what its variant fits (`Subject.first`), which are
    the same for all drives; `tile` and `claim` as in `Column`."""

    title: str
    name: str
    variant: str | tuple[str, ...] = ""
    better: Better = "higher"
    tile: str = ""
    claim: Claim = Claim()


class Present:
    """How a battery without a presentation of its own is shown: tables of its findings."""

    title = ""
    ranked: Sequence[Ranked] = ()

    def section(self, subjects: Sequence[Subject]) -> Section:
        """A table for each variant; one for all where each variant has a single finding."""
        columns = {subject.index: tuple(subject.findings) for subject in subjects}
        title = self.title or next((subject.battery for subject in subjects), "").capitalize()
        variants = [[finding.variant for finding in column] for column in columns.values()]
        if all(len(set(column)) == len(column) for column in variants):
            naming = _with_variant if _same_titles(columns) else tables.row_title
            return Section(tables=(tables.table(title, "", columns, naming=naming),))
        return Section(tables=tuple(tables.by_variant(title, columns)))

    def phases(self, subject: Subject) -> Sequence[Phase]:
        """The steps of which curves are drawn, in order."""
        return ()

    def places(self, subject: Subject) -> Sequence[Place]:
        """The edges that findings put into curves."""
        return ()

    def plateaus(self, subject: Subject) -> Sequence[Plateau]:
        """The stretches of curves that have their speed written over them."""
        return ()

    def counterparts(self, subject: Subject) -> Sequence[Counterpart]:
        """What each finding is about inside a twin; none for findings without such a place."""
        return ()

    def facts(self, subjects: Sequence[Subject]) -> Sequence[Fact]:
        """What a reader has to know first, in sentences."""
        return ()

    def alone(self, subject: Subject) -> str:
        """What the page of this drive alone says first, in a few words and without a full stop: by
        default what the first columns claim of it."""
        claims = [
            column.claim.alone.format(text.within_sentence(column.finding))
            for column in self.columns(subject)
            if column.claim.alone
            and column.finding is not None
            and column.finding.number is not None
        ]
        sentence = text.listed(claims[:MOST_CLAIMS])
        return f"{sentence[:1].upper()}{sentence[1:]}"

    def brief(self, subject: Subject) -> str:
        """What `alone` says, for a line that has room for little."""
        return self.alone(subject)

    def columns(self, subject: Subject) -> Sequence[Column]:
        """What drives are ranked by; the same titles in the same order for every drive."""
        return [
            Column(
                title=column.title,
                finding=subject.first(column.name, column.variant),
                better=column.better,
                tile=column.tile,
                claim=column.claim,
            )
            for column in self.ranked
        ]

    def tiles(self, subject: Subject) -> Sequence[Tile]:
        """The numbers beside a drive's name: those that it is ranked by, where they were found."""
        by_tile: dict[str, list[tuple[Column, Finding]]] = {}
        for column in self.columns(subject):
            if column.finding is not None and column.finding.value is not None:
                place = by_tile.setdefault(column.tile or column.title, [])
                place.append((column, column.finding))
        return [_joined(title, columns) for title, columns in by_tile.items()]


PLAIN = Present()


def present_of(name: str) -> Present:
    """How a battery is shown."""
    try:
        battery = registry.get(name)
    except FlashtwinError:
        return PLAIN
    how = battery.present
    if how is None:
        return PLAIN

    def make() -> Any:
        return import_module(how).PRESENT if isinstance(how, str) else how()

    if battery.origin is not None:
        present = foreign.called(battery.origin, "present", make)
        if not isinstance(present, Present):
            why = f"is {kind_of(present)} and no Present"
            raise battery.origin.wrong("present", why)
        return Guarded(battery.origin, present)
    present = make()
    assert isinstance(present, Present), f"{name} has no presentation"
    return present


class Guarded(Present):
    """How a battery of another package is shown: all that it hands over is looked at."""

    def __init__(self, origin: foreign.Origin, present: Present) -> None:
        self._origin, self._present = origin, present

    def section(self, subjects: Sequence[Subject]) -> Section:
        section = self._called("section", subjects)
        if not isinstance(section, Section):
            self._refuse("section", section, "Section")
        for name, kind in (("tables", Table), ("grids", Grid)):
            foreign.values_of(self._origin, "present.section", getattr(section, name), kind)
        return section

    def phases(self, subject: Subject) -> Sequence[Phase]:
        return self._values("phases", Phase, subject)

    def places(self, subject: Subject) -> Sequence[Place]:
        return self._values("places", Place, subject)

    def plateaus(self, subject: Subject) -> Sequence[Plateau]:
        return self._values("plateaus", Plateau, subject)

    def counterparts(self, subject: Subject) -> Sequence[Counterpart]:
        return self._values("counterparts", Counterpart, subject)

    def facts(self, subjects: Sequence[Subject]) -> Sequence[Fact]:
        return self._values("facts", Fact, subjects)

    def alone(self, subject: Subject) -> str:
        return self._text("alone", subject)

    def brief(self, subject: Subject) -> str:
        return self._text("brief", subject)

    def columns(self, subject: Subject) -> Sequence[Column]:
        return self._values("columns", Column, subject)

    def tiles(self, subject: Subject) -> Sequence[Tile]:
        return self._values("tiles", Tile, subject)

    def _called(self, name: str, argument: object) -> Any:
        # To look a method up may fail as the call does.
        def call() -> Any:
            return getattr(self._present, name)(argument)

        return foreign.called(self._origin, f"present.{name}", call)

    def _text(self, name: str, subject: Subject) -> str:
        text = self._called(name, subject)
        if not isinstance(text, str):
            self._refuse(name, text, "str")
        return text

    def _values(self, name: str, kind: type, argument: object) -> list[Any]:
        values = self._called(name, argument)
        return foreign.values_of(self._origin, f"present.{name}", values, kind)

    def _refuse(self, name: str, value: object, kind: str) -> NoReturn:
        why = f"gives {kind_of(value)} and no {kind}"
        raise self._origin.wrong(f"present.{name}", why)


def tile_of(title: str, finding: Finding, better: Better | None = None) -> Tile:
    """A finding as a tile; times as a clock shows them."""
    text = Shown.of(finding)
    values = () if finding.number is None else (finding.number,)
    if finding.unit == "s" and finding.number is not None:
        note = readable_seconds(finding.number)
        return Tile(
            title=title, value=clock(finding.number), note=note, numbers=values, better=better
        )
    return Tile(
        title=title,
        value=text.value,
        unit=text.unit,
        note=text.beside or "",
        numbers=values,
        better=better,
    )


def _joined(title: str, columns: Sequence[tuple[Column, Finding]]) -> Tile:
    """One tile for columns that share it: their values with a stroke between them."""
    tiles = [tile_of(title, finding, column.better) for column, finding in columns]
    if len({tile.unit for tile in tiles}) > 1:
        return tiles[0]
    return replace(
        tiles[0],
        value=" / ".join(tile.value for tile in tiles),
        numbers=tuple(number for tile in tiles for number in tile.numbers),
    )


def _same_titles(columns: Mapping[int, Sequence[Finding]]) -> bool:
    """Whether findings of one drive can be told apart by their variants only."""
    return any(
        len({finding.title for finding in column}) < len(column) for column in columns.values()
    )


def _with_variant(finding: Finding) -> str:
    return f"{tables.row_title(finding)}, {finding.variant}".rstrip(", ")
