"""How the value of a published row is found from what a twin's batteries concluded.

The registry maps (test, metric) as published.toml spells them to a `Measure`: the plans that have
to be run and a function from what they gave to a `Found`. A row without an entry has no battery yet
and is not listed. Invariant: measures read findings, but for write amplification, which no host can
see and which comes from the X-ray's counters; nothing here looks at how a twin is made.

The article on the BX500 does not say in which blocks it filled the drives: 128 KiB at depth 32
counts, 1 MiB at depth 1 is shown beside it. It says nothing of rests around the random writes whose
write amplification it gives by fill. With rests of ten minutes counts: by then the drive has folded
what the fill had left behind, and afterwards what these writes have, so that the counters tell what
they cost and nothing else. Straight after the fill, where its folding runs on beside the writes and
is counted with them, is shown beside it. Nor does it say which of its tests ran on
a half-full drive: the benchmark's cells count on an empty one, half full is shown beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.catalogue.facts import Fact
from flashtwin.study.validation.rows import Found

COUNTS = "128k-q32"
BESIDE = "1m-q1"
PATTERNS = (COUNTS, BESIDE)

FILL, EMPTY, HALF = "fill", "crystaldiskmark", "crystaldiskmark, half full"
POWER, LONG = "power", "power, a long write"
WAF, STRAIGHT = "waf", "waf, straight after the fill"
# A plan is a battery with parameters, run on a fresh twin. No row asks for the mixed cells.
PLANS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    FILL: ("fill", {}),
    EMPTY: ("crystaldiskmark", {"mix": "off"}),
    HALF: ("crystaldiskmark", {"mix": "off", "fill_percent": "50"}),
    POWER: ("power", {}),
    LONG: ("power", {"size": "100GB"}),
    WAF: ("waf", {}),
    STRAIGHT: ("waf", {"settle_s": "0s"}),
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was found on one drive: findings by plan and id, and WAF of the fills by pattern."""

    findings: Mapping[str, Mapping[str, float | None]]
    fill_waf: Mapping[str, float | None]

    def value(self, plan: str, finding: str) -> float | None:
        """A finding's value; None where there is none."""
        return self.findings.get(plan, {}).get(finding)


