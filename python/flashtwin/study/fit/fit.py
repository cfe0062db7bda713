"""`flashtwin fit`: from a run to a spec, each value with its origin and an interval.

Where the fill shows a plateau's end, values begin there. Invariants: the X-ray of a twin's run is
not read; a value that the run does not determine keeps the origin `prior` and says so.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flashtwin import outputs
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.interruptions import calm
from flashtwin.analysis.shape import Shape, shape_of
from flashtwin.catalogue.loader import load
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis.structures import (
    BITS,
    NONE,
    TIERS,
    WHOLE_DRIVE,
    returned,
    synced_writes,
    values,
)
from flashtwin.model.document import Document
from flashtwin.model.findings import Findings
from flashtwin.model.units import readable_number
from flashtwin.runs.rundir import Run
from flashtwin.study.fit import POSTERIOR, candidate
from flashtwin.study.fit.candidate import Limit, Space, Structure
from flashtwin.study.fit.intervals import TELLING, Fitted, checked_on
from flashtwin.study.fit.observed import Observed, observed
from flashtwin.study.fit.search import searched
from flashtwin.study.fit.trials import Search

# A kind of cache, and the cells past it.
Kind = tuple[Structure, str]

SIMULATIONS = 300
# Native bytes of a usual die, from which the search begins.
DIE = {"tlc": 64 << 30, "qlc": 128 << 30}
LEAST_DIES, MOST_DIES = 2, 16
# The least and the most of a reserve that is read off the fill's last plateau, as a share of the
# capacity.
RESERVES = (0.01, 0.3)
# A kind that discover found less likely than this counts as this likely.
LEAST_LIKELY = 0.005
# The usual own part of a hybrid cache is at most this share of it.
OWN_SHARE = 0.4
# Flash behind a core that is the limit is at least this multiple of its rate.
OVER_CORE = 1.5
# A kind that discover finds at least this likely is named beside the twin's own.
STILL_LIKELY = 0.05
# A speed past a cache, or in its second tier, is at most this share of the one before. A step of a
# fill begins a second tier where it explains this share of how rates vary before the cache's end.
# Each side of the step has at least this number of samples.
SLOWER, EXPLAINED, LEAST_SAMPLES = 0.95, 0.5, 2
# A first plateau this near to the fastest step is the link's speed.
AT_LINK = 0.93
# Rates of links: SATA, and four lanes of PCIe 3, 4 and 5.
LINKS = (550e6, 3.5e9, 7e9, 14e9)


class FittedValue(Document, frozen=True):
    """A value that was searched; without an interval it stays what is usual.

    `checked_on`: how many drives with a known inside determine the value in such a run; fewer than
    19 do not tell whether 95 % of such intervals hold.
    """

    name: str
    title: str
    value: float
    low: float | None
    high: float | None
    unit: str | None
    origin: Literal["fitted", "prior"]
    checked_on: int


class FitDocument(Document, frozen=True):
    """flashtwin fit --json"""

    path: str
    twin_run: str | None
    run: str
    structure: str
    past: str
    limit: Limit
    map: str
    reclaims: bool
    separates: bool
    cell: str
    scatter: float
    simulations: int
    values: list[FittedValue]
    notes: tuple[str, ...]
    toml: str


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A fitted twin: the text of its spec, the fit behind it, and notes for the user."""

    toml: str
    fitted: Fitted
    seen: Observed
    notes: tuple[str, ...]

    def __str__(self) -> str:
        space = self.fitted.space
        lines = [f"cache {space.structure.name}, past it {space.structure.past}, {space.cell}"]
        for row in self.rows():
            interval = "usual" if row.low is None else f"{row.low:g} to {row.high:g}"
            lines.append(f"{row.title}: {row.value:g} {row.unit or ''}".rstrip() + f" ({interval})")
        return "\n".join((*lines, *(f"note: {note}" for note in self.notes)))

    def rows(self) -> list[FittedValue]:
        """Every value that was searched: found or left where it is usual."""
        rows = []
        for name in ("dies", *self.fitted.space.free):
            interval = self.fitted.intervals.get(name)
            rows.append(
                FittedValue(
                    name=name,
                    title=values()[name].title,
                    value=_shown(name, self.fitted.values[name]),
                    low=None if interval is None else _shown(name, interval[0]),
                    high=None if interval is None else _shown(name, interval[1]),
                    unit=values()[name].unit or None,
                    origin="prior" if interval is None else "fitted",
                    checked_on=checked_on(self.seen, self.fitted.space.structure, name),
                )
            )
        return rows

    def posterior(self) -> dict[str, Any]:
        """Drives that the run leaves possible, as settings of the spec with their weights."""
        space, capacity = self.fitted.space, self.seen.capacity_bytes
        own = _settings(space, self.fitted.values, capacity)
        drives = []
        for number, possible in enumerate(self.fitted.posterior):
            pages = candidate.table()["flush"]["pages"]
            settings = _settings(possible.space, possible.values, capacity)
            settings |= candidate.flushed(
                possible.space, possible.values, pages[number % len(pages)]
            )
            sets = {key: value for key, value in settings.items() if own.get(key) != value}
            drives.append({"weight": possible.weight, "sets": sets})
        return {"schema": 1, "run": self.seen.name, "hash": load(self.toml).hash, "drives": drives}

    def write(self, path: Path) -> None:
        """Write the spec, and beside it the drives that the run leaves possible."""
        text = json.dumps(self.posterior(), indent=1) + "\n"
        outputs.write_all({path.with_suffix(POSTERIOR): text, path: self.toml})

    def document(self, path: Path, twin_run: Path | None) -> FitDocument:
        """What `--json` prints, beside where the spec is and where the twin's run is."""
        space = self.fitted.space
        return FitDocument(
            path=str(path),
            twin_run=None if twin_run is None else str(twin_run),
            run=self.seen.name,
            structure=space.structure.name,
            past=space.structure.past,
            limit=space.structure.limit,
            map=space.structure.map,
            reclaims=space.structure.reclaims,
            separates=space.structure.separates,
            cell=space.cell,
            scatter=round(self.fitted.scatter, 4),
            simulations=self.fitted.simulations,
            values=self.rows(),
            notes=self.notes,
            toml=self.toml,
        )


