"""The JSON files of a run: what is in each, as types; docs/reference/schemas is made of them.

A value is held against its type by msgspec, and what does not fit is a `SchemaError` that says in
plain words where it is and what is expected. Members that a type does not name may hold anything: a
newer writer's are left alone; lines of the journal alone have no others. Invariant:
whatever passes here can be counted with, shown and written again, so that nobody further in checks
once more; whole numbers fit into the columns of a table.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from flashtwin.model import finding as model
from flashtwin.model.finding import Better, Evidence, Interval, Means

Shape = TypeVar("Shape", bound=Struct)

# A column holds 63 bits; the sum of all jobs of a step has to fit as well.
MOST = 1 << 60
# Blocks, depths, threads: what a job asks for is computed with before anything bounds it.
MOST_ASKED = 1 << 50

Natural = Annotated[int, Meta(ge=0, le=MOST)]
RequestedAmount = Annotated[int, Meta(ge=0, le=MOST_ASKED)]
PositiveAmount = Annotated[int, Meta(ge=1, le=MOST_ASKED)]
TwinSeed = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
Digest = str


class SchemaError(ValueError):
    """A value is not what flashtwin writes; `at` is its place ("target.identity")."""

    def __init__(self, at: str, why: str) -> None:
        super().__init__(f"{at or 'it'} {why}")
        self.at, self.why = at, why


class Battery(Struct, frozen=True, kw_only=True):
    """A battery that was asked for, its parameters, and how they depart from the original."""

    name: str
    parameters: dict[str, Any] | UnsetType | None = UNSET
    departs: list[str] | UnsetType | None = UNSET


class SpecValue(Struct, frozen=True, kw_only=True):
    """A value of a twin's spec."""

    key: str


class Identity(Struct, frozen=True, kw_only=True):
    """What tells a target from others; for a twin its resolved spec."""

    values: list[SpecValue] | UnsetType | None = UNSET
    toml: str | UnsetType | None = UNSET
    hash: str | UnsetType = UNSET


class Target(Struct, frozen=True, kw_only=True):
    """What was measured; `can` has the drive's capabilities by name."""

    name: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    capacity_bytes: Natural | UnsetType | None = UNSET
    can: dict[str, bool] | UnsetType = UNSET
    identity: Identity | UnsetType | None = UNSET


class Budget(Struct, frozen=True, kw_only=True):
    """What a run was allowed to take of the drive's time."""

    seconds: float


class Manifest(Struct, frozen=True, kw_only=True):
    """manifest.json: what was asked for, how it ended, and the digests of what came of it."""

    target: Target
    state: str | UnsetType = UNSET
    flashtwin: str | UnsetType = UNSET
    seed: Annotated[int, Meta(ge=-MOST, le=(1 << 63) - 1)] | UnsetType = UNSET
    batteries: list[Battery] | UnsetType | None = UNSET
    command: list[str] | UnsetType | None = UNSET
    label: str | UnsetType = UNSET
    budget: Budget | UnsetType = UNSET
    tables: dict[str, Digest] | UnsetType = UNSET
    files: dict[str, Digest] | UnsetType = UNSET
    steps: list[dict[str, Any]] | UnsetType | None = UNSET


class MeasuredFile(Struct, frozen=True, kw_only=True):
    """The file that a run measured."""

    path: str
    size_bytes: Natural
    mark: str | UnsetType | None = UNSET


class Session(Struct, frozen=True, kw_only=True):
    """One process that wrote the run."""

    began: str | UnsetType = UNSET
    wall_s: float | UnsetType = UNSET


class Host(Struct, frozen=True, kw_only=True):
    """host.json: the machine; the one file that differs from run to run of a twin."""

    began: str | UnsetType = UNSET
    wall_s: float | UnsetType = UNSET
    sessions: list[Session] | UnsetType = UNSET
    path: str | UnsetType = UNSET
    redone: list[str] | UnsetType = UNSET
    file: MeasuredFile | UnsetType | None = UNSET


class Finding(Struct, frozen=True, kw_only=True):
    """A finding. The value of a quantity is a number or none, that of a choice one of its words
    or none."""

    battery: str
    name: str
    variant: str
    title: str
    unit: str
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    means: Means | None = None
    choices: tuple[str, ...] = ()
    beside: str | None = None
    better: Better | None = None
    headline: bool = False
    evidence: Evidence | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        if self.choices:
            if self.value is not None and self.value not in self.choices:
                raise ValueError(f"value is none of {', '.join(self.choices)}")
        elif isinstance(self.value, str):
            raise ValueError("value is text, not a number")

    def read(self) -> model.Finding:
        """The finding; without its interval where nobody says what the ends mean."""
        row = {name: getattr(self, name) for name in _AS_IT_IS}
        if self.means:
            row["interval"] = Interval(low=self.low, high=self.high, means=self.means)
        return model.Finding(**row)


