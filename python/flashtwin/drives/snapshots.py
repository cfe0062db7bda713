"""Preconditioned drives that are kept: the state a twin is in after steps that only prepare it.

An entry is a directory named by its key: the SHA-256 of the spec's hash, the seed, the version of
the model and the steps since the drive was new. It holds the drive (`drive.snap`), the result of
the last step (`result.json`, `result.npz`) and what it is (`about.json`, whose time of change says
when it was last of use). `about.json` has the SHA-256 of the other files and one of itself, and
what it says gives the entry's key. Invariants: a run gives the same results with and without an
entry; what is not what was written is removed and made again, and `Store.remarks` says so; only
regular files are opened; nothing that goes wrong here ends a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from flashtwin import _core, outputs
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import InputError, open_regular, parse_json, read_regular
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import Fill, Flush, JobTotals, Purge, Rest, Result, Trim
from flashtwin.model.units import parse_size

SIZE = "FLASHTWIN_CACHE_SIZE"
LIMIT_BYTES = 8 * 10**9
# A preparation that took less is repeated: to load a drive takes a few seconds as well.
WORTH_S = 10.0
# Files that a process left half written disturb nobody, and are removed after a day.
STALE_S = 86_400.0
ABOUT, DRIVE, RESULT, ARRAYS = "about.json", "drive.snap", "result.json", "result.npz"

# Bytes that are read of `about.json`.
MOST_ABOUT = 1 << 20
_KEY = re.compile(r"[0-9a-f]{64}")
_NOT_WRITTEN = "it is not what was written"
# What may come of a result whose digest somebody made to fit: numpy's archives are zip files.
_NO_RESULT = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)

Preparing = Purge | Fill | Rest | Trim | Flush


def key_of(spec: _core.Spec, seed: int, steps: Sequence[Mapping[str, Any]]) -> str:
    """The key of a prepared drive: a digest of all that decides its state. Labels of steps do
    not."""
    return key_from(spec.hash, seed, _core.MODEL, steps)


def key_from(spec_hash: str, seed: int, model: int, steps: Sequence[Mapping[str, Any]]) -> str:
    """The key of what an entry says of itself."""
    return _digest({"spec": spec_hash, "seed": seed, "model": model, "steps": list(steps)})


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(step: Preparing, *, is_untimed: bool = False) -> dict[str, Any]:
    """A step as it is hashed: only the fields that decide a drive's state. `is_untimed`: fills
    are done without time, which leaves the drive in another state."""
    fields = {name: value for name, value in asdict(step).items() if name != "label"}
    how = "untimed " if is_untimed and isinstance(step, Fill) else ""
    return {"step": how + type(step).__name__.lower(), **fields}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One drive that is kept; `used` is seconds since 1970, `took_s` what its making took."""

    key: str
    place: Path
    bytes: int
    used: float
    drive: str
    seed: int
    took_s: float
    steps: tuple[str, ...]


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of an entry."""

    bytes: int
    sha256: str


class _About(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`about.json`: what an entry is. `check` is the digest of all the rest."""

    drive: str
    hash: str
    seed: int
    model: int
    took_s: float
    steps: list[dict[str, Any]]
    files: dict[str, _Part]
    check: str


