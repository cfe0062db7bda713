"""Preconditioned drives that are kept: the state a twin is in after steps that only prepare it.

An entry is a directory named by its key: the SHA-256 of the spec's hash, the seed, the version of
the model and the steps since the drive was new. It holds the drive (`drive.snap`), the result of
the last step (`result.json`, `result.npz`) and what it is (`about.json`, whose time of change says
when it was last of use). Invariants: an entry is whole or not there; a run gives the same results
with and without it; nothing that goes wrong here ends a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin import _core, outputs
from flashtwin.errors import USAGE, FlashtwinError
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

# What reading a file may raise that a power cut left half written: numpy's archives are zip files.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)

Preparing = Purge | Fill | Rest | Trim | Flush


def key_of(spec: _core.Spec, seed: int, steps: Sequence[Mapping[str, Any]]) -> str:
    """The key of a prepared drive: a digest of all that decides its state. Labels of steps do
    not."""
    made_of = {"spec": spec.hash, "seed": seed, "model": _core.MODEL, "steps": list(steps)}
    text = json.dumps(made_of, sort_keys=True, separators=(",", ":"))
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


class Store:
    """The drives that are kept in one directory, up to a size: those used longest ago go first."""

    def __init__(
        self, place: Path, *, limit_bytes: int = LIMIT_BYTES, worth_s: float | None = None
    ) -> None:
        self.place, self.limit_bytes = place, limit_bytes
        self.worth_s = WORTH_S if worth_s is None else worth_s

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
            raise FlashtwinError(f"{SIZE}: {error}", exit_code=USAGE) from error

    def entries(self) -> list[Entry]:
        """Every kept drive, the one used last first."""
        there = [entry for place in self._places() if (entry := _entry(place))]
        return sorted(there, key=lambda entry: (-entry.used, entry.key))

    def find(self, key: str) -> Result | None:
        """The result of the step that led to a drive which is kept; counts as a use."""
        place = self.place / key
        try:
            result = _read(place)
            os.utime(place / ABOUT)
        except FileNotFoundError:
            return None
        except _DAMAGED:
            self.drop(key)
            return None
        if (place / DRIVE).is_file():
            return result
        self.drop(key)
        return None

    def snapshot(self, key: str) -> Path:
        """The file that holds a drive."""
        return self.place / key / DRIVE

    def keep(
        self, key: str, about: Mapping[str, Any], result: Result, save: Callable[[Path], None]
    ) -> None:
        """Keep a drive, which `save` writes; without room for it, it is not kept."""
        part = self.place / f".{key}.{os.getpid()}.part"
        try:
            part.mkdir(parents=True, mode=0o700)
            save(part / DRIVE)
            _write(part, result)
            outputs.write(part / ABOUT, json.dumps(about), within=part)
            if _size(part) <= self.limit_bytes:
                part.rename(self.place / key)
        except (OSError, FlashtwinError, _core.SnapshotError):
            pass
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._make_room()

    def drop(self, key: str) -> None:
        """Remove a drive from the store."""
        shutil.rmtree(self.place / key, ignore_errors=True)

    def clear(self, *, unused_s: float = 0.0) -> list[Entry]:
        """Remove all drives that were not used for so long; the answer is which."""
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
        for place in self._places():
            if place.name.startswith(".") and place.name.endswith(".part"):
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
        key = self._key()
        try:
            return _core.Twin.load(self._spec, self._store.snapshot(key))
        except (OSError, _core.SnapshotError):
            self._store.drop(key)
            return None

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
        about = json.loads((place / ABOUT).read_text())
        return Entry(
            key=place.name,
            place=place,
            bytes=_size(place),
            used=(place / ABOUT).stat().st_mtime,
            drive=str(about["drive"]),
            seed=int(about["seed"]),
            took_s=float(about["took_s"]),
            steps=tuple(str(step["step"]) for step in about["steps"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


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


def _read(place: Path) -> Result:
    plain = json.loads((place / RESULT).read_text())
    parts: dict[str, dict[str, Any]] = {"series": {}, "hist": {}, "xray": {}, "meter": {}}
    with np.load(place / ARRAYS, allow_pickle=False) as arrays:
        for named in plain["arrays"]:
            part, _, name = named.partition(".")
            parts[part][name] = arrays[named]
    return Result(
        label=plain["label"],
        start_ns=plain["start_ns"],
        duration_ns=plain["duration_ns"],
        series=Series(**parts["series"]),
        note=plain.get("note"),
        jobs=tuple(JobTotals(**job) for job in plain["jobs"]),
        hist=parts["hist"],
        xray=parts["xray"],
        meter=parts["meter"],
    )
