"""A simulated drive for a loop of one's own: submit requests, let time pass, hear what is done.

Time is the drive's, in nanoseconds from its beginning, and passes only when it is told to: `submit`
puts a request at a moment, `advance` goes to one, `wait` to the next at which something is done. A
program of a million requests is better off with `play`, which takes them as columns and is as quick
as the simulation. The steps of a battery (purge, fill, rest, trim, whole jobs) are `do`.

Invariants: time never runs backwards; at most `queue_depth` requests are outstanding, and a step
begins with none; the same calls with the same seed give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flashtwin import outputs
from flashtwin.arguments import checked, explained
from flashtwin.catalogue.loader import load
from flashtwin.drives import untimed
from flashtwin.drives.twin import Twin as Simulated
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.runs.tables import need_polars

if TYPE_CHECKING:
    import polars as pl


Op = Literal["read", "write", "trim", "flush"]
OPS: tuple[Op, ...] = ("read", "write", "trim", "flush")
# How a request ended, by the core's number for it.
STATUS = ("ok", "out of range", "unreadable", "read-only", "corrupt")

# More overwrites of a drive than this are a mistake, and years of it.
_MOST_OVERWRITES = 1_000_000
# Later than anything that happens in a drive.
_NEVER_NS = (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A request that is done. `tag` is from `submit`; `status` is "ok" or what was wrong."""

    tag: int
    op: Op
    offset: int
    size: int
    submitted_ns: int
    done_ns: int
    status: str

    @property
    def latency_ns(self) -> int:
        """From its submission to its answer."""
        return self.done_ns - self.submitted_ns

    @property
    def ok(self) -> bool:
        """Whether the drive did what it was asked for."""
        return self.status == STATUS[0]


def as_sets(sets: Mapping[str, object] | Sequence[str] | None) -> tuple[str, ...]:
    """Values of a spec that are changed, as the command line spells them."""
    if isinstance(sets, Mapping):
        return tuple(f"{key}={value}" for key, value in sets.items())
    return as_words(sets or ())


def as_words(words: str | Sequence[str]) -> tuple[str, ...]:
    """One word, or several."""
    return (words,) if isinstance(words, str) else tuple(words)


