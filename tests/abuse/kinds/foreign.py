"""Batteries of another package: what each of their functions may raise, give, or never end giving.

The package is of files in the working directory that only this case's commands have on their path.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from sandbox import Sandbox, program

_HEAD = """
import itertools
from dataclasses import dataclass, replace
from flashtwin.batteries.base.parameter import integer, parameter
from flashtwin.batteries.base.present import Fact, Present, Section, Tile
from flashtwin.batteries.base.registry import Battery, Forecast, Part
from flashtwin.model.finding import Finding
from flashtwin.model.step import Chain, Fill, Job, Mark, Purge, Rest, Run, Trim

@dataclass(frozen=True, kw_only=True)
class Parameters:
    rounds: int = parameter(2, integer(1, 9), "rounds")

JOB = Job(name="w", rw="write", block_bytes=1 << 20, size=1 << 22)
FINDING = Finding(battery="guest", name="speed", title="Speed", value=1.0, unit="MB/s")

def measure(parameters, info):
    for number in range(parameters.rounds):
        yield Run(label=f"guest/{number}", jobs=(JOB,))

def conclude(record):
    return [FINDING]

def odd(*arguments, **options):
    EXPRESSION

def odd_steps(parameters, info):
    yield Run(label="guest/0", jobs=(JOB,))
    STEPS

BATTERY = Battery(name="guest", title="a guest", trust="M", parameters=Parameters,
                  measure=measure, conclude=conclude)
"""
_PLACES = ("measure", "conclude", "departs", "parts", "estimate", "meanings", "present")
_METHODS = ("section", "phases", "places", "plateaus", "counterparts", "facts", "alone", "columns")
_VALUES = (
    *("None", "5", "'text'", "b'x'", "[]", "{}", "object()", "[None]", "[5]", "['a']", "[[]]"),
    *("float('nan')", "lambda: 0", "int", "(FINDING, FINDING)", "[replace(FINDING, title=3)]"),
    *("[replace(FINDING, value=10**400)]", "[replace(FINDING, variant='\\x1b[2J')]", "[JOB]"),
    *("itertools.repeat(FINDING)", "itertools.repeat(Purge())", "itertools.repeat('a')"),
    *("[Part(title=1, labels=2)]", "Forecast(expected=5)", "[Tile(title=1, value=[])]"),
    *("[replace(FINDING, value=float('inf'))]", "[replace(FINDING, unit=None)]"),
)
_RAISES = (
    *("raise ValueError('boom')", "raise SystemExit(1)", "raise RecursionError", "1 / 0"),
    *("return odd()", "assert False", "raise type('Odd', (Exception,), {'__str__': None})()"),
    *("raise StopIteration", "import no_such_module", "raise MemoryError", "exit()"),
)
_STEPS = (
    *("yield None", "yield 'purge'", "yield Run(label='r', jobs=())", "yield Purge(label=None)"),
    *("yield Rest(label='r', seconds='long')", "yield Chain(label='c', parts=())", "yield JOB"),
    *("yield Run(label='r', jobs=(replace(JOB, depth=-1),))", "yield Rest(label='r', seconds=-1)"),
    *("yield Run(label='r', jobs=(replace(JOB, size=10**30),))", "yield Trim(offset=-5)"),
    *("yield Run(label='r', jobs=(replace(JOB, block_bytes=0),))", "yield Fill(depth=0)"),
    "while True: yield Mark(label='m')",
    "while True: yield Rest(label='r', seconds=0.0)",
)


def case(box: Sandbox) -> None:
    """One battery with something wrong in it, and every command that meets it."""
    box.write("guest.py", _battery(box.rng))
    info = box.inside / "guest-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[flashtwin.batteries]\nguest = guest:BATTERY\n")
    on = ("bx500-240", "--scale", "1/64", "--battery", "guest", "--out", "run", "--quiet")
    box.call("batteries", work=_with_guest)
    box.call("test", *on, work=_with_guest, stop_after_s=5.0)
    if (box.inside / "run").exists():
        box.call("conclude", "run", work=_with_guest)
        box.call("report", "run", work=_with_guest)
        box.call("runs", ".", "--json", work=_with_guest)
        # Where the package is not installed its run is shown all the same.
        box.call("report", "run")


def _with_guest(arguments: Sequence[str]) -> int | str | None:
    sys.path.insert(0, ".")
    return program(arguments)


def _battery(rng: random.Random) -> str:
    raises = f"return {rng.choice(_VALUES)}" if rng.random() < 0.6 else rng.choice(_RAISES)
    text = _HEAD.replace("EXPRESSION", raises).replace("STEPS", rng.choice(_STEPS))
    draw = rng.random()
    if draw < 0.3:
        more = rng.choice(("", ", estimate=lambda p, i: Forecast(expected=[])"))
        return f"{text}BATTERY = replace(BATTERY, measure=odd_steps{more})\n"
    if draw < 0.5:
        method = rng.choice(_METHODS)
        shown = f"type('Mine', (Present,), {{{method!r}: odd}})"
        return f"{text}BATTERY = replace(BATTERY, present={shown})\n"
    if draw < 0.6:
        field = rng.choice(("title", "presets", "needs", "follows", "parameters", *_PLACES))
        return f"{text}BATTERY = replace(BATTERY, {field}={rng.choice(_VALUES)})\n"
    if draw < 0.65:
        return f"{text}odd()\n"
    return f"{text}BATTERY = replace(BATTERY, {rng.choice(_PLACES)}=odd)\n"
