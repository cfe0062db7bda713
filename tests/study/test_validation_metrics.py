"""The measures: rows spelled as published, and values taken from the right findings."""

from __future__ import annotations

import tomllib
from itertools import takewhile

import pytest
from fakes import FakeDrive, played

from flashtwin.batteries.base import registry
from flashtwin.catalogue.facts import Fact, facts_for, published
from flashtwin.model.step import Chain, Fill, Run
from flashtwin_lab.validation.metrics import (
    MEASURES,
    Measured,
    measure_of,
    measures,
    plans,
)

BOTH = ("bx500-240", "bx500-240-nocache")
LISTED = [fact for fact in facts_for(BOTH, published()) if measure_of(fact)]


def one(test: str, metric: str | None = None) -> Fact:
    return next(fact for fact in LISTED if fact.test == test and metric in (None, fact.metric))


def drive(
    fill: dict[str, float | None] | None = None,
    empty: dict[str, float | None] | None = None,
    half: dict[str, float | None] | None = None,
    waf: dict[str, float | None] | None = None,
) -> Measured:
    findings = {
        "fill": fill or {},
        "crystaldiskmark": empty or {},
        "crystaldiskmark, half full": half or {},
    }
    passes = {name: (f"fill/{name}/pass-1", f"fill/{name}/pass-2") for name in waf or {}}
    return Measured(
        findings=findings,
        waf={("fill", passes[name]): value for name, value in (waf or {}).items()},
    )


def test_every_entry_names_a_published_row() -> None:
    names = {(fact.test, fact.metric) for fact in published()}
    assert set(measures()) <= names
    written = tomllib.loads(MEASURES.read_text())["measure"]
    assert len(written) == len(measures()), "a row has two entries"


def test_all_rows_of_both_drives_whose_battery_exists_are_listed() -> None:
    assert len(LISTED) == 27
    assert [fact.metric for fact in published() if not measure_of(fact)] == []


def test_plans_are_batteries_with_parameters_that_exist() -> None:
    for plan in plans().values():
        registry.request(plan.battery, plan.parameters)
    for measure in measures().values():
        assert set(measure.plans) <= set(plans())
        for cell in measure.all:
            given = (cell.finding, cell.written, cell.first_lead or None)
            assert sum(one is not None for one in given) == 1


HALF_FULL = ("crystaldiskmark, half full", "copies, half full", "app_loads, half full")


@pytest.mark.parametrize("name", HALF_FULL)
def test_a_plan_of_a_half_full_drive_fills_half_of_it_before_it_measures(name: str) -> None:
    plan, drive = plans()[name], FakeDrive()
    capacity = drive.info.capacity_bytes
    steps, _ = played(registry.request(plan.battery, plan.parameters), drive)
    before = takewhile(lambda step: not isinstance(step, Run | Chain), steps)
    first, *_ = [step for step in before if isinstance(step, Fill)]
    filled = capacity - first.offset if first.size is None else first.size
    assert (first.offset, filled) == (0, pytest.approx(capacity / 2, rel=0.001))


def test_plans_that_are_called_half_full_are_listed() -> None:
    assert tuple(name for name in plans() if "half full" in name) == HALF_FULL


def test_a_fill_row_counts_one_pattern_and_has_the_other_as_its_variant() -> None:
    values: dict[str, float | None] = {
        "fill.cache_size[128k-q32]": 24.1,
        "fill.cache_size[1m-q1]": 23.9,
    }
    fact = one("fill, sequential, empty drive", "cache size")
    found = measures()[fact.test, fact.metric].find((drive(values),))
    assert found.cells == {"": 24.1}
    assert found.variants == {"1m-q1": 23.9}


@pytest.mark.parametrize(
    ("metric", "finding"),
    [
        ("speed in the cache", "speed_cache"),
        ("speed past the cache (direct to TLC), 25 GB to 192 GB", "speed_past_cache"),
        ("where folding begins", "fold_begin"),
        ("speed from there on, 192 GB to full", "speed_folding"),
        ("mean speed of the direct and folding phases together", "mean_past_cache"),
        ("speed before the first drop", "speed_cache"),
        ("where the first drop begins", "cache_size"),
        ("mean speed after it", "mean_past_cache"),
    ],
)
def test_each_fill_metric_has_its_finding(metric: str, finding: str) -> None:
    measure = measures()["fill, sequential, empty drive", metric]
    found = measure.find((drive({f"fill.{finding}[128k-q32]": 7.0}),))
    assert found.cells == {"": 7.0}


def test_a_finding_without_a_value_is_no_value() -> None:
    fact = one("fill, sequential, empty drive", "where folding begins")
    assert measures()[fact.test, fact.metric].find((drive(),)).cells == {"": None}


