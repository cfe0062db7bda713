"""What `--json` prints, as types: docs/reference/schemas/commands is made of them.

A command builds its document, and `terminal.print_json` encodes it. A type has exactly the keys
that are printed, in their order; keys may be added and keep their meanings
(docs/reference/json.md). `check` holds printed text against the types, which the tests do.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from flashtwin.cli.load_documents import Ask, Cost, Trace
from flashtwin.model import finding as model
from flashtwin.model.finding import Better, Evidence, Kind, Means
from flashtwin.runs import schema
from flashtwin.runs.schema import DIALECT


class Document(Struct, forbid_unknown_fields=True):
    """An object with exactly these keys, in this order."""


class Finding(Document):
    """A finding as findings.json has it: `id` and `kind` follow from the rest."""

    id: str
    battery: str
    name: str
    variant: str
    title: str
    kind: Kind
    value: float | str | None
    unit: str
    low: float | None
    high: float | None
    means: Means | None
    beside: str | None
    better: Better | None
    headline: bool
    evidence: Evidence | None
    note: str | None
    choices: list[str] | UnsetType = UNSET


def finding(row: model.Finding) -> Finding:
    """A finding as commands print it."""
    return Finding(**{**row.to_json(), "evidence": row.evidence})


class Drive(Document):
    id: str
    name: str
    capacity_bytes: int
    cell: str
    cache: str
    interface: str
    dram: Literal["yes", "hmb", "none"]
    cache_mode: str
    cache_bytes: int
    cache_mb_s: float | None
    fill_mb_s: float | None
    read_mb_s: float | None
    small_read_mb_s: float | None
    small_write_mb_s: float | None
    rows: int
    passed: int
    validating: int
    fitted: int


class Drives(Document):
    """flashtwin drives --json"""

    drives: list[Drive]


class Sentence(Document):
    about: Literal["drive", "bytes", "wear", "amplification", "life", "state", "doubtful"]
    text: str


class SmartData(Document):
    """flashtwin smart FILE|DEVICE --json"""

    sentences: list[Sentence]


class Identified(Document):
    """flashtwin identify DEVICE --json"""

    device: str
    model: str
    serial: str
    firmware: str
    capacity_bytes: int
    link: str
    labels: list[str]
    remarks: list[str]
    catalogue: str | None
    refusals: list[str]
    smart: list[Sentence]
    to_measure: list[str]


class MachineCheck(Document):
    name: str
    fine: bool
    text: str
    command: str | None


class Machine(Document):
    """flashtwin doctor [DEVICE] --json"""

    checks: list[MachineCheck]


class Value(Document):
    key: str
    value: str
    unit: str | None
    origin: str
    source: str | None
    unwritten: bool


class Show(Document):
    """flashtwin show --json"""

    id: str
    name: str
    capacity_bytes: int
    hash: str
    memory_bytes: int
    firmware_profiles: list[str]
    notes: list[str]
    warnings: list[str]
    values: list[Value]


class Issue(Document):
    file: str
    line: int | None
    key: str
    message: str
    hint: str | None


class Check(Document):
    """flashtwin check --json"""

    spec: str
    ok: bool
    errors: list[Issue]
    warnings: list[str]


class Fault(Document):
    file: str
    line: int | None
    message: str
    hint: str | None


class CheckCatalogue(Document):
    """flashtwin check --catalogue --json"""

    catalogue: str
    ok: bool
    drives: int
    outcomes: int
    submissions: int
    faults: list[Fault]


class Submit(Document):
    """flashtwin submit --json"""

    run: str
    folder: str
    files: list[str]


class Spec(Document):
    spec: str
    hash: str


class Difference(Document):
    key: str
    first: str | None
    second: str | None
    first_origin: str | None
    second_origin: str | None


class Diff(Document):
    """flashtwin diff --json"""

    first: Spec
    second: Spec
    differences: list[Difference]


class Battery(Document):
    name: str
    title: str
    trust: Literal["S", "P", "M"]
    standard: bool


class BatteryGroup(Document):
    name: str
    title: str
    follows: str
    batteries: list[str]


class Batteries(Document):
    """flashtwin batteries --json"""

    batteries: list[Battery]
    groups: list[BatteryGroup]


class Parameter(Document):
    name: str
    type: str
    default: str
    meaning: str


class Clause(Document):
    says: str
    source: str
    here: str


class BatteryOnTarget(Document):
    target: str
    write_bytes: int
    read_bytes: int
    drive_s: float
    wall_s: float
    memory_bytes: int
    cannot: list[str]
    departs: list[str]


class OneBattery(Document):
    """flashtwin batteries NAME --json"""

    name: str
    title: str
    trust: Literal["S", "P", "M"]
    follows: list[Clause]
    presets: dict[str, dict[str, str]]
    parameters: list[Parameter]
    on: BatteryOnTarget | None


class Change(Document):
    id: str
    before: Finding | None
    now: Finding | None


class Conclude(Document):
    """flashtwin conclude --json"""

    run: str
    changes: list[Change]
    findings: list[Finding]
    unreadable: str | None
    written: bool


class Meaning(Document):
    id: str
    title: str
    means: str
    found: str
    mind: str | None


class OfATarget(Document):
    target: str
    finding: Finding


class Explained(Meaning):
    """flashtwin explain FINDING --json; `values` are those of --run"""

    values: list[OfATarget]


class Explain(Document):
    """flashtwin explain --json"""

    findings: list[Meaning]


class TestedRun(Document):
    target: str
    directory: str
    memory_bytes: int | None
    redone: list[str]
    findings: list[Finding]


class Test(Document):
    """flashtwin test --json"""

    report: str | None
    runs: list[TestedRun]


class RankedBy(Document):
    finding: str
    title: str
    unit: str


class Place(Document):
    column: RankedBy
    value: float
    place: int
    of: int
    best: str
    best_value: float


class Ranked(Document):
    """A drive among the catalogue's twins; more is better in every column."""

    drive: str
    twins: list[str]
    places: list[Place]
    left_out: int


