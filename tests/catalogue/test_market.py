"""The market's drives: a fill of each, scaled down, gives what reviewers measured, and a value that
says it is a prior is the one that `flashtwin new` would write."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.fill.findings import analyse_fill
from flashtwin.catalogue import DRIVES, MARKET, PRIORS, facts
from flashtwin.catalogue.facts import Fact
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.series import Series
from flashtwin.model.step import Job, Result, Run
from flashtwin_lab.make import drives as maker
from flashtwin_lab.validation.metrics import measure_of

BLOCK = 1 << 20
IDS = [row["id"] for row in tomllib.loads(MARKET.read_text())["drive"]]
# One of each kind: borrowed and folded at the end, whole drive, its own blocks, a cache that
# shrinks with the fill, two tiers, used a second time in mid-fill.
QUICK = {"wd-sn550-1tb", "samsung-980-pro-1tb"}
CASES = [
    pytest.param(name, marks=[] if name in QUICK else [pytest.mark.full]) for name in sorted(IDS)
]


def fill(name: str, scale: int) -> Series:
    """The series of a whole fill, of a drive so many times smaller."""
    drive = Twin(load(name, scale=f"1/{scale}"), seed=1).open()
    size = drive.info.capacity_bytes // BLOCK * BLOCK
    job = Job(name="write", rw="write", block_bytes=BLOCK, depth=1, size=size)
    answer = drive.do(Run(label="fill", jobs=(job,), sample_s=0.5 / scale), lambda _: True)
    assert isinstance(answer, Result)
    return answer.series


def findings_of(name: str, scale: int) -> dict[str, float | None]:
    """What the fill battery finds in it, by id."""
    written = fill(name, scale)
    findings = analyse_fill(
        written.t_ns,
        written.dt_ns,
        written.bytes,
        pattern="1m-q1",
        label="fill",
        capacity_bytes=int(written.bytes.sum()),
    )
    return {finding.id: finding.number for finding in findings}


@pytest.mark.parametrize("name", CASES)
def test_a_fill_gives_what_reviewers_measured(name: str) -> None:
    # A first tier of ten seconds lasts one in a copy: there it is rather a burst of the host.
    scale = 1 if name == "hp-fx700-2tb" else 8
    findings = findings_of(name, scale)
    rows = facts.facts_for([name], facts.of_market())
    judged = [(fact, how) for fact in rows if (how := measure_of(fact)) is not None]
    assert judged

    def shown(fact: Fact, finding: str | None) -> float:
        value = findings[finding or ""]
        assert value is not None, f"{fact.metric}: not found"
        return value * scale if fact.unit == "GB" else value

    found = {fact.metric: shown(fact, how.cells[0].finding) for fact, how in judged}
    wanted = {
        fact.metric: pytest.approx(fact.value, rel=fact.tolerance or 0.0) for fact, _ in judged
    }
    assert found == wanted


def test_the_980_pro_has_a_second_burst_in_mid_fill() -> None:
    scale = 16
    written = fill("samsung-980-pro-1tb", scale)
    plateaus = shape_of(curve_of(written.t_ns, written.dt_ns, written.bytes)).plateaus
    first, slow, second = plateaus[:3]
    assert second.speed.value == pytest.approx(first.speed.value, rel=0.02)
    assert second.speed.value > 2 * slow.speed.value
    assert second.end - second.start == pytest.approx(first.end, rel=0.1)
    assert 0.4 < second.start * scale / 1e12 < 0.7


@pytest.mark.parametrize("name", IDS)
def test_a_prior_is_that_of_new(name: str) -> None:
    checked = 0
    for section, key, row in _values_of(DRIVES / f"{name}.toml"):
        usual = [value for *place, value in _priors() if place == [section, key, row["source"]]]
        if row["origin"] == "prior" and usual:
            assert row["value"] in usual, f"{section}.{key}"
            checked += 1
    assert checked > 10


def _values_of(file: Path) -> list[tuple[str, str, dict[str, object]]]:
    """The rows of a drive's file, and of the classes that it extends."""
    spec = tomllib.loads(file.read_text())
    above = spec.get("extends")
    return [*_values(spec), *(_values_of(file.parent / above) if above else [])]


@cache
def _priors() -> list[tuple[str, str, str, object]]:
    """Section, key, source and value of everything in priors.toml."""
    priors = tomllib.loads(PRIORS.read_text())
    tables = [priors["any"], *priors["cell"].values(), *priors["interface"].values()]
    return [
        (section, key, row["source"], row["value"])
        for table in [*tables, *priors["dram"].values()]
        for section, rows in table.items()
        for key, row in rows.items()
    ]


def _values(spec: dict[str, object], section: str = "") -> list[tuple[str, str, dict[str, object]]]:
    """Section, key and row of everything that a spec sets."""
    rows: list[tuple[str, str, dict[str, object]]] = []
    for key, value in spec.items():
        if isinstance(value, dict) and "value" in value:
            rows.append((section, key, value))
        elif isinstance(value, dict):
            rows += _values(value, f"{section}.{key}".lstrip("."))
    return rows


def test_the_page_of_the_drives_is_what_the_catalogue_says() -> None:
    again = "make it again: .venv/bin/python -m flashtwin_lab.make.drives"
    assert maker.PAGE.read_text() == maker.page(), again
