"""CrystalDiskMark cells out of the findings: speeds, latencies and rates by cell and direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.model.finding import Finding
from flashtwin.report.view import Drive

DIRECTIONS = {"read": "Read", "write": "Write", "mix": "Mixed"}
METRICS = ("speed", "latency", "iops")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a finding stands in the grid."""

    cell: str
    direction: str
    metric: str

    @property
    def title(self) -> str:
        return self.cell.replace("-", " ")

    @property
    def kind(self) -> str:
        """What shares a scale: "SEQ1M" or "RND4K"."""
        return self.cell.partition("-")[0]


def place_of(finding: Finding) -> Place | None:
    """None for what is no cell."""
    if finding.battery != "crystaldiskmark" or not finding.is_cell:
        return None
    for direction in DIRECTIONS:
        for metric in METRICS:
            if finding.name == (direction if metric == "speed" else f"{direction}.{metric}"):
                return Place(cell=finding.variant, direction=direction, metric=metric)
    return None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of all drives. `values` is by (drive, cell, direction, metric)."""

    cells: tuple[Place, ...]
    directions: tuple[str, ...]
    values: dict[tuple[int, str, str, str], Finding]

    def kinds(self) -> list[str]:
        """The first words of the cells, in order."""
        return list(dict.fromkeys(cell.kind for cell in self.cells))

    def of_kind(self, kind: str) -> list[str]:
        """Titles of the cells that share a scale."""
        return [cell.title for cell in self.cells if cell.kind == kind]


def grid_of(drives: Sequence[Drive]) -> Grid | None:
    """None where no drive has a cell."""
    values: dict[tuple[int, str, str, str], Finding] = {}
    cells: dict[str, Place] = {}
    for drive in drives:
        for finding in drive.findings:
            place = place_of(finding)
            if place is not None and finding.number is not None:
                values[drive.index, place.cell, place.direction, place.metric] = finding
                cells.setdefault(place.cell, place)
    if not values:
        return None
    used = {direction for _, _, direction, _ in values}
    return Grid(
        cells=tuple(cells.values()),
        directions=tuple(one for one in DIRECTIONS if one in used),
        values=values,
    )


def payload(grid: Grid) -> list[dict[str, object]]:
    """A row a drive, cell and direction."""
    rows: dict[tuple[int, str, str], dict[str, object]] = {}
    titles = {cell.cell: cell for cell in grid.cells}
    for (drive, cell, direction, metric), finding in grid.values.items():
        row = rows.setdefault(
            (drive, cell, direction),
            {
                "drive": drive,
                "cell": titles[cell].title,
                "kind": titles[cell].kind,
                "direction": direction,
            },
        )
        row[metric] = finding.number
        row[f"{metric}_low"], row[f"{metric}_high"] = finding.low, finding.high
    return list(rows.values())