def fit(
    run: Run,
    *,
    simulations: int = SIMULATIONS,
    seed: int = 1,
    kinds: Sequence[Kind] | None = None,
    study: str | None = None,
    cores: int | None = None,
    tell: Callable[[int, str], None] = lambda _count, _label: None,
    foretell: Callable[[float], None] = lambda _seconds: None,
) -> Twin:
    """The twin of a run; raises `FlashtwinError` where the run does not hold what that takes.

    `kinds`: the only ones that are searched, by default all that the fill leaves. `study`:
    a file or a database's URL in which the search is kept, so that it can be resumed and shared.
    `cores`: so many simulate at a time, by default all. `foretell` hears once, after the first
    simulations, how many seconds all of them are expected to take.
    """
    small = candidate.table()["small"]
    capacity = int(run.target["capacity_bytes"])
    dies = _usual_dies(capacity, "tlc")
    small_bytes = int(
        np.clip(dies * small["bytes_per_die"], small["least_bytes"], small["most_bytes"])
    )
    seen = observed(run, small_bytes, small["requests"], small["chapter_requests"])
    shape = shape_of(seen.fill)
    left = [kind for kind in kinds or _possible(shape) if _is_left(shape, kind)]
    if not left:
        raise FlashtwinError(
            f"{run.path} cannot be fitted: its fill does not show where a cache ends",
            hint="search all kinds of caches",
            exit_code=USAGE,
        )
    # A host that stalls within a small cache would make the cache seem slow.
    calmed = replace(seen, fill=calm(seen.fill).curve)
    spaces = [
        replace(
            candidate.space_of(
                structure,
                cell,
                _usual(calmed, shape, structure, cell),
                rests=seen.rests,
                reads=seen.reads,
                syncs=seen.has_syncs,
            ),
            against=against(run.findings, structure),
            protected=seen.protected,
            victims=seen.victims,
        )
        for structure, cell in left
    ]
    search = Search(
        seen=seen, seed=seed, cores=cores or os.cpu_count() or 1, tell=tell, foretell=foretell
    )
    fitted = searched(search, spaces, simulations, study=study)
    if fitted.data >= 1e6:
        raise FlashtwinError(
            f"{run.path} cannot be fitted: no simulated drive shows anything like it",
            hint="its capacity may be told wrong, or its cache is of a kind that is not known",
            exit_code=USAGE,
        )
    notes = _notes(run, seen, fitted)
    toml = _toml(run, seen, fitted, notes)
    load(toml)
    return Twin(toml=toml, fitted=fitted, seen=seen, notes=notes)


