"""Makes the table of docs/concepts/fit.md: `.venv/bin/python -m flashtwin_lab.make.fit`.

The drives are those of lab/flashtwin_lab/blind/fitted.json, which
`flashtwin blind --fit --append lab/flashtwin_lab/blind/fitted.json` goes on with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flashtwin.study.fit.intervals import TELLING
from flashtwin_lab import proof
from flashtwin_lab.blind.shards import Kept
from flashtwin_lab.make import DOCS

PAGE = DOCS / "concepts" / "fit.md"
KEPT = Path(proof.__file__).parent / "blind" / "fitted.json"
BLOCK = re.compile(r"<!-- fitted drives -->\n.*?<!-- end of fitted drives -->\n", re.S)
# Drives that are shown one by one: those whose predictions are farthest off.
WORST = 12


def block(rows: Sequence[Kept]) -> str:
    """The part of the page that the kept drives decide: results seed by seed, the last one first,
    then kinds and the worst of all seeds."""
    drives = [row.drive for row in rows]
    lines = ["<!-- fitted drives -->"]
    for seed in reversed(dict.fromkeys(row.seed for row in rows)):
        lines += [*_campaign([row for row in rows if row.seed == seed]), ""]
    lines += [
        f"All {len(drives)} drives by kind:",
        "",
        *_kinds(drives),
        "",
        f"The {min(WORST, len(drives))} whose worst prediction is farthest off; rate of the twin "
        "over the drive's, with a star where the 90 % interval misses:",
        "",
        *_worst(rows),
        "<!-- end of fitted drives -->",
    ]
    return "\n".join(lines) + "\n"


def _campaign(rows: Sequence[Kept]) -> Iterator[str]:
    """The sentence and the table of results for the drives of one seed."""
    drives = [row.drive for row in rows]
    commits = ", ".join(dict.fromkeys(row.commit for row in rows))
    cpu_min = sum(drive.cpu_s for drive in drives) / 60 / len(drives)
    yield (
        f"{len(drives)} drives of seed {rows[0].seed}, fitted at {commits}; {cpu_min:.1f} minutes "
        "of a processor each:"
    )
    yield ""
    yield from _results(drives)


def _results(drives: Sequence[proof.Predicted]) -> Iterator[str]:
    yield "| what | target | found | |"
    yield "|---|---|---|---|"
    for row in proof.rows(drives):
        verdict = "reached" if row.passes else "**missed**"
        verdict = verdict if len(drives) >= TELLING else "too few to tell"
        yield f"| {row.finding} | {row.target} | {row.found} | {verdict} |"


def _kinds(drives: Sequence[proof.Predicted]) -> Iterator[str]:
    yield "| kind | drives | kind right | " + " | ".join(proof.NEAR) + " |"
    yield "|---|---|---|" + "---|" * len(proof.NEAR)
    for kind in dict.fromkeys(drive.kind for drive in drives):
        own = [drive for drive in drives if drive.kind == kind]
        same = sum(drive.structure.startswith(f"{kind},") for drive in own)
        right = " | ".join(str(sum(drive.right[name] for drive in own)) for name in proof.NEAR)
        yield f"| {kind} | {len(own)} | {same} | {right} |"


def _worst(rows: Sequence[Kept]) -> Iterator[str]:
    yield "| seed, drive | is | fitted as | " + " | ".join(proof.NEAR) + " |"
    yield "|---|---|---|" + "---|" * len(proof.NEAR)
    for row in sorted(rows, key=lambda row: -proof.off(row.drive))[:WORST]:
        drive = row.drive
        design = drive.name.rpartition(" ")[0]
        where = f"| {row.seed}, {row.number} | {design} "
        if drive.error is not None:
            yield f"{where}| not: {drive.error} |" + " |" * len(proof.NEAR)
            continue
        cells = (
            f"{drive.ratios[name]:.2f}{'' if drive.inside[name] else ' *'}" for name in proof.NEAR
        )
        yield f"{where}| {drive.structure} | " + " | ".join(cells) + " |"


def main() -> None:
    text = PAGE.read_text()
    assert BLOCK.search(text), "fit.md has no fitted drives"
    PAGE.write_text(BLOCK.sub(lambda _: block(proof.kept(KEPT)), text))


if __name__ == "__main__":
    main()
