"""The typed face of crates/python: specs checked and twins run in Rust."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Self, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__all__ = ["MODEL", "SnapshotError", "Spec", "SpecError", "Stopped", "Twin", "load_spec"]

# Raised with every change after which the same spec and seed give other results.
MODEL: int

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
class Outcome(TypedDict):
    start_ns: int
    duration_ns: int
    series: dict[str, NDArray[np.int64]]
    jobs: list[JobRow]
    hist: dict[str, NDArray[np.uint64]]
    xray: dict[str, NDArray[np.int64]]

class SnapshotError(Exception): ...

class SpecError(Exception):
    errors: list[SpecErrorItem]

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
    def hash(self) -> str: ...
    @property
    def firmware_profiles(self) -> list[str]: ...
    def values(self) -> list[SpecValue]: ...
    def to_toml(self) -> str: ...

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
    def now_ns(self) -> int: ...
    def run(self, jobs_json: str, sample_ns: int, watch: Callable[[int, int], bool]) -> Outcome: ...
    def rest(self, ns: int, sample_ns: int, watch: Callable[[int, int], bool]) -> Outcome: ...
    def trim(self, offset: int, size: int) -> Outcome: ...
    def flush(self) -> Outcome: ...
    def smart(self) -> dict[str, Any]: ...
    def purge(self) -> Outcome: ...

def load_spec(
    target: str,
    search: list[str],
    firmware: list[str],
    sets: list[str],
    scale: str | None = None,
) -> Spec: ...
