"""A simulated drive as a block device: made in a state, served until somebody says enough.

The server is in `flashtwin._core`; here is what it serves, where its sockets are, and what a
failure is called. The sockets lie in the data directory, or in a new directory that only its owner
can enter. Invariants: nothing is served that another server serves; what a directory holds is gone
on with and never prepared anew; a directory that was made here is removed here.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from flashtwin import _core, system
from flashtwin.drives import control, memory, untimed
from flashtwin.drives.twin import Twin
from flashtwin.errors import ENVIRONMENT, INTERRUPTED, REFUSED, USAGE, FlashtwinError
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Result, Run
from flashtwin.model.target import Progress

STATES = ("fresh", "cache-full", "half-full", "full", "worn")
# A drive that is worn out has this share of its rated cycles behind it.
WORN_SHARE = 0.95
# A cache counts as full from this share on: the firmware keeps some of it back.
FULL_SHARE = 0.97
# The path of a unix socket has 107 bytes at most.
MOST_PATH_BYTES = 107

Ready = Callable[["Addresses"], None]
Hear = Callable[[Mapping[str, Any] | None], bool]

_HINTS = {
    "locked": ("stop the other server, or give another --data", ENVIRONMENT),
    "foreign": ("give --data a directory of its own", REFUSED),
    "half-made": ("remove it and begin again", REFUSED),
    "other-drive": ("serve the drive that it belongs to, or give another --data", REFUSED),
    "damaged": ("its data cannot be used; give another --data", ENVIRONMENT),
    "machine-went-down": ("remove it and begin again", REFUSED),
    "dead": ("that is what it was asked to do; remove it and begin again", REFUSED),
    "log-there": ("give another --log, or remove it with its .bytes", REFUSED),
    "damaged-log": ("a log is what flashtwin serve --log-data writes, unchanged", USAGE),
    "no-such-cut": ("leave out --cut for the end of the log", USAGE),
    "interrupted": ("begin it again", INTERRUPTED),
    "system": ("check the path, its permissions and the room on its disk", ENVIRONMENT),
}


@dataclass(frozen=True, kw_only=True)
class Worse:
    """In which ways a drive does not do what its answers say."""

    flush_ignored: bool = False
    fua_ignored: bool = False
    superblocks_lost: int = 0
    shorn: int = 0
    never_back: bool = False


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """When the power goes by itself: with a request's number, or by chance."""

    at: int | None = None
    chance: float = 0.0
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Log:
    """A log that is to be written, beginning with a line that says how the drive was made."""

    path: Path
    with_bytes: bool
    header: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Service:
    """How a drive is served.

    `tcp` and `metrics` are addresses, `data` is a directory to keep the drive in.
    """

    speed: float = 1.0
    is_timed: bool = True
    data: Path | None = None
    packed: bool = False
    socket: Path | None = None
    tcp: str | None = None
    metrics: str | None = None
    worse: Worse = Worse()
    cuts: Cuts = Cuts()
    log: Log | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.speed) and 1e-6 <= self.speed <= 1e6):
            raise FlashtwinError(
                f"a speed of {self.speed:g} is not between 0.000001 and 1000000",
                hint="1 is the drive's own time, 10 ten times as fast",
                exit_code=USAGE,
            )
        if not 0 <= self.cuts.chance <= 1:
            raise FlashtwinError(
                f"a chance of {self.cuts.chance:g} is not between 0 and 1",
                hint="0.01 cuts the power at one of a hundred requests",
                exit_code=USAGE,
            )
        if self.packed and self.data is not None:
            raise FlashtwinError(
                "data in a directory is not compressed", hint="leave out one", exit_code=USAGE
            )


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """Where a drive is served. `start_s`: how long it took for the start after its last use."""

    uri: str
    socket: Path
    control: Path
    tcp: str | None
    metrics: str | None
    start_s: float | None


def serve(
    spec: _core.Spec,
    prepare: Callable[[], Twin],
    service: Service,
    ready: Ready,
    hear: Hear,
    *,
    with_state: bool = False,
) -> dict[str, Any]:
    """Serve a drive until `hear`, which is asked ten times a second, answers false.

    `prepare` makes the drive where the data directory does not hold it already. `with_state`:
    `hear` gets what goes on. The answer is what came of it.
    """
    home = None if service.data else Path(tempfile.mkdtemp(prefix="flashtwin-"))
    try:
        return _serve(
            spec, prepare, service, home or Path(str(service.data)), (ready, hear), with_state
        )
    finally:
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)


def check_system() -> None:
    """Refuse where the compiled part has no server."""
    if not hasattr(_core, "serve"):
        raise system.only_on("Linux", "drives are served, and what they were asked is replayed,")


