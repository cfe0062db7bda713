"""Published facts: what was measured on real drives, as rows that a twin can be held against.

`published.toml` says what its fields mean; this module reads it into `Fact`s, outcomes of one drive
and comparisons of two alike, `market.toml` into outcomes of whole fills, of synchronous writes, of
labels and of rates by queue depth, and `known.toml` into the misses that have a physical
explanation. Folders that `FLASHTWIN_CATALOGUE` adds may have a `published.toml` of their own, whose
outcomes are facts like the shipped ones.
Invariants: a fact has a kind and what its kind is judged by (`Fact.bounds`), or is only shown;
`drive`, `test` and `metric` are spelled as in the file, because reports are compared by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from flashtwin.catalogue import KNOWN, MARKET, PUBLISHED, audit, folders
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.inputs import InputError, read_toml

Kind = Literal["measured", "qualitative", "computed", "shown", "sync", "label"]
# Kinds of rows that are shown and never counted.
UNCOUNTED: tuple[Kind, ...] = ("computed", "shown")

# What a row of market.toml may state: the metric, its unit, and the tolerance that it is judged by.
# A place of a fill is read off a plot to 5 %, a rate to 10; printed means are rounder than that.
FILL_TEST = "fill, 1 MB sequential, one thread, freshly erased"
FILL_METRICS = {
    "first_plateau": ("written before the first drop", "GB", 0.05),
    "rate_in_it": ("rate in it", "MB/s", 0.10),
    "rate_past_it": ("rate past it", "MB/s", 0.10),
    "falls_again_at": ("where the rate falls again", "GB", 0.05),
    "rate_from_there": ("rate from there on", "MB/s", 0.10),
    "second_plateau_to": ("end of a second cache tier", "GB", 0.05),
    "rate_past_both": ("rate past both tiers", "MB/s", 0.10),
    "mean": ("mean of the whole fill", "MB/s", 0.12),
}
# Synchronous writes: state and firmware move one drive's figure by about three times, so it has to
# lie between the twin's in the quietest and in the most loaded state, each end wider by a factor.
# The gain of several writers is held to the same factor, and latencies to the next.
SYNC_TEST = "synchronous writes of one writer, and of several"
SYNC_FACTOR, SYNC_LATENCY_FACTOR = 1.5, 2.0
SYNC_CONDITIONS = {"state": "not stated: any between the twin's quietest and its most loaded"}
# Labels: what is printed of a drive as sold. "Up to" figures are rounder than a measurement. One at
# a time, the host's own time between two requests is a part of the figure, and nobody prints it.
LABEL_TEST = "what is printed of the drive, erased"
LABEL_DEEP = "magician:size=256MB,depth=256,seconds=500ms,host_us=0"
LABEL_SINGLE = "crystaldiskmark:profile=real,mix=off,loops=1,host_us=8"
LABEL_POWER = "power:size=256MB,rest_s=5s,random_s=100ms,sample_s=10ms"
# Short tests run on smaller drives with the same dies: a rate in the cache does not depend on how
# large the drive is. The loaded state of synchronous writes asks for a whole fill.
SHORT_SCALE = "1/4"
LABEL_METRICS = {
    "read": ("reads in order", "MB/s", 0.10, LABEL_DEEP, "magician.read[SEQ128K-Q256]"),
    "write": ("writes in order", "MB/s", 0.10, LABEL_DEEP, "magician.write[SEQ128K-Q256]"),
    "random_read": ("random reads", "IOPS", 0.25, LABEL_DEEP, "magician.read.iops[RND4K-Q256]"),
    "random_write": ("random writes", "IOPS", 0.25, LABEL_DEEP, "magician.write.iops[RND4K-Q256]"),
    "single_read": (
        *("random reads, one at a time", "IOPS", 0.25, LABEL_SINGLE),
        "crystaldiskmark.read.iops[RND4K-Q1T1]",
    ),
    "single_write": (
        *("random writes, one at a time", "IOPS", 0.25, LABEL_SINGLE),
        "crystaldiskmark.write.iops[RND4K-Q1T1]",
    ),
    "active": ("power while writing", "W", 0.25, LABEL_POWER, "power.write"),
    "idle": ("power at rest", "W", 0.25, LABEL_POWER, "power.idle"),
}
PC_HOST = {"host": "assumed: 8 us of a PC's own time between two requests"}
LABEL_CONDITIONS = {
    LABEL_SINGLE: PC_HOST,
    LABEL_POWER: {"load": "assumed: writes in order; makers say active and average"},
}
# Rates by queue depth, as reviewers measure them: in order in a file that was just written, at
# random in data that was written in order. Each is held to what a label is held to, so that a curve
# that bends elsewhere than the published one misses a depth.
CURVE_TEST = "rates by queue depth"
CURVE_IN_ORDER = "magician:size=256MB,depth={depth},seconds=500ms,host_us=8"
CURVE_RANDOM = "iometer:access=4k-100r-100x,size=1GB,depths={depth},seconds=500ms,fills=1,host_us=8"
CURVE_METRICS = {
    "read": ("reads in order", "MB/s", 0.10, CURVE_IN_ORDER, "magician.read[SEQ128K-Q{depth}]"),
    "write": ("writes in order", "MB/s", 0.10, CURVE_IN_ORDER, "magician.write[SEQ128K-Q{depth}]"),
    "random_read": (
        *("random reads", "IOPS", 0.25, CURVE_RANDOM),
        "iometer.read.iops[RND4K-Q{depth}]",
    ),
}
FILL_CONDITIONS = {"depth": "assumed 1: one thread, no review says at which depth"}


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One row: of one drive (an outcome) or of two, second over first (a comparison).

    `drives` are named as published; where an article only describes one ("a drive without
    compression"), `twins` are the drives of the catalogue that are measured, in the same order.
    `value` with `tolerance`: within that share of the value. `tolerance` alone: within it of 1.
    `low` and `high`: between them. `conditions` say under what it was measured. An outcome of an
    added folder may say itself which `battery` (as typed) and which `finding` of it are its value.
    It is measured on a drive of `scale` ("1/16"), or on the whole one.
    `fitted`: a value of the drive's spec was set by it.
    """

    drives: tuple[str, ...]
    test: str
    metric: str
    kind: Kind = "measured"
    value: float | None = None
    unit: str = ""
    tolerance: float | None = None
    low: float | None = None
    high: float | None = None
    check: str | None = None
    note: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    twins: tuple[str, ...] = ()
    battery: str = ""
    finding: str = ""
    scale: str | None = None
    fitted: bool = False

    @property
    def measured_on(self) -> tuple[str, ...]:
        """The drives of the catalogue that are measured for the row."""
        return self.twins or self.drives

    @property
    def asked_of(self) -> tuple[str, ...]:
        """The drives by which the row is chosen: those that are named and not only described."""
        named = tuple(drive for drive in self.drives if drive in self.measured_on)
        return named or self.measured_on

    @property
    def drive(self) -> str:
        """The drive's name, or "A vs B"."""
        return " vs ".join(self.drives)

    @property
    def is_comparison(self) -> bool:
        return len(self.drives) > 1

    @property
    def calibration(self) -> bool:
        """Decided by a condition that the source does not state, or what set a value of the spec:
        it validates nothing."""
        return self.fitted or any(text.startswith("assumed") for text in self.conditions.values())

    @property
    def target(self) -> float | None:
        """The number to meet: the published one, or 1 where two drives are said to be equal."""
        if self.value is None and self.low is None and self.tolerance is not None:
            return 1.0
        return self.value


