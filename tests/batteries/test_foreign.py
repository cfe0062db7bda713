"""Whatever is wrong in another package's battery is told with the package, the function and the way
out; nothing else of flashtwin is harmed by it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import FakeDrive

from flashtwin.batteries.base import foreign, registry
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.report import build
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

HEAD = """
import itertools
import steady_writes
from dataclasses import dataclass, field, replace
from flashtwin.batteries.base.meaning import Meaning
from flashtwin.batteries.base.parameter import integer, parameter
from flashtwin.batteries.base.present import Fact, Present, Section, Tile
from flashtwin.batteries.base.registry import Battery, Forecast, Part
from flashtwin.model.finding import Finding
from flashtwin.model.step import Chain, Job, Mark, Purge, Rest, Run

def boom(*arguments):
    raise ValueError("boom")

def steps(*those):
    def measure(parameters, info):
        yield from those
    return measure

ONE = Finding(battery="steady", name="speed", title="Speed", value=1.0, unit="MB/s")
JOB = Job(name="write", rw="write", block_bytes=1 << 20, size=1 << 24)

def battery(**changes):
    return replace(steady_writes.BATTERY, **changes)

def shown(**methods):
    return battery(present=lambda: type("Mine", (Present,), methods)())

"""

# How a battery is made, the function that is named, and a part of what is said.
CASES: dict[str, tuple[str, str, str]] = {
    # The import.
    "import raises": ("boom()", "cannot be used", "ValueError: boom"),
    "import exits": ("raise SystemExit(4)", "cannot be used", "SystemExit: 4"),
    "import has no battery": ("BATTERY = {}", "cannot be used", "is a dict and no Battery"),
    "title": ("BATTERY = battery(title=5)", "its title", "an int and not a text"),
    "conclude is none": ("BATTERY = battery(conclude=None)", "its conclude", "not a function"),
    "presets": ("BATTERY = battery(presets=['a'])", "its presets", "a list"),
    "needs": ("BATTERY = battery(needs=('x-rays',))", "its needs", "a tuple"),
    "meanings raise": ("BATTERY = battery(meanings=boom)", "its meanings", "ValueError: boom"),
    "meanings are text": ("BATTERY = battery(meanings=lambda: 'x')", "its meanings", "a str"),
    # Parameters.
    "parameters are no class": ("BATTERY = battery(parameters=dict)", "its parameters", "a type"),
    "parameters have no kind": (
        "@dataclass\nclass P:\n    size: int = 5\nBATTERY = battery(parameters=P)",
        "its parameters",
        "KeyError",
    ),
    "parameters raise": (
        "@dataclass\nclass P:\n    least: int = parameter(3, integer(2, 9), 'rounds')\n"
        "    __post_init__ = boom\nBATTERY = battery(parameters=P)",
        "its parameters",
        "ValueError: boom",
    ),
    # Measure.
    "measure raises": ("BATTERY = battery(measure=boom)", "its measure", "ValueError: boom"),
    "measure raises later": (
        "def measure(p, i):\n    yield Purge()\n    boom()\n"
        "BATTERY = battery(measure=measure, estimate=None)",
        "its measure",
        "ValueError: boom",
    ),
    "measure exits": (
        "def measure(p, i):\n    yield Purge()\n    exit(1)\n"
        "BATTERY = battery(measure=measure, estimate=None)",
        "its measure",
        "SystemExit: 1",
    ),
    "measure is a list": (
        "BATTERY = battery(measure=lambda p, i: [Purge()])",
        "its measure",
        "list",
    ),
    "measure is none": ("BATTERY = battery(measure=lambda p, i: None)", "its measure", "None"),
    "measure takes nothing": ("BATTERY = battery(measure=lambda: 0)", "its measure", "TypeError"),
    "a step is text": ("BATTERY = battery(measure=steps('purge'))", "its measure", "a str and no"),
    "a step has no label": (
        "BATTERY = battery(measure=steps(Purge(label=5)))",
        "its measure",
        "$.label",
    ),
    "a job is odd": (
        "BATTERY = battery(measure=steps(Run(label='r', jobs=(replace(JOB, size='big'),))))",
        "its measure",
        "size",
    ),
    "a job is without blocks": (
        "BATTERY = battery(measure=steps(Run(label='r', jobs=(replace(JOB, block_bytes=0),))))",
        "its measure",
        "block_bytes is 0",
    ),
    "a rest is below zero": (
        "BATTERY = battery(measure=steps(Rest(label='r', seconds=-1.0)))",
        "its measure",
        "seconds is -1.0",
    ),
    "an exception cannot be shown": (
        "def odd(*a):\n    raise type('Odd', (Exception,), {'__str__': None})()\n"
        "BATTERY = battery(conclude=odd)",
        "its conclude",
        "Odd: it cannot say why",
    ),
    "a run has no job": (
        "BATTERY = battery(measure=steps(Run(label='r', jobs=())), estimate=None)",
        "its measure",
        "without a job",
    ),
    "a chain is empty": (
        "BATTERY = battery(measure=steps(Chain(label='c', parts=())), estimate=None)",
        "its measure",
        "a Chain",
    ),
    "marks without end": (
        "def measure(p, i):\n    while True:\n        yield Mark(label='m')\n"
        "BATTERY = battery(measure=measure)",
        "its measure",
        "in a row without a request",
    ),
    "rests without end": (
        "def measure(p, i):\n    while True:\n        yield Rest(label='r', seconds=1)\n"
        "BATTERY = battery(measure=measure, estimate=None)",
        "its measure",
        "in a row without a request",
    ),
    # Estimate, parts, departs.
    "estimate raises": ("BATTERY = battery(estimate=boom)", "its estimate", "ValueError: boom"),
    "estimate is a list": ("BATTERY = battery(estimate=lambda p, i: [])", "its estimate", "a list"),
    "estimate has no end": (
        "BATTERY = battery(estimate=lambda p, i: Forecast(expected=itertools.repeat(Purge())))",
        "its estimate",
        "without an end",
    ),
    "parts raise": ("BATTERY = battery(parts=boom)", "its parts", "ValueError: boom"),
    "parts are texts": ("BATTERY = battery(parts=lambda p, i: ['a'])", "its parts", "no Part"),
    "departs raises": ("BATTERY = battery(departs=boom)", "its departs", "ValueError: boom"),
    "departs is text": ("BATTERY = battery(departs=lambda p, i: 'x')", "its departs", "a str"),
    "departs are numbers": ("BATTERY = battery(departs=lambda p, i: [1])", "its departs", "no str"),
    # Conclude.
    "conclude raises": ("BATTERY = battery(conclude=boom)", "its conclude", "ValueError: boom"),
    "conclude is none of it": (
        "BATTERY = battery(conclude=lambda record: None)",
        "its conclude",
        "gives None",
    ),
    "conclude has no end": (
        "BATTERY = battery(conclude=lambda record: itertools.repeat(ONE))",
        "its conclude",
        "without an end",
    ),
    "findings are rows": (
        "BATTERY = battery(conclude=lambda record: [{'name': 'speed'}])",
        "its conclude",
        "a dict and no Finding",
    ),
    "a finding of another": (
        "BATTERY = battery(conclude=lambda record: [replace(ONE, battery='fill')])",
        "its conclude",
        "the battery 'fill'",
    ),
    "a finding twice": (
        "BATTERY = battery(conclude=lambda record: [ONE, ONE])",
        "its conclude",
        "two findings",
    ),
    "a title is a number": (
        "BATTERY = battery(conclude=lambda record: [replace(ONE, title=3)])",
        "its conclude",
        "$.title",
    ),
    "a value is a list": (
        "BATTERY = battery(conclude=lambda record: [replace(ONE, value=[1.0])])",
        "its conclude",
        "$.value",
    ),
    "a value is no word": (
        "BATTERY = battery(conclude=lambda record: [replace(ONE, value='fast')])",
        "its conclude",
        "AssertionError",
    ),
    # Present.
    "present raises": ("BATTERY = battery(present=boom)", "its present", "ValueError: boom"),
    "present is no module": (
        "BATTERY = battery(present='no.such')",
        "its present",
        "ModuleNotFound",
    ),
    "present is no Present": ("BATTERY = battery(present=dict)", "its present", "no Present"),
    "section raises": ("BATTERY = shown(section=boom)", "its present.section", "ValueError: boom"),
    "section is a list": (
        "BATTERY = shown(section=lambda self, subjects: [])",
        "its present.section",
        "no Section",
    ),
    "tables are text": (
        "BATTERY = shown(section=lambda self, subjects: Section(tables=('x',)))",
        "its present.section",
        "no Table",
    ),
    "facts are texts": (
        "BATTERY = shown(facts=lambda self, subjects: ['quick'])",
        "its present.facts",
        "no Fact",
    ),
    "facts have no end": (
        "BATTERY = shown(facts=lambda self, subjects: itertools.repeat(Fact(text='x')))",
        "its present.facts",
        "without an end",
    ),
    "alone is none": (
        "BATTERY = shown(alone=lambda self, subject: None)",
        "its present.alone",
        "NoneType and no str",
    ),
    "tiles are odd": (
        "BATTERY = shown(tiles=lambda self, subject: [Tile(title=1, value='2')])",
        "its present.tiles",
        "$.title",
    ),
    "phases are texts": (
        "BATTERY = shown(phases=lambda self, subject: ['x'])",
        "its present.phases",
        "no Phase",
    ),
}

Installed = Callable[[str], None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Put a package `another` on the path whose battery `steady` is made by some lines."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "plugin"))
    monkeypatch.setattr(foreign, "MOST_VALUES", 300)
    monkeypatch.setattr(foreign, "MOST_IDLE", 50)

    def install(lines: str) -> None:
        info = tmp_path / "site" / "another-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[flashtwin.batteries]\nsteady = mine:BATTERY\n")
        (tmp_path / "site" / "mine.py").write_text(HEAD + lines + "\n")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        registry.meanings_of.cache_clear()

    yield install
    registry.meanings_of.cache_clear()
    for name in ("mine", "steady_writes"):
        sys.modules.pop(name, None)


def used(place: Path) -> None:
    """All that is done with a battery: its parameters, a run under a budget, the page."""
    (request,) = registry.parse("steady:least=2")
    run_batteries(FakeDrive(), [request], place / "run", budget_s=1e6)
    build([Run(place / "run")], place / "page.html")


def test_one_that_is_right_is_used(installed: Installed, tmp_path: Path) -> None:
    installed("BATTERY = battery()")
    used(tmp_path)
    assert "Steady speed" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_told(installed: Installed, tmp_path: Path, case: str) -> None:
    lines, function, why = CASES[case]
    installed(lines)
    with pytest.raises(FlashtwinError) as refused:
        used(tmp_path)
    message, hint = refused.value.message, str(refused.value.hint)
    assert message.startswith("the battery steady of the package another "), message
    assert function in message and why in message, message
    assert hint.startswith("update another, or remove it: pip uninstall another"), hint
    assert "cannot be used" in message or "leave steady out of --battery" in hint
    assert refused.value.exit_code == 3
    batteries, _ = registry.available()
    assert len([battery for battery in batteries if battery.name != "steady"]) == len(
        registry.own()
    )
    assert registry.explain("fill.mean").name == "mean"


def test_where_it_was_raised_is_told(installed: Installed, tmp_path: Path) -> None:
    installed("BATTERY = battery(conclude=boom)")
    with pytest.raises(FlashtwinError, match=r"boom \(.*mine\.py, line \d+\)"):
        used(tmp_path)


def test_its_own_refusal_stays_its_own(installed: Installed, tmp_path: Path) -> None:
    installed(
        "from flashtwin.errors import FlashtwinError\n"
        "def measure(p, i):\n    raise FlashtwinError('too small', hint='take a larger one')\n"
        "    yield\nBATTERY = battery(measure=measure)"
    )
    with pytest.raises(FlashtwinError, match="too small") as refused:
        used(tmp_path)
    assert refused.value.hint == "take a larger one" and refused.value.exit_code == 2


def test_a_run_whose_findings_failed_goes_on_once_it_is_mended(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed("BATTERY = battery(conclude=boom)")
    with pytest.raises(FlashtwinError, match="its conclude fails"):
        used(tmp_path)
    (tmp_path / "site" / "mine.py").write_text(HEAD + "BATTERY = battery()\n")
    sys.modules.pop("mine")
    run = run_batteries(FakeDrive(), None, tmp_path / "run")
    assert run.finished and [finding.name for finding in run.findings][:1] == ["speed"]


def test_on_the_command_line_it_ends_with_the_environment_s_code(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    installed("BATTERY = battery(measure=boom)")
    words = ["test", "bx500-240", "--scale", "1/64", "--battery", "steady", "--out", "r"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 3 and "Traceback" not in done.stderr
    assert "error: the battery steady of the package another is broken: its measure" in done.stderr
    assert "leave steady out of --battery" in done.stderr
