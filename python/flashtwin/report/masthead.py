"""What stands first on a page: its title, one sentence, and a few large numbers of each drive.

Invariants: the sentence has at most `MOST_WORDS` words and says nothing that the findings below it
do not; of two values it calls one better only where their intervals part and they differ by a
tenth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf

from flashtwin.batteries.base.present import Column, Fact, Tile
from flashtwin.charts.numbers import clock, significant
from flashtwin.model.finding import Finding
from flashtwin.model.text import Shown, listed
from flashtwin.report.drives import MOST_CURVES, MOST_DRIVES, Contents, Drive

# The most drives that have numbers beside their names; more are ranked in a table instead.
FEW = 2
# Tiles a drive that stand open: with more the first chart would leave the first screen.
FIRST_TILES = 5
MOST_WORDS = 20
# Stands for the drive whose name came before, until the heading is joined.
HERE = "\0"
# Values that differ by less are the same for a reader.
WORTH_SAYING = 1.1
# From here on a ratio is said as "3 times" and not in percent.
TIMES = 2.0
# Seconds from which on a duration is told in minutes.
MINUTE = 60
# A remark on a drive that has something switched off, and what ends the name of a smaller copy.
OFF = re.compile(r"(.+?)(?: switched)? off\b")
SCALED = ", scale "
STATES = {"running": "was cut off", "failed": "failed"}


def title(drives: Sequence[Drive]) -> str:
    """The page's heading: the drives as people call them; of one that is another with a remark,
    the remark alone ("X, SLC cache on and off", "X, and with cache 8 GB")."""
    names = full_names(drives)
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    scales = {name.partition(SCALED)[2] for name in names}
    if len(names) > 1 and len(scales) == 1 and scales != {""}:
        heading = _heading([name.partition(SCALED)[0] for name in names])
        return f"{heading}{SCALED}{scales.pop()}"
    return _heading(names)


def _heading(names: Sequence[str]) -> str:
    if len(names) == 2 and names[1].startswith(f"{names[0]}, "):
        switched = OFF.match(names[1].removeprefix(f"{names[0]}, "))
        if switched:
            return f"{names[0]}, {switched[1]} on and off"
    short = []
    for at, name in enumerate(names):
        head = next((f"{other}, " for other in names[:at] if name.startswith(f"{other}, ")), "")
        short.append(f"{HERE}{name.removeprefix(head)}" if head else name)
    return listed(short).replace(f" and {HERE}", ", and with ").replace(HERE, "with ")


def full_names(drives: Sequence[Drive]) -> list[str]:
    """The drives' names for people; where two would be called the same, their names of the page."""
    names = [drive.full_name for drive in drives]
    return [
        name if names.count(name) == 1 else drive.name
        for name, drive in zip(names, drives, strict=True)
    ]


def kinds(drives: Sequence[Drive]) -> str:
    """Whether the numbers of the page are simulated, measured, or some of each."""
    there = {"simulated" if drive.run.is_simulated else "measured" for drive in drives}
    return " and ".join(sorted(there, reverse=True))


def origin(drive: Drive) -> str:
    """Where a drive's numbers come from, for the foot of a picture: "simulated, spec 0123abcd"."""
    kind = "simulated" if drive.run.is_simulated else "measured"
    digest = drive.identity.get("hash") or drive.identity.get("spec_hash")
    return f"{kind}, spec {str(digest)[:8]}" if digest else kind


# ------------------------------------------------------------------------------- one sentence


@dataclass(frozen=True, kw_only=True)
class Lead:
    """In one column, how many times better the best drive is than the next one."""

    drive: Drive
    ratio: float
    column: Column
    finding: Finding
    other: Finding

    @property
    def than(self) -> str:
        """What is said of the better of two drives."""
        if isinf(self.ratio):
            return self.column.claim.only
        return self.column.claim.than.format(self.amount)

    @property
    def amount(self) -> str:
        """The lead in words: "15 %" of the other's value, or "11 times"."""
        lower = self.column.better == "lower"
        if self.ratio >= TIMES and self.column.claim.in_times:
            return f"{significant(self.ratio, 2)} times"
        share = 1 - 1 / self.ratio if lower else self.ratio - 1
        return f"{significant(share * 100, 2)}\u00a0%"