@dataclass(frozen=True, kw_only=True)
class KnownMiss:
    """A row that the twin is known to miss, or a variant of it, and the physical reason."""

    drive: str
    test: str
    metric: str
    why: str
    variant: str = ""


def published() -> tuple[Fact, ...]:
    """All facts: of the articles, of the market's drives, of labels, and of added folders."""
    return (*of_articles(), *of_market(), *of_syncs(), *of_labels(), *of_curves(), *of_added())


def of_articles(path: Path = PUBLISHED) -> tuple[Fact, ...]:
    """The facts of the articles, outcomes first, each in the order of the file."""
    table = _read(path)
    outcomes = [_outcome(row) for row in table.get("outcome", [])]
    comparisons = [
        _comparison(tuple(block["drives"]), row, tuple(block.get("twins", ())))
        for block in table.get("compare", [])
        for row in block["rows"]
    ]
    return (*outcomes, *comparisons)


def of_market(path: Path = MARKET) -> tuple[Fact, ...]:
    """The whole fills of the market's drives, a fact a figure."""
    return tuple(
        Fact(
            drives=(row["id"],),
            test=FILL_TEST,
            metric=metric,
            value=row[key],
            unit=unit,
            tolerance=tolerance,
            note=row.get("note"),
            conditions=FILL_CONDITIONS,
        )
        for row in _read(path)["drive"]
        for key, (metric, unit, tolerance) in FILL_METRICS.items()
        if key in row
    )


