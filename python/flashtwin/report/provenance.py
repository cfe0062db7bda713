"""What stands behind the numbers: specs with origins, batteries, the host, the command.

Runs may be of anything (twins, files, runs of another version), so nothing here has to be there:
what is lacking leaves its table out. Everything comes from the manifest but the host, which has a
file of its own because it alone may differ from run to run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.batteries.base import parameter, registry
from flashtwin.charts import numbers
from flashtwin.errors import FlashtwinError, shortened
from flashtwin.model import units
from flashtwin.report.drives import Drive

# Letter and words for each origin that a spec's value can have.
ORIGINS = {
    "datasheet": ("D", "a datasheet or standard says so"),
    "published": ("P", "by a reviewer or the vendor"),
    "computed": ("C", "from other values"),
    "prior": ("~", "usual for such a drive, not known for this one"),
    "fitted": ("F", "to published measurements"),
    "user": ("U", "set for this run"),
}
UNKNOWN_ORIGIN = ("?", "unknown")
# What the specs' own table, or another place of the page, shows already.
_SHOWN_ELSEWHERE = {"values", "toml", "spec_toml", "name"}
_LABELS = {
    "spec": "spec",
    "hash": "spec hash",
    "spec_hash": "spec hash",
    "raw_bytes": "raw flash",
    "size_bytes": "size",
    "fio": "fio",
    "engine": "fio engine",
    "direct": "direct I/O",
    "file_system": "file system",
    "firmware": "firmware",
}
_OF_ONE_RUN = {"directory", "arguments", "began", "ended", "wall_s", "sessions", "process"}
# What only a resumption needs; the command is shown below.
_OF_PROGRAM = {"process", "arguments", "file"}
_HOST_LABELS = {
    "directory": "run directory",
    "wall_s": "took",
    "cpus": "CPUs",
    "memory_bytes": "memory",
    "memory_needed_bytes": "memory needed",
    "began": "began",
    "ended": "ended",
}
# As much of a hash as tells specs apart; the whole one is in the run's manifest.
HASHES, SHORT_HASH = {"hash", "spec_hash"}, 12
# A prior for simulated hosts; on a real host it has no effect.
HOST_TIME = "host_us"
# Characters of a parameter's value on a page.
MOST_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class SpecCell:
    """A value of one drive's spec."""

    value: str
    origin: str
    mark: str
    source: str
    unwritten: bool = False


@dataclass(frozen=True, kw_only=True)
class SpecRow:
    """A key over all drives; none where a drive lacks it. `differs` is about values alone."""

    key: str
    cells: tuple[SpecCell | None, ...]
    differs: bool

    @property
    def same(self) -> bool:
        """Whether one cell can stand for all: value, origin and source are equal."""
        return len(set(self.cells)) == 1

    @property
    def unwritten(self) -> bool:
        """Whether no spec sets it: every drive has the default of the format."""
        return all(cell is not None and cell.unwritten for cell in self.cells)