def verdict(contents: Contents) -> str:
    """One sentence about the page; empty where nothing was concluded that belongs there."""
    drives = contents.drives
    if len(drives) == 1:
        return _sentence([contents.alone(drives[0]) or _numbers(contents.tiles(drives[0]))])
    leads = [lead for column in contents.columns() if (lead := lead_of(column, drives))]
    if len(drives) > FEW:
        return _sentence(_clauses([(lead.drive, lead.column.claim.most) for lead in leads]))
    if not leads:
        return _without_lead(contents)
    leads.sort(key=lambda lead: -lead.ratio)
    # The widest lead of each of the two, the wider one last, where a reader remembers it.
    chosen = {lead.drive.index: lead for lead in reversed(leads)}
    widest = sorted(chosen.values(), key=lambda lead: lead.ratio)
    statements = [(lead.drive, lead.than) for lead in widest]
    others = [lead for lead in leads if lead.column.tile != leads[0].column.tile]
    if len(widest) == 1 and others:
        statements.append((others[0].drive, others[0].than))
    return _sentence(_clauses(statements))


def _without_lead(contents: Contents) -> str:
    """The sentence where no drive leads: they are alike, or their intervals hide which is better,
    or nothing that ranks drives was found of both."""
    ratios = [
        ratio
        for column in contents.columns()
        if next(iter(column.values())).claim.than and (ratio := ratio_of(column)) is not None
    ]
    if not ratios:
        return _of_each(contents)
    if max(ratios) >= WORTH_SAYING:
        return "No difference beyond the uncertainty of the values was seen."
    return "No difference of 10\u00a0% was seen."


def _of_each(contents: Contents) -> str:
    """The sentence where nothing ranks the drives: the first number that all of them have, for
    each."""
    rows = [{tile.title: tile for tile in contents.tiles(drive)} for drive in contents.drives]
    shared = next((title for title in rows[0] if all(title in row for row in rows)), None)
    if shared is None:
        return ""
    values = [
        f"{drive.name} {row[shared].value} {row[shared].unit}".strip()
        for drive, row in zip(contents.drives, rows, strict=True)
    ]
    return _sentence([f"{shared}: {', '.join(values)}"])


def _numbers(tiles: Sequence[Tile]) -> str:
    """The first numbers of a drive whose batteries have no sentence."""
    return "; ".join(f"{tile.title}: {tile.value} {tile.unit}".strip() for tile in tiles[:2])


def lead_of(column: Mapping[int, Column], drives: Sequence[Drive]) -> Lead | None:
    """The best drive of a column, where it is better than the next by more than can be chance."""
    first = next(iter(column.values()))
    if first.better is None or not first.claim.than:
        return None
    ranked = [
        (cell.finding.number, drive, cell.finding)
        for drive, cell in column.items()
        if cell.finding is not None
        and cell.finding.number is not None
        and (cell.finding.number or first.claim.only)
    ]
    ranked.sort(key=lambda row: row[0], reverse=first.better == "higher")
    if len(ranked) < 2:
        return None
    (best, index, best_finding), (other, _, next_finding) = ranked[:2]
    ratio = _ratio(best, other)
    if ratio < WORTH_SAYING or _meet(best_finding, next_finding):
        return None
    return Lead(
        drive=drives[index],
        ratio=ratio,
        column=column[index],
        finding=best_finding,
        other=next_finding,
    )


def ratio_of(column: Mapping[int, Column]) -> float | None:
    """The higher of two values over the lower; none where a drive has none. Of a column that says
    nothing of a drive with 0, both have to be above it."""
    only = next(iter(column.values())).claim.only
    values = [
        cell.finding.number
        for cell in column.values()
        if cell.finding is not None
        and cell.finding.number is not None
        and (cell.finding.number or only)
    ]
    return _ratio(*values) if len(values) == FEW else None


def _ratio(first: float, other: float) -> float:
    """The higher of two values over the lower: 1 where both are 0."""
    low, high = sorted((first, other))
    if low:
        return high / low
    return inf if high else 1.0


def _meet(first: Finding, other: Finding) -> bool:
    """Whether two intervals have a value in common."""
    ends = (first.low, first.high, other.low, other.high)
    if None in ends:
        return False
    low, high, its_low, its_high = (end or 0.0 for end in ends)
    return low <= its_high and its_low <= high


def _clauses(statements: Sequence[tuple[Drive, str]]) -> list[str]:
    """What is said of one drive, joined behind its name."""
    by_drive: dict[str, list[str]] = {}
    for drive, text in statements:
        by_drive.setdefault(drive.name, []).append(text)
    return [f"{name} {' and '.join(texts)}" for name, texts in by_drive.items()]