def of_syncs(path: Path = MARKET) -> tuple[Fact, ...]:
    """What was published of synchronous writes."""
    return tuple(fact for row in _read(path)["sync"] for fact in _syncs(row))


def of_labels(path: Path = MARKET) -> tuple[Fact, ...]:
    """What is printed of drives as sold, a fact a figure."""
    return tuple(
        Fact(
            drives=(row["drive"],),
            test=LABEL_TEST,
            metric=metric,
            kind="label",
            value=row[key],
            unit=unit,
            tolerance=tolerance,
            conditions={
                **LABEL_CONDITIONS.get(battery, {}),
                "source": f"published: {row['source']}",
            },
            battery=battery,
            finding=finding,
            scale=SHORT_SCALE,
            fitted=key in row.get("fitted", ()),
        )
        for row in _read(path)["label"]
        for key, (metric, unit, tolerance, battery, finding) in LABEL_METRICS.items()
        if key in row
    )


def of_curves(path: Path = MARKET) -> tuple[Fact, ...]:
    """Rates that a review prints for several queue depths: one fact for each depth."""
    return tuple(
        Fact(
            drives=(row["drive"],),
            test=CURVE_TEST,
            metric=f"{metric} at depth {depth}",
            value=value,
            unit=unit,
            tolerance=tolerance,
            note=row.get("note"),
            conditions={**PC_HOST, "source": f"published: {row['source']}"},
            battery=battery.format(depth=depth),
            finding=finding.format(depth=depth),
            scale=SHORT_SCALE,
            fitted=key in row.get("fitted", ()),
        )
        for row in _read(path)["curve"]
        for key, (metric, unit, tolerance, battery, finding) in CURVE_METRICS.items()
        for depth, value in row.get(key, ())
    )


def of_added() -> tuple[Fact, ...]:
    """The outcomes of the folders that `FLASHTWIN_CATALOGUE` adds."""
    return tuple(_outcome(row) for table in _added() for row in table.get("outcome", []))


def _added() -> list[dict[str, Any]]:
    """What is published in added folders; raises `FlashtwinError` where its check finds a fault."""
    files = folders.outcome_files()
    for file in files:
        for fault in audit.outcomes(file.parent).faults:
            raise FlashtwinError(
                fault.text,
                hint=f"flashtwin check --catalogue {file.parent} lists all that is wrong",
                exit_code=USAGE,
            )
    return [_read(file) for file in files]


# The tables of market.toml whose rows name a drive and their own source.
_OF_ROWS = ("sync", "label", "curve")


def drives() -> tuple[str, ...]:
    """The drives that something was published about, by id."""
    tables = (_read(PUBLISHED), _read(MARKET), *_added())
    ids = [drive["id"] for table in tables for drive in table.get("drive", [])]
    rows = [row["drive"] for kind in _OF_ROWS for row in _read(MARKET)[kind]]
    return tuple(dict.fromkeys([*ids, *rows]))


def sources(drive: str) -> str | None:
    """Where the facts of a drive come from; None for a drive without any."""
    if (shipped := _sources().get(drive)) is not None:
        return shipped
    for table in _added():
        for row in table.get("drive", []):
            if row["id"] == drive:
                return str(table["sources"][row["source"]])
    return None


@cache
def _sources() -> Mapping[str, str]:
    articles = _read(PUBLISHED)
    of_market = {row["id"]: str(row["source"]) for row in _read(MARKET)["drive"]}
    of_articles = {row["id"]: str(articles["sources"][row["source"]]) for row in articles["drive"]}
    of_rows = {row["drive"]: str(row["source"]) for kind in _OF_ROWS for row in _read(MARKET)[kind]}
    return {**of_rows, **of_market, **of_articles}


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """What a maker rates as "up to": MB/s in order, requests a second at random.

    `origin` as a spec has it, and `source` where no article of `published.toml` prints them.
    """

    read: float | None = None
    write: float | None = None
    random_read: float | None = None
    random_write: float | None = None
    origin: str = "published"
    source: str | None = None

    def by_name(self) -> dict[str, float | None]:
        """All four, those that are not known too."""
        return {name: getattr(self, name) for name in _RATED}