class _Plain(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`result.json`: a result but for its arrays."""

    label: str
    start_ns: int
    duration_ns: int
    note: str | None
    jobs: tuple[JobTotals, ...]
    arrays: list[str]


class Store:
    """The drives that are kept in one directory, up to a size: those used longest ago go first."""

    def __init__(
        self, place: Path, *, limit_bytes: int = LIMIT_BYTES, worth_s: float | None = None
    ) -> None:
        self.place, self.limit_bytes = place, limit_bytes
        self.worth_s = WORTH_S if worth_s is None else worth_s
        self._remarks: list[str] = []

    @classmethod
    def from_environment(cls) -> Store | None:
        """Where FLASHTWIN_CACHE says, else in the user's cache directory; none if it is off or the
        user has no home."""
        place = outputs.cache_folder()
        if place is None:
            return None
        text = os.environ.get(SIZE, "")
        try:
            return cls(place, limit_bytes=parse_size(text) if text else LIMIT_BYTES)
        except ValueError as error:
            raise FlashtwinError(
                f"{SIZE}: {error}", hint="write a size, for example 20GB", exit_code=USAGE
            ) from error

    def entries(self) -> list[Entry]:
        """Every kept drive, the one used last first."""
        there = [entry for place in self._places() if (entry := _entry(place))]
        return sorted(there, key=lambda entry: (-entry.used, entry.key))

    def find(self, key: str) -> Result | None:
        """The result of the step that led to a drive which is kept; counts as a use."""
        place = self.place / key
        if not os.path.lexists(place):
            return None
        try:
            about = _about(place)
            result = _read(place, about)
            _check_size(place / DRIVE, about.files[DRIVE])
        except ValueError as error:
            self._make_again(key, str(error))
            return None
        with contextlib.suppress(OSError):
            os.utime(place / ABOUT)
        return result

    def load(self, key: str, spec: _core.Spec) -> _core.Twin | None:
        """A drive that is kept; none where it is not what was written."""
        place = self.place / key
        try:
            _check_digest(place / DRIVE, _about(place).files[DRIVE])
            return _core.Twin.load(spec, place / DRIVE)
        except (OSError, ValueError, _core.SnapshotError) as error:
            self._make_again(key, str(error))
            return None

    def remarks(self) -> list[str]:
        """What was damaged since the last call, a sentence each."""
        remarks, self._remarks = self._remarks, []
        return remarks

    def _make_again(self, key: str, why: str) -> None:
        place = self.place / key
        self._remarks.append(f"the kept drive {place} is damaged ({why}), and is made again")
        self.drop(key)

    def keep(
        self, key: str, about: Mapping[str, Any], result: Result, save: Callable[[Path], None]
    ) -> None:
        """Keep a drive, which `save` writes; without room for it, it is not kept."""
        part = self.place / f".{key}.{os.getpid()}.part"
        try:
            part.mkdir(parents=True, mode=0o700)
            save(part / DRIVE)
            _write(part, result)
            files = {name: _part_of(part / name) for name in (DRIVE, RESULT, ARRAYS)}
            content = {**about, "files": files}
            text = json.dumps({**content, "check": _digest(content)})
            outputs.write(part / ABOUT, text, within=part)
            if _size(part) <= self.limit_bytes:
                part.rename(self.place / key)
        except (OSError, FlashtwinError, _core.SnapshotError):
            pass
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._make_room()

    def drop(self, key: str) -> None:
        """Remove a drive from the store."""
        place = self.place / key
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                place.unlink()

    def clear(self, *, unused_s: float = 0.0) -> list[Entry]:
        """Remove all drives that were not used for that time; the answer is which."""
        before = time.time() - unused_s
        unused = [entry for entry in self.entries() if entry.used <= before]
        for entry in unused:
            self.drop(entry.key)
        self._sweep(0.0 if unused_s == 0 else STALE_S)
        return unused

    def _places(self) -> Iterator[Path]:
        with contextlib.suppress(OSError):
            yield from sorted(self.place.iterdir())

    def _make_room(self) -> None:
        self._sweep(STALE_S)
        kept_bytes = 0
        for entry in self.entries():
            kept_bytes += entry.bytes
            if kept_bytes > self.limit_bytes:
                self.drop(entry.key)

    def _sweep(self, older_s: float) -> None:
        """Remove what a process left half written, and entries that nobody can use."""
        for place in self._places():
            if _KEY.fullmatch(place.name) and _entry(place) is None:
                self.drop(place.name)
            elif place.name.startswith(".") and place.name.endswith(".part"):
                with contextlib.suppress(OSError):
                    if place.stat().st_mtime <= time.time() - older_s:
                        shutil.rmtree(place, ignore_errors=True)


class Preparation:
    """A drive's steps since it was new, as long as they only prepare it."""

    def __init__(
        self, store: Store, spec: _core.Spec, seed: int, *, is_untimed: bool = False
    ) -> None:
        self._store, self._spec, self._seed = store, spec, seed
        self._is_untimed = is_untimed
        self.steps: list[Preparing] = []
        # Seconds of work in the drive at hand that no entry holds.
        self._took_s = 0.0

    def _key(self) -> str:
        return key_of(self._spec, self._seed, self._canonical())

    def _canonical(self) -> list[dict[str, Any]]:
        return [canonical(step, is_untimed=self._is_untimed) for step in self.steps]

    def find(self, step: Preparing) -> Result | None:
        """The result of the next step, where the drive after it is kept; then it is taken."""
        self.steps.append(step)
        result = self._store.find(self._key())
        if result is None:
            self.steps.pop()
        return result

    def load(self) -> _core.Twin | None:
        """The kept drive; none where it cannot be read any more."""
        self._took_s = 0.0
        return self._store.load(self._key(), self._spec)

    def done(self, step: Preparing, result: Result, took_s: float, drive: _core.Twin) -> None:
        """The next step was carried out; the drive is kept if that saves time."""
        self.steps.append(step)
        self._took_s += took_s
        if self._took_s < self._store.worth_s:
            return
        about = {
            "drive": self._spec.id,
            "hash": self._spec.hash,
            "seed": self._seed,
            "model": _core.MODEL,
            "took_s": round(self._took_s, 3),
            "steps": self._canonical(),
        }
        self._store.keep(self._key(), about, result, drive.save)
        self._took_s = 0.0


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.iterdir())


