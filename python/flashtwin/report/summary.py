"""What runs come to in five plain lines of 100 columns, for a terminal.

One drive has two lines (what it writes; its other numbers), of several drives each has one. Then
come how sure the numbers are, what to do next, and where the page is. The words are those that the
batteries have for the page's head (`Present.alone`, `Claim`): no battery is named here. Invariants:
every number is that of a finding, what lies within ± is an estimate's 95 %, and what a line has no
room for is left out of it, last words first; only a path is as long as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from flashtwin.model import text
from flashtwin.model.text import Shown, listed
from flashtwin.model.units import rough_seconds
from flashtwin.report import article, masthead
from flashtwin.report.drives import Contents, Drive
from flashtwin.runs.rundir import Run

WIDE = 100
# Values of a drive of whose batteries none has words of its own, and statements about a drive.
MOST_VALUES, MOST_CLAUSES = 3, 3


def lines(runs: Sequence[Run], *, then: str, page: Path | None) -> list[str]:
    """The lines; `then` is what to do next. Without a `page` there is no line of it."""
    contents = Contents.of(runs)
    drives = contents.drives
    names = masthead.full_names(drives)
    if len(drives) == 1:
        by_drive = _of_one(contents, drives[0], names[0])
    else:
        by_drive = []
        for drive, name in zip(drives, names, strict=True):
            first = _begun(contents.brief(drive).rstrip(".")) or _headlines(drive)
            parts = [*filter(None, [first]), *_briefs(contents, drive, first)]
            by_drive.append(_named(drive, name, "", parts))
    sure = _how_sure(contents, drives)
    place = [] if page is None else [f"Page: {page}"]
    # A page keeps a number and its unit together; in a terminal's line that is a strange character.
    return [line.replace("\u00a0", " ") for line in (*by_drive, sure, f"Next: {then}")] + place


def _of_one(contents: Contents, drive: Drive, name: str) -> list[str]:
    """What a drive writes, then what else its batteries have words for."""
    kind = " (simulated)" if drive.run.is_simulated else ""
    sentence, short = (_begun(say(drive).rstrip(".")) for say in (contents.alone, contents.brief))
    if len(f"{_short(drive, name)}: {sentence}") > WIDE:
        sentence = short or sentence
    first = sentence or _headlines(drive)
    clauses = [row for row in article.clauses(contents, drive) if row not in first]
    clauses = clauses[:MOST_CLAUSES]
    if not first:
        first, clauses = (f"it {clauses[0]}", clauses[1:]) if clauses else (NOTHING, [])
    lines = [_named(drive, name, kind, [first])]
    while clauses and len(f"It {listed(clauses)}") > WIDE:
        clauses = clauses[:-1]
    return [*lines, f"It {listed(clauses)}"] if clauses else lines


NOTHING = "nothing was concluded"


def _named(drive: Drive, name: str, kind: str, parts: Sequence[str]) -> str:
    """A drive's name and as many parts as fit behind it: without what it is and by its short name,
    where there is no room for all. That it is a smaller copy stands in each."""
    room = WIDE - len("; ".join(parts)) - len(": ")
    head = next(
        (head for head in (f"{name}{kind}", name) if len(head) <= room), _short(drive, name)
    )
    return _fitted(f"{head}: ", parts or [NOTHING], "; ")


def _short(drive: Drive, name: str) -> str:
    return f"{drive.name}{''.join(name.partition(masthead.SCALED)[1:])}"


def _briefs(contents: Contents, drive: Drive, first: str) -> list[str]:
    """What the columns say of a drive in the fewest words, but for what was said `first`; those of
    one tile say it together. The longest stands first, for what fits behind it."""
    values: dict[tuple[str, str], list[str]] = {}
    for column in contents.columns():
        cell = column.get(drive.index)
        finding = None if cell is None else cell.finding
        if cell is None or finding is None or finding.number is None or not cell.claim.brief:
            continue
        value = text.within_sentence(finding)
        if cell.claim.alone.format(value) in first:
            continue
        shown = rough_seconds(finding.number) if finding.unit == "s" else value
        values.setdefault((cell.tile or cell.title, cell.claim.brief), []).append(shown)
    briefs = []
    for (_, brief), (*others, last) in values.items():
        # The unit stands once: 46.1 / 84.9 MB/s.
        unit = last.replace("\u00a0", " ").rpartition(" ")[2]
        numbers = [*(shown.removesuffix(unit).strip() for shown in others), last]
        briefs.append(brief.format(" / ".join(numbers)))
    return sorted(briefs, key=len, reverse=True)


def _headlines(drive: Drive) -> str:
    """The findings that say most about a drive of whose batteries none has words of its own."""
    valued = [finding for finding in drive.findings if finding.value is not None]
    chosen = [finding for finding in valued if finding.headline] or valued
    shown = [f"{_begun(row.title)} {text.plain(row)}" for row in chosen[:MOST_VALUES]]
    return _fitted("", shown, "; ", room=WIDE - len(f"{drive.name} (simulated): ")) if shown else ""


def _how_sure(contents: Contents, drives: Sequence[Drive]) -> str:
    """What the numbers are, and how far the first drive's first estimates are known: the numbers
    themselves stand in the lines before."""
    drive = drives[0]
    columns = (column[drive.index] for column in contents.columns() if drive.index in column)
    estimates = [
        f"{_begun(column.title)} {shown.spread} {shown.unit}"
        for column in columns
        if (finding := column.finding) is not None
        and finding.interval is not None
        and finding.interval.means == "estimate"
        and (shown := Shown.of(finding)).spread
    ]
    kinds = masthead.kinds(drives)
    if not estimates:
        return f"How sure: {kinds}; none of these numbers has an interval"
    return _fitted(f"How sure: {kinds}; 95 % intervals: ", estimates, ", ")


def _fitted(head: str, parts: Iterable[str], between: str, *, room: int = WIDE) -> str:
    """The head and those parts that fit behind it; a first one that does not loses clauses, and
    one that is no shorter for it is cut at a word."""
    first, *others = parts
    line = f"{head}{first}"
    while len(line) > room and "; " in line:
        line = line.rpartition("; ")[0]
    if len(line) > room:
        cut = line[: room - 2].rpartition(" ")[0] or line[: room - 2]
        return f"{cut.rstrip(' ,;:')} \u2026"
    for part in others:
        if len(longer := f"{line}{between}{part}") <= room:
            line = longer
    return line


def _begun(words: str) -> str:
    """A text that begins within a sentence: its capital goes, that of an abbreviation stays."""
    return words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
