"""Makes docs/reference/wafmap.md: what the battery wafmap infers of drives whose inside is known.

    .venv/bin/python -m flashtwin_lab.make.wafmap_blind [DRIVES [SECONDS]]

Small drives are drawn: dies, wordlines, capacity, over-provisioning, choice of victims and
separation, two of three with counters. Beside these are some with a cache, and some without
counters behind a host that is as slow as collection: of both the battery may say nothing, and
nothing wrong. The seed is made of the last commit of the battery, so that nobody has looked at its
drives before the code was frozen. All of them take some ten minutes of a core; after SECONDS it
stops, and goes on from the kept ones when it is called again.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from flashtwin.batteries.wafmap.responses import POLICIES, SEPARATIONS
from flashtwin.drives.twin import Twin
from flashtwin.errors import DONE, INTERRUPTED
from flashtwin.model.finding import Finding
from flashtwin.runner.run import run_batteries
from flashtwin.study.fit.intervals import TELLING
from flashtwin_lab.blind import judge
from flashtwin_lab.make import DOCS, ROOT
from flashtwin_lab.make.wafmap import MORE, small_drive

PAGE = DOCS / "reference" / "wafmap.md"
JUDGED, DIGITS, DRIVES, CACHED = "python/flashtwin/batteries/wafmap", 7, 30, 20
SLOW = 10
MIB, BLOCK = 1 << 20, 4096
WORDLINE = 3 * 16384
BITS, OWN_CELLS = 3, ("static", "hybrid")
CACHES = ("dynamic", "static", "hybrid", "whole-drive")
# Cells in SLC mode over the capacity, and flash beyond that of a drive without a cache.
CACHE_SHARE, ROOM = (0.001, 0.04), 1.15
# The time of a slow host for a command, in microseconds.
HOST_US = (500.0, 8000.0)
ZONES = (1, 2, 4, 8, 16, 64)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A drive, of one plane a die; `cache`: the kind of its cache and the bytes it holds;
    `host_us`: what a command takes the host, where it is not the usual one."""

    number: int
    dies: int
    wordlines: int
    capacity_bytes: int
    superblocks: int
    low: int
    policy: str
    separation: str
    counts: bool
    cache: tuple[str, int] = ("none", 0)
    host_us: float | None = None

    @property
    def superblock_bytes(self) -> int:
        """Bytes that a superblock holds."""
        return self.dies * self.wordlines * WORDLINE

    @property
    def spare_percent(self) -> float:
        """Flash beyond the capacity that data can be moved into; what always is in SLC mode is none
        of it, and holds three times as much else."""
        kind, size = self.cache
        own = BITS * size if kind in OWN_CELLS else 0
        flash = (self.superblocks - self.low - 2) * self.superblock_bytes - own
        return 100 * (flash / self.capacity_bytes - 1)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What the battery said of a drive: median and interval of spare flash in % and of the
    superblock in bytes, and how likely its own choice of victims is in %; none where it said
    nothing."""

    drawn: Drawn
    spare: tuple[float, float, float] | None
    superblock: tuple[float, float, float] | None
    policy: float


def drawn(seed: int, number: int) -> Drawn:
    """One drive of a seed."""
    chance = random.Random(f"wafmap {seed} {number}")
    dies, wordlines = chance.choice((2, 3, 4)), chance.choice((5, 6, 8, 9, 11, 14))
    capacity = chance.randrange(256, 640) * MIB
    low = chance.choice((4, 6, 8))
    flash = capacity * (1 + chance.uniform(0.05, 0.3))
    return Drawn(
        number=number,
        dies=dies,
        wordlines=wordlines,
        capacity_bytes=capacity,
        superblocks=int(flash / (dies * wordlines * WORDLINE)) + low + 2,
        low=low,
        policy=chance.choice(POLICIES),
        separation=chance.choice(SEPARATIONS),
        counts=number % 3 < 2,
    )


def with_cache(seed: int, number: int) -> Drawn:
    """One drive of a seed with a cache; all kinds come in turn."""
    drive = drawn(seed, number)
    share = random.Random(f"wafmap cache {seed} {number}").uniform(*CACHE_SHARE)
    return replace(
        drive,
        superblocks=int(drive.superblocks * ROOM),
        cache=(CACHES[number % len(CACHES)], int(drive.capacity_bytes * share)),
    )


def behind_a_slow_host(seed: int, number: int) -> Drawn:
    """One drive of a seed that counts nothing, and whose host takes long for a command."""
    low, high = HOST_US
    chance = random.Random(f"wafmap host {seed} {number}")
    host_us = low * (high / low) ** chance.random()
    return replace(drawn(seed, number), counts=False, host_us=round(host_us))


def twin(drive: Drawn, seed: int) -> Twin:
    """The drawn drive, opened."""
    more = MORE if drive.separation == "sepbit" else 0
    sets = {
        "drive.capacity": f"{drive.capacity_bytes} B",
        "nand.wordlines_per_block": drive.wordlines,
        "nand.blocks_per_plane": drive.superblocks + more,
        "controller.write_buffer": f"{drive.dies * WORDLINE} B",
        "smart.family": "micron" if drive.counts else "none",
        "gc.policy": drive.policy,
        "gc.separation": drive.separation,
        "gc.low": drive.low + more,
        "gc.high": drive.low + more + 2,
    }
    kind, size = drive.cache
    if kind != "none":
        sets["slc_cache.mode"] = kind
    if kind in ("dynamic", "hybrid"):
        sets["slc_cache.size"] = f"{size} B"
    if kind in OWN_CELLS:
        sets["slc_cache.static_size"] = f"{size} B"
    return Twin(small_drive(drive.dies, sets), seed=seed).open()


def judged(drive: Drawn, seed: int) -> Judged:
    """The battery on one drive, with zones as large beside it as the usual ones beside 1 TB."""
    zones = (int(drive.capacity_bytes / 1024 * times) // BLOCK * BLOCK for times in ZONES)
    asked = {"zones": "+".join(map(str, zones)), "active": "2", "zone": "16MiB"}
    if drive.host_us is not None:
        asked["host_us"] = f"{drive.host_us:.0f}"
    with tempfile.TemporaryDirectory() as folder:
        run = run_batteries(twin(drive, seed), [("wafmap", asked)], Path(folder) / "run")
        findings = dict(run.findings.items())
    return Judged(
        drawn=drive,
        spare=_with_ends(findings["wafmap.over_provisioning"], 1.0),
        superblock=_with_ends(findings["wafmap.superblock"], 1e6),
        policy=findings[f"wafmap.policy[{drive.policy}]"].number or 0.0,
    )


def _with_ends(finding: Finding, unit: float) -> tuple[float, float, float] | None:
    interval, value = finding.interval, finding.number
    if value is None:
        return None
    assert interval is not None
    assert interval.low is not None and interval.high is not None
    return value * unit, interval.low * unit, interval.high * unit


def page(
    rows: Sequence[Judged], cached: Sequence[Judged], slow: Sequence[Judged], seed: int, commit: str
) -> str:
    """The page of drives without a cache, of those with one, and of those behind a slow host."""
    least, most = CACHE_SHARE
    parts = [
        "# Spare flash and superblock, judged blind",
        "<!-- Made by flashtwin_lab.make.wafmap_blind; do not edit. -->",
        f"""{len(rows)} small drives were drawn with seed {seed}, the first digits of commit
{commit}: nobody saw them before the battery `wafmap` was frozen. Each was measured with the
battery, and its spare flash, superblock and choice of victims were compared with what they are. Two
of three count in their SMART data what they program; of the others only rates are known. Asked is
that {100 * WANTED:.0f} % of all drives have their over-provisioning within a point and their
superblock within a factor of 1.1. What an erased drive takes before it slows down tells its flash
without counters too; what a moved page costs is then inferred from the same rates. A column of
fewer than {TELLING} drives does not tell whether an interval holds as often as it says.""",
        _table(
            ["", "with counters", "by rates alone", "all", "asked"],
            [
                [
                    title,
                    *(_share(rows, counts, test) for counts in ((True,), (False,), (True, False))),
                    _verdict(rows, wanted, test),
                ]
                for title, wanted, test in TESTS
            ],
        ),
        "## Drives of which it should say nothing wrong",
        f"""{len(cached)} more drives have a cache in SLC mode, which holds {100 * least:.1f}
