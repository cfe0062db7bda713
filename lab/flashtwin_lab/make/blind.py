"""Makes docs/reference/blind.md: the analysis of a fill, judged on drives whose inside is known.

    .venv/bin/python -m flashtwin_lab.make.blind [DRIVES [OF_EACH_PROGRAM]]

The seed is made of the last commit of the analysis, the drives and the judge, so that nobody has
looked at these drives before the code was frozen; changes that are not committed are refused. A
thousand drives of the prior, 200 of each program and as many negatives take seven minutes of a core
that does nothing else, and up to half an hour of one that is shared. The page carries
the commit, the prior's SHA-256 and the judgement of its worst drives, by which a test says where it
is no longer of today's prior or analysis. Blocks of drives that are done are kept under
target/blind, so that the command goes on where it was stopped.
"""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar

import numpy as np

from flashtwin import outputs
from flashtwin_lab.blind import detect, generate, judge, negatives, run
from flashtwin_lab.blind.judge import Judged
from flashtwin_lab.blind.truth import LEAST_SHARE, Measured
from flashtwin_lab.make import DOCS, ROOT, SERIES, typed_numbers

PAGE = DOCS / "reference" / "blind.md"
PROGRAMS = ("fills_core", "fills_hot", "fills_rough")
DRIVES, OTHERS, WORST = 1000, 200, 20
# Drives that are kept in one file.
BLOCK = 50
# The code whose last commit makes the seed, by its first digits: analysis, drives and judge.
JUDGED = (
    "python/flashtwin/analysis",
    "python/flashtwin/batteries/fill",
    "lab/flashtwin_lab/blind/*.py",
    *(f"tests/study/{name}.py" for name in ("synthetic", *PROGRAMS)),
)
DIGITS = 7
BARS, WIDTH = "▁▂▃▄▅▆▇█", 72
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
ERRORS = ("cache size", "speeds", "where cells have to come back")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One drive: its judgement, and what was true and answered of cache and plateaus."""

    number: int
    judged: Judged
    design: str
    visible: bool | None
    cache: bool | None
    true_count: int
    count: int
    sparkline: str


def prior_digest() -> str:
    """The SHA-256 of the prior that ships."""
    return hashlib.sha256(generate.PRIOR.read_bytes()).hexdigest()


def case_of(program: Path | None, seed: int, number: int) -> Case:
    """One drive drawn, analysed and judged."""
    prior = generate.read_prior()
    drawn = program is None
    measured = generate.measured(prior, seed, number) if drawn else _made_up(program, seed, number)
    answer = detect.ours(measured)
    return Case(
        number=number,
        judged=judge.judged(measured, answer),
        design=measured.truth.design,
        visible=measured.truth.visible,
        cache=answer.cache,
        true_count=len(measured.truth.plateaus),
        count=judge._counted(answer),
        sparkline=sparkline(measured),
    )


def negative_of(program: Path | None, seed: int, number: int) -> Judged | None:
    """A negative of a generator, judged; none where that has no drive without a cache."""
    measured = run.negative(generate.read_prior(), program, seed, number)
    return None if measured is None else judge.judged(measured, detect.ours(measured))


def seed_of(code: str) -> int:
    """The seed that belongs to a commit."""
    return int(code[:DIGITS], 16)


def _made_up(program: Path | None, seed: int, number: int) -> Measured:
    assert program is not None, "a drive comes from the prior or from a program"
    return run._of_program(program, seed, number)


def sparkline(measured: Measured) -> str:
    """The speed over the bytes in a line of text; a logarithm a step, from slowest to fastest."""
    done = np.concatenate(([0.0], np.cumsum(measured.bytes)))
    time = np.concatenate(([0.0], np.cumsum(measured.dt_ns / 1e9)))
    moments = np.interp(np.linspace(0.0, done[-1], WIDTH + 1), done, time)
    speed = np.log(done[-1] / WIDTH / np.maximum(np.diff(moments), 1e-9))
    height = (speed - speed.min()) / max(float(np.ptp(speed)), 0.05)
    return "".join(BARS[int(h * (len(BARS) - 1) + 0.5)] for h in height)


def worst_of(cases: Sequence[Case]) -> list[Case]:
    """Those that were judged worst, the worst first."""
    wrong = [case for case in cases if case.judged.badness > 0.05]
    return sorted(wrong, key=lambda case: (-case.judged.badness, case.number))[:WORST]


def worst_line(case: Case) -> str:
    """What is wrong with one drive, in words that a test can make again."""
    judged = case.judged
    wrong = [name for name, right in judged.right.items() if not right]
    off = [
        f"{name} off by {max(errors):.1%}"
        for name, errors in judged.errors.items()
        if max(errors, default=0.0) > 0.05
    ]
    effects = ", ".join(judged.effects).replace("_", " ") or "noise alone"
    found = f"{case.count} of {case.true_count} plateaus" if "number of plateaus" in wrong else ""
    reasons = "; ".join([*(f"wrong: {name}" for name in wrong), *off, *([found] if found else [])])
    return f"{case.number}: {case.design}, {effects}: {reasons}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines), ""]


def rows_of(cases: Sequence[Case]) -> list[str]:
    """The targets, and what was reached."""
    rows = judge.rows([case.judged for case in cases], generate.read_prior()["targets"])
    return table(
        ("finding", "has to reach", "reached", "verdict"),
        [(r.finding, r.target, r.found, "pass" if r.passes else "**miss**") for r in rows],
    )


def distribution(cases: Sequence[Case]) -> list[str]:
    """How far answers are off: a row a finding, a column a share of the answers."""
    rows = []
    for name in ERRORS:
        errors = [e for case in cases for e in case.judged.errors.get(name, ())]
        if errors:
            cells = [f"{np.quantile(errors, share):.2%}" for share in SHARES]
            rows.append((name, len(errors), *cells, f"{max(errors):.1%}"))
    shares = [f"{share:.0%} within" for share in SHARES]
    return table(("off by", "answers", *shares, "most"), rows)


def intervals(cases: Sequence[Case]) -> list[str]:
    """How often 95 % intervals hold, and how wide they are."""
    rows = []
    for name in ERRORS:
        held = [h for case in cases for h in case.judged.holds.get(name, ())]
        if held:
            share = sum(holds for holds, _ in held) / len(held)
            rows.append((name, len(held), f"{share:.1%}", f"{np.median([w for _, w in held]):.2%}"))
    return table(("95 % interval of", "intervals", "hold the truth", "median width"), rows)


def confusion(cases: Sequence[Case]) -> list[str]:
    """Cache there or not, and the number of plateaus: true in rows, answered in columns."""
    words = {True: "a cache", False: "none", None: "cannot tell"}
    truths = {True: "a cache", False: "none", None: "below what a host resolves"}
    seen = Counter((case.visible, case.cache) for case in cases)
    lines = table(
        ("true \\ answered", *words.values()),
        [(word, *(seen[key, answer] for answer in words)) for key, word in truths.items()],
    )
    counts = Counter((c.true_count, min(c.count, 5)) for c in cases if c.visible is not None)
    lines += table(
        ("plateaus: true \\ answered", *"1234", "5 or more"),
        [
            (true, *(counts[true, answer] for answer in range(1, 6)))
            for true in sorted({true for true, _ in counts})
        ],
    )
    return lines


def by_effect(cases: Sequence[Case]) -> list[str]:
    """How often the number of plateaus is right where a series has an effect."""
    names = sorted({name for case in cases for name in case.judged.effects})
    rows = []
    for name in [*names, ""]:
        having = [c for c in cases if (name in c.judged.effects if name else not c.judged.effects)]
        right = [
            case.judged.right["number of plateaus"] for case in having if case.visible is not None
        ]
        if right:
            words = name.replace("_", " ") or "noise alone"
            rows.append((words, len(right), f"{sum(right) / len(right):.1%}"))
    return table(("effect", "drives", "number of plateaus right"), rows)


def by_program(programs: Mapping[str, Sequence[Case]]) -> list[str]:
    """The targets in rows, and in columns what was reached on each program's drives."""
    targets = generate.read_prior()["targets"]
    columns = [
        judge.rows([case.judged for case in drives], targets) for drives in programs.values()
    ]
    rows = [
        (same[0].finding, same[0].target, *(_reached(row) for row in same))
        for same in zip(*columns, strict=True)
    ]
    return table(("finding", "has to reach", *(f"`{name}.py`" for name in programs)), rows)