class Twin:
    """A simulated drive, new and empty.

    `drive`: an id of the catalogue, or a spec file that ends in .toml. `sets` changes values of the
    spec, `firmware` switches on profiles, `scale` makes a smaller drive.
    """

    @checked
    def __init__(
        self,
        drive: str | Path,
        *,
        seed: int = 1,
        firmware: str | Sequence[str] = (),
        sets: Mapping[str, object] | Sequence[str] | None = None,
        scale: str | None = None,
    ) -> None:
        spec = load(str(drive), firmware=as_words(firmware), sets=as_sets(sets), scale=scale)
        self._twin = Simulated(spec, seed=seed).open()
        self._under_way: dict[int, tuple[Op, int, int, int]] = {}
        self._tag = 0

    @property
    def name(self) -> str:
        """The drive's id."""
        return self._twin.info.name

    @property
    def capacity_bytes(self) -> int:
        """What a host can address."""
        return self._twin.info.capacity_bytes

    @property
    def queue_depth(self) -> int:
        """How many requests the drive takes at once."""
        return self._twin.simulation.queue_depth

    @property
    def now_ns(self) -> int:
        """The drive's clock."""
        return self._twin.simulation.now_ns()

    @property
    def outstanding(self) -> int:
        """Requests that are submitted and not done."""
        return self._twin.simulation.outstanding

    @explained
    def submit(
        self,
        op: Op,
        offset: int = 0,
        size: int = 4096,
        *,
        at_ns: int | None = None,
        sync: bool = False,
        compress_percent: int = 0,
        handle: int = 0,
    ) -> int:
        """Submit a request now, or at `at_ns`, and return its tag.

        Bytes, in multiples of 512; a flush has none. `sync`: a write that is done only when it is
        on flash. `compress_percent`: how far a compressing controller could shrink the data.
        `handle`: the placement handle of a write, the first one where the drive has no such. What
        happens up to `at_ns` happens first; what is done by then is told by the next `advance` or
        `wait`. Raises `FlashtwinError` where the queue is full or the moment has passed.
        """
        core = self._twin.simulation
        at = core.now_ns() if at_ns is None else at_ns
        size = 0 if op == "flush" else size
        code, tag = _code(op), self._tag
        with _core_errors():
            core.submit(at, tag, code, offset, size, sync, compress_percent, handle)
        self._under_way[tag] = (op, offset, size, at)
        # Tags are 32 bits in the core; no drive has as many requests outstanding.
        self._tag = (self._tag + 1) % (1 << 32)
        return tag

    @explained
    def advance(self, to_ns: int | None = None, *, by_ns: int | None = None) -> list[Completion]:
        """Go to a moment, or on by a time, and return what was done on the way, in order."""
        if (to_ns is None) == (by_ns is None):
            raise FlashtwinError(
                "advance takes either to_ns or by_ns", hint="give one of the two", exit_code=USAGE
            )
        core = self._twin.simulation
        with _core_errors():
            to = to_ns if to_ns is not None else core.now_ns() + (by_ns or 0)
            return self._completions(core.advance(to))

    def wait(self) -> list[Completion]:
        """Go to the next moment at which something is done and return it; [] if nothing is
        outstanding."""
        return self._completions(self._twin.simulation.advance_until_done())

    def drain(self) -> list[Completion]:
        """Wait for everything that is outstanding."""
        completions = self.wait()
        while self.outstanding:
            completions += self.wait()
        return completions

    @explained
    def play(
        self,
        op: str | ArrayLike,
        offset: ArrayLike,
        size: ArrayLike = 4096,
        *,
        at_ns: ArrayLike | None = None,
        depth: int | None = None,
        sync: bool = False,
        compress_percent: int = 0,
        handle: int = 0,
    ) -> pl.DataFrame:
        """Submit many requests and wait for all: a row each with `submitted_ns`, `done_ns`,
        `latency_us` and `status`.

        Columns are arrays of one length, or one value for all. With `at_ns` (rising, on the drive's
        clock) each request comes at its time; without, each as soon as fewer than `depth` (by
        default the drive's) are outstanding. A request whose time finds the queue full waits, and
        its latency counts from when the drive took it.
        """
        need_polars()
        import polars as pl

        core = self._twin.simulation
        ops = np.asarray(op)
        count = _rows(ops, offset, size, 0 if at_ns is None else at_ns)
        names = np.broadcast_to(ops, (count,))
        codes = _codes(names)
        sizes = np.where(codes == _code("flush"), 0, _integers(size, count, "size"))
        at = np.full(count, core.now_ns()) if at_ns is None else _integers(at_ns, count, "at_ns")
        with _core_errors():
            played = core.play(
                at.astype(np.uint64),
                codes,
                _integers(offset, count, "offset").astype(np.uint64),
                sizes.astype(np.uint64),
                core.queue_depth if depth is None else depth,
                sync,
                compress_percent,
                handle,
            )
        latency = (played["done_ns"] - played["submitted_ns"]) / 1000
        return pl.DataFrame(
            {
                "op": names.astype(str),
                "offset": _integers(offset, count, "offset"),
                "size": sizes,
                "submitted_ns": played["submitted_ns"],
                "done_ns": played["done_ns"],
                "latency_us": latency,
                "status": np.array(STATUS)[played["status"]],
            }
        )

    @checked
    def do(self, step: Step) -> Result | NotPossible:
        """Carry out a step of a battery (`flashtwin.model.step`): Fill, Purge, Rest, Run, …"""
        with _core_errors():
            return self._twin.do(step, lambda progress: True)

    @checked
    def precondition(
        self,
        *,
        passes: int = 1,
        overwrites: float = 0.0,
        block_size: int = 128 << 10,
        overwrite_block_size: int = 4096,
        offset: int = 0,
        size: int | None = None,
        seed: int = 1,
        handle: int = 0,
    ) -> int:
        """Write a range without time, by the firmware alone, and return how many bytes.

        `passes` times from its beginning to its end in blocks of `block_size`, then at random in
        blocks of `overwrite_block_size` until `overwrites` times the range is written; `seed`
        chooses their places. The range is the whole drive, or `size` bytes from `offset` on. Its
        state is that of the same writes in their time, within 1 %; no time passes, nothing warms
        up and no request is told of. Refused on a drive whose state depends on time.
        """
        length = self.capacity_bytes - offset if size is None else size
        if not 0 <= passes < _MOST_OVERWRITES or not 0 <= overwrites < _MOST_OVERWRITES:
            raise FlashtwinError(
                f"{passes} passes and {overwrites} overwrites are no preconditioning",
                hint=f"both are from 0 to {_MOST_OVERWRITES}",
                exit_code=USAGE,
            )
        if block_size < 1 or overwrite_block_size < 1:
            raise FlashtwinError(
                "blocks have at least one unit of the map",
                hint="block sizes are bytes, for example 131072",
                exit_code=USAGE,
            )
        jobs = untimed.fill_jobs(offset, length, block_size, 1) * passes
        blocks = round(overwrites * length / overwrite_block_size)
        if blocks:
            jobs.append(
                untimed.writing(
                    offset,
                    length // overwrite_block_size * overwrite_block_size,
                    overwrite_block_size,
                    rw="randwrite",
                    io_bytes=blocks * overwrite_block_size,
                    seed=seed,
                )
            )
        jobs = [replace(job, handles=(handle,) if handle else ()) for job in jobs]
        if self.outstanding:
            raise FlashtwinError(
                f"{self.outstanding} requests are outstanding",
                hint="drain() first",
                exit_code=USAGE,
            )
        with _core_errors():
            self._twin.precondition(jobs, lambda progress: True)
        return sum(job.io_bytes or job.size or 0 for job in jobs)

    def smart(self) -> dict[str, Any]:
        """SMART data as smartctl prints it, with write amplification by cause and energy."""
        return self._twin.smart()

    @checked
    def save(self, path: str | Path) -> None:
        """Write the whole state of the drive; nothing may be outstanding."""
        with _core_errors():
            self._twin.save(path)

    @checked
    @contextmanager
    def timeline(self, path: str | Path) -> Iterator[None]:
        """Record dies, channels and requests under the block, as a trace that Perfetto opens.

        `path` is written anew, whole or not at all; a second is some 1 to 100 MB.
        """
        with outputs.replacing(Path(path)) as part:
            self._twin.record(part, self.now_ns, _NEVER_NS)
            try:
                yield
            finally:
                self._twin.end_recording()

    def __repr__(self) -> str:
        return f"Twin({self.name!r}, now {self.now_ns / 1e9:.6g} s, {self.outstanding} outstanding)"

    def _completions(self, finished: Mapping[str, Any]) -> list[Completion]:
        completions = []
        rows = zip(finished["tag"], finished["done_ns"], finished["status"], strict=True)
        for tag, done_ns, status in rows:
            op, offset, size, submitted = self._under_way.pop(int(tag))
            completions.append(
                Completion(
                    tag=int(tag),
                    op=op,
                    offset=offset,
                    size=size,
                    submitted_ns=submitted,
                    done_ns=int(done_ns),
                    status=STATUS[int(status)],
                )
            )
        return completions