to {100 * most:.0f} % of the capacity or whatever is free. The battery's table is of drives without
one. {len(slow)} more have no cache and no counters, and a host that takes {HOST_US[0]:.0f} to
{HOST_US[1]:.0f} µs for a command, so that some collection is hidden. The battery says nothing
where what an erased drive takes before it slows down differs from load to load or does not fit what
it shows later, and where rates show no collection.""",
        _table(
            ["", "nothing said", "its interval holds", "it does not", "asked: not wrong"],
            [
                _honest("spare flash, with a cache", cached, _says_spare, _spare_holds),
                _honest("spare flash, slow host", slow, _says_spare, _spare_holds),
                _honest("superblock, with a cache", cached, _says_superblock, _superblock_holds),
                _honest("superblock, slow host", slow, _says_superblock, _superblock_holds),
            ],
        ),
        _table(
            ["drive", "cache or host", "spare flash", "said", "superblock", "said"],
            [_other_row(row) for row in (*cached, *slow)],
        ),
        "## Each drive without one, behind a fast host",
        _table(
            [
                "drive",
                "spare flash",
                "said",
                "superblock",
                "said",
                "victims, separation",
                "its own",
            ],
            [_row(row) for row in rows],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _says_spare(row: Judged) -> bool:
    return row.spare is not None


def _says_superblock(row: Judged) -> bool:
    return row.superblock is not None


def _spare_holds(row: Judged) -> bool:
    return _holds(row.spare, row.drawn.spare_percent)


def _superblock_holds(row: Judged) -> bool:
    return _holds(row.superblock, row.drawn.superblock_bytes)


def _honest(
    title: str,
    rows: Sequence[Judged],
    says: Callable[[Judged], bool],
    holds: Callable[[Judged], bool],
) -> list[str]:
    """How many drives of a table got nothing, something right, and something wrong."""
    said = [row for row in rows if says(row)]
    wrong = sum(not holds(row) for row in said)
    verdict = "reached" if judge.reaches(len(rows) - wrong, len(rows), HOLDS) else "**missed**"
    return [
        title,
        f"{len(rows) - len(said)} of {len(rows)}",
        f"{len(said) - wrong} of {len(rows)}",
        f"{wrong} of {len(rows)}",
        f"{100 * HOLDS:.0f} %: {verdict}",
    ]


def _spare_off(row: Judged) -> float:
    return abs(row.spare[0] - row.drawn.spare_percent) if row.spare else float("inf")


def _superblock_off(row: Judged) -> float:
    """By which factor the superblock is off, up or down."""
    if row.superblock is None:
        return float("inf")
    ratio = row.superblock[0] / row.drawn.superblock_bytes
    return max(ratio, 1 / ratio)


def _holds(said: tuple[float, float, float] | None, truth: float) -> bool:
    return said is not None and said[1] <= truth <= said[2]


# The share of drives that is asked of an estimate, and of an interval.
WANTED, HOLDS = 0.9, 0.95
TESTS: tuple[tuple[str, float | None, Callable[[Judged], bool]], ...] = (
    ("over-provisioning within a point", WANTED, lambda row: _spare_off(row) <= 1),
    ("its 95 % interval holds", HOLDS, _spare_holds),
    ("superblock within a factor of 1.1", WANTED, lambda row: _superblock_off(row) <= 1.1),
    ("its 95 % interval holds", HOLDS, _superblock_holds),
    ("the drive's own choice of victims has 50 % or more", None, lambda row: row.policy >= 50),
    ("it has less than 5 %", None, lambda row: row.policy < 5),
)


def _share(rows: Sequence[Judged], counts: Sequence[bool], test: Callable[[Judged], bool]) -> str:
    those = [row for row in rows if row.drawn.counts in counts]
    return f"{sum(test(row) for row in those)} of {len(those)}"


def _verdict(rows: Sequence[Judged], wanted: float | None, test: Callable[[Judged], bool]) -> str:
    """The share of drives for which a row has to be true, and whether it is."""
    if wanted is None:
        return ""
    held = sum(test(row) for row in rows)
    verdict = "reached" if judge.reaches(held, len(rows), wanted) else "**missed**"
    return f"{100 * wanted:.0f} %: {verdict}"


def _row(row: Judged) -> list[str]:
    return [
        _name(row.drawn),
        *_pairs(row),
        f"{row.drawn.policy}, {row.drawn.separation}",
        f"{row.policy:.0f} %",
    ]


def _other_row(row: Judged) -> list[str]:
    kind, size = row.drawn.cache
    what = (
        kind if kind == "whole-drive" else f"{kind}, {100 * size / row.drawn.capacity_bytes:.1f} %"
    )
    if row.drawn.host_us is not None:
        what = f"{row.drawn.host_us:.0f} µs"
    return [_name(row.drawn), what, *_pairs(row)]


def _name(drive: Drawn) -> str:
    return f"{drive.number}{'' if drive.counts else ', rates'}"


def _pairs(row: Judged) -> list[str]:
    """Spare flash and superblock, and what was said of them."""
    spare = size = "nothing"
    if row.spare is not None:
        spare = "{:.1f} % ({:.1f} to {:.1f})".format(*row.spare)
    if row.superblock is not None:
        size = "{:.2f} MB ({:.2f} to {:.2f})".format(*(each / 1e6 for each in row.superblock))
    own = f"{row.drawn.superblock_bytes / 1e6:.2f} MB"
    return [f"{row.drawn.spare_percent:.1f} %", spare, own, size]


def _table(head: list[str], rows: Sequence[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(words: list[str]) -> int:
    """Judge what is not kept yet, then write the page."""
    count = int(words[0]) if words else DRIVES
    seconds = float(words[1]) if len(words) > 1 else float("inf")
    git = ["git", "log", "-1", "--format=%H", "--", JUDGED]
    commit = subprocess.check_output(git, cwd=ROOT, text=True).strip()
    seed = int(commit[:DIGITS], 16)
    drives = [
        *(drawn(seed, number) for number in range(count)),
        *(with_cache(seed, number) for number in range(count, count + CACHED)),
        *(behind_a_slow_host(seed, number) for number in range(SLOW)),
    ]
    kept = Path(tempfile.gettempdir()) / f"flashtwin-wafmap-{seed}-{count}.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    rows = [msgspec.json.decode(line, type=Judged) for line in lines]
    began = time.monotonic()
    for drive in drives[len(rows) :]:
        if time.monotonic() - began > seconds:
            return INTERRUPTED
        rows.append(judged(drive, seed))
        with kept.open("a") as file:
            file.write(msgspec.json.encode(rows[-1]).decode() + "\n")
    cached, slow = rows[count : count + CACHED], rows[count + CACHED :]
    PAGE.write_text(page(rows[:count], cached, slow, seed, commit[:12]))
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
