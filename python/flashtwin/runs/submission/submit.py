"""`submit` makes of a measured run the folder that a catalogue takes in.

What goes in is chosen by name, so that a member which a run has and this module does not know stays
at home; words of the user's own (notes, parameters) are freed of what names a machine. At last all
that is to be written is read through once more, for the paths, names and serial numbers of the
run's own `manifest.json` and `host.json`: what still holds one is not written.
A series has at most `MOST_ROWS` rows a step and direction: neighbours are joined, and bytes,
requests and times stay what they were.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from flashtwin import __version__, outputs, system
from flashtwin.catalogue import private
from flashtwin.errors import REFUSED, USAGE, FlashtwinError
from flashtwin.model.lazy import Lazy
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import digest_of, json_bytes, parquet_bytes, sealed_bytes
from flashtwin.runs.submission import document
from flashtwin.runs.submission.document import Battery, Conditions, Drive, File, Host, Submission

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flashtwin.runs.frames import Table
else:
    np = Lazy("numpy")

MOST_ROWS = 2_000
# A name with fewer characters may be a word of any sentence: there it is one only where - and the
# like join it to something. Where the user's own words stand it always is.
LEAST_NAME = 4
# One letter tells nobody from another, and so do names that machines and users have by default.
LEAST_LETTERS = 2
_ANYBODYS = frozenset(
    (
        *("admin", "administrator", "debian", "fedora", "host", "hdd", "home", "io", "lab"),
        *("linux", "localdomain", "localhost", "mac", "nas", "nvme", "pc", "pi", "raspberrypi"),
        *("root", "sata", "server", "ssd", "test", "ubuntu", "usb", "user", "vm", "work"),
    )
)
_ABSOLUTE = re.compile(r"(?<![\w./])(?:/[\w.@+-]+){2,}/?|(?<!\w)[A-Z]:\\[^\s\"']+")
_VERSION = re.compile(r"\d+(?:\.\d+)*")
_SERIALS = re.compile(r"serial|wwn|eui|nguid|uuid", re.IGNORECASE)


def submit(
    run: Run, out: Path | None = None, *, drive: str | None = None, twin: bool = False
) -> Path:
    """Write the folder and return it: `out`, or one in this directory, named by drive and run.

    `drive` names it where the run does not. Raises `FlashtwinError` for a run that is not finished
    or was cut short, and for a simulated one unless `twin` says that it is meant.
    """
    _check_whole(run)
    simulated = run.is_simulated
    if simulated and not twin:
        raise FlashtwinError(
            f"{run.path} is a run of a twin: no hardware was measured",
            hint="a catalogue takes measured runs; with --twin the folder says SIMULATED",
            exit_code=USAGE,
        )
    if simulated and out is not None and not out.name.endswith(document.SIMULATED):
        raise FlashtwinError(
            f"{out} would hold a simulated run, and does not say so",
            hint=f"--out {out}{document.SIMULATED}",
            exit_code=USAGE,
        )
    secrets = _secrets(run)
    about = _drive(run, drive, simulated)
    _check_own_words(run, about, secrets)
    submission, files = _files(run, about, simulated, secrets)
    files[document.DOCUMENT] = sealed_bytes(msgspec.to_builtins(submission), document.DOCUMENT)
    _check_private(files, secrets)
    place = out or Path(_name(submission))
    outputs.check_empty(place, "choose another folder with --out")
    outputs.write_all({place / name: data for name, data in files.items()}, folders=True)
    return place


def _check_whole(run: Run) -> None:
    if not run.finished:
        raise FlashtwinError(
            f"{run.path} is not finished: {len(run.steps)} steps are done",
            hint=f"flashtwin test --resume {run.path} goes on with it",
            exit_code=USAGE,
        )
    if cut := [step.label for step in run.steps if step.cut]:
        raise FlashtwinError(
            f"{run.path} was cut short by its budget: {', '.join(cut[:3])}",
            hint="measure again without --budget, or with a longer one",
            exit_code=USAGE,
        )


def _drive(run: Run, name: str | None, simulated: bool) -> Drive:
    target, host = run.target, run.host
    identity = target.get("identity") or {}
    known = identity.get("name") or target["name"] if simulated else host.get("device_model")
    if not (name or known):
        raise FlashtwinError(
            f"{run.path} does not say which drive it measured",
            hint='name it as it is sold: --drive "Crucial BX500 240 GB"',
            exit_code=USAGE,
        )
    if not str(name or known).isprintable():
        raise FlashtwinError(
            f"--drive {str(name or known)!a} holds what is no text",
            hint="name the drive as it is sold, in UTF-8 and in one line",
            exit_code=USAGE,
        )
    return Drive(
        name=str(name or known),
        capacity_bytes=int(target["capacity_bytes"]) if _is_whole(run, simulated) else None,
        firmware=host.get("device_firmware"),
        link=host.get("device_link"),
        spec=identity.get("spec") if simulated else None,
        spec_hash=identity.get("hash") if simulated else None,
        model=identity.get("model") if simulated else None,
    )


def _files(
    run: Run, drive: Drive, simulated: bool, secrets: Secrets
) -> tuple[Submission, dict[str, bytes]]:
    """The document, and the files that it has the digests of."""
    series, merged = compact(run.table("series"))
    files = {
        document.FINDINGS: json_bytes(
            {"findings": _freed([finding.to_json() for finding in run.findings], secrets)}
        ),
        document.STEPS: json_bytes({"steps": [_freed(row, secrets) for row in _steps(run)]}),
        document.SERIES: parquet_bytes(series),
        document.HIST: parquet_bytes(run.table("hist")),
    }
    conditions = _conditions(run, simulated, secrets)
    files[document.README] = _readme(run, drive, conditions, simulated).encode()
    listed = {name: File(sha256=digest_of(data), bytes=len(data)) for name, data in files.items()}
    submission = Submission(
        schema=document.SCHEMA,
        flashtwin=__version__,
        simulated=simulated,
        drive=drive,
        conditions=conditions,
        host=_host(run),
        run=run.origin,
        merged=merged,
        files=listed,
    )
    return submission, files


def _steps(run: Run) -> Iterator[dict[str, Any]]:
    for step in run.steps:
        yield {
            **step.heading(),
            "start_ns": step.start_ns,
            "duration_ns": step.duration_ns,
            "jobs": [msgspec.to_builtins(job) for job in step.jobs],
            "detail": dict(step.detail),
            "note": step.note,
            "not_possible": step.not_possible,
        }


def _conditions(run: Run, simulated: bool, secrets: Secrets) -> Conditions:
    target, host = run.target, run.host
    identity = target.get("identity") or {}
    batteries = [
        Battery(
            name=row["name"],
            parameters=_freed(row.get("parameters") or {}, secrets, own_words=True),
            departs=_freed(row.get("departs") or [], secrets),
        )
        for row in run.manifest.get("batteries") or []
    ]
    return Conditions(
        batteries=batteries,
        seed=int(run.manifest.get("seed", 0)),
        whole_drive=_is_whole(run, simulated),
        measured_bytes=int(identity.get("size_bytes") or target.get("capacity_bytes") or 0),
        file_system=identity.get("file_system"),
        filled=host.get("file_system_full"),
        direct=identity.get("direct"),
        engine=identity.get("engine"),
        fio=identity.get("fio"),
        scheduler=host.get("device_scheduler"),
        temperature_c=host.get("device_temperature_c"),
        date=str(host["began"])[:10] if host.get("began") else None,
    )


def _is_whole(run: Run, simulated: bool) -> bool:
    """Whether the drive itself was measured and not a file on it."""
    return simulated or bool(run.target.get("can", {}).get("whole_drive"))


def _host(run: Run) -> Host:
    host = run.host
    kernel = _VERSION.match(str(host.get("kernel") or ""))
    return Host(
        system=host.get("system"),
        # What follows the version is often a company's or a machine's own.
        kernel=kernel[0] if kernel else None,
        machine=host.get("machine"),
        processor=host.get("processor"),
        cpus=host.get("cpus"),
        memory_bytes=host.get("memory_bytes"),
    )


def _readme(run: Run, drive: Drive, conditions: Conditions, simulated: bool) -> str:
    """What a reader of the pull request sees first."""
    size = conditions.measured_bytes / 1e9
    measured = "the whole drive" if conditions.whole_drive else f"a file of {size:,.4g} GB on it"
    lines = [f"# {drive.name}", ""]
    if simulated:
        lines += ["**SIMULATED: a twin was measured. No hardware gave these numbers.**", ""]
    names = ", ".join(battery.name for battery in conditions.batteries)
    lines += [f"{names} on {measured}, seed {conditions.seed}, flashtwin {__version__}.", ""]
    lines += ["| finding | value | |", "|---|---|---|"]
    for finding in run.findings:
        if finding.headline and finding.value is not None:
            value = finding.value if isinstance(finding.value, str) else f"{finding.value:,.4g}"
            lines.append(f"| {finding.title} | {value} | {finding.unit} |")
    return "\n".join([*lines, ""])


def _name(submission: Submission) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", submission.drive.name.lower()).strip("-")[:60] or "drive"
    end = document.SIMULATED if submission.simulated else ""
    return f"{slug}-{submission.run[:8]}{end}"


def compact(table: Table, most_rows: int = MOST_ROWS) -> tuple[dict[str, NDArray[np.int64]], int]:
    """The series with fewer rows, and the largest number of samples in a row."""
    columns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in table}
    merged = 0
    pairs = sorted({*zip(table["step"].tolist(), table["direction"].tolist(), strict=True)})
    for step, direction in pairs:
        rows = np.flatnonzero((table["step"] == step) & (table["direction"] == direction))
        each = -(-len(rows) // most_rows)
        merged = max(merged, each)
        joined = _joined({name: column[rows] for name, column in table.items()}, each)
        for name, column in joined.items():
            columns[name].append(column)
    empty = np.zeros(0, dtype=np.int64)
    series = {name: np.concatenate(parts or [empty]) for name, parts in columns.items()}
    order = np.lexsort((series["direction"], series["t_ns"], series["step"]))
    return {name: column[order] for name, column in series.items()}, merged


def _joined(rows: Table, each: int) -> dict[str, NDArray[np.int64]]:
    """The rows of one step and direction, every `each` neighbours as one."""
    starts = np.arange(0, len(rows["t_ns"]), each)
    none = np.iinfo(np.int64).max
    least = np.minimum.reduceat(np.where(rows["ios"] > 0, rows["lat_min_ns"], none), starts)
    first = {name: rows[name][starts] for name in ("step", "direction", "t_ns")}
    sums = {
        name: np.add.reduceat(rows[name], starts)
        for name in ("dt_ns", "ios", "bytes", "lat_sum_ns")
    }
    least_or_zero = np.where(least == none, 0, least)
    most = np.maximum.reduceat(rows["lat_max_ns"], starts)
    return {**first, **sums, "lat_min_ns": least_or_zero, "lat_max_ns": most}


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What the run's own files and this machine say of the machine and its user: paths, marks and
    serial numbers as they are written, and names, each in small letters; the longest first."""

    exact: tuple[str, ...]
    names: tuple[str, ...]

    def named_in(self, text: str) -> bool:
        """Whether some name is a word of a text, also of one joined by - or _."""
        return any(_word(name).search(text) for name in self.names)

    def freed(self, text: str, *, own_words: bool) -> str:
        """The text without them. `own_words`: the user wrote it."""
        for secret in self.exact:
            text = _as_written(secret).sub(_LEFT_OUT, text)
        for name in self.names:
            joined_only = len(name) < LEAST_NAME and not own_words
            text = (_joined_word(name) if joined_only else _word(name)).sub(_LEFT_OUT, text)
        return _ABSOLUTE.sub(_LEFT_OUT, text)

    def held_in(self, text: str) -> bool:
        """Whether a whole file still holds one: what may be a word of any file, a short name, is
        looked for in the user's own words alone."""
        names = (name for name in self.names if len(name) >= LEAST_NAME)
        return any(_as_written(secret).search(text) for secret in (*self.exact, *names))


