"""Years of a load: closed forms of what they cost, and the arithmetic of their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from flashtwin.load import ask, lifetime, loads
from flashtwin.load.lifetime import Question, Simulated
from flashtwin.load.words import Interval, Lifetime
from flashtwin.runner.target import Variant

Run = Callable[..., Result]
# No cache, no folding: the flash gets what the host writes and what collection moves.
PLAIN = ("slc_cache.mode=none",)
JOB = """[global]
filename=data
ioengine=libaio
time_based
runtime=1h
norandommap

[writes]
rw={rw}
bs={block}
size=100%
iodepth=8
"""


def job(where: Path, rw: str, block: str = "4k") -> str:
    where.write_text(JOB.format(rw=rw, block=block))
    return str(where)


def question(load: loads.Load, full: float, sets: tuple[str, ...] = PLAIN) -> Question:
    return Question(variant=Variant(drive="crucial-p1-1tb", sets=sets), load=load, full=full)


def simulated(asked: Question, scale: int = 128) -> Simulated:
    return lifetime.simulate(
        lifetime.Copy(variant=asked.variant, scale=scale, load=asked.load, full=asked.full, seed=1)
    )


def test_what_is_written_in_order_costs_itself(tmp_path: Path) -> None:
    load = loads.load(job(tmp_path / "a.fio", "write", "1m"), "400GB")
    end = simulated(question(load, 0.8))
    assert end.steady and end.kept_up > 0.99
    assert end.waf == pytest.approx(1.0, abs=0.03)


@pytest.mark.full
@pytest.mark.parametrize("full", [0.6, 0.8])
def test_uniform_random_writes_cost_what_theory_says(tmp_path: Path, full: float) -> None:
    load = loads.load(job(tmp_path / "a.fio", "randwrite"), "400GB")
    asked = question(load, full)
    end = simulated(asked)
    values = {row["key"]: row["value"] for row in asked.variant.spec().values()}
    assert values["gc.policy"] == "greedy"
    # With a share u of the flash in use, greedy collection finds victims of which v is valid, where
    # (v - 1) / ln(v) = u (Desnoyers, SYSTOR 2012, for many pages a block): WAF = 1 / (1 - v).
    raw = 1024 * (1 << 30) * 0.99 / 1e12
    used = full / raw
    low, high = 1e-6, 1 - 1e-9
    for _ in range(200):
        valid = (low + high) / 2
        low, high = (valid, high) if (valid - 1) / math.log(valid) < used else (low, valid)
    assert end.waf == pytest.approx(1 / (1 - valid), rel=0.1)


def made(years: float, low: float, high: float, waf: float = 2.0) -> Lifetime:
    return Lifetime(
        drive="d",
        name="D",
        load="l",
        title="a load",
        full=0.8,
        capacity_bytes=10**12,
        per_day_bytes=1e11,
        waf=Interval(value=waf, low=waf, high=waf),
        years=Interval(value=years, low=low, high=high),
        flash_per_day_bytes=waf * 1e11,
        warranty_years=3.0,
        scale_error=0.0,
        kept_up=1.0,
        steady=True,
        by_cause={"direct": 1.0, "gc": 1.0},
        latencies=[],
        watts=1.0,
        draws=[],
        assumed=[],
        sources=[],
    )


def test_the_sentence_says_years_warranty_and_share() -> None:
    first, *_ = ask.sentences(made(8.0, 4.0, 16.0), 5.0)
    assert first == (
        "D under a load, 100 GB a day, 80 % full: its rated cycles are used up after 8 years (4 to"
        " 16); what its maker warrants is written after 3; after 5 years 62 % are."
    )


def test_drives_are_ranked_with_the_chance_of_the_first() -> None:
    rows = [
        ask.Row(way="short", lifetime=made(4.0, 2.0, 8.0)),
        ask.Row(way="long", lifetime=made(8.0, 4.0, 16.0)),
    ]
    assert [row.way for row in ask.ranked(rows)] == ["long", "short"]
    # The logarithms differ by ln 2, and each deviates by ln 2 / 1.645.
    expected = 0.5 * math.erfc(-1.645 / math.sqrt(2) / math.sqrt(2))
    assert ask.chance_of_first(rows) == pytest.approx(expected, abs=0.003)
    assert ask.chance_of_first(rows[:1]) is None


def test_the_interval_holds_scale_batches_and_draws() -> None:
    asked = question(loads.load("desktop"), 0.8)
    base = dict(
        capacity_bytes=1 << 32,
        waf_error=0.0,
        by_cause={"direct": 1.0},
        watts=1.0,
        kept_up=1.0,
        steady=True,
        written=3.0,
        latencies=[],
    )
    copies = [
        Simulated(scale=256, waf=2.0, wear=1e-14, **base),
        Simulated(scale=512, waf=2.2, wear=1e-14, **base),
        Simulated(scale=256, waf=1.0, wear=2e-14, **base),
        Simulated(scale=256, waf=4.0, wear=5e-15, **base),
    ]
    found = lifetime.lifetime(asked, copies)
    assert found.scale_error == pytest.approx(0.1)
    # 20 GB a day and 1e-14 of the life of a copy a byte, 256 times as many bytes on the drive.
    assert found.years.value == pytest.approx(256 / (20e9 * 365.25 * 1e-14))
    assert found.waf.low < 1.0 and found.waf.high > 4.0
    assert found.years.low < found.years.value / 2 < found.years.value * 2 < found.years.high


@pytest.mark.parametrize("name", loads.names())
def test_loads_by_name_have_jobs_and_sources(name: str) -> None:
    load = loads.load(name)
    assert load.jobs and load.sources and load.bytes_a_day(10**12) > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workload", "nothing"], "there is no load nothing"),
        (["--workload", "etcd", "--full", "200%"], "--full 200% is not between"),
        (["--workload", "etcd", "--full", "much"], "much is no share"),
        (["--workload", "etcd", "--per-day", "lots"], "--per-day lots is not an amount"),
        (["--workload", "etcd", "--for", "ever"], "--for ever is not a number of years"),
        (["--workload", "etcd", "--vary", "full"], "--vary full does not say"),
        (["--workload", "reads.fio", "--per-day", "1GB"], "writes nothing"),
        (["--workload", "writes.fio"], "does not say how much of it a day has"),
    ],
)
def test_wrong_questions(run: Run, tmp_path: Path, words: list[str], message: str) -> None:
    job(tmp_path / "reads.fio", "randread")
    job(tmp_path / "writes.fio", "randwrite")
    done = run("ask", "crucial-p1-1tb", *words, "--draws", "0", "-q")
    assert done.exit_code == 2 and message in done.stderr


@pytest.mark.full
def test_the_command_answers_in_every_form(run: Run, tmp_path: Path) -> None:
    words = ("ask", "crucial-p1-1tb", "--workload", "surveillance", "--draws", "2")
    page = tmp_path / "ask.html"
    done = run(*words, "--vary", "full=50%,90%", "--out", str(page), "--json", "-q")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["rows"]) == 2 and page.exists()
    again = run(*words, "--vary", "full=50%,90%", "--json", "--jobs", "1", "-q")
    assert json.loads(again.stdout)["rows"] == answer["rows"]
