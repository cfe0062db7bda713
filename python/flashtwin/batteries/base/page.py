"""What a battery.toml says of a page: its columns, curves and grid; and how its tables are read.

`base.declaration` has the rest of the file, `base.presents` shows what stands here. Invariant: a
key that nobody reads is refused by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.finding import Better

T = TypeVar("T")
NAME = "battery.toml"
# As `charts.cells.Metric` has it.
Drawing = Literal["tile", "bars", "ways", "dots", "depth", "size", "heat"]


class Table(Struct, kw_only=True, forbid_unknown_fields=True):
    """A table of a file whose keys are all known."""


class ClaimRow(Table):
    """See `present.Claim`."""

    than: str = ""
    most: str = ""
    alone: str = ""
    brief: str = ""
    what: str = ""
    in_times: bool = True


class RankedRow(Table):
    """See `present.Ranked`."""

    title: str
    name: str
    variant: str | tuple[str, ...] = ""
    better: Better = "higher"
    tile: str = ""
    claim: ClaimRow = msgspec.field(default_factory=ClaimRow)


class CurveRow(Table):
    """A step whose curve is drawn, by its label below the battery's; `each`: one for each value of
    a parameter, which stands for {} in all texts, and as it is typed for {typed}. Those of one
    group share a chart, which is the battery's where none is named. `goes_on`: the curve goes on
    with the steps whose labels are under that one."""

    label: str
    name: str
    title: str
    each: str = ""
    group: str = ""
    group_title: str = ""
    goes_on: str = ""


class CellRow(Table):
    """Cells of a grid, by a regular expression that their variants fit; its named groups stand for
    {NAME} in the texts. Cells of one kind share a scale; a group `depth` is the queue depth."""

    fits: str
    title: str
    kind: str = ""


class DrawnRow(Table):
    """How each metric of a grid is drawn; one that is not named has no chart."""

    speed: Drawing | None = None
    iops: Drawing | None = None
    latency: Drawing | None = None


class GridRow(Table):
    """Findings as cells of a grid (`base.grid`). `ways` has their titles by name, in order; where
    there are mixes of reads and writes, these stand behind them by rising share of reads, or
    between the two by falling share. `drawn`: how metrics are drawn where it is not as usual."""

    ways: dict[str, str]
    cells: tuple[CellRow, ...] = ()
    drawn: DrawnRow | None = None
    mixes: Literal["", "rising", "falling"] = ""


class Page(Table):
    """What a page shows: a table, curves, and the columns by which drives are ranked; findings as a
    grid; `over_sizes`: latency over sizes (`base.edges`), and of what that is."""

    title: str
    ranked: tuple[RankedRow, ...] = ()
    curves: tuple[CurveRow, ...] = ()
    grid: GridRow | None = None
    over_sizes: str = ""


def page_of(module: str) -> tuple[str, Page]:
    """The name of the battery beside whose battery.toml a module stands, which passes its
    `__file__`, and the page there."""
    path = Path(module).with_name(NAME)
    return path.parent.name, convert(read_toml(path)["page"], Page, path)


def convert(table: Any, kind: type[T], path: Path) -> T:
    """A table as its kind; raises with the key that nobody reads, or whose value is another."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise wrong(path, str(error)) from error


def wrong(path: Path, why: str) -> FlashtwinError:
    """The error of a file that declares no battery."""
    return FlashtwinError(
        f"{path} declares no battery: {why}",
        hint="battery.toml of a battery that comes with flashtwin is an example",
        exit_code=ENVIRONMENT,
    )