def _usual_dies(capacity: int, cell: str) -> int:
    return candidate.dies_of(float(np.clip(capacity / DIE[cell], LEAST_DIES, MOST_DIES)))


def against(findings: Findings, structure: Structure) -> float:
    """How unlikely the battery discover found a kind, as a misfit. Its tests show some things that
    a fit compares less closely, but its smaller model may be wrong: it rules no kind out."""
    misfit = 0.0
    for part, word in (("structure", structure.name), ("past", structure.kind.past)):
        share = findings.get(f"discover.{part}.{word}")
        if share is None or not isinstance(share.value, float):
            continue
        likeliest = max(
            float(row.value)
            for row in findings
            if row.id.startswith(f"discover.{part}.") and isinstance(row.value, float)
        )
        if part == "past" and structure.name == NONE:
            continue
        misfit += 2 * math.log(max(likeliest, LEAST_LIKELY) / max(share.value, LEAST_LIKELY))
    return misfit


def _possible(shape: Shape) -> list[Kind]:
    """All kinds; none without a cache where the fill shows one."""
    rows = [row for row in candidate.structures() if shape.edge is None or row.name != NONE]
    return [(row, cell) for row in rows for cell in BITS]


def _is_left(shape: Shape, kind: Kind) -> bool:
    """Whether a drive of this kind can show such a fill. Findings of the run exclude no kind: they
    come from the same series as the fit, by a smaller model."""
    return shape.edge is not None or kind[0].name in (NONE, WHOLE_DRIVE)


def _usual(seen: Observed, shape: Shape, structure: Structure, cell: str) -> dict[str, float]:
    """The values from which a structure's search begins: read off the fill, else usual."""
    usual = candidate.usual_values()
    total = seen.fill.total_bytes
    edge = shape.edge.place.value if shape.edge is not None else total
    first = seen.fill.mean_between(0.0, edge)
    end = shape.slower.start if shape.slower is not None else total
    second = seen.fill.mean_between(edge, end if end > edge else total) if edge < total else first
    usual["link"] = _link(seen, first)
    usual["cache"] = edge / seen.capacity_bytes
    usual["static"] = min(usual["static"], OWN_SHARE * usual["cache"])
    if seen.found_rest is not None:
        usual["idle"] = seen.found_rest.seconds
    usual["dies"] = float(_usual_dies(seen.capacity_bytes, cell))
    if seen.protected:
        usual[candidate.FLUSH] = math.exp(synced_writes().protected_ln_us) * 1e-6
    if structure.name == TIERS:
        first, second = _put_tier(usual, seen, shape, first, second)
    usual |= _usual_rates(structure, cell, first, second, usual)
    if shape.slower is not None and "reserve" in structure.uses:
        # Folding began once written data and borrowed blocks left no more free than the reserve.
        # Data in the cache's own blocks takes none of the native flash.
        own = usual["static"] if "static" in structure.uses else 0.0
        written = shape.slower.start / seen.capacity_bytes
        used = written - own + (BITS[cell] - 1) * (usual["cache"] - own)
        if structure.name == TIERS:
            used += (BITS[cell] / candidate.TIER_BITS - 1) * usual["tier"]
        usual["reserve"] = float(np.clip(1 + usual["spare"] - used, *RESERVES))
    # Further digits are noise of the edge, and the search would take another course with each.
    return {name: float(f"{value:.3g}") for name, value in usual.items()}