@dataclass(frozen=True, kw_only=True)
class Item:
    """A name with a text for each drive."""

    name: str
    texts: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether one text holds for all of them."""
        return len(set(self.texts)) == 1


def specs_of(drives: Sequence[Drive]) -> tuple[list[Drive], dict[str, list[SpecRow]]]:
    """The drives that have a spec, and its rows by section ("nand.slc")."""
    with_values = [(drive, values) for drive in drives if (values := _values(drive))]
    keys = list(dict.fromkeys(key for _, values in with_values for key in values))
    sections: dict[str, list[SpecRow]] = {}
    for key in _by_section(keys):
        cells = tuple(values.get(key) for _, values in with_values)
        texts = {None if cell is None else cell.value for cell in cells}
        section, _, name = key.rpartition(".")
        row = SpecRow(key=name, cells=cells, differs=len(texts) > 1)
        sections.setdefault(section, []).append(row)
    return [drive for drive, _ in with_values], sections


def _by_section(keys: Sequence[str]) -> list[str]:
    """Rows by section, in the order of the first spec; keys that only another drive has join
    their section."""
    sections = list(dict.fromkeys(key.rpartition(".")[0] for key in keys))
    return sorted(keys, key=lambda key: sections.index(key.rpartition(".")[0]))


def _values(drive: Drive) -> dict[str, SpecCell]:
    rows = drive.identity.get("values")
    if not isinstance(rows, list):
        return {}
    return {str(row["key"]): _cell(row) for row in rows if isinstance(row, dict) and "key" in row}


def _cell(row: Mapping[str, Any]) -> SpecCell:
    value, unit = str(row.get("value", "")), str(row.get("unit") or "")
    # The twin writes units into the text; other writers may not.
    if unit and value.replace(".", "", 1).isdigit():
        value = f"{value} {unit}"
    origin = str(row.get("origin") or "")
    return SpecCell(
        value=value,
        origin=origin,
        mark=ORIGINS.get(origin, UNKNOWN_ORIGIN)[0],
        source=str(row.get("source") or ""),
        unwritten=row.get("unwritten") is True,
    )


def spec_texts(drives: Sequence[Drive]) -> list[tuple[Drive, str]]:
    """The resolved specs as TOML, for copying."""
    texts = []
    for drive in drives:
        text = drive.identity.get("toml") or drive.identity.get("spec_toml")
        if isinstance(text, str) and text.strip():
            texts.append((drive, text.strip() + "\n"))
    return texts


def targets(drives: Sequence[Drive]) -> list[Item]:
    """What each target is, without the values of its spec."""
    columns = []
    for drive in drives:
        column = {"name": drive.long_name or drive.name, "kind": drive.kind_name}
        if drive.capacity_bytes:
            column["capacity"] = units.readable_size(drive.capacity_bytes)
        for key, value in drive.identity.items():
            if key not in _SHOWN_ELSEWHERE:
                column[_LABELS.get(key, _plain(key))] = _text(key, value)
        column["seed"] = _text("seed", drive.run.manifest.get("seed"))
        column["flashtwin"] = _text("flashtwin", drive.run.manifest.get("flashtwin"))
        columns.append(column)
    return _items(columns)


@dataclass(frozen=True, kw_only=True)
class BatteryUse:
    """A battery over the drives: parameters, where it departs, and what could not be done."""

    name: str
    parameters: Sequence[Item]
    departs: tuple[tuple[str, tuple[str, ...]], ...]


def batteries(drives: Sequence[Drive]) -> list[BatteryUse]:
    """Every battery that was begun, with the parameters of all drives side by side. A battery to
    which a stopped run did not come is left out."""
    uses = [_begun(drive) for drive in drives]
    names = list(dict.fromkeys(name for of_drive in uses for name in of_drive))
    return [_battery(name, drives, uses) for name in names]


def _begun(drive: Drive) -> dict[str, dict[str, Any]]:
    """The batteries of a drive that have steps; of a run without steps all that it asked for."""
    begun = {step.battery for step in drive.run.steps}
    return {name: row for name, row in drive.uses.items() if not begun or name in begun}


def _battery(
    name: str, drives: Sequence[Drive], uses: Sequence[Mapping[str, dict[str, Any]]]
) -> BatteryUse:
    unset = _unset(name)
    columns = []
    departures: dict[str, list[str]] = {}
    for drive, of_drive in zip(drives, uses, strict=True):
        row = of_drive.get(name, {})
        can = drive.run.target.get("can", {})
        parameters = row.get("parameters") or {}
        columns.append(
            {
                key: unset.get(key, numbers.MISSING)
                if value is None
                else shortened(_text(key, value), MOST_SHOWN)
                for key, value in parameters.items()
                if key != HOST_TIME or can.get("host_time", True)
            }
        )
        departs = [str(text) for text in row.get("departs") or []]
        for text in departs + _not_possible(drive, name):
            departures.setdefault(text, []).append(drive.name)
    return BatteryUse(
        name=name,
        parameters=_items(columns),
        departs=tuple((text, tuple(names)) for text, names in departures.items()),
    )


def _unset(battery: str) -> dict[str, str]:
    """The word for a parameter that has no value: "auto", "off"."""
    try:
        parameters = registry.get(battery).parameters
    except FlashtwinError:
        return {}
    return parameter.words_for_none(parameters)


def _not_possible(drive: Drive, battery: str) -> list[str]:
    """Steps that the target could not do, each reason once, and those that a budget cut."""
    steps = [step for step in drive.run.steps if step.battery == battery]
    reasons = [
        f"{step.detail.get('of', step.kind)} was not possible: {step.not_possible}"
        for step in steps
        if step.not_possible
    ]
    reasons += [f"{step.label}: {step.note}" for step in steps if step.cut]
    return list(dict.fromkeys(reasons))


def hosts(drives: Sequence[Drive]) -> list[Item]:
    """What host.json says of each run, in its order. Of a simulation, what changes from run to run
    is left out, so that equal runs have equal pages."""
    columns = []
    for drive in drives:
        host = drive.run.host
        columns.append(
            {
                _HOST_LABELS.get(key, _plain(key)): _text(key, value)
                for key, value in host.items()
                if key not in _OF_PROGRAM and not (drive.run.is_simulated and key in _OF_ONE_RUN)
            }
        )
    return _items(columns)


def commands(drives: Sequence[Drive]) -> list[str]:
    """The commands that do the same again, each once."""
    lines = []
    for drive in drives:
        words = drive.run.manifest.get("command")
        if isinstance(words, list) and words:
            lines.append(shlex.join(str(word) for word in words))
    return list(dict.fromkeys(lines))


def _items(columns: Sequence[Mapping[str, str]]) -> list[Item]:
    names = dict.fromkeys(name for column in columns for name in column)
    return [
        Item(name=name, texts=tuple(column.get(name, numbers.MISSING) for column in columns))
        for name in names
    ]


def _plain(key: str) -> str:
    return key.replace("_", " ")


def _text(key: str, value: object) -> str:
    """A JSON value as a reader wants it; sizes in bytes and times in seconds get their units."""
    if key in HASHES:
        return str(value)[:SHORT_HASH]
    if key == "sessions" and isinstance(value, list):
        return str(len(value))
    if key in ("began", "ended") and isinstance(value, str):
        return value.replace("T", " ").replace("+00:00", " UTC")
    if value is None:
        return numbers.MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(key, value)
    if isinstance(value, list | tuple):
        return ", ".join(_text("", part) for part in value) or "none"
    if isinstance(value, dict) and isinstance(value.get("label"), str):
        return str(value["label"])
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text('', part)}" for name, part in value.items()) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number(key: str, value: float) -> str:
    if key.endswith("_bytes") or key == "size":
        return f"{units.readable_size(value)} ({units.readable_size(value, binary=True)})"
    if key == "wall_s":
        return units.readable_seconds(value)
    for end, unit in (("_s", "s"), ("_us", "µs"), ("_percent", "%")):
        if key.endswith(end):
            return f"{value:g} {unit}"
    return f"{value:g}" if isinstance(value, float) else str(value)