Drives = tuple[Measured, ...]
Value = Callable[[Measured], float | None]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Which plans a row needs, and its value from what they gave for its drives in order."""

    plans: tuple[str, ...]
    find: Callable[[Drives], Found]


def measure_of(fact: Fact) -> Measure | None:
    """How the value of a fact is found; None while its battery does not exist."""
    return REGISTRY.get((fact.test, fact.metric))


def _finding(plan: str, name: str) -> Value:
    return lambda measured: measured.value(plan, name)


def _waf(pattern: str) -> Value:
    return lambda measured: measured.fill_waf.get(pattern)


def _second_over_first(drives: Drives, value: Value) -> float | None:
    return _divide(value(drives[1]), value(drives[0]))


def _first_over_second(drives: Drives, value: Value) -> float | None:
    return _divide(value(drives[0]), value(drives[1]))


def _divide(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _fill(name: str) -> Measure:
    """A finding of the fill, of one drive."""

    def find(drives: Drives) -> Found:
        values = {p: drives[0].value(FILL, f"fill.{name}[{p}]") for p in PATTERNS}
        return Found(cells={"": values[COUNTS]}, also={BESIDE: values[BESIDE]})

    return Measure(plans=(FILL,), find=find)


def _fill_ratio(of: Callable[[str], Value]) -> Measure:
    """The ratio of something of the fill, of two drives."""

    def find(drives: Drives) -> Found:
        ratios = {p: _second_over_first(drives, of(p)) for p in PATTERNS}
        return Found(cells={"": ratios[COUNTS]}, also={BESIDE: ratios[BESIDE]})

    return Measure(plans=(FILL,), find=find)


def _cells(counted: Sequence[str], direction: str, shown: Sequence[str] = ()) -> Measure:
    """Ratios of CrystalDiskMark scores, of two drives."""

    def ratio(drives: Drives, plan: str, cell: str) -> float | None:
        return _second_over_first(drives, _finding(plan, f"crystaldiskmark.{direction}[{cell}]"))

    def name(cell: str) -> str:
        return cell.rpartition("-")[2] if len(counted) + len(shown) > 1 else ""

    def find(drives: Drives) -> Found:
        half = {f"{name(cell)} half full".strip(): ratio(drives, HALF, cell) for cell in counted}
        return Found(
            cells={name(cell): ratio(drives, EMPTY, cell) for cell in counted},
            also={name(cell): ratio(drives, EMPTY, cell) for cell in shown} | half,
        )

    return Measure(plans=(EMPTY, HALF), find=find)


def _times_slower(cell: str) -> Measure:
    """Both ways in which the article says it: the latency off/on and the speed on/off."""
    speed, latency = f"crystaldiskmark.write[{cell}]", f"crystaldiskmark.write.latency[{cell}]"

    def find(drives: Drives) -> Found:
        return Found(
            cells={
                "latency off/on": _second_over_first(drives, _finding(EMPTY, latency)),
                "speed on/off": _first_over_second(drives, _finding(EMPTY, speed)),
            },
            also={"latency half full": _second_over_first(drives, _finding(HALF, latency))},
        )

    return Measure(plans=(EMPTY, HALF), find=find)


def _drawn_while_writing() -> Measure:
    """Mean and most; a write that stays in the cache and one that goes far beyond it."""

    def find(drives: Drives) -> Found:
        cells = {
            f"{what}, {size}": _second_over_first(drives, _finding(plan, f"power.write{suffix}"))
            for plan, size in ((POWER, "24 GB"), (LONG, "100 GB"))
            for what, suffix in (("mean", ""), ("most", ".most"))
        }
        return Found(cells=cells)

    return Measure(plans=(POWER, LONG), find=find)


def _ratio(plan: str, name: str) -> Measure:
    """A finding of the second drive over that of the first."""

    def find(drives: Drives) -> Found:
        return Found(cells={"": _second_over_first(drives, _finding(plan, name))})

    return Measure(plans=(plan,), find=find)


def _waf_rise() -> Measure:
    """Of the first drive, its cache on: 90 % full over 25 %, each with rests before the counters
    are read."""

    def rise(measured: Measured, plan: str) -> float | None:
        return _divide(measured.value(plan, "waf[90%]"), measured.value(plan, "waf[25%]"))

    def find(drives: Drives) -> Found:
        beside = {"straight after the fill": rise(drives[0], STRAIGHT)}
        return Found(cells={"": rise(drives[0], WAF)}, also=beside)

    return Measure(plans=(WAF, STRAIGHT), find=find)


_FILL = "fill, sequential, empty drive"
REGISTRY: Mapping[tuple[str, str], Measure] = {
    (_FILL, "cache size"): _fill("cache_size"),
    (_FILL, "speed in the cache"): _fill("speed_cache"),
    (_FILL, "speed past the cache (direct to TLC), 25 GB to 192 GB"): _fill("speed_past_cache"),
    (_FILL, "where folding begins"): _fill("fold_begin"),
    (_FILL, "speed while folding, 192 GB to full"): _fill("speed_folding"),
    (_FILL, "mean speed of the direct and folding phases together"): _fill("mean_past_cache"),
    (_FILL, "speed of the first plateau"): _fill("speed_cache"),
    (_FILL, "end of the first plateau"): _fill("cache_size"),
    (_FILL, "mean speed after it"): _fill("mean_past_cache"),
    ("fill", "time for the whole drive"): _fill_ratio(
        lambda pattern: _finding(FILL, f"fill.duration[{pattern}]")
    ),
    ("CrystalDiskMark SEQ1M Q8T1 read", "off = on (SATA-bound)"): _cells(["SEQ1M-Q8T1"], "read"),
    ("CrystalDiskMark SEQ1M Q8T1 write", "off much lower"): _cells(["SEQ1M-Q8T1"], "write"),
    (
        "CrystalDiskMark RND4K Q1T1 write",
        "off about 10 times slower; latency about 10 times higher",
    ): _times_slower("RND4K-Q1T1"),
    (
        "CrystalDiskMark RND4K read, Q1T1 and Q1T4",
        "off = on (T2, T8, T16: inferred)",
    ): _cells(
        ["RND4K-Q1T1", "RND4K-Q1T4"],
        "read",
        shown=["RND4K-Q1T2", "RND4K-Q1T8", "RND4K-Q1T16"],
    ),
    (
        "write amplification",
        "off lower: bytes programmed over bytes from the host, one fill and a second pass together",
    ): _fill_ratio(_waf),
    ("power, maximum and mean while writing", "off = on"): _drawn_while_writing(),
    (
        "power, idle after a write",
        "off clearly lower (no background folding): mean over the 10 minutes that follow a 24 GB "
        "write",
    ): _ratio(POWER, "power.after-write"),
    ("efficiency, MB per joule, folder copy", "off considerably lower"): _ratio(
        POWER, "power.copy.efficiency"
    ),
    (
        "write amplification against fill",
        "rises as the drive fills: WAF of 4 GiB of random 4 KiB writes at 90 % full over that at "
        "25 % full, cache on",
    ): _waf_rise(),
}