def _put_tier(
    usual: dict[str, float], seen: Observed, shape: Shape, first: float, second: float
) -> tuple[float, float]:
    """Put the sizes of both tiers and the speed of the second one into `usual`, where the fill
    shows two; returns the speeds in the first tier and past both.

    The fill's largest step is at the end of the first tier or at that of the second one: a clear
    step before it is then the end of the first.
    """
    capacity, edge = seen.capacity_bytes, shape.edge
    rest = shape.rest.plateaus
    before = None if edge is None else _step_within(seen.fill, edge.place.value)
    if edge is not None and before is not None:
        usual["cache"] = before.place / capacity
        usual["tier"] = (edge.place.value - before.place) / capacity
        usual["tier_speed"] = before.after / before.before
        return before.before, second
    if len(rest) < 2 or rest[1].speed.value >= rest[0].speed.value:
        return first, second
    usual["tier"] = (rest[0].end - rest[0].start) / capacity
    usual["tier_speed"] = min(rest[0].speed.value / first, SLOWER)
    return first, rest[1].speed.value


@dataclass(frozen=True, kw_only=True)
class _Step:
    """Where a curve becomes slower, in bytes, and the speeds before and after."""

    place: float
    before: float
    after: float


def _step_within(fill: Curve, end: float) -> _Step | None:
    """The step that explains most of how rates vary before `end`; none where it is less than half
    of that, or no step down."""
    count = int(np.searchsorted(fill.bytes_at, end, side="right")) - 1
    if count < 2 * LEAST_SAMPLES:
        return None
    seconds, rate = fill.dt[:count], fill.rate[:count]
    time, moved = np.cumsum(seconds), np.cumsum(seconds * rate)
    splits = np.arange(LEAST_SAMPLES, count - LEAST_SAMPLES + 1)
    before = moved[splits - 1] / time[splits - 1]
    after = (moved[-1] - moved[splits - 1]) / (time[-1] - time[splits - 1])
    between = time[splits - 1] * (time[-1] - time[splits - 1]) * np.square(before - after)
    best = int(np.argmax(between))
    spread = float(np.sum(seconds * np.square(rate - moved[-1] / time[-1])))
    explained = float(between[best]) / float(time[-1])
    if explained < EXPLAINED * spread or after[best] > SLOWER * before[best]:
        return None
    place = float(fill.bytes_at[splits[best]])
    return _Step(place=place, before=float(before[best]), after=float(after[best]))


def _usual_rates(
    structure: Structure, cell: str, first: float, second: float, usual: Mapping[str, float]
) -> dict[str, float]:
    """Rates of flash and core that give the fill's rates in the cache (`first`) and past it
    (`second`)."""
    bits, link, dies = BITS[cell], usual["link"], usual["dies"]
    first_rate = link * 1.25 if first > AT_LINK * link else first * 1.03
    # A whole-drive cache lends all of the flash: each write past it has to fold first.
    given_back = returned(bits) if structure.name == WHOLE_DRIVE else 1.0
    slower = min(second / first, SLOWER)
    if structure.way == "direct":
        native_rate = second * 1.03 * given_back
    else:
        # Each byte is programmed once as SLC and `given_back` times natively: 1/v = 1/v1 + r/vn.
        native_rate = min(given_back / (1 / (slower * first) - 1 / first_rate), 4 * first)
    rates = {"first_rate": first_rate, "native_rate": native_rate}
    if structure.by_core:
        # The flash behind a core is as fast as usual, or the core would not be the limit.
        rates["core_rate"] = first_rate
        rates["first_rate"] = max(dies * candidate.die_rate("slc"), OVER_CORE * first_rate)
        if structure.way == "folded":
            # It hands both programs out, and moves the data in between.
            moved_s = max(1 / native_rate - 1 / first_rate, 0.1 / native_rate)
            rates["move"] = candidate.UNIT * moved_s
            rates["native_rate"] = max(dies * candidate.die_rate(cell), OVER_CORE * native_rate)
    if structure.name == NONE:
        rates["first_rate"] = candidate.SLC_OVER_NATIVE * rates["native_rate"]
    return rates


def _link(seen: Observed, first: float) -> float:
    """The link's rate: what a read reached, else the slowest usual link that suffices. The speed in
    a small cache shows in few samples, so `first` counts beside the fastest of the fill."""
    fastest = max(seen.fastest, first)
    if seen.fastest_read >= fastest / 1.1:
        return 1.02 * fastest
    return next((rate for rate in LINKS if rate > 1.02 * fastest), 1.02 * fastest)


def _shown(name: str, value: float) -> float:
    """A value in its unit, with four significant digits; dies as a power of two."""
    if name == "dies":
        return float(candidate.dies_of(value))
    return float(f"{value / candidate.factor_of(name):.4g}")