class _core_errors:  # noqa: N801 - reads as a statement
    """What the core refuses is the caller's to mend: a `FlashtwinError` with its words."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError | OverflowError):
            hint = "help(flashtwin.Twin) says what each call takes"
            raise FlashtwinError(str(error), hint=hint, exit_code=USAGE) from error


def _code(op: str) -> int:
    if op not in OPS:
        raise FlashtwinError(
            f"there is no operation {op!r}", hint=f"there are {', '.join(OPS)}", exit_code=USAGE
        )
    return OPS.index(op)


def _codes(names: np.ndarray) -> np.ndarray:
    kinds, places = np.unique(names, return_inverse=True)
    return np.array([_code(str(name)) for name in kinds], dtype=np.uint8)[places]


def _rows(*columns: ArrayLike) -> int:
    """How many requests columns make together: one value stands for any number."""
    shapes = [np.shape(column) for column in columns]
    if any(len(shape) > 1 for shape in shapes):
        raise FlashtwinError(
            "a column of requests has to be an array of one dimension",
            hint="hand over a list, or array.ravel()",
            exit_code=USAGE,
        )
    lengths = {shape[0] for shape in shapes if shape and shape[0] != 1}
    if len(lengths) > 1:
        rows = " and ".join(map(str, sorted(lengths)))
        raise FlashtwinError(
            f"the columns of requests differ in length: {rows} rows",
            hint="give each request a row in all columns, or one value for all",
            exit_code=USAGE,
        )
    return lengths.pop() if lengths else 1


def _integers(values: ArrayLike, count: int, name: str) -> np.ndarray:
    """A column of whole numbers from 0 on."""
    array = np.broadcast_to(np.asarray(values), (count,))
    if count and (array.dtype.kind not in "iu" or int(array.min()) < 0):
        raise FlashtwinError(
            f"{name} has to be whole numbers from 0 on",
            hint="offsets and sizes are bytes, as integers",
            exit_code=USAGE,
        )
    return array.astype(np.int64)