def _reached(row: judge.Row) -> str:
    return row.found if row.passes else f"**miss**: {row.found}"


def claims(judged: Mapping[str, Sequence[Judged]]) -> list[str]:
    """Claims of a cache, of each generator's drives and as many negatives."""
    columns = [judge.rows(drives, negatives.TARGETS) for drives in judged.values()]
    findings = dict.fromkeys(row.finding for rows in columns for row in rows)
    rows = []
    for finding in findings:
        found = [next((r for r in rows if r.finding == finding), None) for rows in columns]
        counted = [row for row in found if row is not None]
        wrong = sum(int(row.found.split()[0]) for row in counted)
        count = sum(row.n for row in counted)
        together = f"{wrong} of {count}, at most {judge.at_most(wrong, count):.1%}"
        cells = ["" if row is None else _reached(row) for row in found]
        rows.append((finding, counted[0].target, together, *cells))
    return table(("finding", "has to reach", "of all, with 95%", *judged), rows)


def other_laws(programs: Mapping[str, Sequence[Case]], seed: int) -> list[str]:
    """The section of the programs with laws of their own."""
    count = len(next(iter(programs.values())))
    return [
        "## Other laws, other noise",
        "",
        f"{count} drives of each of the [programs](../guides/blind.md) that try what breaks an",
        "analysis: heat with a mass, limiters, journals, slow starts, saw-teeth, noise with a",
        f"memory or with heavy tails, 60 to 20,000 samples (seed {seed}).",
        "",
        *by_program(programs),
    ]