def _notes(run: Run, seen: Observed, fitted: Fitted) -> tuple[str, ...]:
    notes = []
    if not run.finished:
        notes.append("the run is not finished: it was fitted to the steps that are done")
    if not seen.erased:
        notes.append(
            "the target could not be erased: its fill was taken for that of an empty drive"
        )
    if seen.left_out:
        notes.append(f"not taken: {', '.join(seen.left_out)}")
    if not seen.rests:
        notes.append("no rest was tested: when the cache folds in one stays what is usual")
    if not seen.has_syncs:
        notes.append(
            "no write waited for the flash: what a flush takes stays what is usual of drives "
            "without capacitors (battery sync measures it)"
        )
    elif not fitted.victims_known:
        notes.append(
            "how collection chooses what it erases is not known, and on a full drive that changes "
            "a write that waits by several times: answers vary as much (battery wafmap tells it of "
            "drives without a cache)"
        )
    left = [name for name in ("dies", *fitted.space.free) if name not in fitted.intervals]
    if left:
        titles = ", ".join(values()[name].title for name in left)
        notes.append(f"not determined by this run: {titles}")
    notes += _rivals(fitted)
    notes += left_open(run.findings, fitted.space.structure)
    if fitted.scatter > 4:
        notes.append(
            "no simulated drive shows quite what the run showed: "
            f"{readable_number(fitted.scatter**0.5)} times the noise remain"
        )
    return tuple(notes)


def _rivals(fitted: Fitted) -> list[str]:
    """Notes on what fits as well as the winner."""
    notes = []
    if not fitted.limit_known:
        notes.append(
            "this run does not tell what programs wait for: the flash alone, or the firmware that "
            "hands them out"
        )
    if not fitted.map_known:
        notes.append(
            "this run does not tell whether the drive's map is in DRAM or on flash: random reads "
            "over little and over much of the drive would"
        )
    if not fitted.reclaim_known:
        notes.append(
            "this run does not tell whether data that is overwritten in the cache makes room in it "
            "at once: overwriting a file smaller than the cache would"
        )
    if not fitted.separation_known:
        notes.append(
            "this run does not tell whether collection keeps what it moves apart from what the "
            "host writes: random writes to a drive that was filled more than once would (battery "
            "states)"
        )
    own, cell, least = fitted.rivals[0]
    near = dict.fromkeys(
        f"{row.name}, {row.past}, {other_cell}"
        for row, other_cell, total in fitted.rivals[1:]
        if total <= least + fitted.near and (row.number, other_cell) != (own.number, cell)
    )
    if near:
        notes.append(f"fits as well: {'; '.join(near)}")
    return notes


def left_open(findings: Findings, structure: Structure) -> list[str]:
    """What the battery discover could not tell from the structure of the twin."""
    notes = []
    for part, own in (("structure", structure.name), ("past", structure.kind.past)):
        start = f"discover.{part}."
        likely = {
            row.id.removeprefix(start): row.value
            for row in findings
            if row.id.startswith(start) and isinstance(row.value, float)
        }
        others = {
            word: f"{word} ({readable_number(100 * share)} %)"
            for word, share in likely.items()
            if share >= STILL_LIKELY and word != own
        }
        if others and likely.get(own, 0.0) < STILL_LIKELY:
            notes.append(f"discover says {', '.join(others.values())}, and {own} fits better here")
        elif others:
            notes.append(f"discover does not tell {own} from {', '.join(others.values())}")
    return notes


