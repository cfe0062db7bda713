"""Years of a load: closed forms of what they cost, and the arithmetic of their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from msgspec import structs

from flashtwin.errors import FlashtwinError
from flashtwin.load import ask, drawn, lifetime, loads, resting
from flashtwin.load.life import Life
from flashtwin.load.lifetime import Question, Simulated
from flashtwin.load.words import Aged, Cycles, Interval, Lifetime, Rested, Stage
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


AGED = Aged(
    years=5.0,
    used=0.625,
    spare_percent=100,
    read_only=False,
    cycles={
        "slc": Cycles(superblocks=20, mean=1200.4, most=1300, rated=40_000),
        "native": Cycles(superblocks=800, mean=930.0, most=950, rated=1500),
        "tier": Cycles(superblocks=0, mean=0.0, most=0, rated=1),
    },
    smart={
        "nvme_smart_health_information_log": {
            "percentage_used": 62,
            "data_units_written": 356_250_000,
            "power_on_hours": 43_830,
        }
    },
)


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
        wear={"native": 0.9, "slc": 0.1},
        flash_per_day_bytes=waf * 1e11,
        warranty_years=3.0,
        aged=AGED,
        stages=[],
        repeated=9.0,
        jump_error=0.01,
        drift_p99=0.02,
        refused=None,
        ended=False,
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
        "D probably lasts 5 years under a load (100 GB a day, 80 % full): 62 % of its rated cycles"
        " are used then, and all of them after 8 years (4 to 16), by native mode 90 %, SLC mode"
        " 10 %; what its maker warrants is written after 3 years."
    )
    first, *_ = ask.sentences(made(2.0, 1.0, 4.0), 5.0)
    assert first.startswith("D does not last 5 years under a load (100 GB a day, 80 % full): its")
    assert "are used up after 2 years (1 to 4), by" in first
    first, *_ = ask.sentences(made(0.04, 0.02, 0.3), 5.0)
    assert "are used up after 15 days (7.3 to 110), by" in first


def test_the_drive_is_shown_as_its_owner_would_see_it() -> None:
    *_, told, state = ask.sentences(made(8.0, 4.0, 16.0), 5.0)
    assert told.startswith("After 5 years its SMART data say: the host wrote 182.4 TB, 99.88 GB a")
    assert "62 % of the rated life is used" in told
    *_, told, _ = ask.sentences(made(8.0, 4.0, 16.0), 6.0)
    assert told.startswith("After 5 years, as far as it was followed, its SMART data say:")
    assert state == (
        "By then 100 % of its spare is left, and the cycles of a block are 930 in native mode"
        " (rated 1,500), 1,200 in SLC mode (rated 40,000)."
    )


def test_a_drive_without_counters_says_so() -> None:
    bare = structs.replace(AGED, smart={"ata_smart_attributes": {"table": []}})
    of = structs.replace(made(8.0, 4.0, 16.0), aged=bare, repeated=0.0)
    *_, told, _ = ask.sentences(of, 5.0)
    assert told.startswith("After 5 years its SMART data show no wear: the spec names no maker's")
    page = ask.answer([ask.Row(way="d", lifetime=of)], 5.0)
    assert "SMART data then" not in {table.title for table in page.tables}


def test_rows_of_a_page_have_a_cell_for_each_head() -> None:
    stage = Stage(years=1.0, used=0.1, waf=2.0, wear=0.1, refresh=0.5, write_p99_ns=90_000)
    of = structs.replace(made(8.0, 4.0, 16.0), stages=[stage])
    page = ask.answer([ask.Row(way="d", lifetime=of)], 5.0)
    assert {table.title for table in page.tables} >= {"Over the years", "SMART data then"}
    for table in page.tables:
        assert {len(row) for row in table.rows} == {len(table.head)}


def test_drives_are_ranked_with_the_chance_of_the_first() -> None:
    rows = [
        ask.Row(way="short", lifetime=made(4.0, 2.0, 8.0)),
        ask.Row(way="long", lifetime=made(8.0, 4.0, 16.0)),
    ]
    assert [row.way for row in ask.ranked(rows)] == ["long", "short"]
    # The logarithms differ by ln 2, and each deviates by ln 2 / 1.645.
    expected = 0.5 * math.erfc(-1.645 / math.sqrt(2) / math.sqrt(2))
    rows[1] = ask.Row(way="long", lifetime=structs.replace(made(8.0, 4.0, 16.0), drive="e"))
    assert ask.chance_of_first(rows) == pytest.approx(expected, abs=0.003)
    assert ask.chance_of_first(rows[:1]) is None
    first, enduring, *_ = ask.verdict(rows, 5.0)
    assert first == (
        "Under a load, 100 GB a day, long lasts longest, 8 years (4 to 16), 2 times as long as"
        " short; the probability that it outlasts all others is 87.8 %."
    )
    assert enduring == "One of them lasts 5 years: long (probably)."


def test_ways_of_one_drive_are_told_without_its_name() -> None:
    asked = question(loads.load("desktop"), 0.8, ())
    varied = {"slc_cache.mode": ["as is", "none"], "trim": ["off"]}
    ways = ask.ways([asked.variant], asked.load, "80%", 5.0, varied)
    assert [way.name for way in ways] == [
        "crucial-p1-1tb, with its cache, without TRIM",
        "crucial-p1-1tb, without a cache, without TRIM",
    ]
    spans = ((8.0, 7.0, 9.0), (16.0, 15.0, 17.0))
    rows = [
        ask.Row(way=way.name, lifetime=made(*span)) for way, span in zip(ways, spans, strict=True)
    ]
    first, enduring, *_ = ask.verdict(rows, 5.0)
    assert "D lasts longest without a cache, without TRIM, 16 years (15 to 17), 2 times" in first
    assert "2 times as long as with its cache, without TRIM;" in first
    assert enduring == "All of them last 5 years."
    assert next(row[0] for row in ask.table(rows)) == "without a cache, without TRIM"


def test_lives_beyond_all_plans_are_not_ranked() -> None:
    # Half of them may be over within five years, for all that is known.
    spans = ((300.0, 2.0, 900.0), (200.0, 20.0, 800.0), (39.0, 10.0, 80.0))
    rows = [
        ask.Row(way=f"d, {full} full", lifetime=made(*span, waf=waf))
        for full, span, waf in zip(("50 %", "70 %", "90 %"), spans, (1.0, 1.25, 3.0), strict=True)
    ]
    first, enduring, *_ = ask.verdict(rows, 5.0)
    assert first == (
        "Under a load, 100 GB a day, D lasts for more than 100 years 50 % full and 70 % full, and"
        " shortest 90 % full: 39 years (10 to 80)."
    )
    assert enduring == "All of them last 5 years; with some doubt: 50 % full."
    first, enduring, *_ = ask.verdict(rows[:2], 5.0)
    assert first.endswith(
        "of all of them last for more than 100 years; a byte written takes 1 bytes of flash 50 %"
        " full, and 1.25 70 % full."
    )
    assert ask.verdict(rows[:1] * 2, 5.0)[1] == "All of them probably last 5 years."


def test_what_costs_less_later_is_told_with_its_time() -> None:
    stage = Stage(years=2.0, used=0.3, waf=1.5, wear=0.1, refresh=0.0, write_p99_ns=None)
    of = structs.replace(made(8.0, 4.0, 16.0), stages=[stage])
    assert any(
        line.endswith("Later it costs 1.5, from 2 years on.") for line in ask.sentences(of, 5.0)
    )


def test_tiny_parts_are_told_as_such() -> None:
    stage = Stage(years=1.0, used=0.1, waf=2.0, wear=0.1, refresh=0.5, write_p99_ns=90_000)
    of = made(8.0, 4.0, 16.0)
    of = structs.replace(of, by_cause={"direct": 1.0, "slc": 4e-16}, stages=[stage])
    page = ask.answer([ask.Row(way="d", lifetime=of)], 5.0)
    (causes,) = (table for table in page.tables if table.title.startswith("What is programmed"))
    assert causes.rows == [("d", "1", "< 0.001")]


def test_two_ways_of_one_drive_share_what_nobody_knows_of_it() -> None:
    # Whatever drive it is, one way lasts a tenth longer than the other.
    drawn_years = [4.0, 6.0, 8.0, 12.0, 20.0]

    def way(times: float, drive: str) -> ask.Row:
        years, draws = 8.0 * times, [years * times for years in drawn_years]
        width = lifetime.spread_of([math.log(years) for years in draws])
        ends = years * math.exp(-width), years * math.exp(width)
        of = structs.replace(made(years, *ends), draws=draws, drive=drive)
        return ask.Row(way=f"{times}", lifetime=of)

    assert ask.chance_of_first([way(1.0, "d"), way(1.1, "d")]) > 0.99
    assert ask.chance_of_first([way(1.0, "d"), way(1.1, "e")]) < 0.6


def test_notes_of_some_ways_name_them() -> None:
    of = structs.replace(made(8.0, 4.0, 16.0), repeated=0.0)
    other = structs.replace(of, steady=False)
    rows = [ask.Row(way="a", lifetime=of), ask.Row(way="b", lifetime=other)]
    told = ask.all_notes(rows)
    assert any(note.startswith("b: not settled: the write") for note in told)
    assert [note for note in told if note.startswith("power is the twin's")]


def ended(waf: float, life: Life, scale: int = 256, wear: float = 1e-14) -> Simulated:
    return Simulated(
        scale=scale,
        capacity_bytes=1 << 32,
        waf=waf,
        waf_error=0.0,
        wear=wear,
        by_cause={"direct": 1.0},
        watts=1.0,
        kept_up=1.0,
        steady=True,
        written=3.0,
        latencies=[],
        life=life,
    )


def test_the_interval_holds_scale_jumps_and_draws() -> None:
    def lived(years: float, jump_error: float = 0.0) -> Life:
        return Life(stages=[], end_years=years, jump_error=jump_error)

    base, half = ended(2.0, lived(3.0, 0.05)), ended(2.2, lived(3.6), scale=512)
    asked = question(loads.load("desktop"), 0.8)
    alone = lifetime.lifetime(asked, [base, half])
    # WAF and years differ by a tenth and a fifth from those of the smaller copy.
    assert alone.scale_error == pytest.approx(0.1) and alone.waf.high == pytest.approx(2.2)
    assert alone.years.high == pytest.approx(3.0 * (1 + math.hypot(0.2, 0.05)))
    found = lifetime.lifetime(asked, [base, half, ended(1.0, lived(1.5)), ended(4.0, lived(6.0))])
    assert found.years.value == 3.0 and found.draws == [1.5, 6.0]
    # All that the host writes is programmed once at least, whatever is drawn.
    assert found.waf.low == 1.0 and found.waf.high > 4.0
    assert found.years.low < found.years.value / 2 < found.years.value * 2 < found.years.high


def test_what_cannot_be_repeated_wears_on_as_it_did() -> None:
    end = ended(2.0, Life(stages=[], end_years=None, refused="its blocks fail by chance"))
    # 20 GB a day and 1e-14 of the life of a copy a byte, 256 times as many bytes on the drive.
    found = lifetime.lifetime(question(loads.load("desktop"), 0.8), [end])
    assert found.years.value == pytest.approx(256 / (20e9 * 365.25 * 1e-14))
    assert any("fail by chance" in note for note in ask.notes(found))


@pytest.mark.parametrize("name", loads.names())
def test_loads_by_name_have_jobs_and_sources(name: str) -> None:
    load = loads.load(name)
    assert load.jobs and load.sources and load.bytes_a_day(10**12) > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workload", "nothing"], "nothing is neither a load by name nor a file"),
        (["--workload", "ectd"], "did you mean etcd?"),
        (["--workload", "no.fio"], "no.fio is neither a load by name nor a file"),
        (["--workload", "etcd", "--per-day", "0 drives"], "write above 0"),
        (["--workload", "etcd", "--for", "0y"], "--for 0y is not between 0 and 1,000 years"),
        (["--workload", "etcd", "--full", "200%"], "--full 200% is not between"),
        (["--workload", "etcd", "--full", "much"], "--full much is neither a share nor a size"),
        (["--workload", "etcd", "--per-day", "lots"], "--per-day lots is not an amount"),
        (["--workload", "etcd", "--for", "ever"], "--for ever is not a number of years"),
        (["--workload", "etcd", "--vary", "full"], "--vary full does not say"),
        (["--workload", "reads.fio", "--per-day", "1GB"], "writes nothing"),
        (["--workload", "writes.fio"], "does not say how much of it a day has"),
        (["--workload", "no-times"], "does not say how much of it a day has"),
        (["--workload", "."], "this is a directory"),
        (["--workload", "etcd", "--disk", "1"], "say how a trace is read, and etcd is none"),
        (["--workload", "two-disks", "--disk", "3"], "the trace has no disk 3, but h.0, h.1"),
    ],
)
def test_wrong_questions(run: Run, tmp_path: Path, words: list[str], message: str) -> None:
    job(tmp_path / "reads.fio", "randread")
    job(tmp_path / "writes.fio", "randwrite")
    (tmp_path / "no-times").write_text("fio version 2 iolog\na add\na write 0 4096\n")
    rows = [f"12816637200306162{at},h,{at},Write,0,4096,9\n" for at in range(2)]
    (tmp_path / "two-disks").write_text("".join(rows))
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


def test_a_trace_becomes_a_job_for_each_kind_of_its_requests(tmp_path: Path) -> None:
    # Ten writes of which four wait for the flash, a flush, five reads and a TRIM.
    rows = [f"8,0 1 {n} {n}.5 7 D {'WFS' if n < 4 else 'W'} {8 * n} + 8 [a]" for n in range(10)]
    rows += ["8,0 1 10 10.0 7 D FN [a]", "8,0 1 11 11.0 7 D D 1024 + 64 [a]"]
    rows += [f"8,0 1 {n} {n}.0 7 D R 0 + 16 [a]" for n in range(12, 17)]
    (tmp_path / "t").write_text("".join(f"{row}\n" for row in rows))
    load = loads.load(str(tmp_path / "t"))
    kinds = {job["rw"].rw: job for job in load.jobs}
    assert list(kinds) == ["randread", "randwrite", "randtrim"]
    assert kinds["randwrite"]["fsync"] == 2
    assert {job["ba"] for job in load.jobs} == {(4096, 4096, 4096)}
    assert load.per_day == pytest.approx(10 * 4096 / 16 * 86_400, rel=0.05)
    told = " ".join(load.sources)
    assert "FUA as a sync" in told and "that it touches is ever asked for" in told


def test_a_trace_that_misses_its_places_is_drawn_so(tmp_path: Path) -> None:
    rows = [f"8,0 1 {n} {n}.5 7 D W {8 * n + 1} + 16 [a]" for n in range(10)]
    (tmp_path / "t").write_text("".join(f"{row}\n" for row in rows))
    (job,) = loads.load(str(tmp_path / "t")).jobs
    assert job["ba"] == (512, 512, 512)


def test_a_trace_of_a_larger_drive_is_told_by_its_line(tmp_path: Path) -> None:
    # 5 GiB at once are more than fio's rates have.
    rows = [f"12816637200306162{at},h,0,Write,{at * 60 << 30},{1 << 30},9\n" for at in range(5)]
    (tmp_path / "t.csv").write_text("".join(rows))
    load = loads.load(str(tmp_path / "t.csv"))
    asked = Question(variant=Variant(drive="bx500-240"), load=load, full=0.02, handles=True)
    (*_, told, rests_on) = lifetime.sources_of(asked)
    assert rests_on.endswith("the others are usual for its kind; not checked on hardware")
    assert told.startswith("line 5 of t.csv reaches to 258.8 GB, beyond a drive of 240 GB")
    with pytest.raises(FlashtwinError, match=r"t.csv touches 5.*, and .* holds 4.8 GB of data"):
        lifetime.copies(asked)


def simulated_trim(trims: bool) -> float:
    load = loads.load("desktop", "400GB")
    asked = Question(variant=Variant(drive="crucial-p1-1tb", sets=PLAIN), load=load, trims=trims)
    copy = lifetime.copies(asked, 0)[0]
    return lifetime.simulate(replace(copy, scale=128)).waf


@pytest.mark.full
def test_data_that_the_host_deleted_costs_without_trim() -> None:
    assert simulated_trim(True) < 0.8 * simulated_trim(False)


def test_each_writer_has_a_handle_and_the_drive_room_for_it(tmp_path: Path) -> None:
    text = "[global]\nfilename=data\nrw=randwrite\nbs=64k\nsize=50%\n[a]\n[b]\n[c]\nrw=randread\n"
    (tmp_path / "w.fio").write_text(text)
    asked = question(loads.load(str(tmp_path / "w.fio"), "100GB"), 0.8)
    copy = lifetime.copies(replace(asked, handles=True), 0)[0]
    values = {row["key"]: row["value"] for row in copy.variant.spec().values()}
    assert values["fdp.handles"] == "2"
    jobs = lifetime.jobs_of(copy, copy.variant.spec(), 1 << 30)
    assert [job.handles for job in jobs] == [(0,), (1,), ()]
    without = lifetime.jobs_of(replace(copy, handles=False), copy.variant.spec(), 1 << 30)
    assert not any(job.handles for job in without)


WORKERS = Path(__file__).parents[2] / "examples" / "handles" / "kv-cache-workers.fio"
SERVER = Variant(drive="samsung-pm963-960", sets=PLAIN)


def of_workers(scale: int) -> lifetime.Copy:
    load = loads.load(str(WORKERS), "1TB")
    return lifetime.Copy(variant=SERVER, scale=scale, load=load, full=0.9, seed=1, reads=False)


def test_objects_do_not_fill_the_superblocks_of_a_copy() -> None:
    full_size = SERVER.spec()
    copy = of_workers(88)
    spec = lifetime.scaled(SERVER, 88).spec()
    superblock = lifetime.superblock_of(spec)
    jobs = lifetime.jobs_of(copy, full_size, int(0.9 * spec.capacity_bytes))
    sizes = {job.name: job.fio.blocks[1].most for job in jobs if job.fio and job.fio.blocks}
    # Objects of 32 MiB are a sixtieth of the drive's superblocks, and were larger than a copy's.
    assert sizes["long-context"] <= superblock / lifetime.OBJECTS < 32 << 20
    assert sizes["long-context"] == pytest.approx(superblock / lifetime.OBJECTS, rel=0.05)
    assert all(size % lifetime.OBJECT_GRAIN == 0 for size in sizes.values())
    told = lifetime.lifetime(
        question(copy.load, 0.9),
        [structs.replace(ended(2.0, Life(stages=[], end_years=3.0)), objects=0.02)],
    )
    assert told.sources[-1].startswith("large writes have 2 % of their size in the copy")


@pytest.mark.parametrize(("others", "is_smaller"), [("", False), ("[log]\nrw=randwrite\n", True)])
def test_what_several_jobs_write_mixes_as_in_the_drive(
    tmp_path: Path, others: str, is_smaller: bool
) -> None:
    text = f"[global]\nfilename=data\nsize=40%\n[ring]\nrw=write\nbs=32m\n{others}"
    (tmp_path / "w.fio").write_text(text)
    of = replace(of_workers(88), load=loads.load(str(tmp_path / "w.fio"), "1TB"))
    spec = lifetime.scaled(SERVER, 88).spec()
    ring, *_ = lifetime.jobs_of(of, SERVER.spec(), int(0.9 * spec.capacity_bytes))
    # Else a ring's requests of a superblock each would be gone whole, which those of the drive,
    # of a sixtieth, are not beside another job's.
    assert (ring.block_bytes < 32 << 20) == is_smaller


@pytest.mark.full
@pytest.mark.parametrize("handles", [False, True])
def test_rings_cost_what_their_slowest_has_left(tmp_path: Path, handles: bool) -> None:
    """Nine rings at one pace: the objects of the largest one live twice as long as those of the
    others, so that it is moved once, unless it has a handle of its own."""
    (tmp_path / "rings.fio").write_text(WORKERS.read_text().replace("rw=randwrite", "rw=write"))
    load = loads.load(str(tmp_path / "rings.fio"), "1TB")
    asked = Question(variant=SERVER, load=load, full=0.9, handles=handles)
    end = lifetime.simulate(replace(lifetime.copies(asked, 0)[0], reads=False))
    assert end.by_cause.get("gc", 0.0) == pytest.approx(0.0 if handles else 1 / 9, abs=0.03)


@pytest.mark.full
def test_large_objects_cost_alike_at_two_scales() -> None:
    smaller, larger = (lifetime.simulate(of_workers(scale)) for scale in (88, 44))
    assert smaller.steady and larger.steady
    assert smaller.waf == pytest.approx(larger.waf, rel=0.05)


def fitted_spec(folder: Path, digest: str | None = None, drives: object = None) -> str:
    """A spec with the drives that a fit left possible beside it."""
    spec = Variant(drive="crucial-p1-1tb").spec()
    path = folder / "mine.toml"
    path.write_text(spec.to_toml())
    rows = [
        {"weight": 0.75, "sets": {"slc_cache.static_size": "6 GB", "gc.policy": "fifo"}},
        {"weight": 0.25, "sets": {"slc_cache.static_size": "3 GB"}},
    ]
    digest = digest or Variant(drive=str(path)).spec().hash
    document = {"schema": 1, "run": "run-a", "hash": digest, "drives": drives or rows}
    path.with_suffix(".posterior.json").write_text(json.dumps(document))
    return str(path)


def test_a_fitted_twin_is_asked_over_what_its_run_left_open(tmp_path: Path) -> None:
    variant = Variant(drive=fitted_spec(tmp_path), sets=("gc.policy=greedy",))
    sets = [other.sets for _, other in drawn.drawn(variant, 1, 4, lambda other: True)]
    sizes = [[text for text in row if text.startswith("slc_cache.static_size")] for row in sets]
    assert sizes == 3 * [["slc_cache.static_size=6 GB"]] + [["slc_cache.static_size=3 GB"]]
    # Values that were set stay, unless nobody knows them.
    assert all("gc.policy=fifo" not in row for row in sets)
    asked = Question(variant=variant, load=loads.load("etcd"))
    assert "2 drives that it leaves possible, worth 1.6" in lifetime.sources_of(asked)[-1]


def test_drives_that_cannot_be_are_drawn_again() -> None:
    variant = Variant(drive="crucial-p1-1tb")

    def has_greedy(other: Variant) -> bool:
        return "gc.policy=greedy" in other.sets

    few, more = [list(drawn.drawn(variant, 1, count, has_greedy)) for count in (3, 5)]
    assert len(more) == 5 and few == more[:3] and all(has_greedy(other) for _, other in more)
    with pytest.raises(FlashtwinError, match="can be made so small"):
        list(drawn.drawn(variant, 1, 1, lambda other: False))


@pytest.mark.parametrize(
    ("digest", "drives", "message"),
    [
        ("another", None, "belongs to another spec than mine.toml"),
        (None, [{"sets": {}}], "is not what flashtwin fit writes"),
    ],
)
def test_a_posterior_that_is_none_is_refused(
    tmp_path: Path, digest: str | None, drives: object, message: str
) -> None:
    with pytest.raises(FlashtwinError, match=message):
        drawn.posterior_of(Variant(drive=fitted_spec(tmp_path, digest, drives)))


def rested(speeds: list[float]) -> list[Rested]:
    return [
        Rested(rest_s=rest_s, bytes_s=bytes_s, p50_ns=1, p99_ns=2, p999_ns=3)
        for rest_s, bytes_s in zip(resting.LADDER_S, speeds, strict=False)
    ]


def test_the_shortest_rest_that_is_as_good_is_told() -> None:
    slow, fast = rested([100e6, 300e6, 950e6, 1000e6]), rested([1e9, 1e9, 1e9, 1e9])
    assert resting.needed(slow) == 60.0 and resting.needed(fast) == 1.0
    asked = Question(variant=Variant(drive="crucial-p1-1tb"), load=loads.load("desktop"))
    plan = resting.copies(asked, 0)
    ladders = [resting.Ladder(scale=32, rests=rows) for rows in (slow, fast)]
    answer = resting.rests_of(asked, plan[:1], ladders)
    first, second = resting.sentences(answer)
    assert "has to rest 1 min until it takes the next 833 MB" in first
    assert "(drives like it: 1 s to 1 min)" in first and "10 s 300 MB/s" in second


@pytest.mark.full
def test_a_rest_gives_a_cache_back_that_folds_in_it(tmp_path: Path) -> None:
    load = loads.load(job(tmp_path / "a.fio", "write", "1m"), "1TB")
    asked = Question(variant=Variant(drive="samsung-980-1tb"), load=load, full=0.5)
    (copy, *_) = resting.copies(asked, 0)
    rows = resting.ladder(copy, (0.1, 3600.0)).rests
    assert rows[1].bytes_s > 1.2 * rows[0].bytes_s


@pytest.mark.parametrize(
    ("ended", "at_once", "share"),
    [
        ([0], 1, 0.25),
        # Four of equal weight on two processors: half is done when the first one ends.
        ([0], 2, 0.5),
        ([1, 0], 2, 0.625),
        ([0, 1, 2], 2, 0.875),
        ([3, 0, 2, 1], 4, 1.0),
        ([0], 64, 1.0),
    ],
)
def test_what_goes_on_side_by_side_counts_as_done_in_part(
    ended: list[int], at_once: int, share: float
) -> None:
    assert ask.share_done(ended, [2.0] * 4, at_once) == pytest.approx(share)


def test_a_light_copy_that_ends_first_says_little_of_a_heavy_one() -> None:
    assert ask.share_done([1], [9.0, 1.0], 2) == pytest.approx(0.2)
