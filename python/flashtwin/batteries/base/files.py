"""Copies of files as a file system sends them: data, metadata in place, and a journal.

The page cache is written back in order, in requests of up to 1 MiB with several outstanding; a
small file ends in a shorter request. Each file, and each extent of 128 MiB, changes a few blocks of
4 KiB of metadata. They go to a journal first, which is flushed at each commit, and are then written
in place, anywhere among the metadata. The three streams are processes of fio's that keep step by
`flow`, so a twin and real fio are asked for the same. The sizes are those of ext4 (trust P), the
shares of small requests are made up: no trace of the originals is public.

Invariant: what is asked for follows from the trees and the capacity alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Evidence, Finding
from flashtwin.model.fio_job import Blocks, Fio, Flow, Syncs
from flashtwin.model.step import Job, Run
from flashtwin.model.units import percent

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.target import DriveInfo

KIB, MIB = 1 << 10, 1 << 20
BLOCK = 4 * KIB
# The largest request of the page cache, and ext4's largest extent.
REQUEST, EXTENT = MIB, 128 * MIB
# The last requests of files: the remainders of their sizes, all as frequent.
REMAINDERS = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 512 * KIB)
# Inode, directory and bitmap of a file.
BLOCKS_A_FILE = 3
# ext4 commits every 5 s: at the speed of such drives about so many bytes, or files.
BYTES_A_COMMIT, FILES_A_COMMIT = 1 << 30, 256
WRITE_BACK_DEPTH, READ_AHEAD_DEPTH = 8, 2
# fio's greatest weight of a process.
WEIGHT_MOST = 1000
# Metadata and journal wait so long for the data, instead of spinning beside it.
FLOW_SLEEP_NS = 1_000_000
# Copies may take so much of a target; larger ones are copied in part.
SHARE_MOST = 0.8
LEAST_BYTES = 32 * MIB
SAMPLE_S = 0.5
CopyWay = Literal["write", "duplicate", "read"]


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A number of files with so many bytes together."""

    files: int
    bytes: int

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The sizes of its data requests, each with its share in %: whole ones, then remainders."""
        mean = self.bytes / self.files
        if mean >= EXTENT // 2:
            return ((REQUEST, 100),)
        full = mean // REQUEST
        remainder = sum(REMAINDERS) / len(REMAINDERS)
        share = full / (full + 1) if full else (mean - remainder) / (REQUEST - remainder)
        percent = min(max(round(100 * share), 0), 95)
        each, more = divmod(100 - percent, len(REMAINDERS))
        ends = [(size, each + (number < more)) for number, size in enumerate(REMAINDERS)]
        # Where the drawn size does not fit, fio takes the next that does: the largest stands last,
        # so that the end of a tree is not written in the smallest.
        return (*ends, (REQUEST, percent)) if percent else tuple(ends)

    @property
    def requests(self) -> int:
        """About as many data requests as it takes."""
        mean = sum(size * percent for size, percent in self.sizes) / 100
        return max(round(self.bytes / mean), 1)

    @property
    def metadata_blocks(self) -> int:
        """How many blocks of 4 KiB change when it is written."""
        return BLOCKS_A_FILE * self.files + self.bytes // EXTENT

    @property
    def commits(self) -> int:
        """How often the journal is flushed while it is written."""
        return 1 + max(self.bytes // BYTES_A_COMMIT, self.files // FILES_A_COMMIT)

    def part(self, share: float) -> Tree:
        """A tree with this share of the files and bytes."""
        return Tree(
            files=max(round(self.files * share), 1),
            bytes=max(int(self.bytes * share) // MIB, 1) * MIB,
        )


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Where trees lie on a target: one behind the other from `offset`; metadata at the end.

    `share` is how much of each there is room for. There is room behind the trees for the duplicate
    of the largest.
    """

    trees: Mapping[str, Tree]
    info: DriveInfo
    offset: int = 0
    host_ns: int = 0

    def check(self, battery: str) -> None:
        """Refuse a target without room for them."""
        if self._room < LEAST_BYTES:
            raise FlashtwinError(
                f"{battery}: {self.info.name} is too small for copies of files",
                hint=f"measure one of {2 * LEAST_BYTES // MIB} MiB or more, or fill less of it",
                exit_code=USAGE,
            )

    @property
    def share(self) -> float:
        """How much of each tree is copied."""
        sizes = [tree.bytes for tree in self.trees.values()]
        return min(self.info.share_of(1.0), self._room / (sum(sizes) + max(sizes)))

    def departures(self, name: str) -> list[str]:
        """Where there is no room for the whole of what is called `name`."""
        return smaller(name, self.share, self.info)

    def tree(self, name: str) -> Tree:
        """The part of a tree that is copied."""
        tree = self.trees[name]
        return tree if self.share == 1.0 else tree.part(self.share)

    def place(self, name: str) -> int:
        """Where a tree begins."""
        before = list(self.trees)[: list(self.trees).index(name)]
        return self.offset + sum(_rounded(self.tree(tree).bytes) for tree in before)

    def run(self, label: str, name: str, way: CopyWay) -> Run:
        """The step of a copy: from outside, within the target, or to outside."""
        tree, weights = self.tree(name), _weights(self.tree(name))
        reader = self._data("read", tree, self.place(name), READ_AHEAD_DEPTH)
        if way == "read":
            return Run(label=label, jobs=(reader,), sample_s=SAMPLE_S)
        last = list(self.trees)[-1]
        behind = self.place(last) + _rounded(self.tree(last).bytes)
        to = self.place(name) if way == "write" else behind
        writer = self._data("write", tree, to, WRITE_BACK_DEPTH)
        writing = (
            _in_step(writer, weights[0]),
            *(
                _in_step(job, weight)
                for job, weight in zip(self._beside(tree), weights[1:], strict=True)
            ),
        )
        read = () if way == "write" else (_in_step(reader, weights[0]),)
        return Run(label=label, jobs=(*writing, *read), sample_s=SAMPLE_S)

    @property
    def _room(self) -> int:
        free = min(self.info.capacity_bytes - self.offset, self._metadata_at - self.offset)
        return int(free * SHARE_MOST)

    @property
    def _metadata_bytes(self) -> int:
        return max(self.info.capacity_bytes // 128 // MIB, 2) * MIB

    @property
    def _metadata_at(self) -> int:
        return self.info.capacity_bytes // MIB * MIB - 2 * self._metadata_bytes

    def _data(self, rw: Literal["read", "write"], tree: Tree, offset: int, depth: int) -> Job:
        sizes = tree.sizes
        blocks = Blocks(least=min(sizes)[0], most=max(sizes)[0], split=sizes)
        if len(sizes) == 1:
            blocks = Blocks(least=REQUEST, most=REQUEST)
        return Job(
            name=rw,
            rw=rw,
            block_bytes=blocks.most,
            depth=depth,
            offset=offset,
            size=_rounded(tree.bytes),
            io_bytes=tree.bytes // BLOCK * BLOCK,
            host_ns=self.host_ns,
            fio=Fio(
                blocks=(blocks, blocks, blocks) if len(sizes) > 1 else None,
                syncs=Syncs(at_end=rw == "write"),
            ),
        )

    def _beside(self, tree: Tree) -> tuple[Job, Job]:
        """The jobs for metadata, in place, and for the journal, which holds it before."""
        size, count = self._metadata_bytes, tree.metadata_blocks
        # A commit has a descriptor and an end beside the blocks.
        commit = min(-(-count // tree.commits) + 2, MIB // BLOCK) * BLOCK
        metadata = Job(
            name="metadata",
            rw="randwrite",
            block_bytes=BLOCK,
            depth=WRITE_BACK_DEPTH,
            offset=self._metadata_at,
            size=size,
            io_bytes=count * BLOCK,
            host_ns=self.host_ns,
            fio=Fio(random_map=False),
        )
        journal = Job(
            name="journal",
            rw="write",
            block_bytes=commit,
            offset=self._metadata_at + size,
            size=size // commit * commit,
            io_bytes=tree.commits * commit,
            host_ns=self.host_ns,
            fio=Fio(syncs=Syncs(fdatasync_every=1)),
        )
        return metadata, journal


def smaller(name: str, share: float, info: DriveInfo) -> list[str]:
    """That what is called `name` has a share of its size, as the target has no more room."""
    if share >= info.share_of(1.0):
        return []
    return [f"the {name} are {percent(max(share, 0))} of their size: the target has no more room"]


def _in_step(job: Job, weight: int) -> Job:
    assert job.fio is not None, "processes of fio's keep step"
    waits = 0 if job.name in ("read", "write") else FLOW_SLEEP_NS
    return replace(job, fio=replace(job.fio, flow=Flow(weight=weight, id=1, sleep_ns=waits)))


def _weights(tree: Tree) -> tuple[int, int, int]:
    """In what proportion requests of data, metadata and journal are sent."""
    counts = (tree.requests, tree.metadata_blocks, tree.commits)
    most = max(counts)
    data, metadata, journal = (max(round(WEIGHT_MOST * count / most), 1) for count in counts)
    return data, metadata, journal


def _rounded(count: int) -> int:
    return -(-count // MIB) * MIB


def copy_finding(
    record: Record, *, battery: str, label: str, name: str, variant: str, title: str
) -> list[Finding]:
    """The speed of a copy: bytes of the files over the time until the last of them is on flash."""
    step = record.step(label)
    if step is None or not step.jobs or not step.duration_ns:
        return []
    data = [job for job in step.jobs if job.name in ("read", "write")]
    moved = max((job.bytes for job in data), default=0)
    if not moved:
        return []
    failed = sum(job.errors for job in step.jobs)
    seconds = step.duration_ns / 1e9
    return [
        Finding(
            battery=battery,
            name=name,
            variant=variant,
            title=title,
            value=moved / seconds / 1e6,
            unit="MB/s",
            evidence=Evidence(battery=battery, label=label, axis="seconds", start=0.0, end=seconds),
            note=f"{failed} requests failed" if failed else None,
        )
    ]