def _toml(run: Run, seen: Observed, fitted: Fitted, notes: tuple[str, ...]) -> str:
    """The spec with an origin and a source for each value."""
    import tomlkit

    flash = candidate.geometry(fitted.space, fitted.values, seen.capacity_bytes, False)
    rows = candidate.rows_of(fitted.space, fitted.values, seen.capacity_bytes, flash)
    sources = _sources(run, seen, fitted)
    document: Any = tomlkit.document()
    document.add(tomlkit.comment(f"A twin fitted to the run {run.path.name} by `flashtwin fit`."))
    document.add(
        tomlkit.comment("An interval of 95 % holds as often, if this kind of drive is right.")
    )
    few = f"Others were checked on fewer than {TELLING} drives, too few to say how often they hold."
    document.add(tomlkit.comment(few))
    for note in notes:
        document.add(tomlkit.comment(note))
    document.add(tomlkit.nl())
    document["schema"] = 1
    document["id"] = _id(f"{seen.name}-fitted")
    document["name"] = f"twin fitted to {seen.name}"
    for section in candidate.SECTIONS:
        if section not in rows:
            continue
        table = tomlkit.table()
        for key, (value, source) in rows[section].items():
            origin, why = sources.get(
                f"{section}.{key}", ("prior", source or "computed with the rest")
            )
            if section == "drive":
                origin, why = "datasheet", "the target of the run"
            entry = tomlkit.inline_table()
            entry.update({"value": value, "origin": origin, "source": why})
            table.add(key, entry)
        parent, _, name = section.rpartition(".")
        (document[parent] if parent else document).add(name, table)
    return tomlkit.dumps(document)


def _settings(space: Space, values_of: Mapping[str, float], capacity: int) -> dict[str, Any]:
    """The keys of a spec with the values that a place of a space gives them."""
    flash = candidate.geometry(space, values_of, capacity, False)
    rows = candidate.rows_of(space, values_of, capacity, flash)
    return {
        f"{section}.{key}": value for section in rows for key, (value, _) in rows[section].items()
    }


def _sources(run: Run, seen: Observed, fitted: Fitted) -> dict[str, tuple[str, str]]:
    """Origin and source of what was searched, by key."""
    sources: dict[str, tuple[str, str]] = {}
    kind = f"fitted to {run.path.name}: the kind of cache that fits best"
    for key in ("mode", "when_full"):
        sources[f"slc_cache.{key}"] = ("fitted", kind)
    where = f"fitted to {run.path.name}: what a request takes"
    unknown = f"not determined by {run.path.name}: usual"
    sources["map.residency"] = ("fitted", where) if fitted.map_known else ("prior", unknown)
    reclaimed = f"fitted to {run.path.name}: what overwriting does to later writes"
    known = ("fitted", reclaimed) if fitted.reclaim_known else ("prior", unknown)
    sources["slc_cache.reclaim"] = known
    moved = f"fitted to {run.path.name}: what random writes to a full drive show"
    sources["gc.separation"] = ("fitted", moved) if fitted.separation_known else ("prior", unknown)
    if seen.protected:
        how = f"{run.path.name} answers small writes as from RAM that outlasts a power cut"
        sources["controller.plp"] = ("fitted", how)
    if fitted.victims_known and seen.victims is None:
        sources["gc.policy"] = ("fitted", moved)
    if seen.victims is not None:
        sources["gc.policy"] = ("fitted", f"{run.path.name} finds it likelier than other ways")
    sources["nand.cell"] = ("fitted", f"fitted to {run.path.name}: fits best")
    sources["fold.pace"] = ("computed", "folding frees what the host writes")
    for name, row in values().items():
        if fitted.space.structure.name == NONE and name in candidate.SLC_ONLY:
            usual = ("prior", "usual; without a cache nothing is programmed in SLC mode")
            sources.update(dict.fromkeys(row.keys, usual))
            continue
        if name not in ("dies", candidate.FLUSH, *candidate.READS, *fitted.space.free):
            continue
        interval = fitted.intervals.get(name)
        unit = f" {row.unit}" if row.unit else ""
        value = _shown(name, fitted.values[name])
        if interval is None:
            text = f"not determined by {run.path.name}; {row.title}: {value:g}{unit} is usual"
            origin = "prior"
        else:
            low, high = (_shown(name, end) for end in interval)
            count = checked_on(seen, fitted.space.structure, name)
            held = "95 % from" if count >= TELLING else f"checked on {count} drives, from"
            text = (
                f"fitted to {run.path.name}; {row.title}: {value:g}{unit}, "
                f"{held} {low:g} to {high:g}"
            )
            origin = "fitted"
        for key in row.keys:
            sources[key] = (origin, text)
    return sources


def _id(text: str) -> str:
    letters = re.sub(r"[^a-z0-9._-]", "-", text.lower())
    return letters[:64].lstrip("-_.") or "fitted"