class Review(Test):
    """flashtwin review --json"""

    ranking: list[Ranked]


class Icf(Document):
    """flashtwin icf --json"""

    battery: str | None
    jobs: str | None
    notes: list[str]
    written: str | None


class Serve(Document):
    """flashtwin serve --json"""

    drive: str
    uri: str
    start_s: float | None
    exit_code: int
    state: dict[str, str | int | float | bool | None]
    answers: int
    lateness_us_p50: float | None
    lateness_us_p99: float | None
    late_share: float
    connections: int


class Replay(Document):
    """flashtwin replay --json"""

    log: str
    image: str | None
    reads: int
    writes: int
    trims: int
    flushes: int
    answered: int
    broken_off: int
    cuts: int
    clock_s: float
    start_s: float
    comes_back: bool
    held_bytes: int | None


class Report(Document):
    """flashtwin report --json"""

    report: str
    runs: list[str]


class Axis(Document):
    key: str
    values: list[str]


class SweepPlan(Document):
    drive: str
    batteries: str
    axes: list[Axis]
    seed: int
    sets: list[str]
    firmware: list[str]
    scale: str | None


class Point(Document):
    point: int
    state: Literal["finished", "failed"]
    settings: dict[str, str]
    run: str | None
    error: str | None
    hint: str | None
    findings: list[Finding]


class Sweep(Document):
    """flashtwin sweep --json"""

    report: str
    out: str
    plan: SweepPlan
    repeated: int
    points: list[Point]


class Listed(Document):
    path: str
    state: str
    why: str | None
    target: str
    label: str | None
    kind: str
    batteries: list[str]
    started: str | None
    wall_s: float | None
    seed: int | None
    spec: str | None
    capacity_bytes: int | None
    flashtwin: str
    steps: int
    bytes: int
    findings: list[Finding]


class Runs(Document):
    """flashtwin runs --json"""

    runs: list[Listed]
    total: int


class ShownStep(Document):
    step: int
    battery: str
    label: str
    kind: str
    start_s: float
    duration_s: float
    ios: int
    bytes: int
    note: str | None
    not_possible: str | None


class ShownRun(Document):
    """A run as it is listed, with its own target, batteries and steps."""

    path: str
    state: str
    why: str | None
    target: dict[str, Any]
    label: str | None
    kind: str
    batteries: list[dict[str, Any]]
    started: str | None
    wall_s: float | None
    seed: int | None
    spec: str | None
    capacity_bytes: int | None
    flashtwin: str
    steps: list[ShownStep]
    bytes: int
    findings: list[Finding]
    command: list[str]
    host: dict[str, Any]
    left_out: list[str]
    files: dict[str, int]


class RunsShow(Document):
    """flashtwin runs show --json"""

    runs: list[ShownRun]


class Removed(Document):
    path: str
    bytes: int
    state: str


class RunsPrune(Document):
    """flashtwin runs prune --json"""

    dry_run: bool
    bytes: int
    removed: list[Removed]


class RunsAdopt(Document):
    """flashtwin runs adopt --json"""

    run: str
    files: list[str]


class NamedRun(Document):
    name: str
    run: str


class SetupDifference(Document):
    section: str
    key: str
    values: list[str | None]


class Setup(Document):
    differences: list[SetupDifference]
    same: int


class Side(Document):
    value: float | str | None
    low: float | None
    high: float | None
    means: Literal["estimate", "range", "bound"] | None