def _serve(
    spec: _core.Spec,
    prepare: Callable[[], Twin],
    service: Service,
    home: Path,
    callbacks: tuple[Ready, Hear],
    with_state: bool,
) -> dict[str, Any]:
    check_system()
    socket = service.socket or home / control.SOCKET
    orders = control.beside(socket)
    for path in (socket, orders):
        if len(str(path.absolute()).encode()) > MOST_PATH_BYTES:
            raise FlashtwinError(
                f"the path {path} is too long for a socket",
                hint=f"{MOST_PATH_BYTES} bytes are the most; give --socket or a shorter --data",
                exit_code=USAGE,
            )
    order = {
        "data": None if service.data is None else str(service.data),
        "socket": str(socket.absolute()),
        "control": str(orders.absolute()),
        "tcp": service.tcp,
        "metrics": service.metrics,
        "packed": service.packed,
        "speed": service.speed,
        "untimed": not service.is_timed,
        "cut_at": service.cuts.at,
        "cut_chance": service.cuts.chance,
        "cut_seed": service.cuts.seed,
        "told": with_state,
        **vars(service.worse),
    }
    if service.log is not None:
        order |= {
            "log": str(service.log.path.absolute()),
            "log_bytes": service.log.with_bytes,
            "log_header": service.log.header,
        }
    ready, hear = callbacks

    bound: list[Path] = []

    def begun(places: Mapping[str, Any]) -> None:
        bound.extend((socket, orders))
        ready(
            Addresses(
                uri=uri_of(socket.absolute()),
                socket=socket.absolute(),
                control=orders.absolute(),
                tcp=places.get("tcp"),
                metrics=places.get("metrics"),
                start_s=places.get("start_s"),
            )
        )

    memory.check(spec)
    try:
        is_stored = service.data is not None and _core.stored(spec, service.data) is not None
        if is_stored and service.log is not None:
            raise FlashtwinError(
                f"a log begins with a drive that is made anew, and {service.data} holds one",
                hint="give another --data, or leave out --log",
                exit_code=USAGE,
            )
        twin = None if is_stored else prepare().simulation
        return dict(_core.serve(spec, twin, json.dumps(order), begun, hear))
    except _core.ServeError as error:
        raise explained(error) from error
    finally:
        # Of a server that did not begin they would be another's.
        for path in bound:
            path.unlink(missing_ok=True)


def explained(error: _core.ServeError) -> FlashtwinError:
    """What the server says is wrong, and what can be done about it."""
    message, kind = error.args
    hint, code = _HINTS[kind]
    text = message.partition(" (os error")[0]
    return FlashtwinError(text, hint=hint, exit_code=code)


def uri_of(socket: Path) -> str:
    """The address of a unix socket as NBD clients take it."""
    return f"nbd+unix:///?socket={quote(str(socket))}"


def worn(spec: _core.Spec) -> str:
    """The setting that makes a drive of this spec a worn one."""
    values = {value["key"]: value["value"] for value in spec.values()}
    cycles = int(values["nand.native.endurance"])
    return f"drive.initial_cycles={max(int(cycles * WORN_SHARE), 1)}"


def prepared(spec: _core.Spec, state: str, seed: int) -> Twin:
    """A drive in a state: one of `STATES`, or as a file has it that a twin was saved into."""
    if state not in STATES:
        if Path(state).is_file():
            return Twin.load(spec, state)
        raise FlashtwinError(
            f"there is no state {state!r}",
            hint=f"there are {', '.join(STATES)}, or a file that a twin was saved into",
            exit_code=USAGE,
        )
    twin = Twin(spec, seed=seed, preparation=untimed.AUTO).open()
    size = twin.info.capacity_bytes
    match state:
        case "cache-full":
            _fill_cache(twin)
        case "half-full":
            twin.do(Fill(label="half full", size=size // 2 // (1 << 20) * (1 << 20)), _silent)
        case "full" | "worn":
            twin.do(Fill(label="full"), _silent)
    return twin


def _silent(progress: Progress) -> bool:
    """A watch that lets everything happen."""
    return True


def _fill_cache(twin: Twin) -> None:
    """Write in order until the cache holds what it can."""
    size, written = twin.info.capacity_bytes, 0
    piece = max(size // 256 // (1 << 20), 1) << 20
    while written + piece <= size:
        job = Job(
            name="cache", rw="write", block_bytes=1 << 17, depth=32, offset=written, size=piece
        )
        result = twin.do(Run(label="cache", jobs=(job,)), _silent)
        assert isinstance(result, Result) and result.xray is not None, "a twin does everything"
        used, limit = (
            np.asarray(result.xray[name]) for name in ("cache_bytes", "cache_limit_bytes")
        )
        if not limit.any():
            raise FlashtwinError(
                f"{twin.info.name} has no cache that could be full",
                hint="take another --state",
                exit_code=USAGE,
            )
        if used[-1] >= FULL_SHARE * limit[-1]:
            return
        written += piece