_LEFT_OUT = "(left out)"


@cache
def _as_written(secret: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(secret)}(?![\w-])")


@cache
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE)


@cache
def _joined_word(name: str) -> re.Pattern[str]:
    name = re.escape(name)
    return re.compile(
        rf"(?<![^\W_]){name}(?=[-_@.]\S)|(?<=\S[-_@.]){name}(?![^\W_])", re.IGNORECASE
    )


def _secrets(run: Run) -> Secrets:
    """The name of a device (sda) and of the measured file reveal nothing and are not among them."""
    host, target = run.host, run.target
    paths = [host.get("directory"), host.get("path"), (host.get("file") or {}).get("path")]
    exact = {str(path) for path in paths if path}
    names = {*_machine(), *(part for path in exact for part in _people(Path(path)))}
    if mark := (host.get("file") or {}).get("mark"):
        exact.add(str(mark))
    exact |= {*_serials({"host": host, "identity": target.get("identity"), "steps": _smart(run)})}
    personal = {name.lower() for name in names} - _ANYBODYS
    telling = {name for name in personal if sum(map(str.isalpha, name)) >= LEAST_LETTERS}
    return Secrets(exact=_longest_first(exact), names=_longest_first(telling))


def _longest_first(texts: set[str]) -> tuple[str, ...]:
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def _machine() -> Iterator[str]:
    """The names of this machine, with its domain and without, and of its user."""
    name = socket.gethostname()
    yield from (name, name.partition(".")[0])
    if system.pwd is None:
        yield os.environ.get("USERNAME", "")
        return
    with contextlib.suppress(KeyError):
        yield system.pwd.getpwuid(system.user()).pw_name