class Measure(Document):
    id: str
    title: str
    unit: str
    base: Side | None
    other: Side | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    difference_means: Literal["estimate", "range", "bound"] | None
    percent: float | None
    beyond_percent: float | None
    overlap: bool | None
    significant: bool | None
    better: Literal["higher", "lower"] | None
    verdict: str


class Curve(Document):
    battery: str
    label: str
    direction: str
    percent: float | None
    typical_percent: float | None
    largest_percent: float | None
    largest_at_gb: float | None
    gb: list[float]
    base_mb_s: list[float]
    other_mb_s: list[float]


class Percentile(Document):
    percentile: float
    base_ns: int
    other_ns: int
    percent: float | None


class Latencies(Document):
    battery: str
    label: str
    direction: str
    percentiles: list[Percentile]


class BeyondLimit(Document):
    id: str
    verdict: str
    percent: float | None
    beyond_percent: float | None
    limit_percent: float


class Pair(Document):
    name: str
    run: str
    verdicts: dict[str, int]
    findings: list[Measure]
    curves: list[Curve]
    latencies: list[Latencies]
    failures: list[BeyondLimit]


class Compare(Document):
    """flashtwin compare --json"""

    base: NamedRun
    setup: Setup
    pairs: list[Pair]
    failed: bool
    page: str | None


class Exported(Document):
    run: str
    directory: str
    files: list[str]


class Export(Document):
    """flashtwin export --json"""

    format: Literal["csv", "parquet", "fio-json", "openmetrics"]
    exports: list[Exported]


class InferredPlateau(Document):
    start_bytes: float
    end_bytes: float
    bytes_per_s: list[float | None]
    mean_bytes_per_s: float


class Figure(Document):
    name: str
    value: float
    unit: str


class Infer(Document):
    """flashtwin infer --json"""

    cache: str
    sentence: str
    size_bytes: list[float | None] | None
    bound_bytes: float | None
    plateaus: list[InferredPlateau]
    stalls: int
    columns: str
    notes: list[str]
    findings: list[Finding]
    figures: list[Figure]


class FittedValue(Document):
    name: str
    title: str
    value: float
    low: float | None
    high: float | None
    unit: str | None
    origin: Literal["fitted", "prior"]


class Fit(Document):
    """flashtwin fit --json"""

    path: str
    twin_run: str | None
    run: str
    structure: str
    past: str
    limit: Literal["flash", "core"]
    cell: str
    scatter: float
    simulations: int
    values: list[FittedValue]
    notes: list[str]
    toml: str


class Prepared(Document):
    key: str
    drive: str
    seed: int
    steps: list[str]
    bytes: int
    took_s: float
    used: int


class Timeline(Document):
    """flashtwin timeline --json"""

    path: str
    step: str
    from_ns: int
    to_ns: int
    slices: int
    bytes: int


class Cache(Document):
    """flashtwin cache --json"""

    directory: str | None
    limit_bytes: int
    bytes: int
    drives: list[Prepared]


class CacheClear(Document):
    """flashtwin cache clear --json"""

    bytes: int
    removed: list[Prepared]


# The document of each command, by its words; a command that can be asked for two things has two.
DOCUMENTS: dict[str, type[Struct]] = {
    "drives": Drives,
    "smart": SmartData,
    "identify": Identified,
    "doctor": Machine,
    "show": Show,
    "check": Check,
    "check-catalogue": CheckCatalogue,
    "submit": Submit,
    "diff": Diff,
    "batteries": Batteries,
    "batteries-one": OneBattery,
    "conclude": Conclude,
    "explain": Explain,
    "explain-one": Explained,
    "test": Test,
    "review": Review,
    "icf": Icf,
    "serve": Serve,
    "replay": Replay,
    "report": Report,
    "sweep": Sweep,
    "runs": Runs,
    "runs-show": RunsShow,
    "runs-prune": RunsPrune,
    "runs-adopt": RunsAdopt,
    "compare": Compare,
    "export": Export,
    "infer": Infer,
    "fit": Fit,
    "trace": Trace,
    "cost": Cost,
    "ask": Ask,
    "timeline": Timeline,
    "cache": Cache,
    "cache-clear": CacheClear,
}


def check(value: object, *types: type[Struct]) -> None:
    """Raise `schema.SchemaError` where a document is of none of these types."""
    for of in types:
        try:
            schema.check(value, of)
            return
        except schema.SchemaError as error:
            last = error
    raise last


def json_schema(of: type[Struct]) -> str:
    """The JSON Schema of a document, as docs/reference/schemas/commands has it."""
    schema = {"$schema": DIALECT, **msgspec.json.schema(of)}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