def page(
    code: str,
    cases: Sequence[Case],
    others: Sequence[Case],
    programs: Mapping[str, Sequence[Case]],
    against: Mapping[str, Sequence[Judged]],
) -> str:
    """The page. `against`: by generator, drives and negatives."""
    seed = seed_of(code)
    count = len(cases)
    lines = [
        "# The analysis of a fill, judged blind",
        "",
        "<!-- Made by flashtwin_lab.make.blind; do not edit. -->",
        f"<!-- prior sha256 {prior_digest()} seed {seed} drives {count} commit {code} -->",
        "",
        f"`flashtwin blind --count {count} --seed {seed}`. Analysis, drives and judge are those of",
        f"commit {code}, whose first {DIGITS} digits are the seed: nobody saw these drives before",
        "the code was frozen. They are drawn from",
        "[the prior](../../lab/flashtwin_lab/blind/prior.toml), filled in the simulator,",
        "disturbed as hosts disturb, and analysed from the series alone.",
        "[A guide](../guides/blind.md) tells how to put another analysis or another generator in.",
        f"A plateau counts from {LEAST_SHARE:.0%} of the fill on; where cells have to come back is",
        "a place also if fewer bytes follow it. Some rows pass a little beside their target:",
        "a row of a share misses where its count has less than one chance in twenty if the target",
        "is kept, and a row of intervals where it has less than one in a hundred.",
        "",
        *rows_of(cases),
        "## What must not be claimed",
        "",
        "Drives of each generator, and as many *negatives*: drives without a cache that were made",
        "to look as if one ended. A cache is claimed where its probability is 95 % or more.",
        "",
        *claims(against),
        "## How far answers are off",
        "",
        *distribution(cases),
        "## Intervals",
        "",
        *intervals(cases),
        "## What is taken for what",
        "",
        *confusion(cases),
        "## By effect",
        "",
        *by_effect(cases),
        "## The worst",
        "",
        "Each is drawn as its speed over its bytes, on a logarithmic scale.",
        "",
        "```text",
        *(line for case in worst_of(cases) for line in (worst_line(case), case.sparkline)),
        "```",
        "",
        "## Fills that no simulator made",
        "",
        "Drives of our own simulator can flatter us. These",
        f"{len(others)} fills are drawn by hand-written laws",
        "([tests/study/synthetic.py](../../tests/study/synthetic.py)),",
        "after the shapes that reviewers publish, with other noise and other disturbances.",
        "",
        *rows_of(others),
        *other_laws(programs, seed),
        "No measured series is in this repository. `flashtwin infer FILE` reads yours.",
    ]
    return "\n".join(lines) + "\n"


def frozen() -> str:
    """The last commit of all that makes the rows; ends the program where it was changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words, "--", *JUDGED]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    if changed := git("status", "--porcelain"):
        sys.exit(f"the seed is made of the commit, so commit this first:\n{changed}")
    return git("log", "-1", "--abbrev=12", "--format=%h")


Value = TypeVar("Value")
# A function of a number on some numbers: a process pool's `map`.
Mapped = Callable[[Callable[[int], Value], Sequence[int]], list[Value]]


def kept(
    folder: Path, mapped: Mapped[Value], function: Callable[[int], Value], count: int
) -> list[Value]:
    """The values of `function` for the numbers below `count`, in blocks of `BLOCK`. A block that
    is done is written to `folder`, and read from there if an earlier run wrote it."""
    values: list[Value] = []
    for first in range(0, count, BLOCK):
        path = folder / f"{first}-{min(first + BLOCK, count)}.pickle"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            block = mapped(function, range(first, min(first + BLOCK, count)))
            outputs.write(path, pickle.dumps(block))
        values += pickle.loads(path.read_bytes())
    return values


def main(count: int, of_each: int) -> None:
    code = frozen()
    seed = seed_of(code)
    numbers = {"prior": count, **dict.fromkeys(("synthetic", *PROGRAMS), of_each)}
    with Pool() as pool:

        def all_of(name: str) -> tuple[list[Case], list[Judged]]:
            program = None if name == "prior" else SERIES / f"{name}.py"
            folder = ROOT / "target" / "blind" / code / name
            each = partial(case_of, program, seed)
            cases = kept(folder / "drives", pool.map, each, numbers[name])
            # As many as the program's drives; the prior's own are a sample of all.
            against = partial(negative_of, program, seed)
            drawn = kept(folder / "negatives", pool.map, against, min(of_each, numbers[name]))
            print(f"{name}: {len(cases)} drives, {len(drawn)} negatives", file=sys.stderr)
            return cases, [judged for judged in drawn if judged is not None]

        done = {name: all_of(name) for name in numbers}
    against = {
        name: [*(case.judged for case in cases[:of_each]), *judged]
        for name, (cases, judged) in done.items()
    }
    programs = {name: done[name][0] for name in PROGRAMS}
    PAGE.write_text(page(code, done["prior"][0], done["synthetic"][0], programs, against))


if __name__ == "__main__":
    main(*typed_numbers(drives=DRIVES, others=OTHERS))