def _sentence(clauses: Sequence[str]) -> str:
    """A sentence of as many clauses as fit."""
    text = ""
    for clause in filter(None, clauses):
        longer = f"{text}; {clause}" if text else clause
        if len(longer.split()) > MOST_WORDS:
            break
        text = longer
    return f"{text}." if text else ""


def unfinished(drives: Sequence[Drive]) -> list[str]:
    """A sentence for each run that did not end as it was meant to."""
    return [
        f"The run of {drive.name} {STATES.get(drive.state, f'was {drive.state}')} after "
        f"{len(drive.run.steps)} steps; what was done is shown."
        for drive in drives
        if drive.state != "finished"
    ]


def undrawn(every: Sequence[Drive], drawn: Sequence[Drive]) -> str:
    """Of a page with more runs than it draws: which those are; empty where it draws all."""
    if len(every) == len(drawn):
        return ""
    first, last = drawn[0].name, drawn[-1].name
    which = (
        f"the first, {first}" if len(drawn) == 1 else f"the first {len(drawn)}, {first} to {last}"
    )
    return (
        f"The table has all {len(every)} runs. Curves, findings and set-ups are shown of {which}: "
        f"a page draws at most {MOST_DRIVES} runs and {MOST_CURVES} curves. A report of other runs "
        "draws those."
    )


def facts(contents: Contents) -> list[Fact]:
    """The sentences of the batteries, drive by drive, then those about several; with many drives
    without details."""
    known, brief = contents.facts, len(contents.drives) > FEW
    ordered = []
    for drive in contents.drives:
        of_drive = [fact for fact in known if fact.drive == drive.index]
        ordered += [fact for fact in of_drive if not (brief and fact.detail)]
    return ordered + [fact for fact in known if fact.drive is None]


# ------------------------------------------------------------------------------ large numbers


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A tile beside that of the other drive; `ratio` is empty where they do not differ."""

    tile: Tile
    ratio: str = ""


def tiles(contents: Contents) -> list[list[Compared]]:
    """The numbers beside each drive's name; of two drives the better one has its lead."""
    rows = [contents.tiles(drive) for drive in contents.drives]
    if len(rows) != FEW:
        return [[Compared(tile=tile) for tile in row] for row in rows]
    return [
        [_against(tile, {other.title: other for other in rows[1 - at]}) for tile in row]
        for at, row in enumerate(rows)
    ]


def _against(tile: Tile, others: Mapping[str, Tile]) -> Compared:
    other = others.get(tile.title)
    if other is None or tile.better is None or len(tile.numbers) != len(other.numbers):
        return Compared(tile=tile)
    ratios = []
    for own_number, other_number in zip(tile.numbers, other.numbers, strict=True):
        ahead = own_number > other_number if tile.better == "higher" else own_number < other_number
        ratio = (
            max(own_number / other_number, other_number / own_number)
            if own_number and other_number
            else 1.0
        )
        ratios.append(f"{significant(ratio, 2)}\u00d7" if ahead and ratio >= WORTH_SAYING else "")
    if not any(ratios):
        return Compared(tile=tile)
    return Compared(tile=tile, ratio=" / ".join(ratio or "=" for ratio in ratios))


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A column of the ranking: a text for each drive, and the drives that are best in it."""

    title: str
    texts: Mapping[int, str]
    best: frozenset[int]


def ranking(contents: Contents) -> list[Ranked]:
    """The batteries' columns over all drives."""
    return [_ranked(column) for column in contents.columns()]


def _ranked(column: Mapping[int, Column]) -> Ranked:
    first = next(iter(column.values()))
    values = {
        drive: cell.finding.number
        for drive, cell in column.items()
        if cell.finding is not None and cell.finding.number is not None
    }
    best: frozenset[int] = frozenset()
    if first.better and len(set(values.values())) > 1:
        top = (max if first.better == "higher" else min)(values.values())
        best = frozenset(drive for drive, value in values.items() if value == top)
    texts = {drive: _text(cell.finding) for drive, cell in column.items() if cell.finding}
    return Ranked(title=first.title, texts=texts, best=best)


def _text(finding: Finding) -> str:
    """A value as a tile has it: minutes and seconds of what takes long."""
    if finding.unit == "s" and (finding.number or 0) >= MINUTE:
        return clock(finding.number or 0.0)
    shown = Shown.of(finding)
    return f"{shown.value} {shown.unit}".strip()
