"""--fail-on: what it takes, and what fails."""

from __future__ import annotations

import pytest
from stored_runs import finding

from flashtwin.errors import FlashtwinError
from flashtwin.model.findings import Findings
from flashtwin.runs.compare.limits import Limits, check_names, check_tested, failures, parse
from flashtwin.runs.compare.measures import Measure, compare


def measures() -> list[Measure]:
    base = [
        finding("fill.mean[a]", 100.0, half=1.0),
        finding("fill.mean[b]", 100.0, half=1.0),
        finding("fill.cache_size[a]", 24.0, "GB"),
        finding("x.other", 10.0, "fraction"),
        finding("fill.fold_begin[a]", 190.0, "GB"),
        finding("x.latency", 0.0, "us"),
    ]
    other = [
        finding("fill.mean[a]", 92.0, half=1.0),
        finding("fill.mean[b]", 130.0, half=1.0),
        finding("fill.cache_size[a]", 23.0, "GB"),
        finding("x.other", 11.0, "fraction"),
        finding("fill.fold_begin[a]", None, "GB"),
        finding("x.latency", 3.0, "us"),
    ]
    return compare(Findings(base), Findings(other))


def failed(*texts: str) -> list[str]:
    return [one.measure.id for one in failures(parse(texts), measures())]


def test_for_every_finding() -> None:
    # mean[a] is 8 % worse, of which 6.6 % lie beyond; mean[b] is better; cache 4.2 % worse; other
    # 10 % off with no better side; fold_begin is not found; a latency of nothing became something.
    assert failed("50%") == ["fill.fold_begin[a]", "x.latency"]
    assert failed("9%") == ["x.other", "fill.fold_begin[a]", "x.latency"]
    assert failed("7%") == failed("9%")
    assert failed("6.5%") == ["fill.mean[a]", "x.other", "fill.fold_begin[a]", "x.latency"]
    assert "fill.cache_size[a]" in failed("4%")
    assert "fill.mean[b]" not in failed("0%")


def test_for_named_ones_alone() -> None:
    assert failed("cache_size=3%") == ["fill.cache_size[a]"]
    assert failed("cache_size=5%") == []
    assert failed("fill.mean=1%", "fill.mean[a]=50%") == []
    assert failed("mean=1%") == ["fill.mean[a]"]


def test_a_name_goes_before_all() -> None:
    assert "fill.mean[a]" not in failed("1%", "mean=50%")
    assert "fill.mean[a]" in failed("50%", "mean[a]=1%")
    limits = parse(["1%", "mean=50%"])
    mean, other = finding("fill.mean[a]", 1.0), finding("x.y", 1.0)
    assert (limits.of(mean), limits.of(other)) == (50.0, 1.0)
    assert Limits(named={"x.z": 2.0}).of(other) is None


@pytest.mark.parametrize("text", ["5", "much", "", "%", "-5%", "mean=", "mean=5", "=5%", "5 % x"])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(FlashtwinError) as refused:
        parse([text])
    assert refused.value.exit_code == 2 and "--fail-on 5%" in str(refused.value.hint)


def test_a_name_that_no_finding_has() -> None:
    with pytest.raises(FlashtwinError, match="no finding of these runs") as refused:
        check_names(parse(["cache_sise=5%"]), measures())
    assert "did you mean cache_size" in str(refused.value.hint)
    with pytest.raises(FlashtwinError) as other:
        check_names(parse(["zzzz=5%"]), measures())
    assert "there are cache_size" in str(other.value.hint)
    check_names(parse(["cache_size=5%", "fill.mean[a]=5%", "mean[b]=3%"]), measures())


def half() -> list[Measure]:
    """The other run has one finding of two, and one of its own."""
    base = Findings([finding("fill.mean[a]", 100.0), finding("cdm.x", 5.0), finding("cdm.y", None)])
    return compare(base, Findings([finding("fill.mean[a]", 100.0), finding("power.idle", 1.0)]))


def test_what_was_not_measured_has_not_passed() -> None:
    def ids(*texts: str, finished: bool = True) -> list[str]:
        return [one.measure.id for one in failures(parse(texts), half(), finished=finished)]

    # A run of fewer batteries is tested by what it has; one that broke off, by what it should have.
    assert ids("5%") == []
    assert ids("5%", finished=False) == ["cdm.x"]
    assert ids("cdm.x=5%") == ids("x=5%") == ["cdm.x"]
    assert ids("cdm.y=5%") == ids("power.idle=5%") == []


def test_a_test_of_nothing_is_refused() -> None:
    nothing = compare(Findings([finding("cdm.x", 5.0)]), Findings([finding("power.idle", 1.0)]))
    with pytest.raises(FlashtwinError, match="tests nothing: a and b have no finding") as refused:
        check_tested(parse(["5%"]), nothing, "a", "b")
    assert refused.value.exit_code == 2 and refused.value.hint
    check_tested(parse(["5%"]), half(), "a", "b")
    with pytest.raises(FlashtwinError, match="tests nothing"):
        check_tested(parse(["idle=5%"]), half(), "a", "b")