def _smart(run: Run) -> list[Any]:
    return [run.smart("before"), run.smart("after"), *(dict(step.smart) for step in run.steps)]


def _people(path: Path) -> Iterator[str]:
    """The user's name in a path: the part behind the directory of all users."""
    parts = path.parts
    for place, name in enumerate(parts[:-1]):
        if name in ("home", "Users"):
            yield parts[place + 1]


def _serials(value: Any) -> Iterator[str]:
    """Values under names that mean a serial number or the like, by which one drive is known from
    all others."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _SERIALS.search(str(key)) and isinstance(inner, str | int) and len(str(inner)) >= 4:
                yield str(inner)
            yield from _serials(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _serials(inner)


# Members that are names within a run, which other members refer to.
_NAMES = ("id", "battery", "name", "label", "kind", "unit", "variant", "rw")


def _freed(value: Any, secrets: Secrets, *, own_words: bool = False) -> Any:
    """A value without what names the machine."""
    if isinstance(value, str):
        return secrets.freed(value, own_words=own_words)
    if isinstance(value, Mapping):
        return {
            key: inner if key in _NAMES else _freed(inner, secrets, own_words=own_words)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_freed(inner, secrets, own_words=own_words) for inner in value]
    return value


def _check_own_words(run: Run, drive: Drive, secrets: Secrets) -> None:
    """Refuse names that the user gave to the drive or to jobs, and that stay as they are, where
    one names a machine or a user."""
    if secrets.named_in(drive.name):
        raise _names_somebody("the drive's name", drive.name)
    for row in run.manifest.get("batteries") or []:
        for name in _given_names(row.get("parameters") or {}):
            if secrets.named_in(name):
                raise _names_somebody(f"a name in the parameters of {row['name']}", name)


def _given_names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _NAMES and isinstance(inner, str):
                yield inner
            else:
                yield from _given_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _given_names(inner)


def _names_somebody(place: str, name: str) -> FlashtwinError:
    return FlashtwinError(
        f"the submission would hold the name of a user or a machine: {place} is {name!r}",
        hint="give --drive as it is sold; measure again where the name of a job has it",
        exit_code=REFUSED,
    )


def _check_private(files: Mapping[str, bytes], secrets: Secrets) -> None:
    """Refuse a text that still names the machine: somebody may have put it into a label or a
    drive's name."""
    for name, data in files.items():
        if name.endswith(".parquet"):
            # Whole numbers alone.
            continue
        text = data.decode()
        held = next((kind for _, kind in private.traces(text)), None)
        if secrets.held_in(text):
            held = held or "the name of a file, a user or a machine, or a serial number"
        if held:
            raise FlashtwinError(
                f"{name} would hold {held}",
                hint="measure again with a target and labels that name neither machine nor user",
                exit_code=REFUSED,
            )
