"""The published facts: complete, spelled as published, each with what its kind is judged by."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from flashtwin.catalogue import MARKET, facts
from flashtwin.catalogue.facts import Fact
from flashtwin.catalogue.loader import drive_ids
from flashtwin.errors import FlashtwinError
from flashtwin_lab.validation.metrics import measures

ALL = facts.published()
OUTCOMES = [fact for fact in ALL if not fact.is_comparison and fact.kind != "sync"]
COMPARISONS = [fact for fact in ALL if fact.is_comparison]


def name_of(fact: Fact) -> str:
    return f"{fact.drive}: {fact.test}: {fact.metric}"[:90]


def test_all_drives_of_the_articles_are_there() -> None:
    of_articles = ("bx500-240", "bx500-240-nocache", "pm871b-128", "545s-256", "vertex320-240")
    assert facts.drives()[:5] == of_articles


def test_every_drive_of_the_market_is_in_the_catalogue() -> None:
    rows = (*facts.of_market(), *facts.of_syncs(), *facts.of_labels(), *facts.of_curves())
    of_market = {fact.drive for fact in rows}
    assert set(facts.drives()[5:]) == of_market
    assert set(facts.drives()[5:]) < set(drive_ids())


def test_every_drive_has_a_source_and_an_outcome() -> None:
    with_outcomes = {fact.drives[0] for fact in (*OUTCOMES, *facts.of_syncs())}
    assert with_outcomes == set(facts.drives())
    for drive in facts.drives():
        assert facts.sources(drive)


@pytest.mark.parametrize("fact", OUTCOMES, ids=name_of)
def test_an_outcome_has_what_its_kind_needs(fact: Fact) -> None:
    if fact.kind in ("measured", "label"):
        assert fact.value is not None and fact.value > 0
        assert fact.tolerance is not None and 0 < fact.tolerance < 0.5
        assert fact.unit
    else:
        assert fact.kind == "qualitative"
        assert fact.check
        assert fact.value is None and fact.tolerance is None


@pytest.mark.parametrize("fact", COMPARISONS, ids=name_of)
def test_a_comparison_has_what_its_kind_needs(fact: Fact) -> None:
    assert len(fact.drives) == 2
    assert fact.check
    match fact.kind:
        case "computed":
            assert fact.value is not None and fact.tolerance is not None
        case "shown" if fact.target is not None:
            assert fact.tolerance is not None
        case "shown" if fact.low is None:
            assert fact.high is None and ("show" in fact.metric or "report" in fact.metric)
        case "qualitative" | "shown":
            assert fact.low is not None and fact.high is not None
        case "measured":
            assert fact.low is None
            if fact.tolerance is not None:
                assert fact.target == 1.0


def test_bounds_are_in_order_and_conditions_say_what_they_are() -> None:
    for fact in ALL:
        if fact.low is not None and fact.high is not None:
            assert fact.low < fact.high, name_of(fact)
        for text in fact.conditions.values():
            assert text, name_of(fact)


def test_a_row_is_named_once() -> None:
    # Two articles' tests of one drive may be called "the same"; then the metric tells them apart,
    # but for the Vertex comparisons, whose check does.
    names = Counter((fact.drive, fact.test, fact.metric) for fact in ALL)
    assert [name for name, count in names.items() if count > 1] == []


def test_values_are_those_of_the_article_on_the_bx500() -> None:
    fill = "fill, sequential, empty drive"
    found = {
        (fact.drive, fact.metric): (fact.value, fact.unit, fact.tolerance)
        for fact in OUTCOMES
        if fact.test == fill
    }
    assert found == {
        ("bx500-240", "cache size"): (24, "GB", 0.03),
        ("bx500-240", "speed in the cache"): (461, "MB/s", 0.03),
        ("bx500-240", "speed past the cache (direct to TLC), 25 GB to 192 GB"): (111, "MB/s", 0.03),
        ("bx500-240", "where folding begins"): (192, "GB", 0.03),
        ("bx500-240", "speed from there on, 192 GB to full"): (81, "MB/s", 0.05),
        ("bx500-240", "mean speed of the direct and folding phases together"): (103, "MB/s", 0.03),
        ("bx500-240-nocache", "speed before the first drop"): (240, "MB/s", 0.05),
        ("bx500-240-nocache", "where the first drop begins"): (90, "GB", 0.05),
        ("bx500-240-nocache", "mean speed after it"): (100, "MB/s", 0.05),
    }


def test_a_comparison_without_metric_goes_by_its_check() -> None:
    by_test = {fact.test: fact for fact in COMPARISONS}
    assert by_test["CrystalDiskMark SEQ1M Q8T1 write"].metric == "off much lower"
    assert by_test["fill"].metric == "time for the whole drive"
    assert by_test["fill"].drive == "bx500-240 vs bx500-240-nocache"


def test_rows_decided_by_an_assumed_condition_are_calibration() -> None:
    calibration = [fact for fact in ALL if fact.calibration]
    of_articles = {fact.drives[0] for fact in calibration if fact in facts.of_articles()}
    assert of_articles == {"bx500-240", "pm871b-128", "545s-256", "vertex320-240"}
    assert all(fact.calibration for fact in facts.of_market()), "no review says how deep it queued"
    assert all(fact.conditions for fact in calibration)


def test_a_drive_that_is_only_described_has_a_twin_and_comes_with_the_other() -> None:
    described = [fact for fact in COMPARISONS if len(fact.twins) > 1]
    assert {fact.asked_of for fact in described} == {("vertex320-240",), ("545s-256",)}
    for fact in described:
        (stand_in,) = set(fact.twins) - set(fact.drives)
        assert stand_in in drive_ids(), name_of(fact)
        assert fact in facts.facts_for(fact.asked_of, ALL), name_of(fact)
        assert fact not in facts.facts_for(fact.twins[1:], ALL), name_of(fact)


def test_two_states_of_a_drive_are_measured_on_its_one_twin() -> None:
    alone = [fact for fact in COMPARISONS if len(fact.twins) == 1]
    (fact,) = (fact for fact in alone if not set(fact.twins) & set(fact.drives))
    assert fact.drives == ("545s-256 empty", "545s-256 83 % full") and fact.is_comparison
    assert fact.asked_of == ("545s-256",) and fact in facts.facts_for(["545s-256"], ALL)


def test_only_facts_whose_drives_are_all_chosen() -> None:
    one = facts.facts_for(["bx500-240"], ALL)
    both = facts.facts_for(["bx500-240", "bx500-240-nocache"], ALL)
    assert {fact.drive for fact in one} == {"bx500-240"}
    assert {fact.drive for fact in both} == {
        "bx500-240",
        "bx500-240-nocache",
        "bx500-240 vs bx500-240-nocache",
    }


def test_known_misses_name_rows_that_exist() -> None:
    names = {(fact.drive, fact.test, fact.metric) for fact in ALL}
    for miss in facts.known_misses():
        assert (miss.drive, miss.test, miss.metric) in names
        assert len(miss.why.split()) > 4, "a reason is a sentence"


def test_known_misses_of_variants_name_variants_that_exist() -> None:
    own = (facts.SYNC_TEST, facts.LABEL_TEST)
    of_batteries = [miss for miss in facts.known_misses() if miss.test not in own]
    for miss in of_batteries:
        variants = {cell.name for cell in measures()[miss.test, miss.metric].variants}
        assert miss.variant in {"", *variants}


def test_no_unknown_field_is_passed_over() -> None:
    table = tomllib.loads(facts.PUBLISHED.read_text())
    assert set(table) == {"sources", "drive", "outcome", "compare"}
    of_market = (*facts.of_market(), *facts.of_labels(), *facts.of_curves())
    assert len(table["outcome"]) + len(of_market) == len(OUTCOMES)
    assert sum(len(block["rows"]) for block in table["compare"]) == len(COMPARISONS)
    fields = {key for row in tomllib.loads(MARKET.read_text())["drive"] for key in row}
    assert fields == {"id", "source", "note", "controller", "model", *facts.FILL_METRICS}
    reviewed = {key for row in tomllib.loads(MARKET.read_text())["reviewed"] for key in row}
    of_class = {"capacity", "cell", "interface", "dram", "from_memory"}
    assert reviewed <= fields | of_class


def test_a_damaged_installation_says_so(tmp_path: object) -> None:
    from pathlib import Path

    with pytest.raises(FlashtwinError, match="cannot read") as raised:
        facts.of_articles(Path(str(tmp_path)) / "gone.toml")
    assert raised.value.exit_code == 3


def test_synchronous_writes_of_both_classes_calibrate_where_fitted() -> None:
    rows = facts.of_syncs()
    drives = {fact.drive for fact in rows}
    protected = [fact for fact in rows if fact.metric == "probability of protection" and fact.low]
    assert len(drives) >= 10 and 3 <= len(protected) <= len(drives) - 3
    for fact in rows:
        assert fact.kind == "sync" and fact.battery and fact.finding
        assert fact.calibration == fact.fitted
        assert fact.low is not None or fact.high is not None
    ends = {(fact.drive, fact.metric): fact for fact in rows}
    for drive in drives:
        quietest = ends[drive, "rate in the quietest state"].low
        loaded = ends[drive, "rate in the most loaded state"].high
        # The published rate lies between the two states, each wider by the factor.
        assert quietest and loaded == pytest.approx(quietest * facts.SYNC_FACTOR**2)
    gains = [fact for fact in rows if fact.metric.startswith("gain")]
    assert all(fact.high == pytest.approx(2.25 * (fact.low or 0)) for fact in gains) and gains
