"""The typed face of crates/python: specs checked and twins run in Rust."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Self, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BUILD",
    "MODEL",
    "Mark",
    "ServeError",
    "SnapshotError",
    "Spec",
    "SpecError",
    "Stopped",
    "Stretch",
    "TableError",
    "TraceError",
    "Twin",
    "cache_mechanisms",
    "fio_memory",
    "load_spec",
    "pack_tables",
    "parse_spec",
    "play",
    "profile_trace",
    "read_parquet",
    "replay",
    "serve",
    "simulate",
    "spec_words",
    "stored",
    "survey_trace",
    "unpack_tables",
    "write_parquet",
]

# Raised with every change after which the same spec and seed give other results.
MODEL: int
# "release build for x86_64-unknown-linux-gnu".
BUILD: str

# The shapes of what is handed across; they exist for the type checker only.
@type_check_only
class SpecErrorItem(TypedDict):
    file: str
    line: int | None
    key: str
    message: str
    hint: str | None

@type_check_only
class SpecValue(TypedDict):
    key: str
    value: str
    unit: str
    origin: str
    source: str
    unwritten: bool

@type_check_only
class CacheDesign(TypedDict):
    name: str
    takes: str
    called: str | None
    seen: str | None
    bits: tuple[int, int]
    caches: bool
    owns: bool
    borrows: Literal["nothing", "sized", "all"]

@type_check_only
class CacheRule(TypedDict):
    name: str
    data: str
    called: str
    seen: str
    keys: list[str]
    pace: dict[int, float]

@type_check_only
class CacheTier(TypedDict):
    called: str
    bits: tuple[int, int]
    seen: str

@type_check_only
class FreeKey(TypedDict):
    key: str
    name: str
    title: str
    meaning: str
    part: str | None
    off: str | None
    unit: str
    range: tuple[float, float]
    usual: float | None
    spread: float
    scale: Literal["log", "even"]
    seen: str

# What is declared of caches: `called` is the class that a report names, none where a host cannot
# tell; `seen` is what a host can see; `bits` are the bits a cell that it goes with; `pace` is
# `fold.pace` by them; a key belongs to a `part` or a rule, and is `off` without it.
@type_check_only
class CacheMechanisms(TypedDict):
    designs: list[CacheDesign]
    full_rules: list[CacheRule]
    tier: CacheTier
    keys: list[FreeKey]

@type_check_only
class JobRow(TypedDict):
    name: str
    ios: int
    bytes: int
    duration_ns: int
    latency_mean_ns: float
    latency_min_ns: int
    latency_max_ns: int
    mean_depth: float
    errors: int

@type_check_only
class Moments(TypedDict):
    count: int
    min: int
    max: int
    mean: float
    stddev: float

# What fio counts of one direction. Latencies are in nanoseconds, `bw` in KiB/s and `iops` over
# windows; histograms have the counts of fio's buckets that hold anything.
@type_check_only
class FioSide(TypedDict):
    ios: int
    bytes: int
    issued: int
    errors: int
    runtime_ns: int
    slat: Moments
    clat: Moments
    lat: Moments
    bw: Moments
    iops: Moments
    slat_hist: dict[int, int]
    clat_hist: dict[int, int]
    lat_hist: dict[int, int]

@type_check_only
class FioSync(TypedDict):
    issued: int
    datasyncs: int
    lat: Moments
    lat_hist: dict[int, int]

@type_check_only
class FioSteady(TypedDict):
    attained: bool
    criterion: float
    deviation: float
    slope: float
    bw: list[int]
    iops: list[int]

# A job of fio's. Times are since the phase began: `measured_ns` is the end of the ramp. `failure`
# is fio's error number and what happened. `depths` counts submissions at depths of 1, 2, 4, 8, 16,
# 32, 64 and more; `submits` and `completes` batches of 0, up to 4, 8, 16, 32, 64, and more; the
# latency classes are fio's (2 to 1000, and 2000 and more in ms). `requests` has a row a request in
# the order of completion (times since the phase began, `number` the order of issue, direction 3
# fsync, 4 fdatasync, and 5 the fsync of a file at the end of a pass); `averages` has a row a window
# (`end_ns` since `measured_ns`) and a direction.
@type_check_only
class FioRow(TypedDict):
    name: str
    failure: tuple[int, str] | None
    started_ns: int
    measured_ns: int
    ended_ns: int
    depth_found: int | None
    ended_all: bool
    read: FioSide
    write: FioSide
    trim: FioSide
    sync: FioSync
    depths: list[int]
    submits: list[int]
    completes: list[int]
    latency_ns: list[int]
    latency_us: list[int]
    latency_ms: list[int]
    steady: FioSteady | None
    requests: dict[str, NDArray[np.uint64 | np.uint32 | np.uint8]] | None
    averages: dict[str, NDArray[np.uint64 | np.uint8]] | None

@type_check_only
class Outcome(TypedDict):
    start_ns: int
    duration_ns: int
    series: dict[str, NDArray[np.int64]]
    jobs: list[JobRow]
    hist: dict[str, NDArray[np.uint64]]
    fio: list[FioRow]
    xray: dict[str, NDArray[np.int64]]

# What the host saw of a step of a plan that `simulate` played.
@type_check_only
class Seen(TypedDict):
    duration_ns: int
    series: dict[str, NDArray[np.int64]]

@type_check_only
class FioCounts(TypedDict):
    start_ns: int
    duration_ns: int
    stopped: bool
    rows: list[FioRow]

@type_check_only
class Done(TypedDict):
    tag: NDArray[np.int64]
    done_ns: NDArray[np.int64]
    status: NDArray[np.uint8]

@type_check_only
class Played(TypedDict):
    submitted_ns: NDArray[np.int64]
    done_ns: NDArray[np.int64]
    status: NDArray[np.uint8]

@type_check_only
class TraceFile(TypedDict):
    name: str
    end: int
    line: int
    longest: int

# What is in a trace, its requests widened to whole sectors; triples are reads, writes and trims.
# `end` is where a file's furthest request ends, in `line`; `unaligned` requests were widened;
# `earlier` ones have a time before that of the request before them, the first of them in line
# `first_earlier`; `unended` is the last line, where the file ends without ending it.
@type_check_only
class TraceSurvey(TypedDict):
    format: str
    ios: list[int]
    bytes: list[int]
    flushes: int
    span_ns: int
    longest: list[int]
    unaligned: int
    left_out: int
    late: int
    earlier: int
    first_earlier: int
    unended: int | None
    files: list[TraceFile]

@type_check_only
class TraceProfile(TraceSurvey):
    load: dict[str, Any]

# Its arguments: the message, and which kind of failure it is (locked, foreign, half-made,
# other-drive, damaged, machine-went-down, dead, system).
class ServeError(Exception): ...
class SnapshotError(Exception): ...

class SpecError(Exception):
    errors: list[SpecErrorItem]
    # All mistakes, also those of which the last error says only how many they are.
    count: int

# Its arguments: the line (0 for the file as a whole), what is wrong, and which kind of wrong that
# is (format, ambiguous, version, empty, disk, files, io, line).
class TableError(Exception): ...
class TraceError(Exception): ...
class Stopped(Exception): ...  # noqa: N818 - a state of the run, not an error

@final
class Spec:
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def capacity_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def map_unit_bytes(self) -> int: ...
    def precondition_refusal(self, random: bool) -> str | None: ...
    def repeat_refusal(self) -> str | None: ...
    def scale_within(self, bytes: int) -> int | None: ...
    def scales(self) -> list[int]: ...
    @property
    def hash(self) -> str: ...
    @property
    def firmware_profiles(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    def values(self) -> list[SpecValue]: ...
    def to_toml(self) -> str: ...

@final
class Mark:
    """What a drive had done at a moment."""

@final
class Stretch:
    """What a drive did in a time, to be repeated."""

    def plus(self, other: Stretch) -> Stretch: ...
    @property
    def written_bytes(self) -> int: ...
    @property
    def time_ns(self) -> int: ...

@final
class Twin:
    def __new__(cls, spec: Spec, seed: int) -> Self: ...
    @staticmethod
    def load(spec: Spec, path: str | PathLike[str]) -> Twin: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @property
    def seed(self) -> int: ...
    @property
    def capacity_bytes(self) -> int: ...
    @property
    def queue_depth(self) -> int: ...
    @property
    def outstanding(self) -> int: ...
    def now_ns(self) -> int: ...
    def mark(self) -> Mark: ...
    def since(self, mark: Mark) -> Stretch: ...
    def repeats_until_change(self, stretch: Stretch, again_bytes: int) -> int: ...
    def repeat(
        self, stretch: Stretch, times: int, timeless_bytes: int, again_bytes: int
    ) -> int: ...
    def submit(
        self,
        at_ns: int,
        tag: int,
        op: int,
        offset: int,
        size: int,
        fua: bool = False,
        compressible_percent: int = 0,
        placement: int = 0,
    ) -> None: ...
    def advance(self, to_ns: int) -> Done: ...
    def advance_until_done(self) -> Done: ...
    def play(
        self,
        at_ns: NDArray[np.uint64],
        op: NDArray[np.uint8],
        offset: NDArray[np.uint64],
        size: NDArray[np.uint64],
        depth: int,
        fua: bool,
        compressible_percent: int,
        placement: int,
    ) -> Played: ...
    def run(self, jobs_json: str, sample_ns: int, watch: Callable[[int, int], bool]) -> Outcome: ...
    def fio(
        self,
        jobs_json: str,
        watch: Callable[[int, int], bool],
        told: Callable[[list[FioRow]], object],
    ) -> FioCounts: ...
    @property
    def map_unit_bytes(self) -> int: ...
    @property
    def reads_of_nothing(self) -> int: ...
    def take_waits(self) -> tuple[str, int, int, str, int] | None: ...
    def lay_out(self, jobs_json: str, watch: Callable[[int, int], bool]) -> None: ...
    def precondition(self, jobs_json: str, watch: Callable[[int, int], bool]) -> Outcome: ...
    def rest(self, ns: int, sample_ns: int, watch: Callable[[int, int], bool]) -> Outcome: ...
    def trim(self, offset: int, size: int, watch: Callable[[int, int], bool]) -> Outcome: ...
    def record(self, path: str | PathLike[str], name: str, from_ns: int, to_ns: int) -> None: ...
    def end_recording(self) -> tuple[int, int] | None: ...
    def flush(self, watch: Callable[[int, int], bool]) -> Outcome: ...
    def lived(self, larger: int) -> dict[str, Any]: ...
    def smart(self) -> dict[str, Any]: ...
    def purge(self, watch: Callable[[int, int], bool]) -> Outcome: ...

def cache_mechanisms() -> CacheMechanisms: ...
def play(question: str) -> str: ...
def fio_memory(jobs_json: str, capacity_bytes: int) -> tuple[int, int, int]: ...
def load_spec(
    target: str,
    search: list[str],
    firmware: list[str],
    sets: list[str],
    scale: str | None = None,
) -> Spec: ...
def parse_spec(
    text: str,
    parents: list[tuple[str, str]],
    firmware: list[str],
    sets: list[str],
    scale: str | None = None,
) -> Spec: ...
def replay(
    spec: Spec,
    twin: Twin,
    path: str | PathLike[str],
    worse_json: str,
    until_cut: int | None,
    image: str | PathLike[str] | None,
    watch: Callable[[float], bool],
) -> Any: ...
def serve(
    spec: Spec,
    twin: Twin | None,
    asked_json: str,
    ready: Callable[[dict[str, Any]], object],
    watch: Callable[[dict[str, Any] | None], bool],
) -> Any: ...
def stored(spec: Spec, path: str | PathLike[str]) -> int | None: ...
def spec_words(key: str) -> list[str]: ...
def simulate(
    plans: Sequence[tuple[Spec, int, Sequence[tuple[str, int] | None]]], threads: int
) -> list[list[Seen]]: ...
def profile_trace(path: str | PathLike[str], options: str) -> TraceProfile: ...
def survey_trace(path: str | PathLike[str], options: str) -> TraceSurvey: ...
def write_parquet(
    columns: Sequence[
        tuple[str, NDArray[np.int64] | NDArray[np.float64] | tuple[NDArray[np.int64], list[str]]]
    ],
) -> bytes: ...
def read_parquet(data: bytes, most_values: int) -> dict[str, NDArray[np.int64]]: ...
def pack_tables(
    tables: Sequence[tuple[str, Sequence[tuple[str, NDArray[np.int64]]]]],
) -> bytes: ...
def unpack_tables(block: bytes, most_values: int) -> dict[str, dict[str, NDArray[np.int64]]]: ...