_AS_IT_IS = [field.name for field in fields(model.Finding) if field.name != "interval"]


class Findings(Struct, frozen=True, kw_only=True):
    """findings.json: what was concluded."""

    findings: list[Finding] | None = None


class SummaryHead(Struct, frozen=True, kw_only=True):
    """A summary but for its findings, of which a listing makes values only when it shows them."""

    schema: Natural
    manifest: Digest
    flashtwin: str
    target: str | None
    kind: str
    capacity_bytes: Natural | None
    spec: Digest | None
    label: str
    seed: Annotated[int, Meta(ge=-MOST, le=(1 << 63) - 1)] | None
    batteries: tuple[str, ...]
    steps: Natural
    files: dict[str, Digest]
    tables: tuple[str, ...]
    headline: tuple[Natural, ...]


class Summary(SummaryHead, frozen=True, kw_only=True):
    """summary.json: what a listing tells of a finished run, from its manifest and findings.

    `manifest`: the check of that manifest; `files` and `tables` are named as in it. `headline`: the
    places, among the findings, of those that a line of a listing shows."""

    findings: list[Finding]


class WriteAmplification(Struct, frozen=True, kw_only=True):
    """Bytes programmed, by cause."""

    by_cause: dict[str, float | None] | UnsetType | None = UNSET


class TwinSmart(Struct, frozen=True, kw_only=True):
    """What only a simulation knows."""

    waf: WriteAmplification | UnsetType = UNSET
    endurance: dict[str, Any] | UnsetType = UNSET
    energy: dict[str, Any] | UnsetType = UNSET


class Smart(Struct, frozen=True, kw_only=True):
    """smart/before.json and after.json: as `smartctl --json` prints it."""

    flashtwin: TwinSmart | UnsetType | None = UNSET


class Job(Struct, frozen=True, kw_only=True):
    """A job that a step asked for."""

    name: str | UnsetType = UNSET
    rw: str | UnsetType = UNSET
    block_bytes: PositiveAmount | UnsetType = UNSET
    depth: PositiveAmount | UnsetType = UNSET
    threads: PositiveAmount | UnsetType = UNSET
    offset: RequestedAmount | UnsetType = UNSET
    host_ns: RequestedAmount | UnsetType = UNSET
    think_ns: RequestedAmount | UnsetType = UNSET
    read_percent: RequestedAmount | UnsetType = UNSET
    compress_percent: RequestedAmount | UnsetType = UNSET
    handles: tuple[RequestedAmount, ...] | UnsetType = UNSET
    size: RequestedAmount | UnsetType | None = UNSET
    io_bytes: RequestedAmount | UnsetType | None = UNSET
    rate_bytes_s: RequestedAmount | UnsetType | None = UNSET
    runtime_s: float | UnsetType | None = UNSET
    ramp_s: float | UnsetType = UNSET
    # Up to 2^64, a bound that msgspec cannot be told.
    seed: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    shared_stream: bool | UnsetType = UNSET
    sync: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.seed is not UNSET and self.seed > 1 << 64:
            raise ValueError(f"seed is more than {1 << 64}")


class Part(Struct, frozen=True, kw_only=True):
    """A part of a chain."""

    label: str | UnsetType = UNSET
    jobs: list[Job] | UnsetType = UNSET
    sample_s: float | UnsetType = UNSET
    repeats: str | UnsetType = UNSET
    seconds: float | UnsetType = UNSET


class Detail(Struct, frozen=True, kw_only=True):
    """What a step asked for."""

    jobs: list[Job] | UnsetType = UNSET
    parts: list[Part] | UnsetType = UNSET
    sample_s: float | UnsetType = UNSET
    repeats: str | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    offset: RequestedAmount | UnsetType = UNSET
    size: RequestedAmount | UnsetType | None = UNSET
    block_bytes: PositiveAmount | UnsetType = UNSET
    depth: PositiveAmount | UnsetType = UNSET