def _entry(place: Path) -> Entry | None:
    """The kept drive in a directory; none where there is none."""
    try:
        about = _about(place)
        return Entry(
            key=place.name,
            place=place,
            bytes=_size(place),
            used=(place / ABOUT).stat().st_mtime,
            drive=about.drive,
            seed=about.seed,
            took_s=about.took_s,
            steps=tuple(str(step.get("step")) for step in about.steps),
        )
    except (OSError, ValueError):
        return None


def _about(place: Path) -> _About:
    """What an entry says of itself; raises `ValueError` where that is not what was written, or was
    written of another entry."""
    try:
        value = parse_json(read_regular(place / ABOUT, most_bytes=MOST_ABOUT))
        about = msgspec.convert(value, _About)
    except InputError as error:
        raise ValueError(error.message) from error
    except ValueError as error:
        raise ValueError(f"{place / ABOUT}: {error}") from error
    content = {name: value[name] for name in value if name != "check"}
    key = key_from(about.hash, about.seed, about.model, about.steps)
    are_named = about.files.keys() == {DRIVE, RESULT, ARRAYS}
    if about.check != _digest(content) or key != place.name or not are_named:
        raise ValueError(f"{place / ABOUT}: {_NOT_WRITTEN}")
    return about


def _part_of(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return {"bytes": opened.tell(), "sha256": digest}


def _check_size(file: Path, part: _Part) -> None:
    """Raise `ValueError` where a file is not there as a regular one of its length."""
    try:
        handle = open_regular(file)
    except InputError as error:
        raise ValueError(error.message) from error
    try:
        if os.fstat(handle).st_size != part.bytes:
            raise ValueError(f"{file}: {_NOT_WRITTEN}")
    finally:
        os.close(handle)


def _check_digest(file: Path, part: _Part) -> None:
    """Raise `ValueError` where a file is not what was written."""
    _check_size(file, part)
    if _part_of(file)["sha256"] != part.sha256:
        raise ValueError(f"{file}: {_NOT_WRITTEN}")


def _bytes_of(file: Path, part: _Part) -> bytes:
    """The bytes of a small file of an entry."""
    try:
        data = read_regular(file, most_bytes=max(part.bytes, 0))
    except InputError as error:
        raise ValueError(error.message) from error
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise ValueError(f"{file}: {_NOT_WRITTEN}")
    return data


def _write(place: Path, result: Result) -> None:
    """A result as JSON and arrays, both exact."""
    parts = {
        "series": {name: getattr(result.series, name) for name in COLUMNS},
        "hist": result.hist,
        "xray": result.xray,
        "meter": result.meter,
    }
    arrays = {f"{part}.{name}": data for part, of in parts.items() for name, data in of.items()}
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    outputs.write(place / ARRAYS, packed.getvalue(), within=place)
    plain = {
        "label": result.label,
        "start_ns": result.start_ns,
        "duration_ns": result.duration_ns,
        "note": result.note,
        "jobs": [asdict(job) for job in result.jobs],
        "arrays": list(arrays),
    }
    outputs.write(place / RESULT, json.dumps(plain), within=place)


def _read(place: Path, about: _About) -> Result:
    """The result that an entry holds; raises `ValueError` where it is not what was written."""
    text, packed = (_bytes_of(place / name, about.files[name]) for name in (RESULT, ARRAYS))
    try:
        plain = msgspec.convert(parse_json(text), _Plain)
        return _result(plain, _unpacked(packed, plain.arrays))
    except _NO_RESULT as error:
        raise ValueError(f"{place / RESULT}: {error}") from error


def _unpacked(packed: bytes, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Arrays by part of the result and by name."""
    parts: dict[str, dict[str, Any]] = {"series": {}, "hist": {}, "xray": {}, "meter": {}}
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        for place in names:
            part, _, name = place.partition(".")
            parts[part][name] = arrays[place]
    return parts


def _result(plain: _Plain, parts: Mapping[str, dict[str, Any]]) -> Result:
    return Result(
        label=plain.label,
        start_ns=plain.start_ns,
        duration_ns=plain.duration_ns,
        series=Series(**parts["series"]),
        note=plain.note,
        jobs=plain.jobs,
        hist=parts["hist"],
        xray=parts["xray"],
        meter=parts["meter"],
    )
