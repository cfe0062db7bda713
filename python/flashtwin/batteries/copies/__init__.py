"""copies: files copied to, within and from the drive, as a file system sends them.

The sets of files are published: an ISO of 6.25 GB, its 1,874 files, a game's folder of 25.2 GB
(the BX500 article, copied from a RAM disk: the drive only writes), four ISOs of 20 GB and 339 JPEGs
of 2.37 GB (PCMark 10: written, duplicated, read). How a file system turns them into requests is
`base.files`: ext4's extents, metadata, journal and write-back (trust P), not NTFS, whose code is
closed. Time counts until the last byte is on flash. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.files import Copies, CopyWay, Tree, copy_finding
from flashtwin.batteries.base.parameter import seconds_of
from flashtwin.batteries.base.registry import Part, host_ns, prepared_parts
from flashtwin.model.step import Fill, Mark, Purge, Rest

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "copies"
MIB = 1 << 20
ALL_WAYS: tuple[CopyWay, ...] = ("write", "duplicate", "read")
# The number of files of the game's folder is not told.
TREES = {
    "iso": Tree(files=1, bytes=6_250_000_000),
    "files": Tree(files=1874, bytes=6_250_000_000),
    "folder": Tree(files=2500, bytes=25_200_000_000),
    "isos": Tree(files=4, bytes=20_000_000_000),
    "photos": Tree(files=339, bytes=2_370_000_000),
}
TITLES = {
    "iso": "ISO of 6.25 GB",
    "files": "1,874 files",
    "folder": "Folder of 25.2 GB",
    "isos": "Four ISOs",
    "photos": "339 JPEGs",
}
# The article copied from a RAM disk; PCMark writes, duplicates and reads.
WAYS: dict[str, tuple[CopyWay, ...]] = {
    "iso": ("write",),
    "files": ("write",),
    "folder": ("write",),
    "isos": ALL_WAYS,
    "photos": ALL_WAYS,
}
WAY_TITLES = {"write": "written", "duplicate": "duplicated", "read": "read"}


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase, fill; each set in its ways, after a rest."""
    copies = _copies(parameters, info)
    copies.check(NAME)
    yield Purge(label=f"{NAME}/prepare/purge")
    if copies.offset:
        yield Fill(label=f"{NAME}/prepare/fill", size=copies.offset)
    for name in parameters.sets:
        seconds = seconds_of(parameters, "rest_s", info)
        yield Rest(label=f"{NAME}/{name}/rest", seconds=seconds)
        for way in WAYS[name]:
            yield copies.run(_label(name, way), name, way)
        yield Mark(label=f"{NAME}/{name}/found")


def _copies(parameters: Any, info: DriveInfo) -> Copies:
    """Room for the sets asked for, in the order of the table, so that none moves."""
    return Copies(
        trees={name: tree for name, tree in TREES.items() if name in parameters.sets},
        info=info,
        offset=int(info.capacity_bytes * parameters.fill_percent / 100) // MIB * MIB,
        host_ns=host_ns(parameters, info),
    )


def _label(name: str, way: CopyWay) -> str:
    return f"{NAME}/{name}/{way}"


def conclude(record: Record) -> list[Finding]:
    """The speed of each copy."""
    findings: list[Finding] = []
    cells = [(name, way) for name in record.parameters.sets for way in WAYS[name]]
    for name, way in cells:
        findings += copy_finding(
            record,
            battery=NAME,
            label=_label(name, way),
            name=way,
            variant=name,
            title=f"{TITLES[name]}, {WAY_TITLES[way]}",
        )
    return findings


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """Sets that are smaller than published."""
    return _copies(parameters, info).departures("sets")


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then each set."""
    return prepared_parts(NAME, {name: TITLES[name] for name in parameters.sets})


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
)
