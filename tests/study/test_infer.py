"""Series from files of other programs: what is read, what is refused, what is concluded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.study.infer.infer import Inferred, infer
from flashtwin.study.infer.read import Choices, joined, read, read_all, summed
from flashtwin.study.infer.samples import Samples

RATES = [*[3000.0] * 40, *[500.0] * 400]


def written(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def csv_of(rates: list[float], header: str = "second,write_MB_s") -> str:
    return "\n".join([header, *(f"{i + 1},{rate}" for i, rate in enumerate(rates))])


def log_of(rates: list[float]) -> str:
    """A fio log: reads between the writes, KiB/s at the end of each second."""
    lines = (
        f"{1000 * (i + 1)}, 5, 0, 4096\n{1000 * (i + 1)}, {rate * 1e6 / 1024:.0f}, 1, 131072"
        for i, rate in enumerate(rates)
    )
    return "\n".join(lines)


@pytest.mark.parametrize("text", [csv_of(RATES), log_of(RATES)])
def test_a_cache_is_read_from_a_csv_and_from_a_log(tmp_path: Path, text: str) -> None:
    found = infer(read(written(tmp_path, text)))
    # One lasting drop may be something else than a cache, which is then told.
    assert found.cache == "likely" and found.size is not None
    assert "that it is a cache is 9" in found.sentence
    assert found.size.value == pytest.approx(120e9, rel=0.01)
    assert found.size.low is not None and found.size.high is not None
    assert found.size.low < 120e9 < found.size.high
    assert [round(speed.value / 1e6, -1) for _, _, speed in found.plateaus] == [3000, 500]


def test_beside_an_end_no_larger_cache_is_left_open(tmp_path: Path) -> None:
    rates = [*[2000.0] * 21, *[500.0] * 876]
    found = infer(read(written(tmp_path, csv_of(rates))))
    assert "the fast part ends at 42 GB" in found.sentence
    texts = [found.sentence, *(finding.note or "" for finding in found.findings)]
    assert not [text for text in texts if "may be larger" in text]


def test_a_cache_that_becomes_slower_has_both_ends(tmp_path: Path) -> None:
    rates = [*np.linspace(1900, 1750, 100), *np.linspace(1400, 1250, 50), *[310.0] * 1000]
    found = infer(read(written(tmp_path, csv_of(rates))))
    cliff = (sum(rates[:150])) * 1e6
    assert "if a cache became slower as it filled" in found.sentence
    assert found.size is not None and found.size.low is not None and found.size.high is not None
    assert found.size.low < cliff < found.size.high * 1.005


def test_a_long_decline_is_told(tmp_path: Path) -> None:
    found = infer(read(written(tmp_path, csv_of(list(np.linspace(245, 120, 2000))))))
    assert found.cache == "none seen"
    assert any("drifts from 235 MB/s to 137 MB/s" in note for note in found.notes), found.notes


@pytest.mark.parametrize("seed", [97, 109, 233, 245])
def test_what_is_said_beside_a_size_rests_on_the_same_curve(seed: int) -> None:
    """Rough series, in which one way of joining samples shows an end and another shows none."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(30, 400))
    fast = int(rng.integers(3, count // 2))
    rate = np.where(np.arange(count) < fast, 3000.0, rng.choice([1500.0, 2000.0, 500.0, 2500.0]))
    rate = rate * 1e6 * np.exp(rng.normal(0, rng.choice([0.05, 0.3, 0.6]), count))
    dt = np.exp(rng.normal(0, rng.choice([0.3, 1.0, 1.5, 2.0]), count))
    found = infer(Samples(end_s=np.cumsum(dt), dt_s=dt, size=rate * dt, columns="made up"))
    (probability,) = [row for row in found.findings if row.name == "cache_probability"]
    sees_none = "a cache may be larger" in (probability.note or "")
    assert not (found.cache == "yes" and sees_none), found.sentence


def test_bytes_against_a_rate_are_a_series_too(tmp_path: Path) -> None:
    rows, done = ["GB,MB/s"], 0.0
    for rate in RATES:
        done += rate / 1000
        rows.append(f"{done},{rate}")
    found = infer(read(written(tmp_path, "\n".join(rows))))
    assert found.size is not None and found.size.value == pytest.approx(120e9, rel=0.01)
    assert "GB" in found.columns


def test_jobs_are_summed_and_runs_are_joined(tmp_path: Path) -> None:
    half = read(written(tmp_path, csv_of([rate / 2 for rate in RATES])))
    both, after = summed([half, half]), joined([half, half])
    assert both.size.sum() == pytest.approx(2 * half.size.sum())
    assert both.dt_s.sum() == pytest.approx(half.dt_s.sum())
    assert after.dt_s.sum() == pytest.approx(2 * half.dt_s.sum())


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("second,speed\n" + "1,2\n" * 9, "no column with a rate"),
        ("x,MB/s\n" + "1,2\n" * 9, "no column with a time"),
        ("s,MB/s,KiB/s\n" + "1,2,3\n" * 9, "several rates"),
        (csv_of(RATES) + "\n441,nan", "is not a number"),
        (csv_of(RATES) + "\n441,1 GB/s", "is not a number"),
        (csv_of(RATES) + "\n440,500", "1 time stamp that comes twice"),
        (csv_of(RATES) + "\n1000000000,500", "has nothing for"),
        (csv_of(RATES) + "\n441,1e300", "more than any drive"),
        (csv_of(RATES) + "\n441,1e308", "more than any drive"),
        (csv_of([1.0]), "2 rows"),
        ("second,MB/s", "1 row"),
        ("1,2\n2,3\n3,4\n4,5\n", "no header"),
        ('{"jobs": []}', "JSON"),
        ("1000, 5, 0, 4096\n" * 9, "0 samples of writes"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_hint(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(FlashtwinError, match=message) as error:
        read(written(tmp_path, text))
    assert error.value.hint


def test_doubled_time_stamps_are_summed_where_that_is_asked_for(tmp_path: Path) -> None:
    twice = csv_of(RATES) + "\n" + csv_of(RATES).partition("\n")[2]
    samples = read(written(tmp_path, twice), Choices(doubled=True))
    assert samples.size.sum() == pytest.approx(2 * 1e6 * sum(RATES))


def test_too_little_tells_nothing_and_says_why(tmp_path: Path) -> None:
    found = infer(read(written(tmp_path, csv_of([500.0] * 8))))
    assert found.cache == "cannot tell" and "8 samples" in found.sentence
    nothing = infer(read(written(tmp_path, csv_of([0.0] * 30))))
    assert nothing.cache == "cannot tell" and "nothing was written" in nothing.sentence


def test_two_samples_are_below_the_resolution(tmp_path: Path) -> None:
    found = infer(read(written(tmp_path, csv_of([3000.0, 3000.0, *[500.0] * 100]))))
    assert found.cache == "below resolution"
    assert found.bound is not None and found.bound >= 6e9 and found.size is None


def test_a_constant_series_has_a_bound(tmp_path: Path) -> None:
    found = infer(read(written(tmp_path, csv_of([500.0] * 300))))
    assert found.cache == "none seen" and found.bound is not None and found.bound > 0


def test_the_history_changes_what_the_same_curve_means(tmp_path: Path) -> None:
    samples = read(written(tmp_path, csv_of(RATES)))
    fresh, full, used = (infer(samples, of) for of in ("fresh", "preconditioned", "used:50GB"))
    assert (fresh.cache, used.cache) == ("yes", "likely") and fresh.notes == ()
    assert "taken for fresh" in infer(samples).notes[-2]
    assert full.cache == "cannot tell" and full.size is None and "erase" in full.sentence
    assert fresh.size is not None and used.size is not None
    assert fresh.size.high is not None and used.size.high is not None
    # 50 GB of data can have taken 50 GB of the cache at most.
    assert used.size.high == pytest.approx(fresh.size.high + 50e9)
    assert used.size.low == fresh.size.low and "used:50GB" in used.notes[0]


def test_none_seen_on_a_drive_that_was_written_bounds_nothing(tmp_path: Path) -> None:
    samples = read(written(tmp_path, csv_of([500.0] * 400)))
    fresh, full, used = (infer(samples, of) for of in ("fresh", "preconditioned", "used:50GB"))
    assert fresh.cache == "none seen" and full.cache == "cannot tell" and full.bound is None
    assert fresh.bound is not None and used.bound == pytest.approx(fresh.bound + 50e9)


def reports(rates: list[float], jobs: int = 2) -> str:
    """What fio prints with --status-interval=1 and two jobs that share the rate."""
    documents, done = [], 0.0
    for second, rate in enumerate(rates):
        done += rate * 1e6
        write = {"io_bytes": round(done / jobs), "runtime": 1000 * (second + 1)}
        documents.append(json.dumps({"fio version": "fio-3.33", "jobs": [{"write": write}] * jobs}))
    # fio says things between reports, and prints the last one twice.
    return "\n".join([documents[0], "fio: a line between", *documents[1:], documents[-1]])


def test_reports_of_fio_in_json_are_a_series_and_jobs_are_summed(tmp_path: Path) -> None:
    text = reports(RATES)
    samples = read(written(tmp_path, text, "fio.json"))
    assert samples.dt_s.size == len(RATES)
    found = infer(samples)
    assert found.size is not None and found.size.value == pytest.approx(120e9, rel=0.01)
    assert "io_bytes" in found.columns


def test_one_report_is_no_series_and_two_runs_are_refused(tmp_path: Path) -> None:
    last = reports(RATES[:1])
    twice = reports(RATES[:20]) * 2
    for text, message in ((last, "no series"), (twice, "several runs")):
        with pytest.raises(FlashtwinError, match=message) as error:
            read(written(tmp_path, text, "fio.json"))
        assert error.value.hint


def test_reads_beside_the_writes_are_told(tmp_path: Path) -> None:
    mixed = infer(read(written(tmp_path, log_of(RATES))))
    assert any("reads" in note for note in mixed.notes)
    assert infer(read(written(tmp_path, csv_of(RATES))), "fresh").notes == ()


def test_a_number_with_its_unit_is_told_where_that_belongs(tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError) as refused:
        read(written(tmp_path, csv_of(RATES) + "\n441,1 GB/s"))
    assert "in the header" in (refused.value.hint or "")


def findings_of(inferred: Inferred) -> dict[str, Finding]:
    return {finding.name: finding for finding in inferred.findings}


def test_what_the_battery_finds_of_a_fill_is_found_of_a_file(tmp_path: Path) -> None:
    """A cache that is there, and the rate that its interface has to carry."""
    samples = read(written(tmp_path, csv_of(RATES)))
    told = findings_of(infer(samples))
    assert set(told) >= {"cache_probability", "slowed_by", "rate_held"}
    assert told["slowed_by"].value == "nothing" and told["slowed_by"].variant == "file"
    assert told["rate_held"].number == pytest.approx(3000)
    likely = told["cache_probability"].number
    assert likely is not None and likely > 0.6
    assert "erased flash used up" in (told["cache_probability"].note or "")
    assert "a second fill" in (told["cache_probability"].note or "")


def test_an_even_saw_tooth_has_its_period(tmp_path: Path) -> None:
    rates = [*[3000.0] * 40, *([900.0] * 4 + [500.0] * 2) * 80]
    told = findings_of(infer(read(written(tmp_path, csv_of(rates)))))
    assert told["tooth_period"].number == pytest.approx(4.6, rel=0.01)


def hot(rates: list[float], degrees: list[float]) -> str:
    rows = (f"{i + 1},{rate},{at}" for i, (rate, at) in enumerate(zip(rates, degrees, strict=True)))
    return "\n".join(["second,write_MB_s,temperature_C", *rows])


def test_a_temperature_in_the_file_tells_throttling_apart(tmp_path: Path) -> None:
    """Slower from one temperature on and cooler for it, or slower at any temperature."""
    noise = np.random.default_rng(1).normal(1, 0.01, 494)
    rates = list(np.array([*[1000.0] * 60, *([450.0] * 22 + [1000.0] * 40) * 7]) * noise)
    follows = [*np.linspace(30, 80, 60), *[*np.linspace(80, 70, 22), *np.linspace(70, 80, 40)] * 7]
    rises = list(np.linspace(30, 80, 494))
    plain = findings_of(infer(read(written(tmp_path, csv_of(rates)))))
    # The first stretch is longer than those between the lows, as of a drive that warms up.
    assert plain["slowed_by"].value == "throttling"
    cached = [3000.0] * 20 + rates
    late = findings_of(infer(read(written(tmp_path, csv_of(cached)))))
    assert late["slowed_by"].value == "throttling"
    evenly = infer(read(written(tmp_path, csv_of(rates[20:]))))
    assert findings_of(evenly)["slowed_by"].value is None
    assert any("temperature would tell" in note for note in evenly.notes)
    throttled, other = (
        findings_of(infer(read(written(tmp_path, hot(rates, degrees)))))
        for degrees in (follows, rises)
    )
    assert throttled["slowed_by"].value == "throttling" and other["slowed_by"].value is None
    assert "temperature" in (throttled["slowed_by"].note or "")
    values = [told["slowed_by.throttling"].number for told in (other, plain, throttled)]
    assert values == sorted(values) and values[0] != values[2]
    assert "temperature_C" in infer(read(tmp_path / "a.csv")).columns


def test_a_cold_drive_has_a_temperature_and_a_column_with_gaps_is_left_out(tmp_path: Path) -> None:
    rates = [1000.0] * 60 + [450.0] * 240
    cold = read(written(tmp_path, hot(rates, list(np.linspace(-20, 5, 300)))))
    assert cold.degrees is not None and cold.degrees[0] == -20
    gaps = read(written(tmp_path, hot(rates, list(range(300))).replace(",7\n", ",\n", 1)))
    assert gaps.degrees is None
    assert "temperature_C has gaps: left out" in infer(gaps).columns


def test_what_ended_on_a_full_drive_takes_a_fill_of_the_erased_one(tmp_path: Path) -> None:
    erased = read(written(tmp_path, csv_of(RATES)))
    again = {
        "cache": [*[3000.0] * 20, *[400.0] * 300],
        "erased flash": [*[500.0] * 60, *[150.0] * 400],
    }
    for word, rates in again.items():
        second = read(written(tmp_path, csv_of(rates)))
        told = findings_of(infer(second, "preconditioned", erased))
        assert told["second_pass.ended_by"].value == word
        assert "cache_probability" not in told
        alone = infer(second, "preconditioned")
        assert "second_pass.ended_by" not in findings_of(alone) and "--first" in alone.notes[-1]


def test_a_fill_of_the_erased_drive_that_says_nothing_is_told(tmp_path: Path) -> None:
    first = read(written(tmp_path, csv_of([0.0] * 30)))
    second = read(written(tmp_path, csv_of([*[500.0] * 60, *[150.0] * 400])))
    answer = infer(second, "preconditioned", first)
    assert "second_pass.ended_by" not in findings_of(answer)
    assert (
        answer.notes[-1] == "the fill of the erased drive before says nothing: nothing was written"
    )


def test_one_lasting_drop_is_surer_with_a_fold_behind_it(tmp_path: Path) -> None:
    folding = [*[3000.0] * 40, *[900.0] * 200, *[250.0] * 300]
    told = infer(read(written(tmp_path, csv_of(folding))), "fresh")
    assert told.cache == "yes" and told.size is not None
    assert told.size.value == pytest.approx(120e9, rel=0.01)


def test_even_teeth_that_rise_are_no_cache(tmp_path: Path) -> None:
    """Seven teeth of one length, each rising to twice where it begins."""
    tooth = [*[600.0] * 200, *[900.0] * 200, *[1200.0] * 200]
    told = infer(read(written(tmp_path, csv_of(tooth * 7))))
    assert told.cache not in ("yes", "likely") and told.size is None


def test_a_cache_behind_a_hosts_burst_is_told_with_the_other_reading(tmp_path: Path) -> None:
    rates = [*[4000.0] * 3, *[2000.0] * 60, *[300.0] * 1000]
    told = infer(read(written(tmp_path, csv_of(rates))), "fresh")
    assert told.size is not None and told.size.value == pytest.approx(132e9, rel=0.01)
    assert any("12 GB at 4,000 MB/s in 3.0 s" in note for note in told.notes)
    assert any("may be a cache of that size" in note for note in told.notes)


def test_seconds_of_a_hosts_burst_are_claimed_to_be_no_cache(tmp_path: Path) -> None:
    noise = np.random.default_rng(2).normal(1, 0.01, 600)
    for seconds, times in ((4, 1.4), (6, 2.0), (9, 1.6)):
        rates = np.array([*[500.0 * times] * seconds, *[500.0] * (600 - seconds)]) * noise
        told = infer(read(written(tmp_path, csv_of(list(rates)))))
        assert told.cache != "yes"


def test_a_file_that_says_random_writes_is_no_fill(tmp_path: Path) -> None:
    text = reports(RATES).replace('{"write"', '{"job options": {"rw": "randwrite"}, "write"')
    assert "randwrite" in text
    told = infer(read(written(tmp_path, text, "a.json")))
    assert told.cache == "cannot tell" and told.size is None
    assert "the file says randwrite" in told.sentence


def test_a_name_or_a_word_says_that_it_is_no_fill(tmp_path: Path) -> None:
    samples = read(written(tmp_path, log_of(RATES), "disk-randwrite-q1_bw.1.log"))
    assert samples.pattern == "randwrite" and infer(samples).cache == "cannot tell"
    both = [written(tmp_path, log_of(RATES), f"{name}_bw.log") for name in ("a-randrw", "b")]
    merged = read_all(both)
    assert isinstance(merged, Samples) and merged.pattern == "randrw"
    plain = read(written(tmp_path, csv_of(RATES), "grandwrites.csv"))
    assert plain.pattern is None and "--pattern" in infer(plain).notes[-1]
    assert "--pattern" not in " ".join(infer(replace(plain, pattern="write")).notes)


def test_where_nothing_could_show_no_bound_is_told(tmp_path: Path) -> None:
    """Half of the samples hold no byte, as where a program tells each second write."""
    inferred = infer(read(written(tmp_path, csv_of([900.0, 0.0] * 120))))
    assert inferred.cache == "cannot tell" and "would not show" in inferred.sentence