def test_a_ratio_is_second_over_first() -> None:
    on = drive({"fill.duration[128k-q32]": 2000.0}, waf={"128k-q32": 2.0, "1m-q1": 2.0})
    off = drive({"fill.duration[128k-q32]": 1740.0}, waf={"128k-q32": 1.4, "1m-q1": 1.5})
    time, waf = one("fill"), one("write amplification")
    assert measures()[time.test, time.metric].find((on, off)).cells == {"": pytest.approx(0.87)}
    found = measures()[waf.test, waf.metric].find((on, off))
    assert found.cells == {"": pytest.approx(0.7)}
    assert found.variants == {"1m-q1": pytest.approx(0.75)}


def test_a_change_is_the_ratio_less_one() -> None:
    row = measure_of(one("3DMark-Storage-like trace (mixed, games)"))
    assert row is not None

    def measured(bandwidth: float) -> Measured:
        findings = {"threedmark.bandwidth": bandwidth, "threedmark.access": 100.0}
        return Measured(findings={"threedmark": findings}, waf={})

    found = row.find((measured(320.0), measured(160.0)))
    assert found.cells == {"": -0.5}
    assert found.also == {"score": None, "access time, off/on": 1.0}


def test_where_the_second_drive_first_leads() -> None:
    test = "4K random read by queue depth"
    (measure,) = (row for row in measures().values() if row.test == test)
    rates = {f"iometer.read.iops[RND4K-Q{depth}]": 1e4 * depth for depth in (1, 2, 4, 8, 16, 32)}
    flat = dict.fromkeys((f"iometer.read.iops[RND4K-Q{2**n}]" for n in range(8)), 16e4)

    def on(findings: dict[str, float]) -> Measured:
        return Measured(findings={"random reads": findings}, waf={})

    assert measure.find((on(flat), on(rates))).cells == {"": 32.0}
    assert measure.find((on(flat), on(flat))).cells == {"": None}, "it never leads"
    assert measure.find((on({}), on(rates))).cells == {"": None}


def test_ten_times_slower_is_asked_of_latency_and_of_speed() -> None:
    name, latency = "crystaldiskmark.write[RND4K-Q1T1]", "crystaldiskmark.write.latency[RND4K-Q1T1]"
    on = drive(empty={name: 80.0, latency: 48.0}, half={latency: 50.0})
    off = drive(empty={name: 8.0, latency: 460.8}, half={latency: 450.0})
    fact = one("CrystalDiskMark RND4K Q1T1 write")
    found = measures()[fact.test, fact.metric].find((on, off))
    assert found.cells == {
        "latency off/on": pytest.approx(9.6),
        "speed on/off": pytest.approx(10.0),
    }
    assert found.variants == {"latency half full": pytest.approx(9.0)}


def test_equal_reads_judge_two_cells_and_show_the_inferred_ones() -> None:
    threads = (1, 2, 4, 8, 16)
    on = drive(empty={f"crystaldiskmark.read[RND4K-Q1T{n}]": 10.0 * n for n in threads})
    off = drive(empty={f"crystaldiskmark.read[RND4K-Q1T{n}]": 10.0 * n + n / 10 for n in threads})
    fact = one("CrystalDiskMark RND4K read, Q1T1 and Q1T4")
    found = measures()[fact.test, fact.metric].find((on, off))
    assert set(found.cells) == {"Q1T1", "Q1T4"}
    assert {"Q1T2", "Q1T8", "Q1T16"} <= set(found.also)
    assert found.cells["Q1T1"] == pytest.approx(1.01)


def test_power_while_writing_is_asked_of_the_mean_and_of_the_most_and_of_a_long_write() -> None:
    fact = one("power, maximum and mean while writing")
    on, off = (
        Measured(
            findings={
                "power": {"power.write": watts, "power.write.most": watts + 0.1},
                "power, a long write": {"power.write": 2 * watts, "power.write.most": 3 * watts},
            },
            waf={},
        )
        for watts in (0.9, 0.8)
    )
    found = measures()[fact.test, fact.metric].find((on, off))
    assert found.cells == {
        "mean, 24 GB": pytest.approx(8 / 9),
        "most, 24 GB": pytest.approx(0.9),
        "mean, 100 GB": pytest.approx(8 / 9),
        "most, 100 GB": pytest.approx(8 / 9),
    }


def test_the_rise_of_write_amplification_is_of_the_first_drive() -> None:
    fact = one("write amplification against fill")
    on = Measured(
        findings={
            "waf": {"waf[25%]": 2.0, "waf[90%]": 2.5},
            "waf, straight after the fill": {"waf[25%]": 2.0, "waf[90%]": 3.0},
        },
        waf={},
    )
    found = measures()[fact.test, fact.metric].find((on, drive()))
    assert (found.cells, found.variants) == (
        {"": 1.25},
        {"straight after the fill": 1.5},
    )


def test_nothing_over_nothing_is_no_ratio() -> None:
    fact = one("CrystalDiskMark SEQ1M Q8T1 write")
    on = drive(empty={"crystaldiskmark.write[SEQ1M-Q8T1]": 0.0})
    off = drive(empty={"crystaldiskmark.write[SEQ1M-Q8T1]": 100.0})
    assert measures()[fact.test, fact.metric].find((on, off)).cells == {"": None}
