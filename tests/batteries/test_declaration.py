"""battery.toml: what it declares, and that a key or value which nobody can read is refused."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType

import pytest
from fakes import FakeDrive

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.parameter import build, plain
from flashtwin.batteries.base.present import Subject, present_of
from flashtwin.batteries.base.record import Record
from flashtwin.batteries.base.registry import Battery
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Evidence, Finding
from flashtwin.model.findings import Findings

PARTS = """parts = [
    { title = "fill", steps = ["purge", "fill"], begins = true },
    { title = "rest", steps = ["rest"], needs = ["fill"] },
]
"""
HEAD = 'title = "a test"\ntrust = "M"\n'
WHOLE = """texts = ["tail"]

[parameters]
sizes = { kind = "size", several = "sizes", default = "1GB+2GB", means = "the sizes" }
range = { kind = "size", none = "whole", default = "whole", means = "the range" }
order = { words = ["up", "down"], default = "up", means = "the order" }
rest_s = { usual_s = [300, 10], means = "the rest" }
fills = 2

[presets]
down = { order = "down" }

[[follows]]
says = "it rests"
source = "nobody (M)"

[[follows]]
shared = "steady"
of = "the writes"

[findings."cell.*[*]"]
example = "cell.read"
title = "A cell"
means = "A rate."
found = "Counted."

[page]
title = "Test"
ranked = [{ title = "Rate", name = "rate" }]
"""


def battery(folder: Path, text: str) -> Battery:
    (folder / "mine").mkdir()
    (folder / "mine" / "battery.toml").write_text(HEAD + text)
    module = ModuleType("mine")
    module.__file__ = str(folder / "mine" / "__init__.py")
    sys.modules["mine"] = module

    def conclude(record: Record) -> list[object]:
        return []

    try:
        return declared("mine", measure=lambda parameters, info: iter(()), conclude=conclude)
    finally:
        del sys.modules["mine"]


def test_a_declaration_is_a_battery(tmp_path: Path) -> None:
    made = battery(tmp_path, WHOLE)
    assert (made.name, made.title, made.trust) == ("mine", "a test", "M")
    assert plain(made.parameters()) == {
        "sizes": [10**9, 2 * 10**9],
        "range": None,
        "order": "up",
        "rest_s": None,
        "fills": 2,
    }
    assert plain(build(made.parameters, "mine", made.presets["down"]))["order"] == "down"
    assert [clause.says.partition(",")[0] for clause in made.follows] == [
        "it rests",
        "steady: over the last 5 rounds of the writes",
    ]
    assert [meaning.id for meaning in made.meanings()][-1] == "*.cell.*[*]"
    assert made.rows()[3].meaning == "the rest; auto: 300 s, in real time 10 s"


PAGE = """
[parameters]
rests = { kind = "time", several = "times", default = "30s+5m", means = "the rests" }

[page]
title = "Test"
ranked = [{ title = "Best", name = "read", variant = ["RND8K-*", "RND4K-*"] }]
curves = [
    { each = "rests", label = "rest-{typed}", name = "{:g}", title = "after {typed}" },
    { label = "first", goes_on = "more", name = "first", title = "all" },
]

[page.grid]
ways = { read = "Read", write = "Write" }
mixes = "falling"
cells = [{ fits = '(?P<at>.+)-Q(?P<depth>\\d+)', title = "{at} Q{depth}", kind = "{at}" }]
drawn = { iops = "heat" }
"""


def test_a_page_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = battery(tmp_path, PAGE)
    monkeypatch.setattr(registry, "get", lambda name: made)
    present = present_of("mine")
    ways = ("write.iops", "mix70.iops", "mix5.iops", "read.iops", "read.iops")
    variants = ("RND4K-Q8", "RND4K-Q8", "RND4K-Q8", "RND4K-Q8", "other")
    step = Evidence(battery="mine", label="mine/a", axis="cell", start=0.0, end=0.0)
    findings = [
        Finding(
            battery="mine", name=way, variant=at, title="", value=1.0, unit="IOPS", evidence=step
        )
        for way, at in zip(ways, variants, strict=True)
    ]
    best = Finding(battery="mine", name="read", variant="RND4K-Q8", title="", value=9.0)
    labels = tuple(f"mine/{name}" for name in ("first", "more/1", "more/2", "rest-5m"))
    subject = Subject(
        index=0, name="a", battery="mine", findings=Findings([*findings, best]), labels=labels
    )
    (grid,) = present.section([subject]).grids
    assert list(grid.ways) == ["read", "mix70", "mix5", "write"]
    assert [(cell.title, cell.kind, cell.depth) for cell in grid.cells] == [
        ("RND4K Q8", "RND4K", 8),
        ("other", "", None),
    ]
    assert {metric.id: metric.drawn for metric in grid.metrics} == {
        **{"speed": None, "latency": None},
        "iops": "heat",
    }
    assert [column.finding for column in present.columns(subject)] == [best]
    first, rest = present.phases(subject)
    assert first.goes_on == ("mine/more/1", "mine/more/2")
    assert (rest.label, rest.name, rest.title) == ("mine/rest-5m", "300", "after 5m")


def test_parts_are_declared(tmp_path: Path) -> None:
    made = battery(tmp_path, f"{PARTS}[parameters]\nfills = 2\n")
    fill, rest = made.parts(None, FakeDrive().info)
    assert fill.labels == ("mine/purge", "mine/fill") and fill.begins
    assert rest.needs == ("fill",) and not rest.begins


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tilte = 1", "unknown field `tilte`"),
        ("[page]\ntitle = 1", "`$.page.title`"),
        ('[page]\ntitle = "a"\ncolour = "red"', "unknown field `colour`"),
        ('[page]\ntitle = "a"\n[page.grid]\nways = {}\ndrawn = { speed = "pie" }', "'pie'"),
        ("[parameters]\nfills = { whole = [1, 9], means = 'm', low = 1 }", "unknown field `low`"),
        ("[parameters]\nfills = { whole = [1, 9], means = 'm', default = 10 }", "parameters.fills"),
        ("[parameters]\nfills = { kind = 'bytes', means = 'm', default = 1 }", "no kind 'bytes'"),
        ("[parameters]\nfills = 10", "write a whole number from 1 to 9"),
        ("[parameters]\nmine = 10", "parameters.mine says no more than its default"),
        ("[presets]\nshort = { fills = 1 }", "`$.presets"),
        ('[[follows]]\nshared = "all"', "no shared clause 'all'"),
        ('needs = ["scope"]', "`$.needs"),
        ('parts = [{ title = "a", steps = ["b"], needs = ["c"] }]', "there is no part c"),
        ("[findings.rate]\ntitle = 'a'", "missing required field `means`"),
    ],
)
def test_a_key_that_nobody_reads_is_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError) as caught:
        battery(tmp_path, text)
    assert why in str(caught.value)
    assert "mine/battery.toml declares no battery" in str(caught.value)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError, match=r"battery\.toml: Invalid value"):
        battery(tmp_path, "title =")


def test_requests_go_to_other_processes() -> None:
    for name in registry.own():
        request = registry.request(name)
        assert pickle.loads(pickle.dumps(request)).parameters == request.parameters, name