# As a `design` in published.toml spells them.
_RATED = {
    "read": "seq_read_MBs",
    "write": "seq_write_MBs",
    "random_read": "rand_read_iops",
    "random_write": "rand_write_iops",
}


def ratings_of(drive: str) -> Ratings | None:
    """The ratings of a drive that published.toml has any of; None of another."""
    designs = {row["id"]: row.get("design", {}) for row in _read(PUBLISHED)["drive"]}
    design = designs.get(drive, {})
    rated = designs.get(design.get("same_as", drive), {}).get("rated")
    if not rated:
        return None
    values = {name: rated.get(key) for name, key in _RATED.items()}
    return Ratings(**values, origin=rated.get("origin", "published"), source=rated.get("source"))


def known_misses(path: Path = KNOWN) -> tuple[KnownMiss, ...]:
    """The listed misses."""
    return tuple(KnownMiss(**row) for row in _read(path).get("known", []))


def facts_for(chosen: Iterable[str], facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts whose named drives are all among the chosen ones. A drive that is only described
    comes with the one that it is compared with."""
    names = set(chosen)
    return tuple(fact for fact in facts if names.issuperset(fact.asked_of))


def _outcome(row: Mapping[str, Any]) -> Fact:
    stated = {key: value for key, value in row.items() if key != "drive"}
    return Fact(drives=(row["drive"],), **stated)


def _syncs(row: Mapping[str, Any]) -> Iterator[Fact]:
    """What was published of a drive's synchronous writes, a fact a figure."""
    cell = {"flush": "4k", "fua": "dsync"}[row["way"]]
    writers, gain = row.get("several", (2, None))
    battery = f"sync:writers={writers},together={row['way']},seconds=2s"

    def fact(metric: str, finding: str, unit: str, low: float | None, high: float | None) -> Fact:
        return Fact(
            drives=(row["drive"],),
            test=SYNC_TEST,
            metric=metric,
            kind="sync",
            unit=unit,
            low=low,
            high=high,
            note=row.get("note"),
            conditions={**SYNC_CONDITIONS, "source": f"published: {row['source']}"},
            battery=battery,
            finding=f"sync.{finding}",
            scale=SHORT_SCALE,
            fitted=row.get("fitted", False),
        )

    rate, wide = row["iops"], SYNC_FACTOR
    least, most = (0.5, None) if row["protected"] else (None, 0.5)
    yield fact("probability of protection", "is_protected", "", least, most)
    yield fact("rate in the quietest state", f"iops[fresh-{cell}]", "IOPS", rate / wide, None)
    yield fact("rate in the most loaded state", f"iops[beside-{cell}]", "IOPS", None, rate * wide)
    if gain is not None:
        name = f"gain of {writers} writers"
        yield fact(name, "gain[fresh]", "x", gain / wide, gain * wide)
    for key, name in (("p50", "median of a flush"), ("p99", "99 % of the flushes")):
        if key in row:
            ends = (row[key] / SYNC_LATENCY_FACTOR, row[key] * SYNC_LATENCY_FACTOR)
            yield fact(name, f"{key}[fresh-{cell}]", "us", *ends)


def _comparison(pair: tuple[str, ...], row: Mapping[str, Any], twins: tuple[str, ...]) -> Fact:
    """A row of a comparison goes by its check where it names no metric, and is qualitative by
    bounds. It may have twins of its own."""
    stated = {"metric": row["check"], "kind": "qualitative" if "low" in row else "measured", **row}
    return Fact(drives=pair, **{**stated, "twins": tuple(row.get("twins", twins))})


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, most_bytes=audit.MOST_OUTCOMES)
    except InputError as error:
        raise FlashtwinError(
            error.message,
            hint="the installation is damaged; install flashtwin again",
            exit_code=ENVIRONMENT,
        ) from error