class Totals(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one job did, after its ramp."""

    name: str
    ios: Natural
    bytes: Natural
    duration_ns: Natural
    latency_mean_ns: float
    latency_min_ns: Natural
    latency_max_ns: Natural
    mean_depth: float
    errors: Natural = 0


class Block(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the tables of a step lie in `steps.tables`, and their digest."""

    at: Natural
    bytes: Natural
    sha256: Digest


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of steps.jsonl: a step and what came of it, but for its tables."""

    step: Natural
    battery: str
    label: str
    kind: str
    start_ns: Natural
    duration_ns: Natural
    jobs: list[Totals]
    note: str | None = None
    not_possible: str | None = None
    detail: Detail | UnsetType = UNSET
    smart: dict[str, Any] | UnsetType = UNSET
    fio: list[dict[str, Any]] | UnsetType = UNSET
    cut: bool = False
    block: Block | None = None
    check: Digest = ""

    def __post_init__(self) -> None:
        for name in ("ios", "bytes"):
            if sum(getattr(job, name) for job in self.jobs) > MOST:
                raise ValueError(f"{name} of all jobs are more than {MOST} together")


class TwinForm(Struct, frozen=True, kw_only=True, tag_field="kind", tag="twin"):
    """What another process needs to make a twin."""

    name: str
    toml: str
    seed: TwinSeed


class FileForm(Struct, frozen=True, kw_only=True, tag_field="kind", tag="file"):
    """What another process needs to make a file to measure."""

    path: str
    size_bytes: Natural


class ServedForm(Struct, frozen=True, kw_only=True, tag_field="kind", tag="served"):
    """What another process needs to reach a drive that is served."""

    uri: str


class NamedTarget(Struct, frozen=True, kw_only=True):
    """A target that never began, as it is listed."""

    kind: str


class Task(Struct, frozen=True, kw_only=True):
    """A run that never began, as it is listed."""

    place: str
    target: NamedTarget
    batteries: list[Battery]
    budget_s: float | None = None


class AskedBattery(Struct, frozen=True, kw_only=True):
    """A battery with all of its parameters."""

    name: str
    parameters: dict[str, Any]


class WholeTask(Struct, frozen=True, kw_only=True):
    """A run that never began, with everything that it needs to begin."""

    place: str
    target: TwinForm | FileForm | ServedForm
    batteries: list[AskedBattery]
    budget_s: float | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """plan.json as it is listed: the runs of a folder that are not all finished."""

    tasks: list[Task]


class WholePlan(Struct, frozen=True, kw_only=True):
    """plan.json: the runs of a folder of several targets that are not all finished."""

    seed: TwinSeed
    command: list[str]
    tasks: list[WholeTask]


class SweepAxis(Struct, frozen=True, kw_only=True):
    """A key of the spec, or a shorthand, and the values that it takes."""

    key: str
    values: list[str]


class Sweep(Struct, frozen=True, kw_only=True):
    """sweep.json: what a sweep was asked for; `hashes` are those of its points' specs."""

    schema: Natural
    drive: str
    batteries: str
    axes: list[SweepAxis]
    seed: TwinSeed
    hashes: list[Digest]
    sets: list[str] = []
    firmware: list[str] = []
    scale: str | None = None


# The file of a run that each type is the schema of.
FILES: dict[str, type[Struct]] = {
    "manifest": Manifest,
    "steps": Step,
    "findings": Findings,
    "host": Host,
    "summary": Summary,
    "smart": Smart,
    "plan": WholePlan,
    "sweep": Sweep,
}


def check(value: object, type_: type[Shape]) -> Shape:
    """A value from JSON text as its type; raises `SchemaError` where it does not fit."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise in_words(error) from None


_PLACE = re.compile(r" - at `(?:key in )?\$([^`]*)`")
_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_RULES = (
    (r"Expected `(.+)`, got `(.+)`", "is {1}, not {0}"),
    (r"Expected `\w+` >= (-?\d+)", "is less than {0}"),
    (r"Expected `\w+` <= (-?\d+)", "is more than {0}"),
    (r"Object missing required field `(.+)`", "lacks {0}"),
    (r"Object contains unknown field `(.+)`", "has {0}, which nothing there is called"),
    (r"Invalid (?:enum )?value (.+)", "is {0}, which is none of its words"),
)


def in_words(error: Exception) -> SchemaError:
    """A sentence for what msgspec says about a value and its place."""
    text = str(error)
    place = _PLACE.search(text)
    at = re.sub(r"\[[^\]]*\]", "", place[1]).strip(".") if place else ""
    text = _PLACE.sub("", text)
    for pattern, sentence in _RULES:
        if match := re.fullmatch(pattern, text):
            return SchemaError(at, sentence.format(*map(_named, match.groups())))
    return SchemaError(at, f"cannot be read: {text[:1].lower()}{text[1:]}")


def _named(words: str) -> str:
    parts = words.split(" | ")
    return " or ".join(_NAMES.get(part, part) for part in parts)


def json_schema(name: str) -> str:
    """The JSON Schema of one of `FILES`, as docs/reference/schemas has it."""
    schema = {"$schema": DIALECT, **msgspec.json.schema(FILES[name])}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


DIALECT = "https://json-schema.org/draft/2020-12/schema"
